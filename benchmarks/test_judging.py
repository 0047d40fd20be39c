"""Judging a request by its schema, and by schema and rules. The floor encodes it once with `json.dumps`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from art_compliance import judge
from art_compliance.dialects import DIALECTS
from art_compliance.judging.wire import judge_wire
from art_compliance.resources import data_folder
from benchmarks.conftest import Note
from benchmarks.conversation import make_options, make_prompt
from benchmarks.floors import CONTESTS
from benchmarks.measure import compare

ADAPTED = {"openai": "openai-chat", "gemini": "gemini-generate"}


@pytest.mark.parametrize("messages", [10, 100])
@pytest.mark.parametrize("provider", ADAPTED)
def test_judged_payloads_per_second(note: Note, provider: str, messages: int):
    """The aim is at least 2,000 payloads of ten messages per second on one core."""
    adapter, dialect = CONTESTS[provider].adapter, ADAPTED[provider]
    body = json.loads(adapter.prepare(make_prompt(messages), make_options()).request.body)
    assert judge_wire(dialect, body) == []
    pair = compare(lambda: json.dumps(body), lambda: judge_wire(dialect, body))
    note(f"{provider}, {messages} messages: judged by the schema, CPU", f"{pair.ratio:.2f}")
    note(f"{provider}, {messages} messages: payloads per second", f"{1 / pair.ours:,.0f}")


def conversation(dialect: str, messages: int) -> dict[str, Any]:
    """The dialect's first good payload, with its conversation repeated to this many messages."""
    path = data_folder("fixtures") / "judges" / dialect / "good.json"
    payload: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))[0]["payload"]
    name = DIALECTS[dialect].requests.history[1:]
    *turns, last = payload[name]
    once = json.dumps(turns)
    many: list[Any] = []
    while len(many) < messages - 1:
        many += json.loads(once)
    return {**payload, name: [*many[: messages - 1], last]}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_payloads_judged_by_schema_and_rules(note: Note, dialect: str):
    """The aim is 2,000 per second on one core, and growth of at most 13 from 1,000 to 10,000 messages."""
    ten = conversation(dialect, 10)
    pair = compare(lambda: json.dumps(ten), lambda: judge(dialect, ten))
    note(f"{dialect}, 10 messages: judged, payloads per second", f"{1 / pair.ours:,.0f}")
    small, large = conversation(dialect, 1_000), conversation(dialect, 10_000)
    own = compare(lambda: judge(dialect, small), lambda: judge(dialect, large), rounds=9)
    floor = compare(lambda: json.dumps(small), lambda: json.dumps(large), rounds=9)
    note(f"{dialect}, growth from 1,000 to 10,000: floor / ours", f"{floor.ratio:.1f} / {own.ratio:.1f}")
