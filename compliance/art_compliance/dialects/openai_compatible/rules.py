"""What is known of servers that speak chat completions: OpenAI's rules, most of them notes, and those of services.

Statements, sources, severities and hosts: `fixtures/rules/openai-compatible.toml`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from art_compliance.dialects.openai_chat import option_rules, tool_rules
from art_compliance.dialects.openai_chat import rules as openai_chat
from art_compliance.dialects.openai_chat.chat import Chat
from art_compliance.dialects.ruling import Broken, RuleCheck, child, objects, rule, rules_of
from art_compliance.quoting import show

_OPENAI: Final = (
    RuleCheck("compatible.messages-nonempty", openai_chat.messages_nonempty.run),
    RuleCheck("compatible.calls-answered", openai_chat.tool_calls_answered.run),
    RuleCheck("compatible.tool-needs-call", openai_chat.tool_needs_call.run),
    RuleCheck("compatible.result-once", openai_chat.result_once.run),
    RuleCheck("compatible.content-not-null", openai_chat.content_not_null.run),
    RuleCheck("compatible.tool-calls-nonempty", openai_chat.tool_calls_nonempty_array.run),
    RuleCheck("compatible.tool-call-id-len40", openai_chat.tool_call_id_len40.run),
    RuleCheck("compatible.message-name-pattern", openai_chat.message_name_pattern.run),
    RuleCheck("compatible.json-word", openai_chat.json_word.run),
    RuleCheck("compatible.tools-nonempty", tool_rules.tools_nonempty.run),
    RuleCheck("compatible.tools-max128", tool_rules.tools_max128.run),
    RuleCheck("compatible.tool-choice-needs-tools", tool_rules.tool_choice_needs_tools.run),
    RuleCheck("compatible.tool-choice-known", tool_rules.tool_choice_known.run),
    RuleCheck("compatible.tool-name-pattern", tool_rules.tool_name_pattern.run),
    RuleCheck("compatible.tool-name-len64", tool_rules.tool_name_len64.run),
    RuleCheck("compatible.tool-name-nonempty", tool_rules.tool_name_nonempty.run),
    RuleCheck("compatible.tool-names-unique", tool_rules.tool_names_unique.run),
    RuleCheck("compatible.schema-root-object", tool_rules.schema_root_object.run),
    RuleCheck("compatible.schema-array-items", tool_rules.schema_array_items.run),
    RuleCheck("compatible.schema-valid", tool_rules.schema_valid.run),
    RuleCheck("compatible.sampling-range", option_rules.temperature_range.run),
    RuleCheck("compatible.max-tokens-min", option_rules.max_tokens_min.run),
    RuleCheck("compatible.stop-max4", option_rules.stop_max4.run),
    RuleCheck("compatible.stream-options-need-stream", option_rules.stream_options_needs_stream.run),
)


@rule("xai.stop")
def xai_stop(chat: Chat) -> Iterator[Broken]:
    """Of any number."""
    if chat.body.get("stop"):
        yield Broken("/stop", f"{chat.model} does not accept stop sequences")


@rule("xai.penalties")
def xai_penalties(chat: Chat) -> Iterator[Broken]:
    """Null counts as absent."""
    yield from _given(chat, "presence_penalty", "frequency_penalty")


@rule("xai.reasoning-effort")
def xai_reasoning_effort(chat: Chat) -> Iterator[Broken]:
    """Of any size."""
    yield from _given(chat, "reasoning_effort")


def _given(chat: Chat, *names: str) -> Iterator[Broken]:
    for name in names:
        if chat.body.get(name) is not None:
            yield Broken(f"/{name}", f"{chat.model} does not accept {name}")


@rule("xai.content")
def xai_content(chat: Chat) -> Iterator[Broken]:
    """No text, or no parts. Null breaks another rule; an assistant's message with calls may be empty."""
    for message in chat.messages:
        if message.role == "user" and message.content is False:
            yield Broken(f"{message.pointer}/content", "the content is empty")


@rule("ollama.image-data")
def ollama_image_data(chat: Chat) -> Iterator[Broken]:
    """Of the user, who alone may send images."""
    for place, url in _images(chat):
        if url.startswith(("http://", "https://")):
            yield Broken(place, "the image is a URL; send its data instead")


@rule("ollama.image-type")
def ollama_image_type(chat: Chat) -> Iterator[Broken]:
    """A data URL may leave its type out."""
    for place, url in _images(chat):
        if not url.startswith(("http://", "https://", "data:;base64,", *_TYPES)):
            yield Broken(place, f"the URL starts with {show(url[:30])}, which is not a data URL of a JPEG, PNG or WEBP")


_TYPES: Final = tuple(f"data:image/{kind};base64," for kind in ("jpeg", "jpg", "png", "webp"))


def _images(chat: Chat) -> Iterator[tuple[str, str]]:
    """The place and the URL of each image. The URL may stand alone, or in an object."""
    for message in chat.messages:
        for part in objects(message, "content"):
            image = child(part, "image_url")
            url: Any = part.value.get("image_url")
            if isinstance(url, str):
                yield f"{part.pointer}/image_url", url
            elif isinstance(image.value.get("url"), str):
                yield f"{image.pointer}/url", image.value["url"]


@rule("ollama.arguments")
def ollama_arguments(chat: Chat) -> Iterator[Broken]:
    """Go reads null as an object without fields."""
    for call in chat.calls:
        text = call.function.value.get("arguments")
        if isinstance(text, str) and text.strip() != "null" and not _is_object(text):
            yield Broken(f"{call.function.pointer}/arguments", "the arguments are not a JSON object")


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


@rule("ollama.effort")
def ollama_effort(chat: Chat) -> Iterator[Broken]:
    """As `reasoning_effort` and as `reasoning.effort`."""
    for place, name in ((chat.root, "reasoning_effort"), (child(chat.root, "reasoning"), "effort")):
        value = place.value.get(name)
        if isinstance(value, str) and value not in ("", "high", "medium", "low", "none"):
            yield Broken(
                f"{place.pointer}/{name}", f"the effort is {show(value)}; it must be high, medium, low or none"
            )


IGNORED_BY_OLLAMA: Final[Mapping[str, tuple[Any, ...]]] = {
    "tool_choice": ("auto",),
    "parallel_tool_calls": (True,),
    "max_completion_tokens": (),
}
"""With the values that say what happens anyway."""


@rule("ollama.ignored")
def ollama_ignored(chat: Chat) -> Iterator[Broken]:
    """A field that says what happens anyway is not reported."""
    for name, harmless in IGNORED_BY_OLLAMA.items():
        if chat.body.get(name) not in (None, *harmless):
            yield Broken(f"/{name}", f"Ollama ignores {name}")


@rule("perplexity.alternation")
def perplexity_alternation(chat: Chat) -> Iterator[Broken]:
    """Tool messages do not count: it is not known how they do."""
    before = "system"
    for message in chat.messages:
        role = message.role
        if role == "system" and before != "system":
            yield Broken(f"{message.pointer}/role", "a system message comes after other messages")
        elif role in {"user", "assistant"} and role == before:
            yield Broken(f"{message.pointer}/role", f"two consecutive messages have the role {role}")
        before = role or before


@rule("perplexity.last-role")
def perplexity_last_role(chat: Chat) -> Iterator[Broken]:
    """Only the assistant's is known to be refused."""
    for message in chat.messages[-1:]:
        if message.role == "assistant":
            yield Broken(f"{message.pointer}/role", "the last message is from the assistant")


@rule("perplexity.frequency-penalty")
def perplexity_frequency_penalty(chat: Chat) -> Iterator[Broken]:
    """Zero, which elsewhere means none."""
    if chat.body.get("frequency_penalty") == 0:
        yield Broken("/frequency_penalty", "frequency_penalty is 0; omit it")


@rule("cerebras.parallel-tool-calls")
def cerebras_parallel_tool_calls(chat: Chat) -> Iterator[Broken]:
    """Only false."""
    if chat.body.get("parallel_tool_calls") is False:
        yield Broken("/parallel_tool_calls", f"{chat.model} may not accept parallel_tool_calls: false")


RULES: Final = (*_OPENAI, *rules_of(sys.modules[__name__]))
