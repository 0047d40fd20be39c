"""Judging a request by its wire schema, against the floor of encoding it once with `json.dumps`."""

from __future__ import annotations

import json

import pytest

from art_compliance.wire import judge_wire
from benchmarks.conftest import Note
from benchmarks.conversation import make_options, make_prompt
from benchmarks.floors import CONTESTS
from benchmarks.measure import compare

DIALECTS = {"openai": "openai-chat", "gemini": "gemini-generate"}


@pytest.mark.parametrize("messages", [10, 100])
@pytest.mark.parametrize("provider", DIALECTS)
def test_judged_payloads_a_second(note: Note, provider: str, messages: int):
    """The aim is at least 2,000 payloads of ten messages a second on one core."""
    adapter, dialect = CONTESTS[provider].adapter, DIALECTS[provider]
    body = json.loads(adapter.prepare(make_prompt(messages), make_options()).request.body)
    assert judge_wire(dialect, body) == []
    pair = compare(lambda: json.dumps(body), lambda: judge_wire(dialect, body))
    note(f"{provider}, {messages} messages: judged by the schema, CPU", f"{pair.ratio:.2f}")
    note(f"{provider}, {messages} messages: payloads a second", f"{1 / pair.ours:,.0f}")
