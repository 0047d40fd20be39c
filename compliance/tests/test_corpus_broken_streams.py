"""Recorded streams that are broken in every way become errors, as far as the format shows it.

`UNSEEN` names what no reader can see, because the format does not show it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from art_compliance.dialects.aws_events import is_messages
from art_sdk import MetadataEvent, OpenAICompatibleAdapter
from recorded_readings import data_of, ending, has_error, places, read_stream, recorded_streams, shown, without
from recorded_traffic import (
    Recorded,
    params,
    reader_of,
)

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # recorded traffic says the same to every Python

EVERY = pytest.mark.parametrize("one", params(recorded_streams()))


GOOD = pytest.mark.parametrize("one", params(one for one in recorded_streams() if not has_error(one)))


@GOOD
def test_a_stream_that_is_cut_short_is_an_error_after_the_events_that_arrived(one: Recorded) -> None:
    """After an event and inside it. Gemini's has ended with finishReason: recorded in the last event."""
    whole = read_stream(reader_of(one), [one.answer])
    body = b""
    for number, frame in enumerate(one.frames, 1):
        almost = frame[:-1] if is_messages(frame) else frame.rstrip() + b"\n"
        for cut in (body + frame[: len(frame) // 2], body + almost, body + frame):
            if number == len(one.frames) and cut == body + frame:
                continue
            events = read_stream(reader_of(one), [cut])
            assert (ending(events).finish == "error") is not may_end_after(one, cut)
            if may_end_after(one, cut):
                continue
            assert shown(events[:-2]) == shown(whole[: len(events) - 2])
        body += frame


def may_end_after(one: Recorded, cut: bytes) -> bool:
    """Whether the answer may be whole: a server that nobody knows may leave out usage and mark.

    A response has no mark: OpenRouter alone sends one. Cohere's documented streams have none, its recorded ones do.
    """
    if one.shape == "cohere_v2_chat":
        return cut.endswith(b"\n\n") and b'"type":"message-end"' in cut
    if one.shape == "responses":
        return cut.endswith(b"\n\n") and b'"type":"response.completed"' in cut
    is_whole = cut.endswith((b"\n\n", b"\r\n\r\n")) and reader_of(one) is OpenAICompatibleAdapter
    return is_whole and any(map(finishes, map(data_of, replace(one, answer=cut).frames)))


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
    """Nor are calls: the last one, whole in its chunk, is missed by nobody; nor a finish that is sent twice.

    A server that nobody knows may leave out the finish.
    """
    if is_unseen(one.shape, one.frames[at]) or one.shape != "chat_completions":
        return is_unseen(one.shape, one.frames[at])
    sent = [data_of(frame) for frame in one.frames]
    is_last_call = names_a_call(sent[at]) and not any(map(names_a_call, sent[at + 1 :])) and not finishes(sent[at])
    needs_finish = reader_of(one) is not OpenAICompatibleAdapter
    return is_last_call or (finishes(sent[at]) and (sum(map(finishes, sent)) > 1 or not needs_finish))


def anthropic_is_unseen(data: Any) -> bool:
    """Blocks are counted, and their deltas are not."""
    return data["type"] in {"content_block_delta", "ping"}


def gemini_is_unseen(data: Any) -> bool:
    """Chunks are not counted, and calls without ids may be alike."""
    return not any(candidate.get("finishReason") for candidate in data["candidates"])


def ollama_is_unseen(data: Any) -> bool:
    """Lines are not counted."""
    return not data["done"]


def bedrock_is_unseen(data: Any) -> bool:
    """Blocks may begin without a start, and their deltas are not counted."""
    return isinstance(data, dict) and "contentBlockIndex" in data and "start" not in data


def cohere_is_unseen(data: Any) -> bool:
    """Pieces are not counted, and parts of other kinds need none before them."""
    return isinstance(data, dict) and data["type"].endswith("-delta")


def responses_is_unseen(data: Any) -> bool:
    """The last events repeat what the others say."""
    del data
    return False


UNSEEN: Mapping[str, Callable[[Any], bool]] = {
    "responses": responses_is_unseen,
    "chat_completions": chat_is_unseen,
    "anthropic_messages": anthropic_is_unseen,
    "vertex_raw": anthropic_is_unseen,
    "gemini_generate": gemini_is_unseen,
    "ollama_chat": ollama_is_unseen,
    "bedrock_converse": bedrock_is_unseen,
    "cohere_v2_chat": cohere_is_unseen,
}


def facts(one: Recorded, frames: list[bytes]) -> Any:
    """What a stream of these frames says, or None where it is an error."""
    events = read_stream(reader_of(one), [b"".join(frames)])
    end = ending(events)
    if end.finish == "error":
        return None
    [metadata] = [event.metadata for event in events if isinstance(event, MetadataEvent)]
    return end.message, end.finish, metadata.input_tokens, metadata.output_tokens


@GOOD
def test_a_lost_frame_is_noticed_where_the_format_shows_it(one: Recorded) -> None:
    frames, whole = one.frames, facts(one, one.frames)
    for at, frame in enumerate(frames):
        found = facts(one, frames[:at] + frames[at + 1 :])
        assert found is None or found == whole or is_loss_unseen(one, at), frame


@GOOD
def test_a_repeated_frame_is_noticed_where_the_format_shows_it(one: Recorded) -> None:
    frames, whole = one.frames, facts(one, one.frames)
    for at, frame in enumerate(frames):
        found = facts(one, [*frames[: at + 1], frame, *frames[at + 1 :]])
        assert found is None or found == whole or is_unseen(one.shape, frame), frame


@GOOD
def test_swapped_frames_are_noticed_where_the_format_shows_it(one: Recorded) -> None:
    frames, whole = one.frames, facts(one, one.frames)
    for at in range(len(frames) - 1):
        first, second = frames[at : at + 2]
        found = facts(one, [*frames[:at], second, first, *frames[at + 2 :]])
        both = is_unseen(one.shape, first) and is_unseen(one.shape, second)
        assert found is None or found == whole or both, (first, second)


@EVERY
def test_a_lost_field_breaks_only_the_answer(one: Recorded) -> None:
    frames = one.frames
    steps = max(len(frames) // 12, 1)  # of long streams, whose chunks are alike, some
    for at in [*range(0, len(frames), steps), len(frames) - 2, len(frames) - 1]:
        data = data_of(frames[at])
        for path in places(data):
            frame = f"data: {json.dumps(without(data, path))}\n\n".encode()
            facts(one, [*frames[:at], frame, *frames[at + 1 :]])


@EVERY
def test_bytes_that_are_not_utf8_never_become_text(one: Recorded) -> None:
    for tenth in range(11):
        at = len(one.answer) * tenth // 10
        end = ending(read_stream(reader_of(one), [one.answer[:at] + b"\xff" + one.answer[at:]]))
        assert end.message is None or "\ufffd" not in (end.message.content or "")
