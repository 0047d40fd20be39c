"""The rules: every one has its function, its examples, and a file that says what is wrong with it."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from art_compliance.dialects import DIALECTS
from art_compliance.findings import HarnessError
from art_compliance.judging.examples import load_examples, unfold
from art_compliance.judging.rulebook import Rule, judge_rules, load_rules, rulebook
from art_compliance.resources import data_folder
from row_tables import table

ROOT = Path(__file__).resolve().parents[2]
RULES = {rule.id: (dialect, rule) for dialect in DIALECTS for rule in load_rules(dialect)}
CHECKABLE = [pytest.param(dialect, rule, id=rule.id) for dialect, rule in RULES.values() if rule.excluded is None]


def broken(dialect: str, payload: Any, url: str | None = None, version: str | None = None) -> set[str]:
    found = judge_rules(dialect, payload, url=url, version=version)
    return {finding.message.partition(": ")[0] for finding in found}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_rule_that_is_not_excluded_has_one_function_and_every_function_a_rule(dialect: str):
    assert [rule.id for rule, _, _ in rulebook(dialect).entries] == [
        rule.id for rule in load_rules(dialect) if rule.excluded is None
    ]
    assert all(rule.id == code.id for rule, _, code in rulebook(dialect).entries)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_rule_that_is_not_excluded_has_its_examples(dialect: str):
    assert sorted(load_examples(dialect)) == sorted(r.id for r in load_rules(dialect) if r.excluded is None)


@pytest.mark.measured
@table(("dialect", "rule"), CHECKABLE)
def test_an_example_breaks_only_its_rule_and_the_near_miss_breaks_none(dialect: str, rule: Rule):
    example = load_examples(dialect)[rule.id]
    assert broken(dialect, unfold(example.breaks), example.url, example.version) == {rule.id}
    assert broken(dialect, unfold(example.keeps), example.url, example.version) == set()


@pytest.mark.unmeasured
@table(("dialect", "rule"), CHECKABLE)
def test_a_finding_has_its_place_and_the_providers_text(dialect: str, rule: Rule):
    example = load_examples(dialect)[rule.id]
    payload = unfold(example.breaks)
    for finding in judge_rules(dialect, payload, url=example.url, version=example.version):
        assert (finding.check, finding.severity) == ("wire.no-rule-is-broken", rule.severity)
        assert (finding.provider_text, finding.source) == (rule.error_text, rule.source)
        assert points_into(payload, finding.pointer)


def points_into(payload: Any, pointer: str | None) -> bool:
    """Whether all of the pointer but its last step is there: what is missing has a place, too."""
    value = payload
    for step in (pointer or "").split("/")[1:-1]:
        name = step.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return isinstance(value, dict | list)


def test_an_inferred_rule_is_only_a_note():
    assert [rule.id for _, rule in RULES.values() if rule.confidence == "inferred" and rule.severity == "reject"] == []


def test_a_rule_for_certain_models_ignores_other_and_unknown_models():
    payload = unfold(load_examples("openai-chat")["openai.tools-nonempty"].breaks)
    assert broken("openai-chat", payload) == {"openai.tools-nonempty"}
    assert broken("openai-chat", {**payload, "model": "llama-4"}) == set()
    unnamed = {name: value for name, value in payload.items() if name != "model"}
    assert broken("openai-chat", unnamed) == set()
    azure = "https://x.openai.azure.com/openai/deployments/gpt-4o/chat/completions"
    assert broken("openai-chat", unnamed, azure) == {"openai.tools-nonempty"}
    assert judge_rules("openai-chat", unnamed, model="gpt-4o")


def test_an_unknown_dialect_has_no_rules():
    with pytest.raises(HarnessError, match="unknown dialect 'smoke-signals'; known: "):
        judge_rules("smoke-signals", {})


ENTRY = 'id = "a.b"\nstatement = "s"\nsource = "x"\nconfidence = "spec"\nseverity = "reject"\n'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[rule]]\n" + ENTRY.replace('"reject"', '"fatal"'), "Invalid enum value 'fatal' - at `$.rule[0].severity`"),
        ("[[rule]]\n" + ENTRY.replace("source", "sauce"), "missing required field `source`|unknown field `sauce`"),
        ("[[rule]]\n" + ENTRY + "colour = 1\n", "unknown field `colour` - at `$.rule[0]`"),
        ("[[rule]]\n" + ENTRY + 'since = "v2"\n', "a.b: since: not a date"),
        ("[[rule]]\n" + ENTRY + 'models = "("\n', "a.b: models: not a regular expression"),
        ("[[rule]]\n" + ENTRY + "[[rule]]\n" + ENTRY, "a.b: the id is used twice"),
        ("[[rule]]\n" + ENTRY.replace('"spec"', '"inferred"'), "a.b: severity: an inferred rule must be a note"),
        ("[[rule", "openai-chat.toml"),
        (None, "No such file"),
    ],
)
def test_an_error_in_a_rule_file_names_the_field(tmp_path: Path, text: str | None, problem: str):
    if text is not None:
        (tmp_path / "openai-chat.toml").write_text(text, encoding="utf-8")
    with pytest.raises(HarnessError) as caught:
        load_rules("openai-chat", tmp_path)
    assert "openai-chat.toml" in str(caught.value)
    assert any(one in str(caught.value) for one in problem.split("|"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.unmeasured
@pytest.mark.parametrize("dialect", DIALECTS)
@given(payload=JSON)
def test_no_json_value_makes_a_judge_raise(dialect: str, payload: Any):
    judge_rules(dialect, payload)


def with_one_changed(value: Any, new: Any) -> list[Any]:
    """The value with each of its parts, one at a time, replaced."""
    if isinstance(value, dict):
        inner = [{**value, key: one} for key, item in value.items() for one in with_one_changed(item, new)]
    elif isinstance(value, list):
        pairs = [(at, one) for at, item in enumerate(value[:3]) for one in with_one_changed(item, new)]
        inner = [[*value[:at], one, *value[at + 1 :]] for at, one in pairs]
    else:
        inner = []
    return [new, *inner]


@pytest.mark.once
@pytest.mark.unmeasured
@table(("dialect", "rule"), CHECKABLE)
def test_no_part_of_another_type_makes_a_rule_raise(dialect: str, rule: Rule):
    example = load_examples(dialect)[rule.id]
    book = rulebook(dialect)
    run = next(code.run for one, _, code in book.entries if one.id == rule.id)
    for payload in (example.breaks, example.keeps):
        for new in (None, True, -1, 1e300, "", " ", [], [None, [], "x"], {}, {"type": 1, "role": [], "id": {}}):
            for changed in with_one_changed(payload, new):
                list(run(book.read(changed, None, example.url)))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_deep_payload_is_judged(dialect: str):
    deep: Any = {}
    for _ in range(5000):
        deep = {"properties": {"a": deep}, "items": [deep], "content": deep}
    shape = {"tools": [{"function": {"parameters": deep}, "input_schema": deep, "functionDeclarations": [deep]}]}
    judge_rules(dialect, {**shape, "messages": [deep], "contents": [deep], "model": "gpt-4o"})


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_canonical_payload_breaks_a_rule(dialect: str):
    paths = sorted((data_folder("fixtures") / "payloads" / dialect).glob("*.json"))
    found = {path.stem: judge_rules(dialect, json.loads(path.read_text(encoding="utf-8"))) for path in paths}
    messages = {name: [one.message for one in all_ if one.severity != "note"] for name, all_ in found.items()}
    assert {name: broken for name, broken in messages.items() if broken} == {}
    assert len(found) > 200


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_judge_is_fast(dialect: str):
    folder = data_folder("fixtures") / "payloads" / dialect
    payloads = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    if not payloads:
        return
    judge_rules(dialect, payloads[0])
    began = time.process_time()
    for payload in payloads:
        judge_rules(dialect, payload)
    assert len(payloads) / (time.process_time() - began) > 300  # 2,000 is the aim; machines that test are busy


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
    assert broken("anthropic-messages", {**body, "thinking": {"type": "adaptive"}}) == set()
    thinking = {"type": "enabled", "budget_tokens": 1024}
    assert broken("anthropic-messages", {**body, "thinking": thinking}) == {"anthropic.thinking-no-forced-tool"}


THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}


@pytest.mark.parametrize(
    ("first", "second", "is_broken"), [((THINKING,), (), False), ((), (THINKING,), False), ((), (), True)]
)
def test_the_model_may_think_once_for_several_rounds_of_calls(first: Any, second: Any, is_broken: bool):  # noqa: FBT001
    rounds = [message("assistant", *first, use("a")), message("user", result("a"))]
    rounds += [message("assistant", *second, use("b")), message("user", result("b"))]
    body = {"model": "claude-sonnet-4-0", "max_tokens": 9, "tools": [{"name": "f", "input_schema": {"type": "object"}}]}
    body["thinking"] = {"type": "enabled", "budget_tokens": 1024}
    found = broken("anthropic-messages", {**body, "messages": [message("user", said()), *rounds]})
    assert found == ({"anthropic.thinking-block-first"} if is_broken else set())


def test_results_of_calls_without_ids_are_accepted():
    calls = [{"type": "function", "function": {"name": "f", "arguments": "{}"}}]
    messages = [{"role": "assistant", "tool_calls": calls}, {"role": "tool", "tool_call_id": "x", "content": "ok"}]
    assert broken("openai-chat", {"messages": [{"role": "user", "content": "hi"}, *messages]}) == set()


def test_both_of_protobufs_spellings_are_judged():
    config = {"generation_config": {"stop_sequences": list("abcdef"), "response_schema": {"type": "STRING"}}}
    declared = {"tools": {"function_declarations": {"name": "2f", "parameters": {"type": "array"}}}}
    payload = {"contents": {"parts": {"text": "hi"}}, **config, **declared}
    names = {"stop-max5", "response-schema-mime", "function-name", "schema-array-items"}
    assert broken("gemini-generate", payload) == {f"gemini.{name}" for name in names}


def test_vertex_accepts_keywords_that_the_gemini_api_refuses():
    schema = {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "additionalProperties": False}
    tools = [{"functionDeclarations": [{"name": "f", "parameters": schema}]}]
    payload = {"contents": [{"parts": [{"text": "hi"}]}], "tools": tools}
    vertex = "https://us-central1-aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-pro:generateContent"
    assert broken("gemini-generate", payload) == {"gemini.schema-unknown-keyword"}
    assert broken("gemini-generate", payload, vertex) == set()


def test_a_strict_answer_format_is_judged_like_a_strict_tool():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": schema}}
    payload = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}], "response_format": wanted}
    assert broken("openai-chat", payload) == {"openai.strict-schema-closed", "openai.strict-schema-all-required"}


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
    assert (broken("openai-chat", payload) == set()) is taken


def test_every_rule_that_an_adapter_names_is_a_rule():
    named = {
        name
        for path in sorted((ROOT / "art_sdk" / "adapters").rglob("*.py"))
        for name in re.findall(
            r"\b(?:openai|anthropic|bedrock|cohere|gemini)\.(?!claude)[a-z0-9]+(?:-[a-z0-9]+)+", path.read_text("utf-8")
        )
    }
    assert len(named) > 30
    assert named - set(RULES) == set()


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
