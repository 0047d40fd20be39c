"""Payloads with thousands of faults: each piece is explained as the whole would be, and the findings are bounded."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from art_compliance import judge
from art_compliance.dialects import DIALECTS
from art_compliance.findings import MOST_FINDINGS
from art_compliance.judging.wire import load_schema
from art_compliance.judging.wire.explain import explain
from art_compliance.judging.wire.pieces import Piece, split
from art_compliance.judging.wire.schemas import CHECK
from art_compliance.resources import data_folder

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # other tests run the same lines


def anthropic(blocks: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "model": "claude-haiku-4-5",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": blocks}],
        **more,
    }


def gemini(parts: list[Any], **more: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": parts}], **more}


def openai(parts: list[Any], **more: Any) -> dict[str, Any]:
    return {"model": "gpt-4.1", "messages": [{"role": "user", "content": parts}], **more}


WRONG = {
    "anthropic-messages": (anthropic, {"type": "text", "txt": "a"}, "/messages/0/content"),
    "gemini-generate": (gemini, {"text": 5}, "/contents/0/parts"),
    "openai-chat": (openai, {"type": "text", "txt": "a"}, "/messages/0/content"),
}


def refused(dialect: str, payload: Any) -> list[str]:
    return [one.pointer or "" for one in judge(dialect, payload) if one.severity == "reject"]


def explained(dialect: str, payload: Any, piece: Piece) -> set[tuple[str, str]]:
    known = load_schema(dialect)
    mismatches = explain(known.validator.iter_errors(piece.value), known.schema, piece, payload)
    return {(one.pointer, one.message) for one in mismatches}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_wrong_payload_is_explained_in_pieces_as_it_is_whole(dialect: str):
    cases = json.loads((data_folder("fixtures") / "judges" / dialect / "wrong.json").read_text(encoding="utf-8"))
    for payload in [case["payload"] for case in cases]:
        whole = explained(dialect, payload, Piece(payload))
        for size in (1, 2):
            pieces = {one for piece in split(payload, size) for one in explained(dialect, payload, piece)}
            assert pieces == whole


def test_pieces_have_every_item_once_and_know_where_it_was():
    payload = {"a": [[0, 1, 2], 3, {"b/c": [4, [5, 6, 7, 8], 9]}, 10], "d": [11], "e": 12, "f": {"g": [13, 14]}}
    found = [
        (piece.original(pointer), value)
        for size in (1, 2, 3)
        for piece in split(payload, size)
        for pointer, value in scalars(piece.value, "")
        if pointer != "/e"
    ]
    assert sorted(found) == sorted([one for one in scalars(payload, "") if one[0] != "/e"] * 3)


def scalars(value: Any, pointer: str) -> list[tuple[str, int]]:
    if isinstance(value, dict):
        return [one for name, item in value.items() for one in scalars(item, f"{pointer}/{name.replace('/', '~1')}")]
    if isinstance(value, list):
        return [one for at, item in enumerate(value) for one in scalars(item, f"{pointer}/{at}")]
    return [(pointer, value)]


@pytest.mark.parametrize("dialect", WRONG)
def test_the_first_hundred_of_many_faults_are_listed(dialect: str):
    make, block, place = WRONG[dialect]
    findings = judge(dialect, make([block] * 3_000))
    listed = [one.pointer or "" for one in findings if one.check == CHECK and one.severity == "reject"]
    assert len(listed) == MOST_FINDINGS
    numbers = [int(pointer.removeprefix(f"{place}/").partition("/")[0]) for pointer in listed]
    assert numbers == sorted(numbers)
    assert numbers[0] == 0
    notes = [one.message for one in findings if one.severity == "note"]
    assert "the schema: only the first 100 findings are listed" in notes


@pytest.mark.parametrize("dialect", WRONG)
def test_few_faults_are_found_wherever_they_are(dialect: str):
    make, block, place = WRONG[dialect]
    good = {"text": "a"} if dialect == "gemini-generate" else {"type": "text", "text": "a"}
    found = refused(dialect, make([good] * 2_000 + [block] + [good] * 2_000, nonsense=1))
    assert any(pointer.startswith(f"{place}/2000") for pointer in found)
    assert "/nonsense" in found
    assert all(pointer == "/nonsense" or pointer.startswith(f"{place}/2000") for pointer in found)


def test_a_rule_that_is_broken_often_has_a_hundred_findings():
    findings = judge("gemini-generate", {"contents": [{"role": "nobody", "parts": [{"text": "a"}]}] * 3_000})
    assert [one.pointer for one in findings[:-1]] == [f"/contents/{at}/role" for at in range(MOST_FINDINGS)]
    assert findings[-1].message == "gemini.roles: only the first 100 findings are listed"


@pytest.mark.parametrize("dialect", WRONG)
def test_ten_times_the_faults_take_hardly_longer(dialect: str):
    make, block, _ = WRONG[dialect]
    small, large = make([block] * 500), make([block] * 5_000)
    growth = min(seconds(dialect, large) / seconds(dialect, small) for _ in range(3))
    assert growth < 6, growth  # it is about 1.2; without a bound it is more than 10


def seconds(dialect: str, payload: Any) -> float:
    began = time.process_time()
    judge(dialect, payload)
    return time.process_time() - began
