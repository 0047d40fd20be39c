"""Where the rules begin and end: payloads just within and just beyond, and what is found of them, place by place."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.rules import judge_rules

BLANK = {"type": "text", "text": " \n"}
EMPTY = {"type": "text", "text": ""}
MARKED = {"type": "text", "text": "", "cache_control": {"type": "ephemeral"}}
TEXT = {"type": "text", "text": "a"}
BROKEN = {"type": "text", "text": "b\n"}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
HIDDEN = {"type": "redacted_thinking", "data": "c2ln"}
USE = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}


def user(content: Any = "a") -> dict[str, Any]:
    return {"role": "user", "content": content}


def said(content: Any = "b") -> dict[str, Any]:
    return {"role": "assistant", "content": content}


Told = list[tuple[str, str]]


def found(dialect: str, payload: Any) -> Told:
    return [
        (one.message.partition(": ")[0].partition(".")[2], one.pointer or "") for one in judge_rules(dialect, payload)
    ]


OLD, NEW = "claude-sonnet-4-0", "claude-opus-4-8"
MESSAGES: list[tuple[str, list[Any], Told]] = [
    (OLD, [user()], []),
    (OLD, [user(), said(), user()], []),
    (OLD, [said(), user()], [("first-is-user", "/messages/0")]),
    (OLD, [user(""), said(), user()], [("nonempty-content", "/messages/0/content")]),
    (OLD, [user([]), said(), user()], [("nonempty-content", "/messages/0/content")]),
    (OLD, [user(), said(""), user()], [("nonempty-content", "/messages/1/content")]),
    (OLD, [user(), said(), user("")], [("nonempty-content", "/messages/2/content")]),
    (OLD, [user(), said("")], []),
    (OLD, [user(), said([])], []),
    (OLD, [user(), said(""), said("")], [("nonempty-content", "/messages/1/content")]),
    (OLD, [user([TEXT, EMPTY])], [("text-block-nonempty", "/messages/0/content/1/text")]),
    (OLD, [user([TEXT, MARKED])], [("cache-control-not-on-empty", "/messages/0/content/1/text")]),
    (OLD, [user([TEXT, {**MARKED, "text": "a"}])], []),
    (
        OLD,
        [user([TEXT, {**MARKED, "cache_control": None}])],
        [("text-block-nonempty", "/messages/0/content/1/text")],
    ),
    (OLD, [user(" \n")], [("text-block-nonblank", "/messages/0/content")]),
    (OLD, [user(" a ")], []),
    (OLD, [user([BLANK, TEXT])], [("text-block-nonblank", "/messages/0/content/0/text")]),
    (OLD, [user([TEXT, BLANK])], [("text-block-nonblank", "/messages/0/content/1/text")]),
    (OLD, [user([{**RESULT, "text": " "}])], []),
    (OLD, [user(), said("b ")], [("final-assistant-trailing-ws", "/messages/1/content")]),
    (OLD, [user(), said(" b")], []),
    (OLD, [user(), said("b "), user()], []),
    (OLD, [user("a ")], []),
    (
        OLD,
        [user(), said([TEXT, {**TEXT, "text": "b\n"}])],
        [("final-assistant-trailing-ws", "/messages/1/content/1/text")],
    ),
    (OLD, [user(), said([BROKEN, TEXT])], []),
    (OLD, [user(), said(" ")], [("text-block-nonblank", "/messages/1/content")]),
    (NEW, [user(), said()], [("prefill-unsupported", "/messages/1")]),
    (NEW, [user(), said(), user()], []),
    (NEW, [user(), said([TEXT])], [("prefill-unsupported", "/messages/1")]),
    (NEW, [user(), said([TEXT, {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}])], []),
    (NEW, [user(), said([TEXT, {"type": "mcp_tool_use", "id": "s", "name": "x", "input": {}}])], []),
    (NEW, [user(), said([{"type": "web_search_tool_result", "tool_use_id": "s", "content": []}, TEXT])], []),
    (OLD, [user(), said([TEXT, THOUGHT]), user()], [("thinking-not-last", "/messages/1/content/1")]),
    (OLD, [user(), said([TEXT, HIDDEN]), user()], [("thinking-not-last", "/messages/1/content/1")]),
    (OLD, [user(), said([THOUGHT, HIDDEN, TEXT]), user()], []),
]


@pytest.mark.parametrize(("model", "messages", "told"), MESSAGES)
def test_of_anthropics_messages_is_found(model: str, messages: list[Any], told: Told):
    body = {"model": model, "max_tokens": 9, "messages": messages}
    rules = {"tool-use-answered", "tool-result-has-use"}
    assert [one for one in found("anthropic-messages", body) if one[0] not in rules] == told


@pytest.mark.parametrize(("count", "is_told"), [(99_999, False), (100_000, False), (100_001, True)])
def test_anthropic_counts_messages_before_they_are_joined(count: int, is_told: bool):  # noqa: FBT001
    body = {"model": OLD, "max_tokens": 9, "messages": [user()] * count}
    assert (("messages-limit", "/messages") in found("anthropic-messages", body)) is is_told


ON = {"type": "enabled", "budget_tokens": 1024}
TOOLS = [{"name": "f", "input_schema": {"type": "object"}}]
THINKING: list[tuple[dict[str, Any], list[Any], Told]] = [
    ({"thinking": ON}, [user()], []),
    (
        {"thinking": {**ON, "budget_tokens": 1023}},
        [user()],
        [("thinking-budget-min", "/thinking/budget_tokens")],
    ),
    ({"thinking": {"type": "disabled", "budget_tokens": 7}}, [user()], []),
    ({"thinking": {"type": "enabled"}}, [user()], []),
    ({"thinking": ON, "tool_choice": {"type": "auto"}}, [user()], []),
    ({"thinking": ON, "tool_choice": {"type": "none"}}, [user()], []),
    (
        {"thinking": ON, "tool_choice": {"type": "any"}},
        [user()],
        [("thinking-no-forced-tool", "/tool_choice")],
    ),
    ({"tool_choice": {"type": "any"}}, [user()], []),
    (
        {"thinking": ON, "tool_choice": {"type": "tool", "name": "f"}},
        [user()],
        [("thinking-no-forced-tool", "/tool_choice")],
    ),
    (
        {"thinking": ON},
        [user(), said([USE]), user([RESULT])],
        [("thinking-block-first", "/messages/1/content/0")],
    ),
    ({}, [user(), said([USE]), user([RESULT])], []),
    ({"thinking": ON}, [user(), said([THOUGHT, USE]), user([RESULT])], []),
    ({"thinking": ON}, [user(), said([HIDDEN, USE]), user([RESULT])], []),
    ({"thinking": ON}, [user(), said([USE]), user([RESULT]), said(), user()], []),
    ({"thinking": ON}, [user(), said([TEXT]), user()], []),
    (
        {"thinking": ON},
        [user(), said([THOUGHT, TEXT]), user(), said([USE]), user([RESULT])],
        [("thinking-block-first", "/messages/3/content/0")],
    ),
]


@pytest.mark.parametrize(("options", "messages", "told"), THINKING)
def test_of_anthropics_thinking_is_found(options: dict[str, Any], messages: list[Any], told: Told):
    body = {"model": OLD, "max_tokens": 4096, "tools": TOOLS, "messages": messages, **options}
    assert found("anthropic-messages", body) == told
