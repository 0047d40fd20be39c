"""What is asked of an adapter under load, what each call is answered, and which answers are wrong."""

from __future__ import annotations

import asyncio
import re
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.trial import drawn_id
from art_compliance.miniatures.base import Events, change_events
from art_compliance.subject.host.watching import Watch
from art_compliance.subject.subject import Subject
from art_sdk import CAPABILITIES, OpenAIAdapter
from trials import (
    Event,
    answer_events,
    assert_each_has,
    call_of,
    failure_events,
    findings_of,
    messages_of,
    reason_of,
    scripted,
    spoiled,
    translator,
)

pytestmark = pytest.mark.once

AT_ONCE, FLAT = "load.calls-at-once-do-not-mix", "load.memory-stays-flat"
UNSTREAMED = CAPABILITIES - {"streaming"}


class Unstreamed(OpenAIAdapter):
    capabilities = UNSTREAMED


def number_in(prompt: Any) -> int:
    (number,) = re.fullmatch(r"question number (\d+)\.", prompt[0]["content"]).groups()
    return int(number)


def text_of(number: int) -> str:
    return f"This is the answer to the question number {number}, and to no other question than {number}."


def refusal_of(number: int) -> str:
    return f"The question number {number} was refused, and no other than {number}."


def calls_of(number: int, *, odd: bool = False) -> list[dict[str, Any]]:
    """The calls of an answer: of tools with names that providers reject, where the adapter renames them."""
    own = f"{'./'[number % 2]}{number // 10}" if odd else f"_{number}"
    names = [f"look{own}", f"listen{own}"]
    return [call_of(f"call_{number}_{at}", name, f'{{"at_{number}": "place {at}"}}') for at, name in enumerate(names)]


def answering(give: Callable[[int], Any] = lambda _: None, **more: Any) -> Any:
    """An adapter whose calls are answered rightly, but for those that `give` gives something for."""

    def call(prompt: Any, _: Any) -> list[Event]:
        number = number_in(prompt)
        right = failure_events(message=refusal_of(number)) if number % 10 == 9 else answer_events(text_of(number))
        if number % 5 == 2:
            right = answer_events(None, calls=calls_of(number), finish="tool_calls")
        given = give(number)
        if isinstance(given, Exception):
            raise given
        return right if given is None else given

    return scripted(call, **more)


@pytest.mark.parametrize(
    ("costs", "count"), [([0.03, 0.9], 200), ([0.06, 0.9], 100), ([9.0, 9.0], 40), ([None, 0.06], 100), ([None], 200)]
)
def test_fewer_calls_are_made_at_once_where_each_takes_much_work(
    costs: list[float | None], count: int, monkeypatch: pytest.MonkeyPatch
):
    """The less of two costs counts; a call that fails has none."""
    given, own = iter([*costs, costs[-1]]), Subject.attempt

    def attempt(subject: Subject, verb: str, **arguments: Any) -> Any:
        return next(given) if verb == "cost" else own(subject, verb, **arguments)

    def call_together(_: Subject, calls: list[Any], *__: Any, seconds: float) -> Any:
        raise NotApplicable(f"{len(calls)} calls within {seconds:g} s")

    monkeypatch.setattr(Subject, "attempt", attempt)
    monkeypatch.setattr(Subject, "call_together", call_together)
    assert reason_of(AT_ONCE, OpenAIAdapter).startswith(f"{count} calls within ")


_IDS = ("thread_id", "trace_id", "session_id")


def ids_of(number: int) -> dict[str, str]:
    """The ids of the call with this number."""
    return {kind: drawn_id(1, str(number), kind) for kind in _IDS}


@pytest.mark.parametrize(("capabilities", "of_four"), [(CAPABILITIES, [1, 2, 3]), (UNSTREAMED, [])])
def test_three_of_four_calls_are_streamed_and_each_has_its_own_ids(capabilities: Any, of_four: list[int]):
    seen: dict[int, Any] = {}

    def call(prompt: Any, options: Any) -> list[Event]:
        seen[number_in(prompt)] = options
        return []

    messages_of(AT_ONCE, scripted(call, capabilities=capabilities))
    assert sorted(seen) == list(range(200))
    for number, options in seen.items():
        assert options.get("stream", False) is (number % 4 in of_four)
        assert {kind: options[kind] for kind in _IDS} == ids_of(number)


@pytest.mark.parametrize("make", [OpenAIAdapter, Unstreamed])
def test_each_call_is_answered_by_its_number_one_in_five_by_calls_and_one_in_ten_fails(make: type[OpenAIAdapter]):
    numbers = {ids_of(number)["thread_id"]: number for number in range(200)}
    ends: dict[int, Event] = {}
    errors: dict[int, Event] = {}

    def note(events: Events) -> Events:
        number = numbers[events[0]["thread_id"]]
        ends[number] = events[-1]
        failed = [event["error"] for event in events if event["type"] == "ERROR"]
        if failed:
            errors[number] = failed[0]
        return events

    def spoil(adapter: Any) -> None:
        change_events(adapter, note)
        adapter.call_sync = adapter.complete = adapter.complete_sync = None

    assert messages_of(AT_ONCE, spoiled(spoil, make)) == []
    assert sorted(errors) == list(range(9, 200, 10))
    refused = {number for number, error in errors.items() if error["status"] == 400}
    unanswered = {number for number, error in errors.items() if error["status"] is None}
    assert unanswered == set(range(29, 200, 40))
    assert refused == {one for one in errors if one not in unanswered and (make is Unstreamed or one % 20 == 19)}
    assert all(errors[number]["provider_message"] == refusal_of(number) for number in range(19, 200, 20))
    good = {number: end["message"] for number, end in ends.items() if number not in errors}
    called = {number: message["tool_calls"] for number, message in good.items() if message.get("tool_calls")}
    assert called == {number: calls_of(number, odd=True) for number in range(2, 200, 5)}
    said = {number: message["content"] for number, message in good.items() if number not in called}
    assert said == {number: text_of(number) for number in range(200) if number % 10 != 9 and number % 5 != 2}


OTHER = {**ids_of(3), "session_id": ids_of(4)["session_id"]}


def with_other_ids(number: int) -> list[Event] | None:
    if number % 10 == 9 or number % 5 == 2:  # they have no text
        return None
    *others, end = answer_events(text_of(number))
    return [*others, {**end, **OTHER}]


@pytest.mark.parametrize(
    ("give", "of"), [(with_other_ids, "contract"), (lambda number: answer_events(text_of(number + 1)), "loss")]
)
def test_many_wrong_calls_are_of_the_class_of_each(give: Any, of: str):
    found = findings_of(AT_ONCE, answering(give))
    assert found[-1].message.endswith(" of 200 concurrent calls gave a wrong answer")
    assert {one.finding_class for one in found} == {of}


class Cannot(Exception):
    code = "NO"


@pytest.mark.parametrize(
    ("number", "given", "fragment"),
    [
        (3, answer_events(text_of(3)), None),
        (3, Cannot("why"), "NO"),
        (3, OSError("no line"), "OSError: no line"),
        (3, answer_events(text_of(4)), f'"{text_of(4)}", and "{text_of(4)}" in the tokens'),
        (3, answer_events(text_of(4), tokens=text_of(3)), f'"{text_of(4)}", and "{text_of(3)}" in the tokens'),
        (3, answer_events("", tokens=text_of(3)), f'"", and "{text_of(3)}" in the tokens'),
        (3, answer_events(text_of(3), tokens="x"), f'"{text_of(3)}", and "x" in the tokens'),
        (3, failure_events(text_of(3), message="late"), "late"),
        (3, [*answer_events(text_of(3))[:-1], {**answer_events(text_of(3))[-1], **OTHER}], OTHER["session_id"]),
        (7, answer_events(None, calls=calls_of(7), finish="tool_calls"), None),
        (7, answer_events(None, calls=calls_of(12), finish="tool_calls"), "its calls are [["),
        (7, answer_events(None, calls=calls_of(7)[:1], finish="tool_calls"), "its calls are [["),
        (7, answer_events(text_of(7)), "its calls are [] instead of"),
        (7, failure_events(message="gone"), "an ERROR event: gone"),
        (7, OSError("no line"), "OSError: no line"),
        (9, failure_events(message="no"), None),
        (9, answer_events("a"), '"stop": "a"'),
        (19, failure_events(message=refusal_of(39)), "the provider's words"),
        (9, answer_events(None, calls=[call_of()], finish="tool_calls"), '"tool_calls": null'),
    ],
)
def test_a_call_that_is_answered_wrongly_is_found(number: int, given: Any, fragment: str | None):
    found = messages_of(AT_ONCE, answering(lambda one: given if one == number else None))
    assert_each_has(found, [] if fragment is None else [fragment])
    assert all(one.startswith(f"call {number}: ") for one in found)


@pytest.mark.parametrize(("wrong", "shown"), [(0, 0), (1, 1), (5, 5), (6, 6), (200, 6)])
def test_some_wrong_answers_are_shown_and_all_are_counted(wrong: int, shown: int):
    found = messages_of(AT_ONCE, answering(lambda number: OSError("no line") if number < wrong else None))
    assert len(found) == shown
    assert found[:1] == [one for one in found[:1] if one.startswith("call 0: ")]
    assert shown < 6 or f"{wrong} of 200 concurrent calls" in found[-1]


class Keeps:
    """What calls leave behind."""

    def __init__(self) -> None:
        self.calls = 0
        self.kept: list[bytearray] = []

    def call(self, size: int, until: int) -> Iterator[Event]:
        self.calls += 1
        if self.calls <= until and size:
            self.kept.append(bytearray(size))
        yield from answer_events()


IN_LOOPS = 2 * 5
"""Calls in event loops of their own, of which 600 bytes each may stay."""


@pytest.mark.parametrize(
    ("size", "until", "is_found", "calls"),
    [
        (0, 0, False, 24 + 2 * 20 + IN_LOOPS),
        (100, 10**6, False, 24 + 2 * 20 + IN_LOOPS),
        (600, 10**6, True, 24 + 15 * 20 + 1 + IN_LOOPS),  # one more shows what the finding was made on
        (600, 24, False, 24 + 2 * 20 + IN_LOOPS),
        (600, 24 + 20, False, 24 + 3 * 20 + IN_LOOPS),
        (600, 24 + 13 * 20, False, 24 + 15 * 20 + IN_LOOPS),
        (600, 24 + 14 * 20, True, 24 + 15 * 20 + 1 + IN_LOOPS),
    ],
    ids=["nothing", "little", "much", "while it warms up", "once", "thirteen times", "but for one round"],
)
def test_memory_is_flat_where_a_call_leaves_next_to_nothing(size: int, until: int, is_found: bool, calls: int):  # noqa: FBT001
    keeps = Keeps()
    found = messages_of(FLAT, scripted(lambda *_: keeps.call(size, until)))
    assert_each_has(found, ["bytes behind, measured over 20 calls"] if is_found else [])
    assert all(600 < float(re.findall(r"leaves ([\d,]+) bytes", one)[0].replace(",", "")) < 900 for one in found)
    assert keeps.calls == calls


def test_one_call_in_four_fails_while_memory_is_measured():
    statuses: list[int] = []

    def spoil(adapter: Any) -> None:
        own = adapter.read_response

        def read_response(head: Any, body: bytes, info: Any) -> Any:
            statuses.append(head.status)
            return own(head, body, info)

        adapter.read_response = read_response

    assert messages_of(FLAT, spoiled(spoil)) == []
    seen = Counter(statuses)
    assert seen.keys() == {200, 400, 503}
    assert seen[503] >= (24 + 40) / 16
    assert seen[400] - seen[503] in (0, 1)


@pytest.mark.parametrize(("size", "is_found"), [(0, False), (100, False), (1000, True), (8000, True)])
def test_memory_is_flat_where_an_adapter_leaves_next_to_nothing(size: int, is_found: bool):  # noqa: FBT001
    made: list[bytearray] = []

    class Leaves(OpenAIAdapter):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            made.append(bytearray(size))

    found = messages_of(FLAT, Leaves)
    assert_each_has(found, ["each adapter that was made, called, closed and dropped leaves "] if is_found else [])
    left = [float(re.findall(r"leaves ([\d,]+) bytes", one)[0].replace(",", "")) for one in found]
    assert left == [] or size + 300 < left[0] < size + 900, left  # the server in this process keeps timers
    rounds = len(made) // 4
    assert rounds >= (40 if is_found else 4)


def test_what_is_kept_for_each_event_loop_is_found():
    kept: dict[Any, bytearray] = {}

    def spoil(adapter: Any) -> None:
        own = adapter.call

        async def call(prompt: Any, options: Any) -> Any:
            kept.setdefault(asyncio.get_running_loop(), bytearray(8000))
            async for event in own(prompt, options):
                yield event

        adapter.call = call

    [message] = messages_of(FLAT, spoiled(spoil))
    assert message.startswith("each call in an event loop that ends with it leaves ")
    rounds = len(kept) // 5
    assert rounds == 15


def test_python_counts_what_is_allocated_only_while_that_is_measured():
    seen: set[bool] = set()

    def call(*_: Any) -> list[Event]:
        seen.add(tracemalloc.is_tracing())
        return answer_events()

    assert messages_of(FLAT, scripted(call)) == []
    assert seen == {True, False}
    assert not tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        assert messages_of(FLAT, scripted(call)) == []
        assert tracemalloc.is_tracing()
    finally:
        tracemalloc.stop()


def test_memory_is_counted_once_it_falls_no_more(monkeypatch: pytest.MonkeyPatch):
    watch, held = Watch({}), [bytearray(100_000)]
    assert not watch.trace_memory()
    try:
        before = watch.traced()
        held += [bytearray(100_000), bytearray(100_000)]
        monkeypatch.setattr(time, "sleep", lambda _: len(held) > 2 and held.pop())  # as a connection that ends
        assert 90_000 < watch.traced() - before < 110_000
    finally:
        watch.stop_tracing()


@pytest.mark.parametrize("check", [AT_ONCE, FLAT])
def test_an_adapter_without_a_call_is_not_put_under_load(check: str):
    assert "no call" in reason_of(check, translator(lambda *_: {}))


def test_an_adapter_that_asks_twice_is_not_compared_with_another():
    class Twice(OpenAIAdapter):
        async def call(self, prompt: Any, options: Any) -> Any:
            for _ in range(2):
                events = [event async for event in super().call(prompt, options)]
            for event in events:
                yield event

    assert "several" in reason_of("load.adapters-are-isolated", Twice)
