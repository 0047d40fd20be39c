"""What a provider's grammar does not know, and what does not change the answer, is skipped, as official clients do.

Sources: `openai._streaming` 3.54 and `google.genai.models` 3.4, which make an object of whatever comes, and
`anthropic._streaming` and `anthropic.lib.streaming` 2.12, which pass over events and deltas of other types.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from art_sdk import CallInfo, EndEvent, ResponseHead
from streamed import ADAPTERS, KEY, STREAMS, end_of, error_of, read, shown, sse

GOOD = {provider: table["good"]["text"]["stream"] for provider, table in STREAMS.items()}
WHOLE = {provider: table["good"]["text"]["whole"] for provider, table in STREAMS.items()}

FOREIGN: dict[str, Any] = {
    "an event of another type": ["new_event", {"type": "new_event", "x": 1}],
    "one with fields of other types": ["new_event", {"type": "new_event", "id": 5, "delta": "x", "index": "y"}],
    "one without a type": ["new_event", {"x": 1}],
    "one whose data is no object": ["new_event", [1]],
    "one whose data is not JSON": {"bytes": "event: ping\ndata: still here\n\n"},
    "one with an empty text": {"bytes": "event: ping\ndata: \n\n"},
    "an object of another type": {"type": "new_event", "x": 1},
    "one with an id of another type": {"type": "new_event", "id": 5, "responseId": 5},
}


@pytest.mark.parametrize("frame", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("provider", ADAPTERS)
def test_an_event_of_an_unknown_type_changes_nothing(provider: str, frame: Any) -> None:
    good = shown(read(provider, sse(GOOD[provider])))
    for at in range(len(GOOD[provider])):
        events = read(provider, sse([*GOOD[provider][:at], frame, *GOOD[provider][at:]]))
        assert shown(events) == good, f"before event {at}"


@pytest.mark.parametrize("provider", ADAPTERS)
def test_a_stream_of_unknown_events_alone_is_an_error(provider: str) -> None:
    assert error_of(read(provider, sse(list(FOREIGN.values())))).status == 200


@pytest.mark.parametrize("provider", ADAPTERS)
def test_an_event_without_a_name_that_is_no_object_is_an_error(provider: str) -> None:
    for data in ("7", "[1]", "hello", '{"choices": 5, "candidates": 5, "type": "content_block_start", "index": "x"}'):
        assert "cannot be read" in error_of(read(provider, sse([*GOOD[provider][:1], data]))).message


def with_everywhere(value: Any, more: dict[str, Any]) -> Any:
    """The value with these fields in each object."""
    if isinstance(value, dict):
        return {name: with_everywhere(inner, more) for name, inner in value.items()} | more
    return [with_everywhere(inner, more) for inner in value] if isinstance(value, list) else value


def read_whole(provider: str, body: Any) -> Any:
    info = CallInfo(thread_id="t", trace_id="r", model="m", clock=lambda: 1.0)
    return list(ADAPTERS[provider](api_key=KEY).read_response(ResponseHead(200, {}), json.dumps(body).encode(), info))


@pytest.mark.parametrize("new", [None, 5, "x", [{}], {"type": "x"}])
@pytest.mark.parametrize("provider", ["openai", "anthropic"])  # a field of Gemini's parts goes back with the next turn
def test_unknown_fields_change_no_text(provider: str, new: Any) -> None:
    fields = {"a_new_field": new}
    good, more = (read(provider, sse(frames)) for frames in (GOOD[provider], with_everywhere(GOOD[provider], fields)))
    assert (end_of(more).message, end_of(more).finish) == (end_of(good).message, end_of(good).finish)
    good, more = (read_whole(provider, body) for body in (WHOLE[provider], with_everywhere(WHOLE[provider], fields)))
    assert (end_of(more).message, end_of(more).finish) == (end_of(good).message, end_of(good).finish)


def renamed(value: Any, name: str, to: Any) -> Any:
    if isinstance(value, dict):
        return {key: to if key == name and inner else renamed(inner, name, to) for key, inner in value.items()}
    return [renamed(inner, name, to) for inner in value] if isinstance(value, list) else value


ENDS = {"openai": "finish_reason", "anthropic": "stop_reason", "gemini": "finishReason"}


@pytest.mark.parametrize("provider", ADAPTERS)
def test_an_unknown_reason_to_stop_is_another_one(provider: str) -> None:
    for events in (
        read(provider, sse(renamed(GOOD[provider], ENDS[provider], "a_new_reason"))),
        read_whole(provider, renamed(WHOLE[provider], ENDS[provider], "a_new_reason")),
    ):
        end = end_of(events)
        assert isinstance(end, EndEvent)
        assert end.finish == "other"
        assert end.message == end_of(read(provider, sse(GOOD[provider]))).message


TEXT_AND_ANOTHER = {
    "openai": {"choices": [{"message": {"content": [{"type": "text", "text": "x"}, {"type": "new"}]}}]},
    "anthropic": {
        "type": "message",
        "content": [{"type": "text", "text": "x"}, {"type": "new", "x": 1}],
        "stop_reason": "end_turn",
    },
    "gemini": {"candidates": [{"content": {"parts": [{"text": "x"}, {"newData": {"x": 1}}]}, "finishReason": "STOP"}]},
}


@pytest.mark.parametrize("provider", ADAPTERS)
def test_content_of_an_unknown_type_stands_beside_the_text(provider: str) -> None:
    message = end_of(read_whole(provider, TEXT_AND_ANOTHER[provider])).message
    assert message is not None
    assert message.content == "x"
    assert ("new" in str(message.extensions)) is (provider != "gemini")  # google-genai removes unknown fields


def test_a_delta_of_an_unknown_type_changes_no_text() -> None:
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "new_delta", "x": 1}}
    frames = [*GOOD["anthropic"][:4], delta, *GOOD["anthropic"][4:]]
    assert shown(read("anthropic", sse(frames))) == shown(read("anthropic", sse(GOOD["anthropic"])))
