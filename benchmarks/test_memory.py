"""The peak memory of a translation, measured with tracemalloc."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from benchmarks.conftest import Cell, Note
from benchmarks.conversation import make_options, make_prompt
from benchmarks.floors import CONTESTS
from benchmarks.measure import Work

MESSAGES = 1_000


@pytest.mark.parametrize("provider", CONTESTS)
def test_peak(note: Note, provider: str):
    prompt, options, contest = make_prompt(MESSAGES), make_options(), CONTESTS[provider]
    floor = _peak(lambda: contest.floor(prompt))
    ours = _peak(lambda: contest.adapter.prepare(prompt, options).request.body)
    note(f"{provider}, {MESSAGES} messages: peak memory", f"{ours / floor:.2f}", Cell("call", provider, "peak memory"))


def _peak(work: Work) -> int:
    """Bytes, of a second run: the first fills caches."""
    work()
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
