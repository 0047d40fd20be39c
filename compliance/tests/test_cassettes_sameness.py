"""A recording that says nothing new leaves the file as it was; one that does replaces it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from art_compliance.cassettes import Exchange, Provenance, write_cassette
from art_compliance.cassettes.sameness import is_same_recording

CHUNK = {"id": "chatcmpl-1", "created": 1, "choices": [{"delta": {"content": "a"}}]}


def exchange(answer: Any, **changed: Any) -> Exchange:
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    plain = {
        "method": "POST",
        "uri": "http://127.0.0.1/v1/chat/completions",
        "request_headers": {},
        "request_body": b"{}",
        "status": 200,
        "reason": "OK",
        "answer_headers": {"content-type": "application/json"},
        "answer_body": body,
    }
    return Exchange(**{**plain, **changed})


def events(*items: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(item).encode() + b"\n\n" for item in items) + b"data: [DONE]\n\n"


def called(**arguments: Any) -> dict[str, Any]:
    return {"content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": arguments}]}


SAME = {
    "another id": ({**CHUNK, "id": "chatcmpl-2"}, CHUNK),
    "another time": ({**CHUNK, "created": 2}, CHUNK),
    "another id of a call": (
        {"message": {"tool_calls": [{"id": "a", "function": {"arguments": "{}"}}]}},
        {"message": {"tool_calls": [{"id": "b", "function": {"arguments": "{}"}}]}},
    ),
    "other timings": ({**CHUNK, "timings": {"prompt_ms": 1.5}}, {**CHUNK, "timings": {"prompt_ms": 2.5}}),
    "a stream of other ids": (events(CHUNK, CHUNK), events({**CHUNK, "id": "x"}, {**CHUNK, "id": "x"})),
}
OTHER = {
    "another text": ({"choices": ["a"]}, {"choices": ["b"]}),
    "no id": ({"choices": []}, {"id": "x", "choices": []}),
    "an id of null": ({"id": None}, {"id": "x"}),
    "a timing more": ({"timings": {"a": 1}}, {"timings": {"a": 1, "b": 1}}),
    "an argument called id": (called(id="a"), called(id="b")),
    "another event": (events(CHUNK), events(CHUNK, CHUNK)),
    "a line that is no event": (events(CHUNK), events(CHUNK).replace(b"data: {", b"{")),
    "no JSON": (b"a", b"b"),
}


@pytest.mark.parametrize("what", SAME)
def test_answers_that_differ_only_in_ids_and_times_are_the_same(what: str):
    one, other = SAME[what]
    assert is_same_recording((exchange(one),), (exchange(other),))


@pytest.mark.parametrize("what", OTHER)
def test_answers_that_differ_in_more_are_not_the_same(what: str):
    one, other = OTHER[what]
    assert not is_same_recording((exchange(one),), (exchange(other),))


CHANGED: dict[str, dict[str, Any]] = {
    "request": {"request_body": b'{"id": 1}'},
    "status": {"status": 201},
    "header": {"answer_headers": {"content-type": "text/plain"}},
}


@pytest.mark.parametrize("what", CHANGED)
def test_any_other_difference_counts(what: str):
    assert not is_same_recording((exchange(CHUNK),), (exchange(CHUNK, **CHANGED[what]),))


def test_a_new_recording_with_other_ids_leaves_the_file_as_it_was(tmp_path: Path):
    known = Provenance(
        source="local engine", date="2026-01-02", adapter="a", model="m", scenario="s", digest="d", suite="0"
    )
    path = tmp_path / "one.yaml"
    assert write_cassette(path, [exchange(CHUNK)], known)
    before = path.read_bytes()
    assert not write_cassette(path, [exchange({**CHUNK, "id": "chatcmpl-2", "created": 9})], known)
    assert path.read_bytes() == before
    assert write_cassette(path, [exchange({**CHUNK, "model": "another"})], known)
