"""Which requests mean the same, and how a difference is shown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from art_compliance.cassettes.matching import ScrubbedRequest, changes, describe_mismatch, is_same
from art_compliance.dialects import DIALECTS


def asked(**body: Any) -> ScrubbedRequest:
    return ScrubbedRequest("POST", "https://api.example.com/v1/chat/completions", json.dumps(body).encode())


def conversation(first: str, second: str, answers: str = "") -> ScrubbedRequest:
    calls = [{"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in (first, second)]
    return asked(
        model="m",
        messages=[
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": answers or first, "content": "1"},
            {"role": "tool", "tool_call_id": second, "content": "2"},
        ],
    )


CHAT = DIALECTS["openai-chat"]
HI = {"type": "text", "text": "hi"}
TEXT = asked(model="m", messages=[{"role": "user", "content": "hi"}])

SAME = {
    "the order of fields": (TEXT, asked(messages=[{"content": "hi", "role": "user"}], model="m")),
    "a text as a block": (
        TEXT,
        asked(model="m", messages=[{"role": "user", "content": [HI]}]),
    ),
    "another host": (TEXT, ScrubbedRequest("POST", "http://127.0.0.1/v1/chat/completions", TEXT.body)),
    "another root": (TEXT, ScrubbedRequest("POST", "https://proxy.example.com/openai/chat/completions", TEXT.body)),
    "other ids, one to one": (conversation("a", "b"), conversation("b", "c")),
}
OTHER = {
    "another text": (TEXT, asked(model="m", messages=[{"role": "user", "content": "hi "}])),
    "another model": (TEXT, asked(model="n", messages=[{"role": "user", "content": "hi"}])),
    "a field more": (TEXT, asked(model="m", messages=[{"role": "user", "content": "hi"}], seed=1)),
    "another path": (TEXT, ScrubbedRequest("POST", "https://api.example.com/v1/responses", TEXT.body)),
    "another method": (TEXT, ScrubbedRequest("PUT", TEXT.uri, TEXT.body)),
    "two ids that became one": (conversation("a", "b"), conversation("a", "a")),
    "no JSON": (TEXT, ScrubbedRequest("POST", TEXT.uri, b"hello")),
}


@pytest.mark.parametrize("what", SAME)
def test_two_requests_that_mean_the_same_match(what: str):
    assert is_same(CHAT, *SAME[what])


@pytest.mark.parametrize("what", OTHER)
def test_two_requests_that_do_not_mean_the_same_do_not_match(what: str):
    one, other = OTHER[what]
    assert not is_same(CHAT, one, other)
    assert "recorded " in describe_mismatch(CHAT, one, other)


def test_a_difference_has_its_pointer():
    recorded = {"a": [1, {"b/c": "x" * 200 + "y"}], "gone": None, "same": 1}
    now = {"a": [1.0, {"b/c": "x" * 200 + "z"}, 3], "new": True, "same": 1}
    letters = "x" * 20
    assert [str(change) for change in changes(recorded, now)] == [
        "/a/0: recorded 1, now 1.0",
        f'/a/1/b~1c: recorded "…{letters}y", now "…{letters}z"',
        "/a/2: recorded nothing, now 3",
        "/gone: recorded null, now nothing",
        "/new: recorded nothing, now true",
    ]
