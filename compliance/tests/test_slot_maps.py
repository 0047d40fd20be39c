"""Slot maps: every piece of a prompt is where the map says, and docs/slot-maps.md is current."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from art_compliance.checks.payload import canonical
from art_compliance.commands import app
from art_compliance.dialects import DIALECTS
from art_compliance.pointers import look_up
from art_compliance.publishing.pieces import pieces_of
from art_compliance.publishing.slot_pages import ON_THE_PAGE
from art_compliance.publishing.slots import find_value, slot_map
from art_compliance.scenarios import load_scenarios
from row_tables import table
from trials import suite_scenario

SAMPLE = sorted({*ON_THE_PAGE, *(one.id for one in load_scenarios()[::9])})
HAVE_NO_IDS = {"ollama-chat"}


@table("name", SAMPLE)
def test_every_piece_is_where_the_map_says(name):
    scenario = suite_scenario(name)
    if not any(canonical(dialect, name) for dialect in DIALECTS):
        return
    found, pieces = slot_map(scenario), list(pieces_of(scenario))
    assert [slot.path for slot in found.slots] == [piece.path for piece in pieces]
    for slot, piece in zip(found.slots, pieces, strict=True):
        for dialect, pointer in slot.pointers.items():
            if pointer is None:
                assert is_loss(slot, piece, dialect), f"{dialect}: {slot.path} is nowhere"
            elif slot.kind in {"system text", "user text", "assistant text", "result"}:
                there = look_up(canonical(dialect, name), pointer)
                assert piece.value in there or json.loads(piece.value) == there, f"{dialect}: {slot.path}"


def is_loss(slot, piece, dialect):
    """What a reference adapter leaves out: blank texts, ids and options that a provider has no field for."""
    is_id = slot.kind in {"call id", "answered call"}
    return (is_id and dialect in HAVE_NO_IDS) or slot.kind == "option" or not str(piece.value).strip()


def test_pieces_that_are_equal_are_at_different_places():
    found = slot_map(suite_scenario("equal-turns"))
    for dialect in DIALECTS:
        pointers = [slot.pointers[dialect] for slot in found.slots if dialect in slot.pointers]
        assert len(pointers) == len(set(pointers)), dialect


def test_results_are_where_their_calls_are_answered():
    found = slot_map(suite_scenario("results-reversed"))
    for dialect in found.slots[0].pointers:
        payload = canonical(dialect, "results-reversed")
        results = [slot for slot in found.slots if slot.kind == "result"]
        assert [look_up(payload, slot.pointers[dialect]) for slot in results] == [json.loads(s.value) for s in results]


@pytest.mark.parametrize(
    ("value", "pointer"),
    [("b", "/x/1"), ('{"a": 1}', "/x/2"), ("cde", "/x/3"), ("nowhere", None), (1, "/x/2/a"), (True, None), ("", None)],
)
def test_a_value_is_found_as_it_is_then_as_json_then_in_a_text(value, pointer):
    assert find_value({"x": ["abc b", "b", {"a": 1}, "-cde-"]}, "", value) == pointer


def test_the_command_prints_lines_and_json():
    lines = CliRunner().invoke(app, ["map", "one-question"]).output
    assert re.search(r"^ {4}/contents/0/parts/0/text +gemini-generate$", lines, re.MULTILINE)
    data = json.loads(CliRunner().invoke(app, ["map", "one-question", "--json"]).output)
    assert data["slots"][0]["pointers"]["gemini-generate"].startswith("/")
    assert CliRunner().invoke(app, ["map", "no-such-scenario"]).exit_code == 2
    assert CliRunner().invoke(app, ["map"]).exit_code == 2
    refused = CliRunner().invoke(app, ["map", "empty-prompt"])
    assert (refused.exit_code, "has no canonical payload: refused" in refused.output) == (2, True)
