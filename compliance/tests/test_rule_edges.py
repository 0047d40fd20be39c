"""Where the rules begin and end: payloads just within and just beyond, and what is found of them, place by place."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.dialects.ruling import Place, schemas
from art_compliance.judging.rulebook import judge_rules
from row_tables import table

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # other tests run the same lines

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


BrokenRules = list[tuple[str, str]]


def found(dialect: str, payload: Any) -> BrokenRules:
    return [
        (one.message.partition(": ")[0].partition(".")[2], one.pointer or "") for one in judge_rules(dialect, payload)
    ]


OLD, NEW = "claude-sonnet-4-0", "claude-opus-4-8"
MESSAGES: list[tuple[str, list[Any], BrokenRules]] = [
    (OLD, [user()], []),
    (OLD, [user(), said(), user()], []),
    (OLD, [said(), user()], [("first-is-user", "/messages/0")]),
    (OLD, [user(""), said(), user()], [("nonempty-content", "/messages/0/content")]),
    (OLD, [user([]), said(), user()], [("nonempty-content", "/messages/0/content")]),
    (OLD, [user(), said(""), user()], [("nonempty-content", "/messages/1/content")]),
    (OLD, [user(), said(), user("")], [("nonempty-content", "/messages/2/content")]),
    (OLD, [user(), said("")], []),
    (OLD, [user(), said([])], []),
    (OLD, [user(), said(""), said("")], []),
    (OLD, [user([]), user()], []),
    (OLD, [user(), user("")], []),
    (
        OLD,
        [user(), said(), user([]), {"role": "system", "content": "s"}, user()],
        [("no-system-role-first", "/messages/3/role")],
    ),
    (OLD, [user([]), user(""), said(), user()], [("nonempty-content", "/messages/0/content")]),
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
    (OLD, [user([BLANK, TEXT])], []),
    (OLD, [user([TEXT, BLANK])], []),
    (OLD, [user(), said([TEXT, BLANK, TEXT]), user()], []),
    (OLD, [user([BLANK])], [("text-block-nonblank", "/messages/0/content/0/text")]),
    (OLD, [user([BLANK, {"type": "image"}])], [("text-block-nonblank", "/messages/0/content/0/text")]),
    (OLD, [user([TEXT]), user([BLANK])], [("text-block-nonblank", "/messages/1/content/0/text")]),
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
    (
        OLD,
        [user(), said([TEXT, TEXT, {**TEXT, "text": "b\n"}])],
        [("final-assistant-trailing-ws", "/messages/1/content/2/text")],
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


@table(("model", "messages", "broken"), MESSAGES)
def test_broken_rules_of_anthropics_messages_are_found(model: str, messages: list[Any], broken: BrokenRules):
    body = {"model": model, "max_tokens": 9, "messages": messages}
    rules = {"tool-use-answered", "tool-result-has-use"}
    assert [one for one in found("anthropic-messages", body) if one[0] not in rules] == broken


@pytest.mark.parametrize(("count", "is_broken"), [(99_999, False), (100_000, False), (100_001, True)])
def test_anthropic_counts_messages_before_they_are_joined(count: int, is_broken: bool):  # noqa: FBT001
    body = {"model": OLD, "max_tokens": 9, "messages": [user()] * count}
    assert (("messages-limit", "/messages") in found("anthropic-messages", body)) is is_broken


ON = {"type": "enabled", "budget_tokens": 1024}
TOOLS = [{"name": "f", "input_schema": {"type": "object"}}]
AGAIN, ANSWER = {**USE, "id": "again"}, {**RESULT, "tool_use_id": "again"}
THINKING: list[tuple[dict[str, Any], list[Any], BrokenRules]] = [
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
    (
        {"thinking": ON},
        [user(), said([USE]), user([RESULT]), said([AGAIN]), user([ANSWER])],
        [("thinking-block-first", "/messages/3/content/0")],
    ),
    ({"thinking": ON}, [user(), said([USE]), user([RESULT]), said([THOUGHT, AGAIN]), user([ANSWER])], []),
    ({}, [user(), said([USE]), user([RESULT])], []),
    ({"thinking": ON}, [user(), said([THOUGHT, USE]), user([RESULT])], []),
    ({"thinking": ON}, [user(), said([HIDDEN, USE]), user([RESULT])], []),
    ({"thinking": ON}, [user(), said([USE]), user([RESULT]), said(), user()], []),
    ({"thinking": ON}, [user(), said([TEXT]), user()], []),
    ({"thinking": ON}, [user(), said([TEXT])], [("thinking-no-prefill", "/messages/1")]),
    ({"thinking": ON}, [user(), said([THOUGHT, TEXT])], []),
    (
        {"thinking": ON},
        [user(), said([THOUGHT, TEXT]), user(), said([USE]), user([RESULT])],
        [("thinking-block-first", "/messages/3/content/0")],
    ),
]


@pytest.mark.parametrize(("options", "messages", "broken"), THINKING)
def test_broken_rules_of_anthropics_thinking_are_found(
    options: dict[str, Any], messages: list[Any], broken: BrokenRules
):
    body = {"model": OLD, "max_tokens": 4096, "tools": TOOLS, "messages": messages, **options}
    assert found("anthropic-messages", body) == broken


CHAT = {"model": "gpt-4o", "messages": [user()]}
RANGES: list[tuple[str, str, dict[str, Any], str, float, float]] = [
    *(
        ("openai-chat", "temperature-range", CHAT, name, *limits)
        for name, limits in {
            "temperature": (0, 2),
            "top_p": (0, 1),
            "presence_penalty": (-2, 2),
            "frequency_penalty": (-2, 2),
            "n": (1, 128),
            "top_logprobs": (0, 20),
        }.items()
    ),
    *(
        ("mistral-chat", "temperature", CHAT, name, *limits)
        for name, limits in {
            "temperature": (0, 1.5),
            "top_p": (1e-9, 1),
            "presence_penalty": (-2, 2),
            "frequency_penalty": (-2, 2),
        }.items()
    ),
    *(
        ("groq-chat", "sampling-range", CHAT, name, *limits)
        for name, limits in {
            "temperature": (0, 2),
            "top_p": (0, 1),
            "presence_penalty": (-2, 2),
            "frequency_penalty": (-2, 2),
        }.items()
    ),
    *(
        ("anthropic-messages", "temperature-range", {"model": OLD, "max_tokens": 9, "messages": [user()]}, name, 0, 1)
        for name in ("temperature", "top_p")
    ),
    *(
        ("gemini-generate", "temperature", {"contents": [{"parts": [{"text": "a"}]}]}, name, *limits)
        for name, limits in {
            "temperature": (0, 2),
            "presencePenalty": (-2, 2),
            "frequencyPenalty": (-2, 2),
            "presence_penalty": (-2, 2),
            "frequency_penalty": (-2, 2),
        }.items()
    ),
    *(
        (dialect, rule, CHAT, name, low, high)
        for dialect, rule, name, low, high in (
            ("openrouter-chat", "own-ranges", "min_p", 0, 1),
            ("openrouter-chat", "own-ranges", "top_a", 0, 1),
            ("openrouter-chat", "own-ranges", "repetition_penalty", 0, 2),
            ("openai-responses", "sampling-range", "temperature", 0, 2),
            ("openai-responses", "sampling-range", "top_p", 0, 1),
            ("openai-responses", "sampling-range", "top_logprobs", 0, 20),
            ("ollama-chat", "top-logprobs", "top_logprobs", 0, 20),
            ("deepseek-chat", "sampling-range", "temperature", 0, 2),
            ("deepseek-chat", "sampling-range", "top_p", 1e-9, 1),
            ("deepseek-chat", "sampling-range", "presence_penalty", -2, 2),
            ("deepseek-chat", "sampling-range", "frequency_penalty", -2, 2),
            ("deepseek-chat", "sampling-range", "top_logprobs", 0, 20),
            ("cohere-chat-v2", "temperature", "temperature", 0, 1),
            ("cohere-chat-v2", "penalties", "frequency_penalty", 0, 1),
            ("cohere-chat-v2", "penalties", "presence_penalty", 0, 1),
            ("cohere-chat-v2", "stop-max5", "k", 0, 500),
            ("cohere-chat-v2", "stop-max5", "p", 0.01, 0.99),
        )
    ),
    *(
        ("gemini-generate", "top-p", {"contents": [{"parts": [{"text": "a"}]}]}, name, 0, 1)
        for name in ("topP", "top_p")
    ),
]


@pytest.mark.parametrize(("dialect", "rule", "body", "name", "low", "high"), RANGES)
def test_an_option_is_accepted_from_its_minimum_to_its_maximum(
    dialect: str, rule: str, body: dict[str, Any], name: str, low: float, high: float
):
    for value, is_out in ((low - 0.01, True), (low, False), (high, False), (high + 0.01, True), (True, False)):
        given = {name: value}
        payload = {**body, "generationConfig": given} if dialect == "gemini-generate" else {**body, **given}
        broken = [one for one in found(dialect, payload) if one[0] == rule]
        assert [place.rpartition("/")[2] for _, place in broken] == ([name] if is_out else [])


OPTIONAL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "f", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}},
}
OPTIONS: list[tuple[str, dict[str, Any], BrokenRules]] = [
    (
        "cohere-chat-v2",
        {"strict_tools": True, "tools": [OPTIONAL]},
        [("strict-required", "/tools/0/function/parameters")],
    ),
    ("cohere-chat-v2", {"strict_tools": False, "tools": [OPTIONAL]}, []),
    ("cohere-chat-v2", {"tools": [OPTIONAL]}, []),
    ("openai-chat", {"model": "gpt-4o", "stop": list("abcd")}, []),
    ("openai-chat", {"model": "gpt-4o", "stop": list("abcde")}, [("stop-max4", "/stop")]),
    ("openai-chat", {"model": "gpt-4o", "stop": "abcde"}, []),
    ("openai-chat", {"model": "gpt-4o", "max_tokens": 9}, []),
    ("openai-chat", {"model": "o3", "max_tokens": 9}, [("max-completion-tokens", "/max_tokens")]),
    ("openai-chat", {"model": "o3", "max_completion_tokens": 9, "max_tokens": None}, []),
    ("openai-chat", {"model": "o3", "temperature": 1}, []),
    ("openai-chat", {"model": "o3", "temperature": 0.5}, [("reasoning-temperature", "/temperature")]),
    ("openai-chat", {"model": "o3", "temperature": 1.5}, [("reasoning-temperature", "/temperature")]),
    ("openai-chat", {"model": "o3", "stop": []}, []),
    ("openai-chat", {"model": "o3", "stop": "a"}, [("stop-unsupported-models", "/stop")]),
    ("openai-chat", {"model": "gpt-4o", "stream_options": {}}, [("stream-options-needs-stream", "/stream_options")]),
    ("openai-chat", {"model": "gpt-4o", "stream_options": None}, []),
    ("openai-chat", {"model": "gpt-4o", "stream_options": {}, "stream": True}, []),
    ("anthropic-messages", {"model": OLD, "max_tokens": None}, [("max-tokens-required", "/max_tokens")]),
    ("anthropic-messages", {"model": OLD, "temperature": 0.5, "top_p": 0.5}, []),
    (
        "anthropic-messages",
        {"model": OLD, "stop_sequences": ["a", " ", ""]},
        [
            ("stop-nonblank", "/stop_sequences/1"),
            ("stop-nonblank", "/stop_sequences/2"),
        ],
    ),
    ("anthropic-messages", {"model": OLD, "stop_sequences": ["a", " b"]}, []),
    ("anthropic-messages", {"model": NEW, "temperature": 1.0}, []),
    ("anthropic-messages", {"model": NEW, "temperature": 0.99}, [("temperature-deprecated", "/temperature")]),
    ("anthropic-messages", {"model": NEW, "top_p": 0.99}, []),
    ("anthropic-messages", {"model": NEW, "top_p": 0.98}, [("temperature-deprecated", "/top_p")]),
    ("anthropic-messages", {"model": NEW, "top_k": 5}, [("temperature-deprecated", "/top_k")]),
    ("anthropic-messages", {"model": OLD, "top_k": 5}, []),
    ("openai-responses", {"tool_choice": "required"}, [("tool-choice-needs-tools", "/tool_choice")]),
    ("openai-responses", {"tool_choice": "required", "previous_response_id": "resp_1"}, []),
    ("openai-responses", {"tool_choice": "required", "prompt": {"id": "pmpt_1"}}, []),
    ("groq-chat", {"n": 1}, []),
    ("groq-chat", {"n": 0}, [("one-choice", "/n")]),
    ("groq-chat", {"n": 2}, [("one-choice", "/n")]),
    ("gemini-generate", {"stopSequences": list("abcde")}, []),
    ("gemini-generate", {"stopSequences": list("abcdef")}, [("stop-max5", "/generationConfig/stopSequences")]),
]


@pytest.mark.parametrize(("dialect", "options", "broken"), OPTIONS)
def test_broken_rules_of_options_are_found(dialect: str, options: dict[str, Any], broken: BrokenRules):
    bodies = {
        "openai-chat": {"messages": [user()], **options},
        "anthropic-messages": {"max_tokens": 9, "messages": [user()], **options},
        "gemini-generate": {"contents": [{"parts": [{"text": "a"}]}], "generationConfig": options},
        "openai-responses": {"model": "gpt-4.1", "input": "a", **options},
        "groq-chat": {"model": "llama-3.3-70b-versatile", "messages": [user()], **options},
        "cohere-chat-v2": {"model": "command-a-03-2025", "messages": [user()], **options},
    }
    assert found(dialect, bodies[dialect]) == broken


@pytest.mark.parametrize(("count", "is_broken"), [(4, False), (5, True)])
def test_anthropic_counts_cache_marks_at_any_depth(count: int, is_broken: bool):  # noqa: FBT001
    marked = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
    inside = {"type": "tool_result", "tool_use_id": "t1", "content": [marked] * (count - 3)}
    body = {
        "model": OLD,
        "max_tokens": 9,
        "cache_control": {"type": "ephemeral"},
        "system": [marked],
        "tools": [{**TOOLS[0], "cache_control": {"type": "ephemeral"}}],
        "messages": [user(), said([USE]), user([inside, marked])],
    }
    assert found("anthropic-messages", body) == ([("cache-control-max4", "")] if is_broken else [])


INNER = {"type": "object"}


@pytest.mark.parametrize(
    ("schema", "pointers"),
    [
        ({"properties": {"a/b": INNER}, "$defs": {"D": INNER}}, ["/properties/a~1b", "/$defs/D"]),
        ({"definitions": {"D": INNER}, "patternProperties": {"x": INNER}}, ["/definitions/D", "/patternProperties/x"]),
        ({"anyOf": [INNER, INNER], "oneOf": [INNER]}, ["/anyOf/0", "/anyOf/1", "/oneOf/0"]),
        ({"allOf": [INNER], "prefixItems": [7, INNER], "any_of": [INNER]}, ["/allOf/0", "/prefixItems/1", "/any_of/0"]),
        ({"items": {"items": INNER}, "not": INNER}, ["/items", "/not", "/items/items"]),
        ({"if": INNER, "then": INNER, "else": INNER}, ["/if", "/then", "/else"]),
        ({"additionalProperties": INNER, "properties": 7}, ["/additionalProperties"]),
        ({"additionalProperties": True, "items": [INNER], "enum": [INNER], "default": INNER}, []),
    ],
)
def test_every_schema_inside_a_schema_is_found(schema: dict[str, Any], pointers: list[str]):
    assert [place.pointer for place in schemas(Place(schema))] == ["", *pointers]


def calling(*ids: str) -> dict[str, Any]:
    calls = [{"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def answering(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "ok"}


@pytest.mark.parametrize(
    ("messages", "broken"),
    [
        ([calling("a"), answering("a"), calling("b", "c"), answering("c"), answering("b"), user()], []),
        ([calling("a"), answering("b")], [("tool-calls-answered", "1/tool_calls/0"), ("tool-needs-call", "2")]),
        ([calling("a"), user(), answering("a")], [("tool-calls-answered", "1/tool_calls/0"), ("tool-needs-call", "3")]),
        ([calling("a"), answering("a"), user(), answering("a")], [("tool-needs-call", "4")]),
        ([user(), calling("a"), calling("b"), answering("b")], [("tool-calls-answered", "2/tool_calls/0")]),
        ([answering("a")], [("tool-needs-call", "1")]),
    ],
)
def test_openai_needs_results_right_after_the_message_with_calls(messages: list[Any], broken: BrokenRules):
    body = {"model": "gpt-4o", "messages": [user(), *messages]}
    assert found("openai-chat", body) == [(rule, f"/messages/{place}") for rule, place in broken]


ROUTED: list[tuple[dict[str, Any], BrokenRules]] = [
    ({"modalities": ["text", "image"], "service_tier": "flex", "reasoning_effort": "none"}, []),
    ({"modalities": ["text", "smell"]}, [("enums", "/modalities/1")]),
    ({"reasoning_effort": "huge"}, [("enums", "/reasoning_effort")]),
    ({"reasoning": {"effort": "huge"}}, [("enums", "/reasoning/effort")]),
    ({"provider": {"quantizations": ["int4", "int5"]}}, [("enums", "/provider/quantizations/1")]),
]


@table(("fields", "broken"), ROUTED)
def test_a_value_that_openrouter_does_not_publish_is_found_where_it_stands(fields: dict[str, Any], broken: BrokenRules):
    payload = {"model": "openai/gpt-oss-20b", "messages": [user()], **fields}
    assert [one for one in found("openrouter-chat", payload) if one[0] == "enums"] == broken
