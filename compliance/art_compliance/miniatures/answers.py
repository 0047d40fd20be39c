"""Adapters that translate well, but read the provider's answer wrongly or pass on something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from art_compliance.miniatures.base import (
    Events,
    as_data,
    change_events,
    change_payload,
    failed,
    made_with,
    miniature,
)
from art_compliance.miniatures.isolation import readdress
from art_compliance.subject.events import Answered
from art_sdk import TokenEvent
from art_sdk.json_data import is_array, is_object


@miniature("response.answer-is-read")
def reads_texts_alone(adapter: Any) -> None:
    """An answer with a call becomes an error."""
    change_events(adapter, lambda events: failed("no text") if _has(events, "TOOL_CALL") else events)


@miniature("response.every-prompt-is-answered")
def reads_the_first_answer_alone(adapter: Any) -> None:
    """Once the prompt has an assistant message, answers lose their text."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        async def events() -> Any:
            later = any(message["role"] == "assistant" for message in as_data(prompt))
            async for event in own(prompt, options):
                if not (later and isinstance(event, TokenEvent)):
                    yield event

        return events()

    adapter.call = call


@miniature("response.calls-are-whole", "stream.calls-are-whole", around=("anthropic",))
def says_nothing_for_no_arguments(adapter: Any) -> None:
    """The arguments of a call without any are an empty text."""
    change_events(adapter, lambda events: [_without_empty_object(event) for event in events])


def _without_empty_object(value: Any) -> Any:
    if is_object(value):
        return {
            name: "" if name == "arguments" and item == "{}" else _without_empty_object(item)
            for name, item in value.items()
        }
    return [_without_empty_object(item) for item in value] if is_array(value) else value


@miniature("response.thinking-is-separate", around=("deepseek",))
def gives_its_reasoning_last(adapter: Any) -> None:
    """The tokens of the answer come before those of the reasoning."""
    change_events(adapter, lambda events: sorted(events, key=_is_after_text))


def _is_after_text(event: dict[str, Any]) -> int:
    if event["type"] != "TOKEN":
        return 2
    return int(event["token_type"].endswith("LLM_THINKING"))


@miniature("response.unknown-finish-is-other", "stream.unknown-finish-is-other", around=("openai",))
def has_reasons_of_its_own_alone(adapter: Any) -> None:
    """METADATA has the standard's reason in place of the provider's own."""

    def with_own(event: dict[str, Any]) -> dict[str, Any]:
        metadata = event.get("metadata")
        return event if not is_object(metadata) else {**event, "metadata": {**metadata, "rawStopReason": "other"}}

    change_events(adapter, lambda events: [with_own(event) for event in events])


@miniature("response.failed-finish-is-not-success", "stream.failed-finish-is-not-success", around=("anthropic",))
def takes_good_ends_for_one(adapter: Any) -> None:
    """METADATA says `end_turn` in place of the provider's `stop_sequence`."""
    _retell_ends(adapter, "stop_sequence", rawStopReason="end_turn")


@miniature("response.failed-finish-is-not-success", "stream.failed-finish-is-not-success", around=("anthropic",))
def takes_pauses_for_stops_in_metadata(adapter: Any) -> None:
    """METADATA says `stop` of `pause_turn`; END does not."""
    _retell_ends(adapter, "pause_turn", stopReason="stop")


def _retell_ends(adapter: Any, reason: str, **facts: str) -> None:
    """METADATA of an answer that ended for this reason has other facts."""

    def changed(event: dict[str, Any]) -> dict[str, Any]:
        metadata = event.get("metadata")
        if not is_object(metadata) or metadata.get("rawStopReason") != reason:
            return event
        return {**event, "metadata": {**metadata, **facts}}

    change_events(adapter, lambda events: [changed(event) for event in events])


@miniature("response.failed-finish-is-not-success", around=("anthropic", "gemini"))
def completes_whatever_ended(adapter: Any) -> None:
    """`complete` says `stop` of every answer without calls that is neither cut off nor filtered."""
    own = adapter.complete

    async def complete(prompt: Any, options: Any) -> Any:
        answer = await own(prompt, options)
        return msgspec.structs.replace(answer, finish="stop") if answer.finish == "other" else answer

    adapter.complete = complete


@miniature("response.message-is-standard")
def hands_on_the_providers_message(adapter: Any) -> None:
    """END's message has fields that only the provider knows."""
    change_events(adapter, lambda events: _with_message(events, lambda message: {**message, "refusal": None}))


@miniature("response.key-goes-in-a-header")
def sends_no_key(adapter: Any) -> None:
    """The request has no API key."""
    adapter.auth_headers = dict


@miniature("response.key-goes-in-a-header", around=("gemini", "openai"))
def streams_with_its_key_in_the_url(adapter: Any) -> None:
    """Streams are asked for at a URL that has the API key besides."""
    key = made_with().get("api_key")

    def change(request: dict[str, Any], options: Any) -> dict[str, Any]:
        mark = "&" if "?" in request["url"] else "?"
        return {**request, "url": f"{request['url']}{mark}key={key}"} if options.stream else request

    readdress(adapter, change)


@miniature("response.events-keep-their-order")
def ends_twice(adapter: Any) -> None:
    """END comes twice."""
    change_events(adapter, lambda events: [*events, events[-1]])


@miniature("response.events-keep-their-order")
def tells_the_end_and_no_more(adapter: Any) -> None:
    """METADATA never comes."""
    change_events(adapter, lambda events: [event for event in events if event["type"] != "METADATA"])


@miniature("response.events-carry-their-ids")
def forgets_the_trace(adapter: Any) -> None:
    """Only the first event carries the ids."""
    change_events(adapter, lambda events: [*events[:1], *({**event, "thread_id": None} for event in events[1:])])


@miniature("response.text-is-whole")
def trims_the_answer(adapter: Any) -> None:
    """The answer's text loses whitespace at its ends."""
    change_events(adapter, lambda events: with_texts(events, str.strip))


@miniature("response.text-is-whole")
def repeats_the_text_at_the_end(adapter: Any) -> None:
    """The whole text comes again as one token after its pieces."""
    change_events(adapter, lambda events: [e for event in events for e in _twice(event)])


@miniature("response.calls-are-whole")
def hears_one_call_of_many(adapter: Any) -> None:
    """Only the first of several calls in an answer is passed on."""
    change_events(adapter, _first_call_alone)


@miniature("response.calls-are-whole")
def takes_cut_arguments_for_none(adapter: Any) -> None:
    """Arguments that are not JSON become an empty object."""
    change_events(adapter, lambda events: with_arguments(events, lambda text: text if text.endswith("}") else "{}"))


@miniature("response.calls-are-whole")
def gives_every_call_one_id(adapter: Any) -> None:
    """All calls of an answer have the id `call_0`."""
    change_events(adapter, lambda events: with_calls(events, lambda call: {**call, "id": "call_0"}))


@miniature("response.calls-are-whole")
def tells_calls_at_the_end_alone(adapter: Any) -> None:
    """TOOL_CALL never comes; only END's message has the calls."""
    change_events(adapter, lambda events: [event for event in events if event["type"] != "TOOL_CALL"])


@miniature("response.thinking-is-separate")
def takes_thinking_for_text(adapter: Any) -> None:
    """The model's reasoning becomes part of its answer."""
    change_events(adapter, lambda events: [_spoken(event) for event in events])


@miniature("response.finish-is-reported")
def takes_every_end_for_a_stop(adapter: Any) -> None:
    """A truncated or blocked answer ends with `stop`."""
    change_events(adapter, lambda events: _with_end(events, lambda end: {**end, "finish": "stop"}))


@miniature("response.usage-is-reported")
def leaves_the_cache_uncounted(adapter: Any) -> None:
    """The prompt's token count leaves out cached tokens."""
    change_events(adapter, lambda events: [_without_cache(event) for event in events])


@miniature("response.answer-can-be-appended")
def gives_arguments_as_objects(adapter: Any) -> None:
    """The arguments in END's message are an object, not JSON text."""
    change_events(adapter, lambda events: with_arguments(events, lambda text: {"text": text}))


@miniature("response.signatures-go-back")
def forgets_what_is_wanted_back(adapter: Any) -> None:
    """END's message has no extensions."""
    change_events(adapter, lambda events: _with_message(events, _without_extensions))


@miniature("response.signatures-go-back", "response.answer-can-be-appended", around=("ollama-chat",))
def forgets_thinking_before_calls(adapter: Any) -> None:
    """The thinking of an answer with calls is not sent back."""

    def change(payload: Any) -> Any:
        for message in payload["messages"]:
            if message.get("tool_calls"):
                message.pop("thinking", None)
        return payload

    change_payload(adapter, change)


@miniature("response.context-marks-the-tokens")
def ignores_the_call_context(adapter: Any) -> None:
    """Token types ignore the call context."""
    change_events(adapter, lambda events: [_unmarked(event) for event in events])


@miniature("response.unknown-fields-are-ignored")
def refuses_new_fields(adapter: Any) -> None:
    """An answer with an unknown field is not read."""
    own = adapter.read_response

    def read_response(head: Any, body: bytes, info: Any) -> Any:
        return own(head, b"" if b"x_new_field" in body else body, info)

    adapter.read_response = read_response


@miniature("response.call-methods-agree")
def reads_otherwise_without_a_loop(adapter: Any) -> None:
    """`call_sync` strips the answer's tokens; `call` does not."""
    own = adapter.call_sync

    def call_sync(prompt: Any, options: Any) -> Any:
        events = list(Answered.of(own(prompt, options)).events)
        return iter(with_texts(events, str.strip))

    adapter.call_sync = call_sync


@miniature("response.unknown-finish-is-other")
def takes_unknown_ends_for_stops(adapter: Any) -> None:
    """An unknown finish reason becomes `stop`."""
    change_events(adapter, lambda events: [_ended(event) for event in events])


@miniature("response.broken-answer-is-an-error", "response.error-answer-is-an-error")
def takes_errors_for_empty_answers(adapter: Any) -> None:
    """After an error only END comes, with an empty text and the finish `stop`."""
    change_events(adapter, lambda events: _answered_nothing(events) if _has(events, "ERROR") else events)


@miniature("response.error-answer-is-an-error")
def hides_the_status(adapter: Any) -> None:
    """The error says only that something went wrong."""
    change_events(adapter, lambda events: failed("something went wrong") if _has(events, "ERROR") else events)


@miniature("response.error-answer-is-an-error")
def forgets_the_providers_code(adapter: Any) -> None:
    """ERROR has no provider_code, whatever the provider says."""
    change_events(adapter, lambda events: [_without_code(event) for event in events])


@miniature("response.key-is-never-shown")
def shows_the_key(adapter: Any) -> None:
    """The error shows the request with its headers."""
    key = made_with().get("api_key")
    change_events(adapter, lambda events: failed(f"Bearer {key}") if _has(events, "ERROR") else events)


@miniature("response.key-is-never-shown", around=("bedrock",))
def shows_its_session_token(adapter: Any) -> None:
    """An error that repeats the session token of AWS keys is given as it came."""
    signer = getattr(adapter, "_signer", None)
    if signer is not None:
        token = signer.keys.token
        change_events(adapter, lambda events: failed(f"signed with {token}") if _has(events, "ERROR") else events)


def _without_code(event: dict[str, Any]) -> dict[str, Any]:
    return {**event, "error": {**event["error"], "provider_code": None}} if event["type"] == "ERROR" else event


def _ended(event: dict[str, Any]) -> dict[str, Any]:
    return {**event, "finish": "stop"} if event.get("finish") == "other" else event


def _has(events: Events, kind: str) -> bool:
    return any(event["type"] == kind for event in events)


def _answered_nothing(events: Events) -> Events:
    return [{**events[-1], "message": {"role": "assistant", "content": ""}, "finish": "stop"}]


def _with_end(events: Events, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Events:
    return [*events[:-1], change(events[-1])]


def _with_message(events: Events, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Events:
    return _with_end(events, lambda end: {**end, "message": end["message"] and change(end["message"])})


def _without_extensions(message: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in message.items() if name != "extensions"}


def with_texts(events: Events, change: Callable[[str], str]) -> Events:
    """The events of an answer with every text changed: each token's, and the message's."""
    changed = [{**event, "text": change(event["text"])} if event["type"] == "TOKEN" else event for event in events]
    return _with_message(
        changed, lambda message: {**message, "content": message["content"] and change(message["content"])}
    )


def _twice(event: dict[str, Any]) -> Events:
    return [event, event] if event["type"] == "TOKEN" else [event]


def with_calls(events: Events, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Events:
    """The events of an answer with every call changed."""
    changed = [{**event, "call": change(event["call"])} if event["type"] == "TOOL_CALL" else event for event in events]
    return _with_message(
        changed, lambda message: {**message, "tool_calls": [change(call) for call in message.get("tool_calls", ())]}
    )


def with_arguments(events: Events, change: Callable[[str], Any]) -> Events:
    """The events of an answer with the arguments of every call changed."""

    def changed(call: dict[str, Any]) -> dict[str, Any]:
        function = call["function"]
        return {**call, "function": {**function, "arguments": change(function["arguments"])}}

    return with_calls(events, changed)


def _first_call_alone(events: Events) -> Events:
    calls = [event for event in events if event["type"] == "TOOL_CALL"]
    changed = [event for event in events if event not in calls[1:]]
    return _with_message(changed, lambda message: {**message, "tool_calls": message.get("tool_calls", [])[:1]})


def _spoken(event: dict[str, Any]) -> dict[str, Any]:
    return {**event, "token_type": "LLM_RESPONSE"} if event["type"] == "TOKEN" else event


def _without_cache(event: dict[str, Any]) -> dict[str, Any]:
    metadata = event.get("metadata")
    if not is_object(metadata) or not metadata.get("cachedTokens"):
        return event
    return {**event, "metadata": {**metadata, "inputTokens": metadata["inputTokens"] - metadata["cachedTokens"]}}


def _unmarked(event: dict[str, Any]) -> dict[str, Any]:
    if event["type"] != "TOKEN":
        return event
    return {**event, "token_type": event["token_type"].removeprefix("AGENT_THOUGHT_").removeprefix("FINAL_SYNTHESIS_")}
