"""Assembling a prompt against plain Python: the ratio and the growth."""

from __future__ import annotations

import pytest

from art_sdk.agents.pes import PES_PLAN, PES_PLAN_OBJECT
from benchmarks.assembly import SIZES, check_same, growth, ours, ratio
from benchmarks.conftest import Note


@pytest.mark.parametrize("blueprint", [PES_PLAN, PES_PLAN_OBJECT], ids=["text", "object"])
def test_assembly(note: Note, blueprint: object):
    assemble = ours(blueprint)
    check_same(assemble)
    kind = "text" if isinstance(blueprint, str) else "object"
    note(f"assembly of a {kind} blueprint, 50 messages: CPU", f"{ratio(assemble, SIZES[0]):.2f}")
    note(f"assembly of a {kind} blueprint, 500 to 5,000 messages: growth", f"{growth(assemble):.1f}")
