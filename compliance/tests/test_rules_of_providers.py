"""What single rules of providers say: of requests that are known to be accepted, and of near misses."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.judging.examples import load_examples, unfold
from art_compliance.judging.rulebook import judge_rules
from broken_rules import broken_rules


def message(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def said(text: str = "hi") -> dict[str, Any]:
    return {"type": "text", "text": text}


def use(call_id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "f", "input": {}}


def result(call_id: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "ok"}


TAKEN = {
    "results in messages of their own": [
        message("user", said()),
        message("assistant", use("a"), use("b")),
        message("user", result("a")),
        message("user", result("b")),
    ],
    "calls in messages of their own": [
        message("user", said()),
        message("assistant", use("a")),
        message("assistant", use("b")),
        message("user", result("b"), result("a"), said()),
    ],
    "a system message before the results": [
        message("user", said()),
        message("assistant", use("a")),
        message("system", said()),
        message("user", result("a")),
    ],
    "a paused turn at the end": [
        message("user", said()),
        message("assistant", {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
    ],
}


@pytest.mark.parametrize("shape", TAKEN)
def test_requests_that_anthropic_is_known_to_accept_break_no_rule(shape: str):
    body = {"model": "claude-opus-4-8", "max_tokens": 9, "tools": [{"name": "f", "input_schema": {"type": "object"}}]}
    found = judge_rules("anthropic-messages", {**body, "messages": TAKEN[shape]})
    assert [finding.message for finding in found if finding.severity != "note"] == []


def test_adaptive_thinking_requires_no_thinking_block():
    tools = [{"name": "f", "input_schema": {"type": "object"}}]
    body = {"max_tokens": 9, "messages": [message("user", said())], "tools": tools, "tool_choice": {"type": "any"}}
    assert broken_rules("anthropic-messages", {**body, "thinking": {"type": "adaptive"}}) == set()
    thinking = {"type": "enabled", "budget_tokens": 1024}
    assert broken_rules("anthropic-messages", {**body, "thinking": thinking}) == {"anthropic.thinking-no-forced-tool"}


@pytest.mark.parametrize(
    ("sampling", "is_taken"),
    [
        ({"top_p": 0.95}, True),
        ({"top_p": 1}, True),
        ({"top_p": 0.94}, False),
        ({"temperature": 1}, True),
        ({"temperature": 0.9}, False),
        ({"top_k": 3}, False),
    ],
)
def test_thinking_takes_hardly_any_sampling(sampling: dict[str, Any], is_taken: bool):  # noqa: FBT001
    thinking = {"type": "enabled", "budget_tokens": 1024}
    body = {
        "model": "claude-haiku-4-5",
        "max_tokens": 2000,
        "messages": [message("user", said())],
        "thinking": thinking,
    }
    broken = broken_rules("anthropic-messages", {**body, **sampling})
    assert broken == (set() if is_taken else {"anthropic.thinking-sampling"})


THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}


@pytest.mark.parametrize(
    ("first", "second", "is_broken"), [((THINKING,), (), False), ((), (THINKING,), False), ((), (), True)]
)
def test_the_model_may_think_once_for_several_rounds_of_calls(first: Any, second: Any, is_broken: bool):  # noqa: FBT001
    rounds = [message("assistant", *first, use("a")), message("user", result("a"))]
    rounds += [message("assistant", *second, use("b")), message("user", result("b"))]
    body = {"model": "claude-sonnet-4-0", "max_tokens": 9, "tools": [{"name": "f", "input_schema": {"type": "object"}}]}
    body["thinking"] = {"type": "enabled", "budget_tokens": 1024}
    found = broken_rules("anthropic-messages", {**body, "messages": [message("user", said()), *rounds]})
    assert found == ({"anthropic.thinking-block-first"} if is_broken else set())


def test_results_of_calls_without_ids_are_accepted():
    calls = [{"type": "function", "function": {"name": "f", "arguments": "{}"}}]
    messages = [{"role": "assistant", "tool_calls": calls}, {"role": "tool", "tool_call_id": "x", "content": "ok"}]
    assert broken_rules("openai-chat", {"messages": [{"role": "user", "content": "hi"}, *messages]}) == set()


def test_both_of_protobufs_spellings_are_judged():
    config = {"generation_config": {"stop_sequences": list("abcdef"), "response_schema": {"type": "STRING"}}}
    declared = {"tools": {"function_declarations": {"name": "2f", "parameters": {"type": "array"}}}}
    payload = {"contents": {"parts": {"text": "hi"}}, **config, **declared}
    names = {"stop-max5", "response-schema-mime", "function-name", "schema-array-items"}
    assert broken_rules("gemini-generate", payload) == {f"gemini.{name}" for name in names}


def test_vertex_accepts_keywords_that_the_gemini_api_refuses():
    schema = {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "additionalProperties": False}
    tools = [{"functionDeclarations": [{"name": "f", "parameters": schema}]}]
    payload = {"contents": [{"parts": [{"text": "hi"}]}], "tools": tools}
    vertex = "https://us-central1-aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-pro:generateContent"
    assert broken_rules("gemini-generate", payload) == {"gemini.schema-unknown-keyword"}
    assert broken_rules("gemini-generate", payload, vertex) == set()


def test_a_strict_answer_format_is_judged_like_a_strict_tool():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": schema}}
    payload = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}], "response_format": wanted}
    assert broken_rules("openai-chat", payload) == {"openai.strict-schema-closed", "openai.strict-schema-all-required"}


@pytest.mark.parametrize(
    ("model", "taken"),
    [
        ("gpt-4.1", True),
        ("gpt-5-chat-latest", True),
        ("gpt-oss-120b", True),
        ("openai/gpt-5", True),
        ("gpt-5", False),
        ("gpt-5-mini-2025-08-07", False),
        ("gpt-5.4", False),
        ("o3", False),
        ("o4-mini", False),
    ],
)
def test_only_reasoning_models_need_the_newer_token_limit(model: str, taken: bool):  # noqa: FBT001
    payload = {"model": model, "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    assert (broken_rules("openai-chat", payload) == set()) is taken


@pytest.mark.parametrize(
    ("url", "severity"),
    [
        (None, "reject"),
        ("/v1/chat/completions", "reject"),
        ("//v1/chat/completions", "reject"),
        ("api.openai.com/v1/chat/completions", "reject"),
        ("http://127.0.0.1:8000/v1/chat/completions", "note"),
        ("http://[::1]:8000/v1/chat/completions", "note"),
        ("http://localhost/v1/chat/completions", "note"),
        ("localhost:11434/v1/chat/completions", "note"),
        ("<API_BASE>/chat/completions", "note"),
        ("https://[REDACTED]/v1/chat/completions", "note"),
        ("https://user@RESOURCE.example.com:8443/v1/chat/completions", "note"),
        ("https://api.openai.com/v1/chat/completions", "reject"),
        ("https://us.api.openai.com/v1/chat/completions", "reject"),
        ("https://mine.openai.azure.com/openai/deployments/gpt-4o/chat/completions", "reject"),
        ("https://api.groq.com/openai/v1/chat/completions", "note"),
        ("https://gateway.example/v1/chat/completions", "note"),
    ],
)
def test_a_rule_is_a_note_where_the_url_names_a_service_that_may_not_have_it(url, severity):
    payload = unfold(load_examples("openai-chat")["openai.tool-needs-call"].breaks)
    (finding,) = judge_rules("openai-chat", payload, url=url)
    assert finding.severity == severity
    assert ("(it is not known whether " in finding.message) is (severity == "note")


CALLED = {"functionCall": {"name": "f", "args": {}}}


@pytest.mark.parametrize(
    ("parts", "url", "is_taken"),
    [
        ([CALLED], None, False),
        ([CALLED | {"thoughtSignature": "c2ln"}, CALLED], None, True),
        ([{"text": "hm", "thoughtSignature": "c2ln"}, CALLED], None, True),
        ([CALLED, {"text": "", "thought_signature": "c2ln"}], None, True),
        ([CALLED], "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-3-pro:generateContent", True),
    ],
)
def test_a_signature_on_any_part_of_the_turn_counts_for_its_calls(parts, url, is_taken):
    answers = [{"functionResponse": {"name": "f", "response": {}}} for part in parts if "functionCall" in part]
    contents = [{"role": "model", "parts": parts}, {"role": "user", "parts": answers}]
    payload = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}, *contents]}
    found = judge_rules("gemini-generate", payload, model="gemini-3-pro-preview", url=url)
    assert ([f.message for f in found if "thought-signature" in f.message] == []) is is_taken


@pytest.mark.parametrize(
    ("parameters", "pointers"),
    [
        ({"type": "object", "properties": {"a": {"type": "strin"}}}, ["/properties/a/type"]),
        ({"type": "object", "required": None}, ["/required"]),
        ({"type": "object", "properties": {"title": []}}, ["/properties/title"]),
        ({"type": "object", "description": None, "properties": {"a": {"examples": "x", "title": None}}}, []),
        ({"type": "object", "properties": {"a": {"type": "string", "pattern": "(?P<other>language)"}}}, []),
    ],
)
def test_a_schema_that_is_none_is_found_where_it_constrains_values(parameters, pointers):
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    payload = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}], "tools": [tool]}
    found = judge_rules("openai-chat", payload)
    assert [(finding.pointer or "").removeprefix("/tools/0/function/parameters") for finding in found] == pointers


def test_the_last_of_several_outputs_of_a_call_is_shown():
    call = {"type": "function_call", "call_id": "call_1", "name": "find_ship", "arguments": "{}"}
    outputs = [{"type": "function_call_output", "call_id": "call_1", "output": f"berth {at}"} for at in range(3)]
    said = {"role": "user", "content": "Where is it?"}
    [finding] = judge_rules("openai-responses", {"model": "gpt-5-mini", "input": [said, call, *outputs]})
    assert (finding.pointer, "has 3 outputs" in finding.message) == ("/input/4", True)


def strict(schema: dict[str, Any], *, of_a_tool: bool) -> dict[str, Any]:
    """What a request has of a strict schema: as a tool's parameters, or as the answer's format."""
    if of_a_tool:
        return {"tools": [{"type": "function", "function": {"name": "f", "strict": True, "parameters": schema}}]}
    form = {"name": "f", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": form}}


EITHER = {"oneOf": [{"type": "string"}, {"type": "null"}]}
STRICT = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


@pytest.mark.parametrize("of_a_tool", [True, False])
@pytest.mark.parametrize(
    ("schema", "of_tools", "of_answers"),
    [
        ({**STRICT, **EITHER}, "openai.schema-root-object", "openai.strict-schema-keywords"),
        (
            {**STRICT, "properties": {"a": EITHER}, "required": ["a"]},
            "openai.strict-schema-keywords",
            "openai.strict-schema-keywords",
        ),
    ],
)
def test_a_keyword_that_strict_schemas_cannot_have_breaks_one_rule(
    schema: dict[str, Any], of_tools: str, of_answers: str, *, of_a_tool: bool
):
    payload = {"model": "gpt-4.1-mini", "messages": [{"role": "user", "content": "hi"}]}
    broken = broken_rules("openai-chat", {**payload, **strict(schema, of_a_tool=of_a_tool)})
    assert broken == {of_tools if of_a_tool else of_answers}


@pytest.mark.parametrize(
    ("elsewhere", "is_judged"),
    [
        ({}, True),
        ({"prompt": {"id": "pmpt_1"}}, False),
        ({"previous_response_id": "resp_1"}, False),
        ({"conversation": "conv_1"}, False),
    ],
)
def test_the_word_json_may_be_in_what_the_provider_has_already(elsewhere: dict[str, Any], *, is_judged: bool):
    payload = {"model": "gpt-5-mini", "input": [{"role": "user", "content": "Where is it?"}]}
    payload |= {"text": {"format": {"type": "json_object"}}, **elsewhere}
    assert ("responses.json-word" in broken_rules("openai-responses", payload)) is is_judged
