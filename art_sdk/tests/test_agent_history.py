from __future__ import annotations

from typing import Any

import pytest

from art_sdk import dump_prompt, parse_prompt
from art_sdk.agents.pes import ConversationMessage, format_history_for_prompt
from art_sdk.conversation import read_conversation

USER = {"role": "user", "content": "q"}
SAID = {"role": "assistant", "content": "a"}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool_result", "content": "r", "tool_call_id": call_id}


def asked(*ids: str, content: str | None = None) -> dict[str, Any]:
    calls = [{"id": one, "function": {"name": "f", "arguments": "{}"}, "type": "function"} for one in ids]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def request(call_id: str) -> dict[str, Any]:
    return {"role": "tool_request", "content": {"id": call_id, "name": "f", "arguments": {}}}


def formatted(messages: list[Any], limit: int | None = None) -> list[Any]:
    stored = [ConversationMessage(message=one, timestamp=0.0) for one in parse_prompt(messages)]
    prompt = format_history_for_prompt(stored, limit)
    assert not read_conversation(prompt).faults
    return dump_prompt(prompt)


WHOLE = [USER, asked("a", "b"), result("b"), result("a"), SAID, USER, SAID]


@pytest.mark.parametrize(
    "messages", [[], [USER, SAID], [SAID, USER, SAID], WHOLE, [USER, request("a"), result("a"), SAID]]
)
def test_whole_conversations_stay_as_they_are(messages: list[Any]):
    assert formatted(messages) == messages


@pytest.mark.parametrize(
    ("limit", "kept"), [(7, WHOLE), (6, WHOLE[5:]), (3, WHOLE[5:]), (2, WHOLE[5:]), (1, []), (0, [])]
)
def test_a_cut_is_before_a_user_message(limit: int, kept: list[Any]):
    assert formatted(WHOLE, limit) == kept


@pytest.mark.parametrize(
    ("messages", "kept"),
    [
        ([USER, asked("a"), USER, SAID], [USER, USER, SAID]),
        ([USER, asked("a", content="x"), USER], [USER, {"role": "assistant", "content": "x"}, USER]),
        ([USER, asked("a", "b"), result("b"), SAID], [USER, asked("b"), result("b"), SAID]),
        ([USER, SAID, asked("a")], [USER, SAID]),
        ([USER, result("a"), SAID], [USER, SAID]),
        ([USER, asked("a"), result("a"), result("a"), SAID], [USER, asked("a"), result("a"), SAID]),
        ([USER, request("a"), SAID], [USER, SAID]),
        ([USER, {"role": "tool_request", "content": None}, SAID], [USER, SAID]),
    ],
)
def test_calls_and_results_without_each_other_are_left_out(messages: list[Any], kept: list[Any]):
    assert formatted(messages) == kept
