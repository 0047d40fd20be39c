"""DeepSeek's rules. Statements and sources: `fixtures/rules/deepseek-chat.toml`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from art_compliance.dialects.openai_chat import option_rules, tool_rules
from art_compliance.dialects.openai_chat import rules as openai_chat
from art_compliance.dialects.openai_chat.chat import Chat, ChatMessage
from art_compliance.dialects.ruling import Broken, RuleCheck, child, number, objects, outside, rule, rules_of, too_many
from art_compliance.quoting import show
from art_sdk.json_data import is_object

messages_nonempty: Final = RuleCheck("deepseek.messages-nonempty", openai_chat.messages_nonempty.run)
calls_answered: Final = RuleCheck("deepseek.calls-answered", openai_chat.tool_calls_answered.run)
tool_needs_call: Final = RuleCheck("deepseek.tool-needs-call", openai_chat.tool_needs_call.run)
result_once: Final = RuleCheck("deepseek.result-once", openai_chat.result_once.run)
json_word: Final = RuleCheck("deepseek.json-word", openai_chat.json_word.run)
tools_max128: Final = RuleCheck("deepseek.tools-max128", tool_rules.tools_max128.run)
tool_name_pattern: Final = RuleCheck("deepseek.tool-name-pattern", tool_rules.tool_name_pattern.run)
tool_name_len64: Final = RuleCheck("deepseek.tool-name-len64", tool_rules.tool_name_len64.run)
tool_names_unique: Final = RuleCheck("deepseek.tool-names-unique", tool_rules.tool_names_unique.run)
tool_choice_known: Final = RuleCheck("deepseek.tool-choice-known", tool_rules.tool_choice_known.run)
schema_valid: Final = RuleCheck("deepseek.schema-valid", tool_rules.schema_valid.run)
strict_schema_closed: Final = RuleCheck("deepseek.strict-schema-closed", tool_rules.strict_schema_closed.run)
stream_options: Final = RuleCheck("deepseek.stream-options-need-stream", option_rules.stream_options_needs_stream.run)
max_tokens_min: Final = RuleCheck("deepseek.max-tokens-min", option_rules.max_tokens_min.run)
top_logprobs: Final = RuleCheck("deepseek.top-logprobs-needs-logprobs", option_rules.top_logprobs_needs_logprobs.run)


@rule("deepseek.schema-root-object")
def schema_root_object(chat: Chat) -> Iterator[Broken]:
    """The field may be left out, but not be an empty object."""
    for function in chat.functions:
        parameters = function.value.get("parameters")
        if is_object(parameters) and parameters.get("type") != "object":
            yield Broken(f"{function.pointer}/parameters", 'the type of the parameters must be "object"')


@rule("deepseek.max-tokens-max")
def max_tokens_max(chat: Chat) -> Iterator[Broken]:
    """384K, as DeepSeek counts."""
    limit = number(chat.body.get("max_tokens"))
    if limit is not None and limit > _MOST_TOKENS:
        yield Broken("/max_tokens", f"max_tokens is {limit}; it must be at most {_MOST_TOKENS}")


_MOST_TOKENS: Final = 384 * 1024


@rule("deepseek.sampling-range")
def sampling_range(chat: Chat) -> Iterator[Broken]:
    """top_p may not be 0."""
    yield from outside(chat.root, _RANGES)
    if number(chat.body.get("top_p")) == 0:
        yield Broken("/top_p", "top_p is 0; it must be above 0")


_RANGES: Final = {
    "temperature": (0.0, 2.0),
    "top_p": (0.0, 1.0),
    "presence_penalty": (-2.0, 2.0),
    "frequency_penalty": (-2.0, 2.0),
    "top_logprobs": (0.0, 20.0),
}


@rule("deepseek.assistant-nonempty")
def assistant_nonempty(chat: Chat) -> Iterator[Broken]:
    """An empty text is content."""
    for message in chat.messages:
        if message.role == "assistant" and message.content is None and not message.calls:
            yield Broken(message.pointer, "the message has neither content nor tool calls")


@rule("deepseek.tool-type")
def tool_type(chat: Chat) -> Iterator[Broken]:
    """A missing type is left to the wire schema."""
    for tool in objects(chat.root, "tools"):
        kind = tool.value.get("type")
        if isinstance(kind, str) and kind != "function":
            yield Broken(f"{tool.pointer}/type", f"DeepSeek accepts only tools of type function, not {show(kind)}")


@rule("deepseek.stop-max16")
def stop_max16(chat: Chat) -> Iterator[Broken]:
    """A plain text counts as one."""
    yield from too_many(chat.body.get("stop"), "/stop", "stop sequences", 16)


@rule("deepseek.text-parts")
def text_parts(chat: Chat) -> Iterator[Broken]:
    """Of every message's content."""
    for message in chat.messages:
        for part in objects(message, "content"):
            kind = part.value.get("type")
            if isinstance(kind, str) and kind != "text":
                yield Broken(f"{part.pointer}/type", f"{chat.model} accepts only text parts, not {show(kind)}")


@rule("deepseek.response-format")
def response_format(chat: Chat) -> Iterator[Broken]:
    """DeepSeek has no structured outputs in this format."""
    if child(chat.root, "response_format").value.get("type") == "json_schema":
        yield Broken("/response_format/type", "DeepSeek accepts text and json_object, not json_schema")


@rule("deepseek.thinking-tool-choice")
def thinking_tool_choice(chat: Chat) -> Iterator[Broken]:
    """The models think unless the request says otherwise."""
    choice = chat.body.get("tool_choice")
    if (choice == "required" or is_object(choice)) and not _thinking_is_off(chat):
        yield Broken("/tool_choice", "tool_choice cannot force a call in thinking mode")


@rule("deepseek.reasoning-back")
def reasoning_back(chat: Chat) -> Iterator[Broken]:
    """In the messages since the user last spoke: earlier ones may have lost theirs. An empty text counts."""
    for message in reversed(chat.messages):
        if message.role == "user":
            return
        if _calls(message) and message.value.get("reasoning_content") is None and not _thinking_is_off(chat):
            yield Broken(message.pointer, "the message has tool calls, but no reasoning_content")


@rule("deepseek.reasoning-ignored-plain")
def reasoning_ignored_plain(chat: Chat) -> Iterator[Broken]:
    """In messages without calls."""
    for message in chat.messages:
        if message.has_reasoning and not message.calls:
            yield Broken(
                f"{message.pointer}/reasoning_content",
                "the message has no tool calls, so its reasoning_content is ignored",
            )


@rule("deepseek.alternate-r1")
def alternate_r1(chat: Chat) -> Iterator[Broken]:
    """Messages of the user and of the assistant."""
    for before, message in pairwise(chat.messages):
        if message.role == before.role and message.role in ("user", "assistant"):
            yield Broken(f"{message.pointer}/role", f"two consecutive messages have the role {message.role}")


@rule("deepseek.roles")
def roles(chat: Chat) -> Iterator[Broken]:
    """`developer` is not among them."""
    for message in chat.messages:
        role = message.role
        if isinstance(role, str) and role not in _ROLES:
            yield Broken(f"{message.pointer}/role", f"unknown role {show(role)}")


_ROLES: Final = ("system", "user", "assistant", "tool", "latest_reminder")


@rule("deepseek.sampling-ignored")
def sampling_ignored(chat: Chat) -> Iterator[Broken]:
    """DeepSeek answers as if the options were absent."""
    for name in ("temperature", "top_p", "presence_penalty", "frequency_penalty"):
        if chat.body.get(name) is not None and not _thinking_is_off(chat):
            yield Broken(f"/{name}", f"{chat.model} ignores {name}")


def _calls(message: ChatMessage) -> bool:
    return message.role == "assistant" and bool(message.calls)


def _thinking_is_off(chat: Chat) -> bool:
    return child(chat.root, "thinking").value.get("type") == "disabled"


RULES: Final = rules_of(sys.modules[__name__])
