"""What building a system prompt costs beyond its contributors' own time."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from statistics import median

import anyio

from art_sdk.contributors import (
    DynamicContributor,
    DynamicContributorContext,
    StaticContributor,
    build_system_prompt,
    get_current_date_time,
)
from benchmarks.conftest import Note

ROUNDS = 300
CONTEXT = DynamicContributorContext()
PARTS = [
    *(StaticContributor(f"text {number}", number, "Be kind. " * 20) for number in range(10)),
    *(DynamicContributor(f"date {number}", number, get_current_date_time) for number in range(10)),
]


async def build() -> None:
    await build_system_prompt(PARTS, CONTEXT)


async def ask_only() -> None:
    for part in PARTS:
        await part.get_content(CONTEXT)


def test_a_build_of_20_parts_takes_less_than_2_ms_beyond_their_own(note: Note):
    own, whole = (anyio.run(milliseconds, work) for work in (ask_only, build))
    note("a system prompt of 20 contributors: ms of CPU beyond theirs", f"{whole - own:.2f}")
    assert whole - own < 2


async def milliseconds(work: Callable[[], Awaitable[None]]) -> float:
    """Median CPU time of a round."""
    times: list[float] = []
    for _ in range(ROUNDS):
        start = time.process_time()
        await work()
        times.append((time.process_time() - start) * 1000)
    return median(times)
