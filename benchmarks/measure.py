"""Measures two things against each other, interleaved in one process so that noise hits both alike."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from statistics import median, quantiles
from typing import Final, NamedTuple

Clock = Callable[[], float]
Work = Callable[[], object]
Child = Callable[[], float]

ROUNDS: Final = int(os.environ.get("BENCH_ROUNDS", "21"))
ROUND_SECONDS: Final = 0.02


class Pair(NamedTuple):
    """Seconds per run of each, and their ratio: medians, or minima for child processes.

    Half of the rounds had a ratio from `low` to `high`.
    """

    floor: float
    ours: float
    ratio: float
    low: float = 0.0
    high: float = 0.0

    @property
    def spread(self) -> str:
        """The ratio, and its spread."""
        return f"{self.ratio:.2f} ({self.low:.2f} to {self.high:.2f})"


def spread(ratios: list[float]) -> str:
    """The median of the ratios, and the range of the middle half of them."""
    low, _, high = quantiles(ratios, n=4)
    return f"{median(ratios):.2f} ({low:.2f} to {high:.2f})"


def compare(floor: Work, ours: Work, *, clock: Clock = time.process_time, rounds: int = ROUNDS) -> Pair:
    """Measures ours against the floor. They take turns in going first."""
    return compare_all(floor, {"ours": ours}, clock=clock, rounds=rounds)["ours"]


def compare_all(
    floor: Work, others: Mapping[str, Work], *, clock: Clock = time.process_time, rounds: int = ROUNDS
) -> dict[str, Pair]:
    """Measures each against the floor, all in turns: noise hits all of them alike. Each goes first now and then."""
    works = {"": floor, **others}
    repeats = {name: _repeats(work, clock) for name, work in works.items()}
    gc.collect()
    times: dict[str, list[float]] = {name: [] for name in works}
    names = list(works)
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            times[name].append(_time(works[name], repeats[name], clock))
    return {name: _pair(times[""], times[name]) for name in others}


def _pair(floors: list[float], own: list[float]) -> Pair:
    ratios = [mine / theirs for mine, theirs in zip(own, floors, strict=True)]
    low, _, high = quantiles(ratios, n=4)
    return Pair(median(floors), median(own), median(ratios), low, high)


def peak(work: Work) -> int:
    """The bytes that the work needs at its peak, of a second run: the first fills caches."""
    work()
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def run_child(arguments: Sequence[str], *, cwd: str | None = None) -> float:
    """The CPU seconds of running this Python with the arguments. Raises CalledProcessError if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(  # noqa: S603 - our own Python, our own arguments
        [sys.executable, *arguments],
        check=True,
        cwd=cwd,
        stdout=subprocess.DEVNULL,
        env={name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV", "PYTHONDONT"))},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare_children(bare: Child, full: Child, *, rounds: int) -> Pair:
    """`compare` for two child processes that return their CPU seconds. Takes minima, because noise only adds."""
    runs = [(bare(), full()) for _ in range(rounds + 1)][1:]  # the first fills caches
    least, most = (min(times) for times in zip(*runs, strict=True))
    return Pair(least, most, most / least)


def _time(work: Work, repeats: int, clock: Clock) -> float:
    start = clock()
    for _ in range(repeats):
        work()
    return (clock() - start) / repeats


def _repeats(work: Work, clock: Clock) -> int:
    """How often the work fits into a round, measured when warm."""
    _time(work, 1, clock)
    return max(1, int(ROUND_SECONDS / max(_time(work, 3, clock), 1e-9)))
