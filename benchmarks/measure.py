"""Measures two things against each other, interleaved in one process so that noise hits both alike."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Final, NamedTuple

Clock = Callable[[], float]
Work = Callable[[], object]
Child = Callable[[], float]

ROUNDS: Final = 21
ROUND_SECONDS: Final = 0.02


class Pair(NamedTuple):
    """Seconds per run of each, and their ratio: medians, or minima for child processes."""

    floor: float
    ours: float
    ratio: float


def compare(floor: Work, ours: Work, *, clock: Clock = time.process_time, rounds: int = ROUNDS) -> Pair:
    """Measures ours against the floor. They take turns in going first."""
    repeats = _repeats(floor, clock)
    gc.collect()
    floors: list[float] = []
    own: list[float] = []
    for number in range(rounds):
        turns = [(floor, floors), (ours, own)]
        for work, times in turns if number % 2 else reversed(turns):
            times.append(_time(work, repeats, clock))
    ratios = [mine / theirs for mine, theirs in zip(own, floors, strict=True)]
    return Pair(median(floors), median(own), median(ratios))


def run_child(arguments: Sequence[str], *, cwd: str | None = None) -> float:
    """The CPU seconds of running this Python with the arguments. Raises CalledProcessError if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(  # noqa: S603 - our own Python, our own arguments
        [sys.executable, *arguments],
        check=True,
        cwd=cwd,
        stdout=subprocess.DEVNULL,
        env={name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))},
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
