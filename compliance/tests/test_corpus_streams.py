"""The stream readers' exam: recorded streams, read as the official clients read them, and broken in every way.

Each official client is run whole, over a transport that answers with the recorded bytes. What no
mark in the provider's grammar shows, no reader can see; `UNSEEN` says what that is.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import pytest

from art_compliance.cassettes.corpus import Found
from art_compliance.checks.replay.recorded import read_recorded
from art_sdk import (
    AnthropicAdapter,
    CallInfo,
    EndEvent,
    ErrorEvent,
    LLMProviderError,
    MetadataEvent,
    ResponseHead,
    StreamEvent,
    TokenEvent,
    ToolCallEvent,
    fold,
)
from art_sdk.stream import follow
from recorded_traffic import (
    READERS,
    Recorded,
    accepted_elsewhere,
    needs_traffic,
    official,
    params,
    recorded_files,
    replaying,
)

READERS_OF_STREAMS = {**READERS, "vertex_raw": AnthropicAdapter}  # Anthropic's own, at another's door
KIND = {"content-type": "text/event-stream"}


def data_of(frame: bytes) -> Any:
    """The frame's JSON, or None."""
    for line in frame.splitlines():
        if line.startswith(b"data:"):
            return value_of(line.removeprefix(b"data:").decode())
    return None


def value_of(text: str) -> Any:
    """A call's arguments as JSON value, or the text itself where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def streams() -> list[Recorded]:
    """Every recorded stream whose request was taken; some end with an error."""
    good = [one for one in recorded_files() if one.status == 200 and one.shape in READERS_OF_STREAMS]
    return [one for one in good if one.data is None]


def tells_an_error(one: Recorded) -> bool:
    return any(isinstance(data, dict) and "error" in data for data in map(data_of, one.frames))


EVERY = pytest.mark.parametrize("one", params(streams()))
GOOD = pytest.mark.parametrize("one", params(one for one in streams() if not tells_an_error(one)))


def read(shape: str, chunks: list[bytes]) -> list[StreamEvent]:
    info = CallInfo(thread_id="t", trace_id="r", model="m", clock=lambda: 1.0)
    reader = READERS_OF_STREAMS[shape](api_key="no-key").stream_reader(ResponseHead(200, KIND), info)
    return [*(event for chunk in chunks for event in reader.feed(chunk)), *reader.close()]


def ending(events: list[StreamEvent]) -> EndEvent:
    """The end of events in good order: a good answer, or an error that says so."""
    state: Any = "answering"
    for event in events:
        state = follow(state, event)
    end = events[-1]
    assert state == "ended"
    assert isinstance(end, EndEvent)
    assert (end.finish == "error") is any(isinstance(event, ErrorEvent) for event in events)
    return end


def shown(events: list[StreamEvent]) -> list[Any]:
    return [(event.error.message, event.error.details) if isinstance(event, ErrorEvent) else event for event in events]


@needs_traffic
def test_the_corpus_holds_what_it_held() -> None:
    shapes = [one.shape for one in streams()]
    assert {shape: shapes.count(shape) >= least for shape, least in LEAST.items()} == dict.fromkeys(LEAST, True)
    assert sum(tells_an_error(one) for one in streams()) >= 2


LEAST = {"chat_completions": 25, "anthropic_messages": 7, "gemini_generate": 9, "vertex_raw": 1}


# As the official clients read them.


class Told(NamedTuple):
    """What a stream tells, by our definitions."""

    text: str
    thinking: str
    calls: tuple[tuple[str | None, str, Any], ...]
    finish: str | None
    input_tokens: int | None
    output_tokens: int | None


def our_reading(one: Recorded) -> Told:
    events = read(one.shape, [one.answer])
    completion = fold(events)
    message, metadata = completion.message, completion.metadata
    tokens = [event.text for event in events if isinstance(event, TokenEvent) and event.token_type.endswith("RESPONSE")]
    assert "".join(tokens) == (message.content or "")
    assert tuple(event.call for event in events if isinstance(event, ToolCallEvent)) == message.tool_calls
    calls = tuple((call.id, call.function.name, value_of(call.function.arguments)) for call in message.tool_calls)
    counts = metadata.input_tokens, metadata.output_tokens
    return Told(message.content or "", completion.thinking, calls, metadata.raw_stop_reason, *counts)


def wire(body: bytes) -> Any:
    return replaying(body, KIND)


def ask_openai(http_client: Any) -> Told:
    client = official("openai").OpenAI(api_key="no-key", http_client=http_client, max_retries=0)
    text, thinking, finish, usage, calls = "", "", None, None, {}
    for chunk in client.chat.completions.create(model="m", messages=[], stream=True):
        usage = chunk.usage or groq_usage(chunk) or usage
        for choice in (choice for choice in chunk.choices if choice.index == 0):
            delta, more = choice.delta, choice.delta.model_extra
            text += delta.content or ""
            thinking += more.get("reasoning_content") or more.get("reasoning") or ""
            finish = choice.finish_reason or finish
            for call in delta.tool_calls or ():
                begun = calls.setdefault(call.index, [call.id, call.function.name, ""])
                begun[2] += call.function.arguments or ""
    told = tuple((call_id, name, value_of(arguments)) for call_id, name, arguments in calls.values())
    return Told(text, thinking, told, finish, *counts_of(usage))


def groq_usage(chunk: Any) -> Any:
    """Groq counts in a field of its own, which OpenAI's client keeps as it came."""
    told = (chunk.model_extra.get("x_groq") or {}).get("usage")
    return None if told is None else official("openai.types").CompletionUsage.model_validate(told)


def counts_of(usage: Any) -> tuple[int | None, int | None]:
    """What went in and what came out. OpenAI counts a stream only for whoever asks for it."""
    if usage is None:
        return None, None
    thoughts = usage.completion_tokens_details.reasoning_tokens if usage.completion_tokens_details else 0
    beside = usage.total_tokens == usage.prompt_tokens + usage.completion_tokens + (thoughts or 0)  # xAI
    return usage.prompt_tokens, usage.completion_tokens + (thoughts or 0) * beside


def ask_anthropic(http_client: Any) -> Told:
    client = official("anthropic").Anthropic(api_key="no-key", http_client=http_client, max_retries=0)
    with client.messages.stream(model="m", messages=[], max_tokens=1) as stream:
        message = stream.get_final_message()
    usage = message.usage
    taken = usage.input_tokens + (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    return Told(
        "".join(block.text for block in message.content if block.type == "text"),
        "".join(block.thinking for block in message.content if block.type == "thinking"),
        tuple((block.id, block.name, block.input) for block in message.content if block.type == "tool_use"),
        message.stop_reason,
        taken,
        usage.output_tokens,
    )


def ask_google(http_client: Any) -> Told:
    genai = official("google.genai")
    client = genai.Client(api_key="no-key", http_options=genai.types.HttpOptions(httpx_client=http_client))
    chunks = list(client.models.generate_content_stream(model="m", contents="hello"))
    parts = [part for chunk in chunks for part in (chunk.candidates[0].content.parts or ())]
    usage = chunks[-1].usage_metadata
    calls = [part.function_call for part in parts if part.function_call]
    return Told(
        "".join(part.text for part in parts if part.text and not part.thought),
        "".join(part.text for part in parts if part.text and part.thought),
        tuple((call.id or f"call_{number}", call.name, call.args) for number, call in enumerate(calls, 1)),
        chunks[-1].candidates[0].finish_reason.value,
        usage.prompt_token_count,
        usage.candidates_token_count + (usage.thoughts_token_count or 0),
    )


ASK: Mapping[str, Callable[[Any], Told]] = {
    "chat_completions": ask_openai,
    "anthropic_messages": ask_anthropic,
    "vertex_raw": ask_anthropic,
    "gemini_generate": ask_google,
}


@GOOD
def test_a_stream_is_read_as_the_official_client_reads_it(one: Recorded) -> None:
    with wire(one.answer) as http_client:
        theirs = ASK[one.shape](http_client)
    assert theirs.text or theirs.calls or one.name == "anthropic/anthropic-messages_stream_01"
    assert our_reading(one) == theirs


@pytest.mark.parametrize("one", params(filter(tells_an_error, streams())))
def test_an_error_in_a_stream_is_what_the_official_client_raises(one: Recorded) -> None:
    with wire(one.answer) as http_client, pytest.raises(official("openai").APIError) as raised:
        ask_openai(http_client)
    *_, failed, end = read(one.shape, [one.answer])
    assert isinstance(failed, ErrorEvent)
    assert isinstance(failed.error, LLMProviderError)
    assert failed.error.provider_message == raised.value.message
    assert isinstance(end, EndEvent)
    assert end.finish == "error"


# However they are cut.


@EVERY
def test_however_the_bytes_are_cut_the_events_are_the_same(one: Recorded) -> None:
    wanted = shown(read(one.shape, [one.answer]))
    assert shown(read(one.shape, [one.answer[at : at + 1] for at in range(len(one.answer))])) == wanted
    chance = random.Random(one.name)  # noqa: S311 - no secret
    for _ in range(5):
        at = [0, *sorted(chance.choices(range(len(one.answer)), k=40)), len(one.answer)]
        assert shown(read(one.shape, [one.answer[a:b] for a, b in pairwise(at)])) == wanted


@GOOD
def test_a_stream_that_is_cut_short_is_an_error_after_what_did_arrive(one: Recorded) -> None:
    """After an event and inside it. Gemini's has ended with finishReason: recorded in the last event."""
    whole = read(one.shape, [one.answer])
    body = b""
    for number, frame in enumerate(one.frames, 1):
        for cut in (body + frame[: len(frame) // 2], body + frame.rstrip() + b"\n", body + frame):
            if number == len(one.frames) and cut == body + frame:
                continue
            events = read(one.shape, [cut])
            assert ending(events).finish == "error"
            assert shown(events[:-2]) == shown(whole[: len(events) - 2])
        body += frame


# Broken.


def places(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in inside:
        yield (*at, step)
        yield from places(inner, (*at, step))


def without(data: Any, path: tuple[str | int, ...]) -> bytes:
    whole = copy.deepcopy(data)
    holder = whole
    for step in path[:-1]:
        holder = holder[step]
    del holder[path[-1]]
    return f"data: {json.dumps(whole)}\n\n".encode()


def is_unseen(shape: str, frame: bytes) -> bool:
    """Whether the frame may be missing, be doubled or change places with the next without anything that shows it."""
    data = data_of(frame)
    return data is None or UNSEEN[shape](data)


def chat_is_unseen(data: Any) -> bool:
    """Chunks are not counted: text, reasoning, pieces of arguments that name no call, usage."""
    return isinstance(data, dict) and not names_a_call(data) and not finishes(data)


def names_a_call(data: Any) -> bool:
    choices = data["choices"] if isinstance(data, dict) else ()
    return any(call.get("id") for choice in choices for call in choice["delta"].get("tool_calls") or ())


def finishes(data: Any) -> bool:
    return isinstance(data, dict) and any(choice.get("finish_reason") for choice in data["choices"])


def is_loss_unseen(one: Recorded, at: int) -> bool:
    """Nor are calls: the last one, whole in its chunk, is missed by nobody; nor a finish that is told twice."""
    if is_unseen(one.shape, one.frames[at]) or one.shape != "chat_completions":
        return is_unseen(one.shape, one.frames[at])
    told = [data_of(frame) for frame in one.frames]
    is_last_call = names_a_call(told[at]) and not any(map(names_a_call, told[at + 1 :])) and not finishes(told[at])
    return is_last_call or (finishes(told[at]) and sum(map(finishes, told)) > 1)


def anthropic_is_unseen(data: Any) -> bool:
    """Blocks are counted, and their deltas are not."""
    return data["type"] in {"content_block_delta", "ping"}


def gemini_is_unseen(data: Any) -> bool:
    """Chunks are not counted, and calls without ids may be alike."""
    return not any(candidate.get("finishReason") for candidate in data["candidates"])


UNSEEN: Mapping[str, Callable[[Any], bool]] = {
    "chat_completions": chat_is_unseen,
    "anthropic_messages": anthropic_is_unseen,
    "vertex_raw": anthropic_is_unseen,
    "gemini_generate": gemini_is_unseen,
}


def facts(one: Recorded, frames: list[bytes]) -> Any:
    """What a stream of these frames says, or None where it is an error."""
    events = read(one.shape, [b"".join(frames)])
    end = ending(events)
    if end.finish == "error":
        return None
    [metadata] = [event.metadata for event in events if isinstance(event, MetadataEvent)]
    return end.message, end.finish, metadata.input_tokens, metadata.output_tokens


@GOOD
def test_a_frame_that_is_lost_is_seen_where_the_grammar_shows_it(one: Recorded) -> None:
    frames, whole = one.frames, facts(one, one.frames)
    for at, frame in enumerate(frames):
        found = facts(one, frames[:at] + frames[at + 1 :])
        assert found is None or found == whole or is_loss_unseen(one, at), frame


@GOOD
def test_a_frame_that_comes_twice_is_seen_where_the_grammar_shows_it(one: Recorded) -> None:
    frames, whole = one.frames, facts(one, one.frames)
    for at, frame in enumerate(frames):
        found = facts(one, [*frames[: at + 1], frame, *frames[at + 1 :]])
        assert found is None or found == whole or is_unseen(one.shape, frame), frame


@GOOD
def test_two_frames_that_changed_places_are_seen_where_the_grammar_shows_it(one: Recorded) -> None:
    frames, whole = one.frames, facts(one, one.frames)
    for at in range(len(frames) - 1):
        first, second = frames[at : at + 2]
        found = facts(one, [*frames[:at], second, first, *frames[at + 2 :]])
        both = is_unseen(one.shape, first) and is_unseen(one.shape, second)
        assert found is None or found == whole or both, (first, second)


@EVERY
def test_a_field_that_is_lost_breaks_nothing_but_the_answer(one: Recorded) -> None:
    frames = one.frames
    steps = max(len(frames) // 12, 1)  # of long streams, whose chunks are alike, some
    for at in [*range(0, len(frames), steps), len(frames) - 2, len(frames) - 1]:
        data = data_of(frames[at])
        for path in places(data):
            facts(one, [*frames[:at], without(data, path), *frames[at + 1 :]])


@EVERY
def test_bytes_that_are_no_utf8_never_become_text(one: Recorded) -> None:
    for tenth in range(11):
        at = len(one.answer) * tenth // 10
        end = ending(read(one.shape, [one.answer[:at] + b"\xff" + one.answer[at:]]))
        assert end.message is None or "\ufffd" not in (end.message.content or "")


# What others recorded and publish in their source distributions.


STREAMED = {
    "langchain-anthropic": 21,
    "langchain-openai": 3,
    "opentelemetry-instrumentation-anthropic": 37,
    "opentelemetry-instrumentation-groq": 3,
    "opentelemetry-instrumentation-openai": 81,
    "opentelemetry-instrumentation-openai-v2": 13,
}
"""How many streamed good answers of a dialect of ours a package holds."""


def packaged_streams(packaged: tuple[Found, ...]) -> list[Recorded]:
    return [one for one in accepted_elsewhere(packaged) if one.data is None]


def test_every_package_holds_the_streams_that_it_held(packaged: tuple[Found, ...]) -> None:
    assert len(packaged_streams(packaged)) == STREAMED.get(packaged[0].package, 0)


def test_a_stream_that_others_recorded_is_read_as_the_official_client_reads_it(packaged: tuple[Found, ...]) -> None:
    differ: dict[str, Any] = {}
    for one in packaged_streams(packaged):
        with wire(one.answer) as http_client:
            theirs = ASK[one.shape](http_client)
        ours = our_reading(one)
        assert theirs.text or theirs.calls, one.name
        if ours != theirs:
            differ[one.name] = ours, theirs
    assert differ == {}


def test_a_stream_that_others_recorded_is_read_the_same_however_it_is_cut(packaged: tuple[Found, ...]) -> None:
    for one in packaged_streams(packaged):
        wanted = shown(read(one.shape, [one.answer]))
        assert shown(read(one.shape, [one.answer[at : at + 1] for at in range(len(one.answer))])) == wanted, one.name


def test_a_stream_that_others_recorded_is_an_error_where_it_is_cut_short(packaged: tuple[Found, ...]) -> None:
    for one in packaged_streams(packaged):
        for tenth in range(10):
            cut = one.answer[: len(one.answer) * tenth // 10]
            assert ending(read(one.shape, [cut])).finish == "error", (one.name, tenth)


def test_the_judge_of_replays_reads_a_stream_as_our_adapter_does(packaged: tuple[Found, ...]) -> None:
    for one in packaged_streams(packaged):
        ours, told = our_reading(one), read_recorded(one.dialect, one.answer)
        assert "".join(told.texts.values()) == ours.text, one.name
        assert [(call.name, call.value) for call in told.calls.values()] == [call[1:] for call in ours.calls], one.name
        assert tuple(told.counts.values()) == (ours.input_tokens or 0, ours.output_tokens or 0), one.name
