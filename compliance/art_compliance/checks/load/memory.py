"""Load: neither calls that have ended nor adapters that were closed keep memory."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, islice
from typing import Any, Final, NamedTuple

from art_compliance.checks.answerers import cutting, giving, refusing
from art_compliance.checks.base import check
from art_compliance.checks.limits import (
    ADAPTER_ROUNDS,
    ADAPTERS_BEFORE_MEMORY,
    ADAPTERS_PER_MEASURE,
    BYTES_A_CALL,
    BYTES_A_LOOP,
    BYTES_AN_ADAPTER,
    CALLS_BEFORE_MEMORY,
    CALLS_PER_MEASURE,
    LONG_PROMPT,
    LOOPS_PER_MEASURE,
    MEMORY_ROUNDS,
    MOST_RESIDENT,
)
from art_compliance.checks.load.numbered import ask_number, echo
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import Answerer, Asked, Drop, Response, in_one_write
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.host.interrupting import CannotDo


@check(
    "load.memory-stays-flat",
    clause="Nothing keeps memory of calls that finished or failed, or of adapters that were closed.",
    finding_class="contract",
    requires=("dialect", "call", "python"),
    once=True,
)
def memory_stays_flat(trial: Trial) -> Iterator[Problem]:
    """A service makes millions of calls, and perhaps an adapter for each customer."""
    numbers = count()
    _call_many(trial, numbers, CALLS_BEFORE_MEMORY)
    resident = 0 if trial.subject.in_process else trial.subject.attempt("resident") or 0
    if resident > MOST_RESIDENT:
        yield Problem(f"its process has {resident / 1e9:.1f} GB of memory after the calls so far")
    with _measuring(trial):
        _call_many(trial, numbers, CALLS_BEFORE_MEMORY)
        by_call = _left_by_calls(trial, numbers)
        by_loop = _left_by_loops(trial, numbers)
        by_adapter = _left_by_adapters(trial, numbers)
    if by_call / CALLS_PER_MEASURE > BYTES_A_CALL:
        left = f"{by_call / CALLS_PER_MEASURE:,.0f} bytes"
        yield Problem(f"each call leaves {left} behind, measured over {CALLS_PER_MEASURE} calls in a row")
    if by_loop / LOOPS_PER_MEASURE > BYTES_A_LOOP:
        left = f"{by_loop / LOOPS_PER_MEASURE:,.0f} bytes"
        yield Problem(f"each call in an event loop that ends with it leaves {left} behind")
    if by_adapter / ADAPTERS_PER_MEASURE > BYTES_AN_ADAPTER:
        left = f"{by_adapter / ADAPTERS_PER_MEASURE:,.0f} bytes"
        yield Problem(f"each adapter that was made, called, closed and dropped leaves {left} behind")


def _call_many(trial: Trial, numbers: Iterator[int], how_many: int) -> None:
    """Calls with prompts that never repeat, by each method; one in four fails, in each way in turn."""
    methods = trial.subject.call_methods
    for number in islice(numbers, how_many):
        turn = number // 4
        streamed, answerer = _FAILING[turn % len(_FAILING)] if number % 4 == 1 else (None, _echo_at_once)
        asked = _ask_at_length(trial, number, streamed=streamed)
        trial.subject.call_by(methods[turn % len(methods)], *asked, answerer)


_FAILING: Final[tuple[tuple[bool, Answerer], ...]] = (
    (False, refusing(400)),
    (True, cutting(WrittenAnswer(content="This answer never comes to its end."))),
    (True, refusing(503)),
    (False, giving(Response(200, steps=(Drop(),)))),
)
"""Whether a call is streamed, and how it fails. They are as many as the methods: each measure has all of them, and what
is made once for a way to fail is made before.
"""


def _ask_at_length(trial: Trial, number: int, *, streamed: bool | None) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A prompt that nobody overlooks who keeps it."""
    [message], options = ask_number(trial, number, streamed=streamed)
    return [{**message, "content": message["content"] + LONG_PROMPT * " It is a long one."}], options


def _echo_at_once(asked: Asked) -> Response:
    """As `echo`, with the body in one write: that is cheap, and makes the same events."""
    return in_one_write(echo(asked))


def _left_by_adapters(trial: Trial, numbers: Iterator[int]) -> int:
    """What a few more adapters leave; nothing where none can be closed."""

    def use(how_many: int) -> None:
        calls = [ask_number(trial, number) for number in islice(numbers, how_many)]
        with trial.subject.answering(_echo_at_once):
            trial.subject.attempt("open_and_close", calls=calls, methods=["call"])

    try:
        use(ADAPTERS_BEFORE_MEMORY)
    except CannotDo:
        return 0
    return _left(trial, lambda: use(ADAPTERS_PER_MEASURE), BYTES_AN_ADAPTER * ADAPTERS_PER_MEASURE, _OF_ADAPTERS)


def _left_by_calls(trial: Trial, numbers: Iterator[int]) -> int:
    """What is kept of a call is left in every round. A cache that fills, such as the interpreter's, ends growing."""
    enough = BYTES_A_CALL * CALLS_PER_MEASURE
    return _left(trial, lambda: _call_many(trial, numbers, CALLS_PER_MEASURE), enough, _OF_CALLS)


def _left_by_loops(trial: Trial, numbers: Iterator[int]) -> int:
    """What a web application keeps that answers each request in a loop of its own."""

    def call() -> None:
        calls = [(*ask_number(trial, number), "call") for number in islice(numbers, LOOPS_PER_MEASURE)]
        with trial.subject.answering(_echo_at_once):
            trial.subject.attempt("call_in_new_loops", calls=calls)

    return _left(trial, call, BYTES_A_LOOP * LOOPS_PER_MEASURE, _OF_CALLS)


class _Rounds(NamedTuple):
    """How many rounds are measured, at least and at most, and which of the last ones counts: the smallest has 0."""

    fewest: int
    most: int
    rank: int
    last: int

    def that_counts(self, grown: Sequence[int]) -> int:
        """What was left by the round that counts."""
        return sorted(grown[-self.last :])[self.rank]


_OF_CALLS: Final = _Rounds(fewest=2, most=MEMORY_ROUNDS, rank=1, last=MEMORY_ROUNDS)
"""Two rounds leave no more: one is low by chance where something is freed."""

_OF_ADAPTERS: Final = _Rounds(fewest=4, most=ADAPTER_ROUNDS, rank=2, last=4)
"""Three of four rounds leave no more: one is low by chance where something else is freed, such as an event loop's old
timers, or high while a cache fills.
"""


def _left(trial: Trial, use: Callable[[], None], enough: int, rounds: _Rounds) -> int:
    """What a round leaves: more rounds are measured for as long as it is too much."""
    grown: list[int] = []
    before = _traced(trial)
    while len(grown) < rounds.fewest or (rounds.that_counts(grown) > enough and len(grown) < rounds.most):
        use()
        after = _traced(trial)
        grown.append(after - before)
        before = after
    return rounds.that_counts(grown)


def _traced(trial: Trial) -> int:
    trial.subject.forget()
    traced = trial.subject.attempt("traced")
    return traced if isinstance(traced, int) else 0


@contextmanager
def _measuring(trial: Trial) -> Generator[None]:
    """Has Python count what is allocated; leaves the counting on where it was on."""
    was_on = trial.subject.attempt("trace_memory")
    try:
        yield
    finally:
        if was_on is False:
            trial.subject.attempt("stop_tracing")
