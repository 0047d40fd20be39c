"""Adapters that are wrong where providers of chat completions differ: in reasoning, call ids, ends and usage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from art_compliance.dialects.framing import change_data
from art_compliance.miniatures.base import (
    Events,
    Options,
    Prompt,
    Translate,
    change_events,
    change_payload,
    miniature,
    retranslate,
)
from art_compliance.miniatures.forms import reread
from art_compliance.miniatures.streams import change_streams, refeed, without_error
from art_sdk.json_data import is_array, is_object

_FIELDS = ("reasoning_content", "reasoning", "reasoning_details")

REASONING = ("deepseek", "openrouter", "mistral", "groq")
"""Adapters whose providers show reasoning, each in its own place."""


@miniature("response.thinking-is-separate", around=REASONING)
def passes_over_reasoning(adapter: Any) -> None:
    """A whole answer's reasoning is not read."""
    reread(adapter, _without_reasoning)


@miniature("stream.thinking-is-separate", around=REASONING)
def passes_over_streamed_reasoning(adapter: Any) -> None:
    """A stream's reasoning is not read."""
    refeed(adapter, lambda chunk: change_data(chunk, _without_reasoning))


@miniature("response.signatures-go-back", around=REASONING)
def keeps_reasoning_to_itself(adapter: Any) -> None:
    """Reasoning is read, and is not sent back."""
    change_payload(adapter, _without_reasoning)


@miniature("response.signatures-go-back", around=REASONING)
def forgets_reasoning_of_its_message(adapter: Any) -> None:
    """Reasoning is read, and END's message does not have it, so that it cannot be sent back."""
    change_events(adapter, lambda events: [_without_extensions(event) for event in events])


@miniature("stream.equals-the-whole-answer", around=REASONING)
def keeps_one_piece_of_reasoning(adapter: Any) -> None:
    """Of a stream's reasoning, END's message keeps the first half for the way back."""
    change_streams(adapter, lambda events: [_with_half(event) for event in events])


@miniature("wire.no-rule-is-broken", around=("mistral", "openai"))
def maps_ids_of_calls_alone(adapter: Any) -> None:
    """An id is mapped in the call, and sent as it is in the call's result."""
    retranslate(adapter, _with_own_ids_in_results)


@miniature("translation.call-ids-survive", around=("mistral",))
def maps_ids_to_their_letters(adapter: Any) -> None:
    """Of an id, its first nine letters and digits are sent, which several ids may share."""
    retranslate(adapter, lambda translate, prompt, options: _mapped(translate(prompt, options), prompt, _nine_letters))


@miniature("translation.call-ids-survive", around=("mistral",))
def maps_ids_to_their_ends(adapter: Any) -> None:
    """Of an id, its last nine letters and digits are sent, which several ids may share."""
    retranslate(adapter, lambda translate, prompt, options: _mapped(translate(prompt, options), prompt, _nine_last))


@miniature("translation.mapped-ids-stay-distinct", around=("openai",))
def frees_ids_of_signs(adapter: Any) -> None:
    """An id is sent without its signs, even where another id is the same then."""
    retranslate(adapter, lambda translate, prompt, options: _mapped(translate(prompt, options), prompt, _letters))


@miniature("stream.other-forms-are-read", around=("openai-compatible", "cohere"))
def needs_the_end_mark(adapter: Any) -> None:
    """A stream that ends after `finish_reason`, without `[DONE]`, is taken for one that was cut off."""
    seen: list[bytes] = []
    refeed(adapter, lambda chunk: _noted(chunk, seen))
    change_streams(adapter, lambda events: _failed_without_mark(events, seen))


@miniature("stream.cut-short-is-an-error", around=("openai-compatible", "deepseek"))
def takes_a_close_for_the_end(adapter: Any) -> None:
    """A stream that is closed before `finish_reason` is read as whole; a connection that breaks is an error."""
    change_streams(adapter, _closed_well)


@miniature("stream.usage-is-reported", around=("openai", "openai-compatible"))
def reads_usage_beside_choices(adapter: Any) -> None:
    """Usage in its own chunk, without choices, is not read."""
    refeed(adapter, lambda chunk: change_data(chunk, _without_lone_usage))


@miniature("stream.other-forms-are-read", around=("deepseek", "mistral", "openrouter"))
def reads_usage_of_choices(adapter: Any) -> None:
    """Usage in its own chunk, without choices, is not read where the provider sends it with the finish."""
    refeed(adapter, lambda chunk: change_data(chunk, _without_lone_usage))


@miniature("stream.other-forms-are-read", around=("deepseek", "openrouter", "groq"))
def reads_one_field_of_a_delta(adapter: Any) -> None:
    """Of a delta with reasoning and the beginning of the answer, the reasoning is not read."""
    refeed(adapter, lambda chunk: change_data(chunk, _without_thoughts_beside))


def _without_thoughts_beside(chunk: Any) -> Any:
    for choice in chunk.get("choices") or ():
        delta: dict[str, Any] = choice.get("delta") or {}
        if delta.get("content") or delta.get("tool_calls"):
            choice["delta"] = {name: value for name, value in delta.items() if name not in _FIELDS}
    return chunk


@miniature("response.usage-may-be-missing", "stream.usage-may-be-missing", around=("openai", "deepseek", "mistral"))
def fails_without_token_counts(adapter: Any) -> None:
    """An answer without token counts becomes an error."""
    change_events(adapter, _failed_without_counts)


@miniature("response.usage-may-be-missing", "stream.usage-may-be-missing", around=("openai", "anthropic", "cohere"))
def takes_no_tokens_for_no_count(adapter: Any) -> None:
    """A count of 0 is left out, as if nothing had been counted."""
    change_events(adapter, lambda events: [_with_metadata(event, _without_zeros) for event in events])


def _with_metadata(event: dict[str, Any], change: Callable[[Mapping[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """The event with its metadata changed, if it has any."""
    metadata = event.get("metadata")
    return {**event, "metadata": change(metadata)} if is_object(metadata) else event


def _without_zeros(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value or None if type(value) is int else value for name, value in metadata.items()}


@miniature("response.usage-may-be-missing", "stream.usage-may-be-missing", around=("ollama-chat", "openai"))
def takes_no_count_for_no_tokens(adapter: Any) -> None:
    """A count that is not in the answer is reported as 0."""
    change_events(adapter, lambda events: [_with_metadata(event, _with_zeros) for event in events])


def _with_zeros(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {**metadata, **{name: metadata.get(name) or 0 for name in ("inputTokens", "outputTokens")}}


def _without_reasoning(value: Any) -> Any:
    if is_object(value):
        return {name: _without_reasoning(item) for name, item in value.items() if name not in _FIELDS}
    if is_array(value):
        return [_without_reasoning(item) for item in value if not (is_object(item) and item.get("type") == "thinking")]
    return value


def _without_extensions(event: dict[str, Any]) -> dict[str, Any]:
    message = event.get("message")
    return {**event, "message": {**message, "extensions": None}} if is_object(message) else event


def _with_half(event: dict[str, Any]) -> dict[str, Any]:
    message = event.get("message")
    if event["type"] != "END" or not is_object(message) or not message.get("extensions"):
        return event
    return {**event, "message": {**message, "extensions": _halved(message["extensions"])}}


def _halved(value: Any) -> Any:
    """The value with the first half of every text of reasoning."""
    if is_object(value):
        return {
            name: item[: len(item) // 2] if isinstance(item, str) and name != "type" else _halved(item)
            for name, item in value.items()
        }
    return [_halved(item) for item in value] if is_array(value) else value


def _ids_of(prompt: Prompt) -> list[str]:
    return [call["id"] for message in prompt for call in message.get("tool_calls", ())]


def _mapped(payload: Any, prompt: Prompt, change: Callable[[str], str]) -> Any:
    """The payload with other ids, made of the prompt's own."""
    sent = [call["id"] for message in payload["messages"] for call in message.get("tool_calls") or ()]
    made = {id_sent: change(own) or id_sent for id_sent, own in zip(sent, _ids_of(prompt), strict=False)}
    return {**payload, "messages": [_with_ids(message, made) for message in payload["messages"]]}


def _with_ids(message: dict[str, Any], made: dict[str, str]) -> dict[str, Any]:
    if message["role"] == "tool":
        return {**message, "tool_call_id": made.get(message["tool_call_id"], message["tool_call_id"])}
    if not message.get("tool_calls"):
        return message
    return {
        **message,
        "tool_calls": [{**call, "id": made.get(call["id"], call["id"])} for call in message["tool_calls"]],
    }


def _nine_letters(call_id: str) -> str:
    return _letters(call_id)[:9].ljust(9, "0")


def _nine_last(call_id: str) -> str:
    return _letters(call_id)[-9:].rjust(9, "0")


def _letters(call_id: str) -> str:
    return "".join(one for one in call_id if one.isascii() and one.isalnum())


def _with_own_ids_in_results(translate: Translate, prompt: Prompt, options: Options) -> Any:
    payload = translate(prompt, options)
    sent = [call["id"] for message in payload["messages"] for call in message.get("tool_calls") or ()]
    own = dict(zip(sent, _ids_of(prompt), strict=False))
    results = [_with_ids(message, own) if message["role"] == "tool" else message for message in payload["messages"]]
    return {**payload, "messages": results}


def _noted(chunk: bytes, seen: list[bytes]) -> bytes:
    seen.append(chunk)
    return chunk


def _failed_without_mark(events: Events, seen: list[bytes]) -> Events:
    is_marked = b"[DONE]" in b"".join(seen)
    seen.clear()
    return events if is_marked or events[-1]["finish"] == "error" else _failed(events)


def _closed_well(events: Events) -> Events:
    """The events without an error of the adapter's own, which has seen no end."""
    message = next((event["error"]["message"] for event in events if event["type"] == "ERROR"), "")
    return without_error(events) if "finish_reason" in message else events


def _failed(events: Events) -> Events:
    """The events, ended by an error."""
    error = {"code": "LLM_PROVIDER_ERROR", "message": "the answer is not whole"}
    kept = [event for event in events if event["type"] not in ("METADATA", "END")]
    head = {name: events[-1][name] for name in ("thread_id", "trace_id", "session_id") if name in events[-1]}
    return [*kept, {**head, "type": "ERROR", "error": error}, {**events[-1], "message": None, "finish": "error"}]


def _without_lone_usage(chunk: Any) -> Any:
    return {**chunk, "usage": None} if not chunk.get("choices") and "x_groq" not in chunk else chunk


def _failed_without_counts(events: Events) -> Events:
    counted = any(event.get("metadata", {}).get("inputTokens") is not None for event in events)
    return events if counted or events[-1]["finish"] == "error" else _failed(events)
