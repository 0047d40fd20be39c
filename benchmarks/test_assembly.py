"""Assembling a prompt, against plain Python: the ratio that is aimed at, and growth."""

from __future__ import annotations

import pytest

from art_sdk.agents.pes import PES_PLAN, PES_PLAN_OBJECT
from benchmarks.assembly import SIZES, growth, hold_same, ours, ratio
from benchmarks.conftest import Note


@pytest.mark.parametrize("blueprint", [PES_PLAN, PES_PLAN_OBJECT], ids=["text", "object"])
def test_assembly(note: Note, blueprint: object):
    way = ours(blueprint)
    hold_same(way)
    kind = "text" if isinstance(blueprint, str) else "object"
    note(f"assembly of a {kind} blueprint, 50 messages: CPU", f"{ratio(way, SIZES[0]):.2f}")
    note(f"assembly of a {kind} blueprint, 500 to 5,000 messages: growth", f"{growth(way):.1f}")
