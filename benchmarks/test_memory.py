"""The peak memory of a translation, measured with tracemalloc."""

from __future__ import annotations

import pytest

from benchmarks.conftest import Cell, Note
from benchmarks.conversation import make_options, make_prompt
from benchmarks.floors import CONTESTS
from benchmarks.measure import peak

MESSAGES = 1_000


@pytest.mark.parametrize("provider", CONTESTS)
def testpeak(note: Note, provider: str):
    prompt, options, contest = make_prompt(MESSAGES), make_options(), CONTESTS[provider]
    floor = peak(lambda: contest.floor(prompt))
    ours = peak(lambda: contest.adapter.prepare(prompt, options).request.body)
    note(f"{provider}, {MESSAGES} messages: peak memory", f"{ours / floor:.2f}", Cell("call", provider, "peak memory"))
