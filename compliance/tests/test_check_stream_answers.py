"""Where a stream is cut, and how what an adapter reads of it is judged."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from art_compliance.dialects import DIALECTS
from art_compliance.miniatures import find_miniature
from art_compliance.miniatures.base import Events, retell
from art_compliance.miniatures.streams import change_streams
from art_compliance.quoting import show
from art_compliance.scenarios import Scenario, WrittenAnswer
from art_sdk import FunctionCall, OpenAIAdapter, ToolCall
from trials import (
    answer_events,
    assert_each_has,
    call_of,
    failure_events,
    messages_of,
    reason_of,
    scenario,
    scripted,
    spoiled,
)


class Refusal(Exception):
    code = "NO"


class AsksPlainly(OpenAIAdapter):
    """It asks for a whole answer, whatever it was asked."""

    def call(self, prompt: Any, options: Any) -> Any:
        return super().call(prompt, {name: value for name, value in options.items() if name != "stream"})


CUT, ERROR = "stream.cut-short-is-an-error", "stream.error-event-is-an-error"
TEXT = "0123456789abcdefghijklmnopqrstuvwxyz"
WRITTEN = WrittenAnswer(content=TEXT)
CALLED = WrittenAnswer(
    tool_calls=(ToolCall("c1", FunctionCall("look", '{"at": "the first of two things"}')),), finish="tool_calls"
)
OPENAI = DIALECTS["openai-chat"]


def events_of(written: WrittenAnswer) -> tuple[bytes, ...]:
    return OPENAI.streams.write(written, {"stream_options": {"include_usage": True}})


Came = list[list[Any]]
"""Of each stream that came: its bytes, and whether it ended in order; None where its end was not waited for."""


def noting(make: type[OpenAIAdapter] = OpenAIAdapter) -> tuple[type[OpenAIAdapter], Came]:
    """An adapter that notes the streams that come, those that nothing came of aside."""
    came: Came = []

    class Noting(make):  # type: ignore[misc, valid-type]
        def stream_reader(self, head: Any, info: Any) -> Any:
            reader, one = super().stream_reader(head, info), [b"", None]
            came.append(one)
            feed, close, fail = reader.feed, reader.close, reader.fail
            reader.feed = lambda chunk: (one.__setitem__(0, one[0] + chunk), feed(chunk))[1]
            reader.close = lambda: (one.__setitem__(1, True), close())[1]  # noqa: FBT003 - an item
            reader.fail = lambda error: (one.__setitem__(1, False), fail(error))[1]  # noqa: FBT003 - as above
            return reader

    return Noting, came


def cuts(written: WrittenAnswer, asked: Scenario | None = None) -> tuple[tuple[bytes, ...], Came]:
    """The events of an answer, and the cuts of them that come when the check is run on a good adapter."""
    make, came = noting()
    assert messages_of(CUT, make, asked or scenario(written)) == []
    return events_of(written), came[1:]  # the first is whole


def test_a_stream_is_cut_at_every_place_in_turn_and_at_the_last_in_every_way():
    events, came = cuts(WRITTEN)
    arrived = [b"".join(events[:count]) for count in range(len(events))]
    inside = [data + event[: len(event) // 2] for data, event in zip(arrived, events, strict=True)]
    assert came == [  # what is cut off after event 0 has no head either
        [arrived[1], True],
        [inside[2], False],
        [arrived[3], False],
        [arrived[4], True],
        [inside[5], False],
        [arrived[6], False],
        [arrived[6], True],
        [inside[6], False],
    ]


def places_of(events: tuple[bytes, ...], came: Came) -> list[int]:
    """After how many events each cut came."""
    ends = [len(b"".join(events[:count])) for count in range(len(events) + 1)]
    return [max(count for count, end in enumerate(ends) if end <= len(data)) for data, _ in came]


def test_a_long_stream_is_cut_at_both_ends_and_at_some_places_between():
    long = WrittenAnswer(content=TEXT * 8)
    events, came = cuts(long)
    places, last = places_of(events, came), len(events) - 1
    assert places == sorted(places)
    assert {1, 2, last - 2, last - 1, last} < set(places)
    assert len(set(places)) == 9 - 1
    assert len(places) == 8 + 3 - 1
    again = [places_of(*cuts(long, scenario(long, id=f"another-{number}"))) for number in range(3)]
    assert any(one != places for one in again)


def test_a_generated_answer_is_cut_at_fewer_places():
    events, came = cuts(WRITTEN, scenario(WRITTEN, group="generated"))
    places = set(places_of(events, came))
    assert len(events) - 1 in places
    assert len(places) == 3 - 1


def test_half_an_answer_that_is_taken_for_a_whole_one_is_found():
    found = messages_of(CUT, find_miniature("takes-a-cut-for-the-end").of(OpenAIAdapter), scenario(WRITTEN))
    assert_each_has(
        found,
        [
            "cut off after event 0 of 7",
            "closed normally after event 1 of 7",
            "cut off inside event 3 of 7",
            "cut off after event 3 of 7",
            "closed normally after event 4 of 7",
        ],
    )


def ends_well(text: str) -> Any:
    """An adapter that takes a cut stream for whole once all of its text has come, and gives this text then."""
    calls = itertools.count()

    def change(events: Events) -> Events:
        is_cut = next(calls) > 1  # the first two are whole
        arrived = "".join(event["text"] for event in events if event["type"] == "TOKEN")
        good = [event for event in answer_events(TEXT, message={"content": text}) if event["type"] != "TOKEN"]
        tokens = [event for event in events if event["type"] == "TOKEN"]
        return [*tokens, *with_ids(good, events[-1])] if is_cut and arrived == TEXT else events

    return spoiled(lambda adapter: change_streams(adapter, change))


def with_ids(events: Events, ids: Any) -> Events:
    return [{**event, "thread_id": ids["thread_id"], "trace_id": ids["trace_id"]} for event in events]


def test_after_the_finish_an_error_is_allowed_and_token_counts_may_be_lost():
    assert messages_of(CUT, OpenAIAdapter, scenario(WRITTEN)) == []
    assert_each_has(messages_of(CUT, ends_well(TEXT), scenario(WRITTEN)), ["after event 4 of 7: expected tokens"])


def test_after_the_finish_nothing_else_may_be_lost():
    before, *after = messages_of(CUT, ends_well("x"), scenario(WRITTEN))
    assert "after event 4 of 7: expected tokens" in before
    assert len(after) == 4
    assert all("a different answer is read: the message" in one for one in after)


def test_a_call_that_is_passed_on_incomplete_is_found():
    half = {"type": "TOOL_CALL", "call": call_of(arguments='{"at": "the fi')}

    def change(events: Events) -> Events:
        if events[-1]["finish"] != "error":
            return events
        ids = {name: events[-1][name] for name in ("thread_id", "trace_id")}
        before = [event for event in events[:-2] if event["type"] != "TOOL_CALL"]
        end = {**events[-1], "message": {"role": "assistant", "content": None, "tool_calls": [half["call"]]}}
        return [*before, {**ids, **half}, events[-2], end]

    found = messages_of(CUT, spoiled(lambda adapter: change_streams(adapter, change)), scenario(CALLED))
    assert found
    assert all('\'{"at": "the fi\'' in one for one in found)


class AsksTwice(OpenAIAdapter):
    """Its first request asks for no token counts; what is answered to it is thrown away."""

    async def call(self, prompt: Any, options: Any) -> Any:
        plain = {**options, "provider": {"openai-chat": {"stream_options": {"include_usage": False}}}}
        async for _ in super().call(prompt, plain):
            pass
        async for event in super().call(prompt, options):
            yield event


def test_of_an_adapter_that_asks_twice_the_last_requests_events_are_cut():
    make, came = noting(AsksTwice)
    assert messages_of(CUT, make, scenario(WRITTEN)) == []
    assert places_of(events_of(WRITTEN), came)[-1] == len(events_of(WRITTEN)) - 1


def test_a_stream_is_not_cut_where_no_request_arrives():
    assert "no request arrives" in reason_of(CUT, scripted(answer_events(TEXT)), scenario(WRITTEN))


def reported_errors(change: Callable[[Events], Events]) -> list[str]:
    """What is wrong with an adapter that tells the events of failed streams so."""

    def change_failures(events: Events) -> Events:
        return change(events) if events[-1]["finish"] == "error" else events

    adapter = spoiled(lambda adapter: change_streams(adapter, change_failures))
    return messages_of(ERROR, adapter, scenario(WRITTEN))


WORDS = "written error of a stream"
ARRIVED = "0123456789abcdefghijklmn"


@pytest.mark.parametrize(
    ("events", "fragments"),
    [
        (failure_events(ARRIVED, message=f"no: {WORDS}"), []),
        (failure_events(ARRIVED, message="no", provider_message=WORDS), []),
        (failure_events(ARRIVED, message=WORDS, provider_message="no"), [show(WORDS)]),
        (failure_events(ARRIVED), [show(WORDS)]),
        (failure_events("0123456789ab", message=WORDS), ['"0123456789ab"']),
        (answer_events(ARRIVED), ["expected tokens and calls"]),
    ],
)
def test_an_error_inside_a_stream_comes_after_what_arrived(events: Events, fragments: list[str]):
    assert_each_has(reported_errors(lambda given: with_ids(events, given[-1])), fragments)


def test_the_error_comes_after_half_of_the_events():
    make, came = noting()
    assert messages_of(ERROR, make, scenario(WRITTEN)) == []
    assert came[-1][0] == b"".join(events_of(WRITTEN)[:3]) + OPENAI.streams.write_error(503, WORDS)


def test_an_answer_whose_first_half_has_everything_is_not_judged():
    assert "the first half" in reason_of(ERROR, OpenAIAdapter, scenario(WrittenAnswer(content="")))


def lagging(count: int) -> Any:
    """An adapter that passes on each token when so many more have come."""

    async def pass_on(given: Any) -> Any:
        waiting: list[Any] = []
        async for event in given:
            waiting.append(event)
            if len(waiting) > count:
                yield waiting.pop(0)
        for event in waiting:
            yield event

    return spoiled(lambda adapter: retell(adapter, pass_on))


@pytest.mark.parametrize(("lag", "is_late"), [(0, False), (3, False), (5, True), (99, True)])
def test_at_least_half_of_the_tokens_come_before_the_pause_that_follows_them(lag: int, is_late: bool):  # noqa: FBT001
    sent = ("This answer was written, and it comes in so many pieces " * 2)[: 8 * 12]
    assert_each_has(messages_of("stream.tokens-come-as-they-are-sent", lagging(lag)), [show(sent)] * is_late)


def test_streams_are_judged_where_they_are_declared():
    silent = scripted(answer_events(), capabilities=["tools"])
    for check in ("stream.answer-is-read", "stream.closing-ends-the-call", CUT):
        assert "streaming" in reason_of(check, silent, scenario(WRITTEN))
    assert "reasoning" in reason_of(
        CUT, scripted(answer_events()), scenario(structs.replace(WRITTEN, thinking="Hm.")), dialect="openai-chat"
    )
    needy = scenario(WRITTEN, needs=("images",))
    assert "images" in reason_of(CUT, scripted(answer_events(), capabilities=["streaming"]), needy)


def by_kind(streamed: Any, whole: Any) -> Any:
    """An adapter that gives one answer where a stream is asked for, and another where none is."""

    def call(_: Any, options: Any) -> Any:
        given = streamed if options.get("stream") else whole
        if isinstance(given, Exception):
            raise given
        return given

    return scripted(call)


@pytest.mark.parametrize(
    ("make", "fragments"),
    [
        (OpenAIAdapter, []),
        (by_kind(failure_events(message="too late"), answer_events()), ["too late"]),
        (by_kind(OSError("no line"), answer_events()), ["OSError: no line"]),
        (by_kind(Refusal("why"), answer_events()), ["NO"]),
        (by_kind(OSError("no line"), Refusal("why")), ["OSError: no line"]),
        (AsksPlainly, ["ask for a stream"]),
    ],
)
def test_a_streamed_answer_that_is_not_read_or_not_requested_is_found(make: Any, fragments: list[str]):
    assert_each_has(messages_of("stream.answer-is-read", make, scenario(WRITTEN)), fragments)


def test_an_answer_that_is_refused_streamed_or_not_is_not_judged_as_a_stream():
    assert "NO" in reason_of("stream.answer-is-read", scripted(Refusal("why")), scenario(WRITTEN))


@pytest.mark.parametrize(
    ("other", "fragments"),
    [
        (answer_events(TEXT), []),
        (answer_events("x"), ["differs in the message", "differs in the text of the tokens"]),
        (OSError("no line"), ["OSError: no line"]),
    ],
)
def test_a_stream_that_is_read_otherwise_when_it_is_cut_otherwise_is_found(other: Any, fragments: list[str]):
    unsteady = scripted(answer_events(TEXT), other)
    assert_each_has(messages_of("stream.cuts-change-nothing", unsteady, scenario(WRITTEN)), fragments)
