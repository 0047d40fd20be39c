"""A second judge of Mistral's requests, by Mistral: our rules of order and ids against mistral-common's validators.

Asked is its newest validator that wants ids of nine characters (v11), as the API does, in the mode of serving. Where
the two judges differ, the difference is one of `DIFFERENCES`.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from art_compliance import judge
from art_compliance.judging.rulebook import judge_rules
from art_compliance.resources import data_folder

pytest.importorskip("mistral_common", reason="the extra judges is not installed")

from mistral_common.exceptions import MistralCommonException
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
from mistral_common.tokens.tokenizers.base import TokenizerVersion
from pydantic import ValidationError

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # other tests run the same lines

MANY = 6000
"""How many conversations both judges are asked about."""

VALIDATOR = get_validator(TokenizerVersion.v11, ValidationMode.serving)
NAMES = ("look", "find_ship", "a-b_C9", "no dots.", "", "x" * 64, "x" * 65)
IDS = ("abcdefghi", "ABCDEFGH1", "123456789", "call_1", "abcdefgh", "toolongid0", "with-dash")
WEIGHTS_OF_IDS = (8, 8, 8, 1, 1, 1, 1)


def call(dice: random.Random) -> dict[str, Any]:
    name = dice.choices(NAMES, (12, 12, 6, 1, 1, 2, 1))[0]
    return {"id": dice.choices(IDS, WEIGHTS_OF_IDS)[0], "function": {"name": name, "arguments": "{}"}}


def message(dice: random.Random, role: str, waiting: list[str]) -> dict[str, Any]:
    """A message of the role; one of the assistant may call, a result mostly answers what waits."""
    said: dict[str, Any] = {"role": role, "content": "hi"}
    if role == "assistant" and dice.random() < 0.5:
        said |= {
            "content": dice.choice(["", "hi", None]),
            "tool_calls": [call(dice) for _ in range(dice.randint(1, 2))],
        }
    if role == "assistant" and dice.random() < 0.15:
        said["prefix"] = True
    if role == "tool":
        known = waiting.pop(0) if waiting and dice.random() < 0.85 else dice.choices(IDS, WEIGHTS_OF_IDS)[0]
        said["tool_call_id"] = known
    return said


LIKELY = {None: "su", "s": "uuusa", "u": "aaaaus", "a": "uuusa", "t": "aaaut"}
ROLES = {"s": "system", "u": "user", "a": "assistant", "t": "tool"}


def conversation(dice: random.Random) -> list[dict[str, Any]]:
    """A conversation that is mostly right: what comes next is likely, and now and then anything."""
    messages: list[dict[str, Any]] = []
    waiting: list[str] = []
    before: str | None = None
    for _ in range(dice.randint(0, 8)):
        letter = "t" if waiting and dice.random() < 0.9 else dice.choice(LIKELY[before])
        letter = dice.choice("suat") if dice.random() < 0.05 else letter
        messages.append(message(dice, ROLES[letter], waiting))
        if letter == "a":
            waiting = [one["id"] for one in messages[-1].get("tool_calls", ())]
        before = letter
    return messages


def theirs(payload: dict[str, Any]) -> str | None:
    """Why mistral-common refuses it, or None."""
    try:
        VALIDATOR.validate_request(ChatCompletionRequest(**payload))
    except (MistralCommonException, ValidationError, ValueError) as error:
        return str(error)
    return None


def ours(payload: dict[str, Any]) -> set[str]:
    found = judge_rules("mistral-chat", payload)
    return {finding.message.partition(": ")[0] for finding in found if finding.severity == "reject"}


def payloads() -> Iterator[dict[str, Any]]:
    dice = random.Random(20261122)
    for _ in range(MANY):
        yield {"model": "mistral-large-latest", "messages": conversation(dice)}


DIFFERENCES = {
    "Unexpected tool call id": "the validator begins with the second message: a conversation that begins with calls"
    " looks to it as if nobody had called",
}
"""Why mistral-common refuses what we accept, by its own words. What we refuse and it accepts: nothing."""


def test_our_rules_of_order_and_ids_and_mistrals_own_validator_agree_on_thousands_of_conversations():
    seen: Counter[str] = Counter()
    for payload in payloads():
        refused, broken = theirs(payload), ours(payload)
        if bool(refused) == bool(broken):
            seen["refused" if broken else "accepted"] += 1
            continue
        assert not broken, (broken, payload)
        known = next((words for words in DIFFERENCES if refused and refused.startswith(words)), None)
        assert known, (refused, payload)
        assert payload["messages"][0]["role"] == "assistant"
        seen[known] += 1
    assert seen.total() == MANY
    assert min(seen["refused"], seen["accepted"]) > 1500
    assert seen["Unexpected tool call id"] < 20


def test_some_conversations_break_each_rule_of_order_and_ids():
    broken = {name for payload in payloads() for name in ours(payload)}
    assert broken >= {
        "mistral.order",
        "mistral.start",
        "mistral.last-role",
        "mistral.calls-answered",
        "mistral.tool-result-ids",
        "mistral.call-ids-unique",
        "mistral.tool-id-9",
        "mistral.prefix-last",
        "mistral.function-name",
    }


ANSWERED = [
    {"role": "user", "content": "Where is the Aurora?"},
    {"role": "assistant", "content": "", "tool_calls": [call(random.Random(0)) | {"id": "abcdefghi"}]},
    {"role": "tool", "tool_call_id": "abcdefghi", "content": "berth 4"},
]


def test_requests_that_mistral_accepts_and_its_validator_refuses_are_accepted():
    numbered = ANSWERED[1] | {"tool_calls": [ANSWERED[1]["tool_calls"][0] | {"index": 0}]}
    payload = {"model": "mistral-large-latest", "messages": [ANSWERED[0], numbered, ANSWERED[2]]}
    assert "index" in str(theirs(payload))
    assert [finding for finding in judge("mistral-chat", payload) if finding.severity == "reject"] == []


GOOD_AND_REFUSED = {
    "whole": "stop",
    "sampling": "presence_penalty",
    "nulls": "temperature",
    "thinking-back": "thinking",
    "numbered-call": "index",
}
"""Good payloads that mistral-common refuses by its types, and the field: the API's schema and its SDK have each."""


@pytest.mark.parametrize("kind", ["good", "wrong"])
def test_good_and_wrong_payloads_are_so_for_mistrals_own_validator_too(kind):
    path = data_folder("fixtures") / "judges" / "mistral-chat" / f"{kind}.json"
    cases = json.loads(path.read_text(encoding="utf-8"))
    refused = {case["id"]: words for case in cases if (words := theirs(case["payload"]))}
    assert refused.keys() == (GOOD_AND_REFUSED.keys() if kind == "good" else {case["id"] for case in cases})
    assert all(words in refused[name] for name, words in GOOD_AND_REFUSED.items() if kind == "good")
