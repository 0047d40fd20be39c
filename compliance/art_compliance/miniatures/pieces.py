"""Adapters that read usual streams well, but not unusual pieces, ends or callers."""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from contextlib import suppress
from typing import Any, Final

import msgspec

from art_compliance.dialects.framing import change_data
from art_compliance.miniatures.base import Events, as_data, change_events, failed, miniature, retell
from art_compliance.miniatures.streams import change_streams, refeed
from art_compliance.subject.events import Answered


def _with_options(adapter: Any, **other: Any) -> None:
    """The adapter's streamed calls are made with other options than were given."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        if not as_data(options).get("stream"):
            return own(prompt, options)
        if isinstance(options, msgspec.Struct):
            return own(prompt, msgspec.structs.replace(options, **other))
        return own(prompt, {**options, **other})

    adapter.call = call


@miniature("stream.context-marks-the-tokens")
def forgets_the_context_when_streaming(adapter: Any) -> None:
    """Streamed tokens ignore the call context."""
    _with_options(adapter, call_context=None)


@miniature("stream.unusual-answers-are-read", around=("openai-responses", "anthropic", "openai"))
def keeps_the_last_pieces_alone(adapter: Any) -> None:
    """The message of a stream has its last 4,096 pieces, as a buffer without a bound could take all memory."""

    def shortened(events: Events) -> Events:
        tokens = [one["text"] for one in events if one["type"] == "TOKEN" and one["token_type"].endswith("RESPONSE")]
        *others, end = as_data(events)
        if len(tokens) > _PLACES and end.get("message"):
            end["message"]["content"] = "".join(tokens[-_PLACES:])
        return [*others, end]

    change_streams(adapter, shortened)


_PLACES: Final = 4096


@miniature("stream.unknown-fields-are-ignored")
def knows_every_field_of_a_stream(adapter: Any) -> None:
    """A stream's event with an unknown field is not read."""
    refeed(adapter, lambda chunk: chunk.replace(b'"x_new_field":', b'"x_new_field" '))


@miniature("stream.unknown-finish-is-other")
def takes_new_ends_for_stop(adapter: Any) -> None:
    """A stream with an unknown finish reason ends with `stop`."""
    change_streams(adapter, lambda events: [_stopped(event) for event in events])


def _stopped(event: dict[str, Any]) -> dict[str, Any]:
    return {**event, "finish": "stop"} if event.get("finish") == "other" else event


@miniature("stream.interleaved-calls-do-not-mix")
def passes_over_first_arguments(adapter: Any) -> None:
    """Arguments that come in one piece with a call's name are lost."""
    refeed(adapter, lambda chunk: change_data(chunk, _without_first_arguments))


def _without_first_arguments(chunk: Any) -> Any:
    for choice in chunk.get("choices") or ():
        for call in choice["delta"].get("tool_calls") or ():
            if call.get("id"):
                call["function"]["arguments"] = ""
    return chunk


@miniature("faults.retries-are-careful")
def goes_on_where_it_broke_off(adapter: Any) -> None:
    """A broken stream is requested again, and events that were passed on before are skipped."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        return _again(lambda: own(prompt, options))

    adapter.call = call


async def _again(ask: Any) -> Any:
    passed_on = 0
    async for event in ask():
        (read,) = Answered.of([event]).events
        if read["type"] == "ERROR" and passed_on:
            break
        passed_on += read["type"] == "TOKEN"
        yield event
    else:
        return
    async for event in ask():
        (read,) = Answered.of([event]).events
        passed_on -= read["type"] == "TOKEN"
        if read["type"] != "TOKEN" or passed_on < 0:
            yield event


@miniature("stream.answer-is-read")
def pretends_to_stream(adapter: Any) -> None:
    """Streaming is declared, but every request asks for a whole answer."""
    _with_options(adapter, stream=False)


@miniature("stream.tokens-come-as-they-are-sent")
def delays_all_but_the_first_token(adapter: Any) -> None:
    """The first token comes at once, the others only after the stream has ended."""
    retell(adapter, _delayed)


async def _delayed(given: Any) -> Any:
    kept: list[Any] = []
    async for event in given:
        if not kept:
            yield event
        kept.append(event)
    for event in kept[1:]:
        yield event


@miniature("stream.tokens-come-as-they-are-sent", around=("openai", "ollama-chat", "gemini"))
def holds_tokens_back_where_calls_may_follow(adapter: Any) -> None:
    """With tools, the events of a stream come when it has ended."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        given = own(prompt, options)
        return _held(given) if as_data(options).get("tools") else given

    adapter.call = call


async def _held(given: Any) -> Any:
    for event in [event async for event in given]:
        yield event


@miniature("stream.cancelling-ends-the-call")
def swallows_cancellation_before_the_head(adapter: Any) -> None:
    """A call that is cancelled before its first event ends as if the provider had failed."""
    retell(adapter, _cancelled_only_later)


async def _cancelled_only_later(given: Any) -> Any:
    is_begun = False
    try:
        async for event in given:
            is_begun = True
            yield event
    except asyncio.CancelledError:
        if is_begun:
            raise
        for event in failed("cancelled"):
            yield event


@miniature("faults.end-in-time", around=("openai",))
def keeps_the_whole_calls_limit_alone(adapter: Any) -> None:
    """The time limits for the first byte and between bytes are ignored."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        limits: dict[str, Any] = as_data(options).get("timeouts") or {}
        if "whole_call" not in limits:
            return own(prompt, options)
        kept: dict[str, Any] = {**dict.fromkeys(limits), "whole_call": limits["whole_call"]}
        return own(prompt, {**as_data(options), "timeouts": kept})

    adapter.call = call


@miniature("faults.leave-nothing-behind")
def leaves_a_task_to_each_call(adapter: Any) -> None:
    """Each call leaves a task running."""
    own, close_own, tasks = adapter.call, adapter.aclose, list[Any]()

    async def call(prompt: Any, options: Any) -> Any:
        tasks.append(asyncio.ensure_future(asyncio.sleep(3600)))
        async for event in own(prompt, options):
            yield event

    async def aclose() -> None:
        await close_own()
        for task in tasks:
            task.cancel()

    adapter.call, adapter.aclose = call, aclose


@miniature("faults.show-no-key")
def prints_its_headers(adapter: Any) -> None:
    """Each request's headers are printed."""
    own = adapter.request

    def request(payload: Any, options: Any) -> Any:
        made = own(payload, options)
        lines = [f"{name}: {value}" for name, value in made.headers.items()]
        print("sending", *lines, file=sys.stderr)  # noqa: T201 - that is what is wrong with it
        return made

    adapter.request = request


@miniature("faults.print-nothing", around=("openai",))
def prints_its_prompts(adapter: Any) -> None:
    """Each request's body is printed."""
    own = adapter.request

    def request(payload: Any, options: Any) -> Any:
        print("sending", json.dumps(payload))  # noqa: T201 - as above
        return own(payload, options)

    adapter.request = request


@miniature("faults.print-nothing", around=("anthropic",))
def warns_at_each_call(adapter: Any) -> None:
    """Each call warns its caller."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        with suppress(UserWarning):  # where it is an error
            warnings.warn("this adapter is experimental", stacklevel=2)
        return own(prompt, options)

    adapter.call = call


@miniature("faults.become-errors")
def hides_a_refusals_words_when_streaming(adapter: Any) -> None:
    """The provider's words in its refusal of a streamed call are lost."""
    change_streams(adapter, lambda events: [_without_words(event) for event in events])


def _without_words(event: dict[str, Any]) -> dict[str, Any]:
    if event["type"] != "ERROR" or event["error"].get("status") is None:
        return event
    return {**event, "error": {**event["error"], "message": "refused", "provider_message": None}}


@miniature("stream.other-forms-are-read", around=("openai-compatible",))
def joins_calls_of_one_index(adapter: Any) -> None:
    """Of several calls with the same index, the arguments become those of the first."""
    ids: dict[int, str] = {}

    def change(event: Any) -> Any:
        for choice in event.get("choices") or ():
            for piece in choice["delta"].get("tool_calls") or ():
                if ids.setdefault(piece["index"], piece.get("id") or "") != piece.get("id"):
                    piece |= {"id": None, "function": {"arguments": piece["function"].get("arguments")}}
        return event

    refeed(adapter, lambda chunk: change_data(chunk, change))


@miniature("response.other-forms-are-read", "stream.other-forms-are-read", around=("openai",))
def believes_the_finish_reason(adapter: Any) -> None:
    """An answer with calls and the finish reason `stop` ends with `stop`."""
    change_events(adapter, _ended_as_it_says)


def _ended_as_it_says(events: Events) -> Events:
    raw = {event["metadata"].get("rawStopReason") for event in events if "metadata" in event}
    return [{**event, "finish": "stop"} if "finish" in event and raw == {"stop"} else event for event in events]


@miniature("stream.other-forms-are-read", around=("anthropic",))
def knows_no_citations(adapter: Any) -> None:
    """A citation in a stream ends it with an error."""

    def change(event: Any) -> Any:
        is_citation = event.get("delta", {}).get("type") == "citations_delta"
        return {**event, "delta": {"type": "text_delta"}} if is_citation else event

    refeed(adapter, lambda chunk: change_data(chunk, change))


@miniature("stream.unusual-answers-are-read", around=("ollama-chat", "openai"))
def ends_lines_as_python_does(adapter: Any) -> None:
    """A line of a stream ends where `str.splitlines` ends it, inside texts, too."""
    refeed(adapter, lambda chunk: chunk.replace("\u0085".encode(), b"\n").replace("\u2028".encode(), b"\n"))


@miniature("stream.usage-is-reported", around=("gemini",))
def counts_the_prompt_too_early(adapter: Any) -> None:
    """The tokens of a prompt are those that an earlier response than the last one counts."""
    before: list[Any] = []

    def change(event: Any) -> Any:
        usage: dict[str, Any] = event.get("usageMetadata") or {}
        if not before or not event["candidates"][0].get("finishReason"):
            before[:] = [usage.get("promptTokenCount")]
        return {**event, "usageMetadata": {**usage, "promptTokenCount": before[0]}}

    refeed(adapter, lambda chunk: change_data(chunk, change))


@miniature("response.failed-finish-is-not-success", "stream.failed-finish-is-not-success")
def takes_every_call_for_a_good_end(adapter: Any) -> None:
    """An answer with calls ends with `tool_calls`, even if it was cut off."""
    change_events(adapter, _ended_by_calls)


def _ended_by_calls(events: Events) -> Events:
    has_calls = any(event["type"] == "TOOL_CALL" for event in events)
    return [{**event, "finish": "tool_calls"} if has_calls and "finish" in event else event for event in events]


@miniature("stream.unusual-answers-are-read", around=("ollama-chat", "bedrock", "openai"))
def takes_pieces_for_the_text_so_far(adapter: Any) -> None:
    """Of a piece that begins with the text so far and is longer, what follows that is passed on."""
    change_streams(adapter, _without_the_text_so_far)


def _without_the_text_so_far(events: Events) -> Events:
    text, changed = "", Events()
    for event in events:
        new = event
        if event["type"] == "TOKEN" and not event["token_type"].endswith("THINKING"):
            is_longer = len(event["text"]) > len(text)
            new = {**event, "text": event["text"].removeprefix(text if is_longer else "")}
            text += new["text"]
        changed.append({**new, "message": {**new["message"], "content": text}} if new.get("message") else new)
    return changed
