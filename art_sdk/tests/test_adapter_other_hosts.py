"""A chat completions adapter at another host than its provider's: what a relative may leave out of a stream."""

from __future__ import annotations

from typing import Any

import pytest

from art_sdk import CallInfo, ErrorEvent, OpenAIAdapter, ResponseHead, StreamEvent, fold
from streamed import KEY, SSE, sse

OPENAI = ("https://api.openai.com/v1", "https://eu.api.openai.com/v1", "https://API.OPENAI.COM:443/v1")
OTHERS = ("https://router.acme.test/v1", "http://127.0.0.1:8080/v1", "https://notapi.openai.com.acme.test/v1")


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


TEXT, FINISH = chunk({"content": "hi"}), chunk({}, "stop")
CALL = chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]})


def read(base_url: str, *frames: Any) -> list[StreamEvent]:
    adapter = OpenAIAdapter(api_key=KEY, base_url=base_url)
    reader = adapter.stream_reader(ResponseHead(200, SSE), CallInfo(thread_id="t", trace_id="r", model="m"))
    return [*reader.feed(sse([*frames])), *reader.close()]


@pytest.mark.parametrize("base_url", OPENAI)
@pytest.mark.parametrize("frames", [(TEXT, FINISH), (TEXT, "[DONE]"), (CALL, "[DONE]")])
def test_openai_s_own_stream_ends_with_its_finish_and_its_mark(base_url: str, frames: tuple[Any, ...]) -> None:
    assert any(isinstance(event, ErrorEvent) for event in read(base_url, *frames))
    assert fold(read(base_url, *frames[:1], FINISH, "[DONE]")).metadata.raw_stop_reason == "stop"


@pytest.mark.parametrize("base_url", OTHERS)
def test_another_host_s_stream_is_whole_without_the_mark_or_without_the_finish(base_url: str) -> None:
    unmarked, unfinished = (fold(read(base_url, TEXT, last)) for last in (FINISH, "[DONE]"))
    assert (unmarked.message, unmarked.finish) == (fold(read(base_url, TEXT, FINISH, "[DONE]")).message, "stop")
    assert (unfinished.message, unfinished.finish) == (unmarked.message, "other")
    assert unfinished.metadata.raw_stop_reason is None
    called = fold(read(base_url, CALL, "[DONE]"))
    assert ([call.id for call in called.message.tool_calls], called.finish) == (["a"], "tool_calls")


@pytest.mark.parametrize(("url", "is_own"), [("http://[::1]:8000/v1", True), ("http://[::2]/v1", False)])
def test_hosts_differ_by_their_whole_address(url: str, *, is_own: bool) -> None:
    class Local(OpenAIAdapter):
        default_base_url = "http://[::1]/v1"

    reader = Local(api_key=KEY, base_url=url).stream_reader(
        ResponseHead(200, SSE), CallInfo(thread_id="t", trace_id="r", model="m")
    )
    events = [*reader.feed(sse([TEXT, FINISH])), *reader.close()]
    assert any(isinstance(event, ErrorEvent) for event in events) is is_own


@pytest.mark.parametrize(
    "frames",
    [(), (TEXT,), (CALL,), ("[DONE]",), (TEXT, FINISH, TEXT), (TEXT, "[DONE]", FINISH), (TEXT, {"bytes": "data: {"})],
)
def test_another_host_s_stream_that_is_cut_or_out_of_order_is_an_error(frames: tuple[Any, ...]) -> None:
    assert any(isinstance(event, ErrorEvent) for event in read(OTHERS[0], *frames))


def test_another_host_numbers_its_calls_as_it_likes() -> None:
    pieces = [{"index": 3, "id": "b", "function": {"name": "f", "arguments": '{"a": '}}, {"function": {"name": "g"}}]
    more = [{"index": 3, "function": {"arguments": "1}"}}, {"index": 4, "function": {"arguments": "{}"}}]
    frames = [CALL["choices"][0]["delta"]["tool_calls"][0] | {"index": 1}, *pieces, *more]
    chunks = [*(chunk({"tool_calls": [piece]}) for piece in frames), chunk({}, "tool_calls"), "[DONE]"]
    calls = fold(read(OTHERS[0], *chunks)).message.tool_calls
    assert [(call.function.name, call.function.arguments) for call in calls] == [
        ("f", "{}"),
        ("f", '{"a": 1}'),
        ("g", "{}"),
    ]
    [*_, error, _] = read(OPENAI[0], *chunks)
    assert isinstance(error, ErrorEvent)
    assert "an unexpected index" in error.error.message


def test_an_event_with_empty_data_has_no_part_in_an_answer() -> None:
    whole = fold(read(OTHERS[0], TEXT, FINISH, "[DONE]"))
    kept_alive = fold(read(OTHERS[0], "", TEXT, "", FINISH, "", "[DONE]"))
    assert (kept_alive.message, kept_alive.finish) == (whole.message, "stop")


@pytest.mark.parametrize("other", [{"custom": {}}, {"custom": None}, {"custom": {"name": "", "input": ""}}])
def test_an_empty_object_of_another_kind_of_call_changes_nothing(other: dict[str, Any]) -> None:
    begun = {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"a": '}, **other}
    more = {"index": 0, "function": {"arguments": "1}"}, **other}
    pieces = [chunk({"tool_calls": [piece]}) for piece in (begun, more)]
    answer = fold(read(OTHERS[0], *pieces, chunk({}, "tool_calls"), "[DONE]"))
    assert [(call.id, call.function.arguments) for call in answer.message.tool_calls] == [("a", '{"a": 1}')]


@pytest.mark.parametrize("twice", ["{}", '{"a": 1}'])
def test_a_call_that_comes_twice_is_an_error(twice: str) -> None:
    one = chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": twice}}]})
    again = chunk({"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": twice}}]})
    for second in (one, again):
        [*_, error, _] = read(OTHERS[0], one, second, FINISH, "[DONE]")
        assert isinstance(error, ErrorEvent)
        assert "begins twice" in error.error.message


@pytest.mark.parametrize(
    ("pieces", "reason"),
    [
        ([{"index": 0, "id": "a"}], "which has no name"),
        ([{"id": "a", "function": {"arguments": "{}"}}], "which has no name"),
        ([{"index": 0, "id": "a", "function": {"name": n}} for n in "fg"], "begins twice"),
        ([{"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"'}}] * 2, "begins twice"),
    ],
)
def test_a_piece_that_fits_no_call_is_an_error(pieces: list[dict[str, Any]], reason: str) -> None:
    [*_, error, _] = read(OTHERS[0], *(chunk({"tool_calls": [piece]}) for piece in pieces), FINISH, "[DONE]")
    assert isinstance(error, ErrorEvent)
    assert reason in error.error.message
