"""Groq's rules. Statements and sources: `fixtures/rules/groq-chat.toml`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.openai_chat import option_rules, tool_rules
from art_compliance.dialects.openai_chat import rules as openai_chat
from art_compliance.dialects.openai_chat.chat import Chat
from art_compliance.dialects.ruling import Broken, RuleCheck, child, number, objects, outside, rule, rules_of, too_many
from art_sdk.json_data import is_array

messages_nonempty: Final = RuleCheck("groq.messages-nonempty", openai_chat.messages_nonempty.run)
calls_answered: Final = RuleCheck("groq.calls-answered", openai_chat.tool_calls_answered.run)
tool_needs_call: Final = RuleCheck("groq.tool-needs-call", openai_chat.tool_needs_call.run)
json_word: Final = RuleCheck("groq.json-word", openai_chat.json_word.run)
tools_max128: Final = RuleCheck("groq.tools-max128", tool_rules.tools_max128.run)
tool_name_pattern: Final = RuleCheck("groq.tool-name-pattern", tool_rules.tool_name_pattern.run)
tool_name_len64: Final = RuleCheck("groq.tool-name-len64", tool_rules.tool_name_len64.run)
tool_choice_known: Final = RuleCheck("groq.tool-choice-known", tool_rules.tool_choice_known.run)
schema_valid: Final = RuleCheck("groq.schema-valid", tool_rules.schema_valid.run)
response_schema_name: Final = RuleCheck("groq.response-schema-name", tool_rules.response_schema_name.run)
stop_max4: Final = RuleCheck("groq.stop-max4", option_rules.stop_max4.run)


@rule("groq.schema-required-properties")
def schema_required_properties(chat: Chat) -> Iterator[Broken]:
    """At the root. An empty `required` is refused, too."""
    for function in chat.functions:
        schema = child(function, "parameters")
        if "required" in schema.value and not schema.value.get("properties"):
            yield Broken(f"{schema.pointer}/required", "the schema has required, but no properties")


@rule("groq.content-nonempty-list")
def content_nonempty_list(chat: Chat) -> Iterator[Broken]:
    """Text may be empty, a list of parts may not."""
    for message in chat.messages:
        content = message.value.get("content")
        if is_array(content) and not content:
            yield Broken(f"{message.pointer}/content", "the content list is empty")


@rule("groq.sampling-range")
def sampling_range(chat: Chat) -> Iterator[Broken]:
    """Also the penalties, which are accepted and have no effect."""
    yield from outside(chat.root, _RANGES)


_RANGES: Final = {
    "temperature": (0.0, 2.0),
    "top_p": (0.0, 1.0),
    "presence_penalty": (-2.0, 2.0),
    "frequency_penalty": (-2.0, 2.0),
}


@rule("groq.one-choice")
def one_choice(chat: Chat) -> Iterator[Broken]:
    """Null counts as absent."""
    wanted = number(chat.body.get("n"))
    if wanted is not None and wanted != 1:
        yield Broken("/n", f"n is {wanted}; only 1 is supported")


@rule("groq.no-logprobs")
def no_logprobs(chat: Chat) -> Iterator[Broken]:
    """False and 0 count as absent."""
    for name in ("logprobs", "top_logprobs", "logit_bias"):
        if chat.body.get(name):
            yield Broken(f"/{name}", f"{name} is not supported")


@rule("groq.penalties-ignored")
def penalties_ignored(chat: Chat) -> Iterator[Broken]:
    """Groq answers as if they were absent."""
    for name in ("presence_penalty", "frequency_penalty"):
        if chat.body.get(name):
            yield Broken(f"/{name}", f"no model supports {name} yet")


@rule("groq.message-name")
def message_name(chat: Chat) -> Iterator[Broken]:
    """Of any role."""
    for message in chat.messages:
        if message.name is not None:
            yield Broken(f"{message.pointer}/name", "a message cannot have a name")


@rule("groq.reasoning-models")
def reasoning_models(chat: Chat) -> Iterator[Broken]:
    """Even where it is empty."""
    for message in chat.messages:
        if message.value.get("reasoning") is not None:
            yield Broken(
                f"{message.pointer}/reasoning", f"{chat.model} is not a reasoning model, and does not accept reasoning"
            )


@rule("groq.reasoning-format-models")
def reasoning_format_models(chat: Chat) -> Iterator[Broken]:
    """Null counts as absent."""
    if chat.body.get("reasoning_format") is not None:
        yield Broken("/reasoning_format", f"{chat.model} does not accept reasoning_format")


@rule("groq.reasoning-format-alone")
def reasoning_format_alone(chat: Chat) -> Iterator[Broken]:
    """One of the two says what is shown."""
    if chat.body.get("reasoning_format") is not None and chat.body.get("include_reasoning") is not None:
        yield Broken("/include_reasoning", "include_reasoning and reasoning_format exclude each other")


@rule("groq.reasoning-format-raw")
def reasoning_format_raw(chat: Chat) -> Iterator[Broken]:
    """Parsed and hidden are allowed."""
    if chat.body.get("reasoning_format") == "raw" and (chat.functions or _format_of(chat) in _JSON):
        yield Broken("/reasoning_format", "raw cannot be combined with tools or JSON mode")


@rule("groq.json-mode-without-tools")
def json_mode_without_tools(chat: Chat) -> Iterator[Broken]:
    """With a schema, and without."""
    if _format_of(chat) in _JSON and chat.functions:
        yield Broken("/response_format", "JSON mode cannot be combined with tools")


@rule("groq.schema-models")
def schema_models(chat: Chat) -> Iterator[Broken]:
    """They have the mode without a schema."""
    if _format_of(chat) == "json_schema":
        yield Broken("/response_format/type", f"{chat.model} does not accept json_schema")


@rule("groq.schema-not-streamed")
def schema_not_streamed(chat: Chat) -> Iterator[Broken]:
    """JSON mode without a schema is not concerned."""
    if _format_of(chat) == "json_schema" and chat.body.get("stream") is True:
        yield Broken("/stream", "responses with a schema cannot be streamed")


_JSON: Final = ("json_object", "json_schema")


def _format_of(chat: Chat) -> Any:
    return child(chat.root, "response_format").value.get("type")


@rule("groq.images-max5")
def images_max5(chat: Chat) -> Iterator[Broken]:
    """In all messages together."""
    images = [part for message in chat.messages for part in objects(message, "content") if _is_image(part.value)]
    yield from too_many(images, "/messages", "images", 5)


@rule("groq.image-models")
def image_models(chat: Chat) -> Iterator[Broken]:
    """Parts of text are accepted."""
    for message in chat.messages:
        for part in objects(message, "content"):
            if _is_image(part.value):
                yield Broken(f"{part.pointer}/type", f"{chat.model} does not accept images")


def _is_image(part: dict[str, Any]) -> bool:
    return bool(part.get("type") == "image_url")


RULES: Final = rules_of(sys.modules[__name__])
