"""Replies of a real engine, good and bad, in data/browser_replies.json: `make record-local` asks for them again."""

from __future__ import annotations

import re
from typing import Any

import pytest

from art_sdk.agents.browser import check_reply, read_reply
from browser_replies import CASES, PROMPTS, read_replies

FOUND = read_replies()
REPLIES: dict[str, dict[str, Any]] = FOUND["replies"]
WRONG: dict[str, str] = {
    "held to bare branches": r"\$: breaks '(required|oneOf)': .*",
    "cut": "not JSON: .*",
    "without the schema": "not JSON: .*",
}
"""What the manager says of the bad ones; it says nothing of the others."""


def test_the_file_says_who_answered_and_to_what():
    assert FOUND["source"] == "local engine"
    assert FOUND["engine"].startswith("llama-server of ")
    assert "untrained" in FOUND["model"]
    assert {name: (one["prompt"], one["max_tokens"]) for name, one in REPLIES.items()} == {
        name: (case.prompt, case.most_tokens) for name, case in CASES.items()
    }


@pytest.mark.parametrize("name", CASES)
def test_the_engine_was_given_the_schema_that_the_manager_makes_today(name: str):
    case = CASES[name]
    assert REPLIES[name]["response_schema"] == (case.schema() if case.fits_schema else None)


@pytest.mark.parametrize("name", CASES)
def test_replies_of_a_real_engine_are_as_good_as_they_are(name: str):
    problems = check_reply(REPLIES[name]["text"], PROMPTS[CASES[name].prompt]().schema)
    assert bool(problems) == (name in WRONG)
    assert all(re.fullmatch(WRONG[name], one) for one in problems)


def test_a_good_reply_decides_before_it_acts():
    reply = read_reply(REPLIES["held to the schema of a reflection"]["text"])
    assert [*reply] == ["reasoning", "decision", "action", "parameters"]
    assert reply["decision"] in {"PROCEED", "RETRY", "ABORT"}


def test_a_good_reply_has_a_command_of_the_executor():
    reply = read_reply(REPLIES["held to the schema with commands"]["text"])
    assert (reply["action"], reply["parameters"]) == ("click", {"selector": ""})
