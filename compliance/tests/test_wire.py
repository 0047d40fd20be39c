"""The wire schemas: closed, made from the pinned SDKs, and right about what this suite writes."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import pytest

from art_compliance import HarnessError
from art_compliance.dialects import DIALECTS, CannotWrite
from art_compliance.dialects.endpoints import ENDPOINTS
from art_compliance.judging.wire import judge_wire, load_schema, schema_names
from art_compliance.judging.wire.rebuild import before, changes, rebuild
from art_compliance.judging.wire.shaping import rewrite
from art_compliance.judging.wire.sources import SOURCES
from art_compliance.resources import data_folder
from art_compliance.scenarios import load_scenarios
from row_tables import table
from wire_requests import chat, refusals

PAYLOADS = data_folder("fixtures") / "payloads"


def test_every_dialect_has_a_schema():
    assert set(schema_names()) == set(DIALECTS)
    assert set(SOURCES) >= {f"{name}{kind}" for name in DIALECTS for kind in ("", ".answer", ".stream")}


@pytest.mark.once
@pytest.mark.measured
@pytest.mark.parametrize("name", SOURCES)
def test_a_schema_matches_the_pinned_sdk(name):
    modules = [origin.module.split(".")[0] for origin in SOURCES[name].origins]
    if not all(importlib.util.find_spec(module) for module in modules):
        pytest.skip("the extra judges is not installed")
    assert list(changes(before(name), rebuild(name))) == []


@table("name", SOURCES)
def test_a_schema_names_its_sources_and_has_no_descriptions(name):
    schema = before(name)
    for source in schema["provenance"]["sources"]:
        assert source.keys() == {"package", "version", "module", "sha256"}
        assert len(source["sha256"]) == 64
    for piece in schema["provenance"].get("overlay", ()):
        assert piece["at"]
        assert piece["source"].startswith(
            ("https://api-docs.deepseek.com/", "recorded in ", "Chat", "github.com/ollama/ollama, ", "ollama 0.6: ")
        )
    assert '"description": "' not in json.dumps(schema)


@pytest.mark.parametrize("name", [name for name in SOURCES if "." not in name])
def test_every_object_that_names_its_fields_is_closed(name):
    open_ones = []

    def look(node: Any) -> Any:
        if "properties" in node and "additionalProperties" not in node:
            open_ones.append(sorted(node["properties"]))
        return node

    schema = before(name)
    rewrite(schema, look)
    assert open_ones == []


SERVICES = {one.service: one.dialect for one in ENDPOINTS}


@pytest.mark.parametrize("name", sorted(path.name for path in PAYLOADS.iterdir()))
def test_every_canonical_payload_matches_its_schema(name):
    paths = sorted((PAYLOADS / name).glob("*.json"))
    dialect = SERVICES.get(name, name)
    assert len(paths) > (10 if name in SERVICES else 100)
    found = {path.stem: judge_wire(dialect, json.loads(path.read_text(encoding="utf-8"))) for path in paths}
    refused = {name: findings for name, findings in found.items() if any(f.severity == "reject" for f in findings)}
    assert refused == {}


def test_an_unknown_dialect_fails_with_the_known_ones():
    with pytest.raises(HarnessError, match="openai-chat"):
        judge_wire("openai-chatt", {})


def test_changes_are_listed_by_pointer_without_dates():
    old = {"provenance": {"date": "2026-01-01", "version": "1"}, "properties": {"a": 1, "b": [1]}}
    new = {"provenance": {"date": "2026-02-01", "version": "2"}, "properties": {"b": [2], "c": 3}}
    assert list(changes(old, new)) == [
        '/provenance/version: "1" -> "2"',
        "/properties/a: 1 -> nothing",
        "/properties/b/0: 1 -> 2",
        "/properties/c: nothing -> 3",
    ]


def test_schemas_are_compiled_once():
    assert load_schema("openai-chat") is load_schema("openai-chat")


@pytest.mark.parametrize("dialect", ["mistral-chat", "openrouter-chat", "deepseek-chat", "groq-chat"])
@pytest.mark.parametrize(
    ("message", "pointer"),
    [
        ({"role": "user", "content": 5}, "/messages/0/content"),
        ({"role": "model", "content": "hi"}, "/messages/0/role"),
        ({"content": "hi"}, "/messages/0"),
        ({"role": "user", "content": [{"type": "text", "txt": "hi"}]}, "/messages/0/content/0"),
        ({"role": "tool", "content": ["x"], "tool_call_id": "c"}, "/messages/0/content/0"),
    ],
)
def test_a_schema_from_models_is_as_strict_about_messages(dialect, message, pointer):
    assert pointer in [place for place, _ in refusals(dialect, chat(message))]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_answer_that_the_suite_writes_matches_its_schema(dialect):
    written = 0
    for scenario in load_scenarios():
        if scenario.answer is None:
            continue
        try:
            body = json.loads(DIALECTS[dialect].answers.write(scenario.answer))
        except CannotWrite:
            continue
        written += 1
        assert load_schema(f"{dialect}.answer").mismatches(body) == [], scenario.id
    assert written > 5


@pytest.mark.parametrize(
    ("name", "answer", "pointer"),
    [
        ("openai-chat.answer", {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}, ""),
        ("openai-chat.stream", {"id": "x", "object": "text", "created": 1, "model": "m", "choices": []}, "/object"),
        ("anthropic-messages.answer", {"id": "x", "type": "message", "role": "assistant", "content": "hi"}, "/content"),
        ("anthropic-messages.stream", {"type": "message_middle"}, "/type"),
        ("gemini-generate.answer", {"candidates": [{"content": "hi"}]}, "/candidates/0/content"),
        ("gemini-generate.stream", {"usageMetadata": 5}, "/usageMetadata"),
        ("mistral-chat.answer", {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "usage": {}}, ""),
        ("mistral-chat.stream", {"id": "x", "model": "m", "choices": [{"index": 0, "delta": 5}]}, "/choices/0/delta"),
        ("deepseek-chat.answer", {"id": "x", "created": 1, "model": "m", "choices": []}, ""),
        (
            "deepseek-chat.stream",
            {"choices": [{"index": 0, "delta": {"reasoning_content": 5}}]},
            "/choices/0/delta/reasoning_content",
        ),
        ("openrouter-chat.answer", {"id": "x", "object": "text", "created": 1, "model": "m", "choices": []}, "/object"),
        (
            "openrouter-chat.stream",
            {"choices": [{"index": 0, "delta": {"reasoning": 5}}]},
            "/choices/0/delta/reasoning",
        ),
    ],
)
def test_a_wrong_answer_is_noticed_and_a_new_field_is_not(name, answer, pointer):
    found = load_schema(name).mismatches({**answer, "a_field_of_tomorrow": 1})
    assert pointer in [fault.pointer for fault in found]
    assert not [fault for fault in found if fault.pointer == "/a_field_of_tomorrow"]


def test_another_order_of_a_union_or_an_enum_is_not_a_change():
    one = {"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}
    other = {"anyOf": [{"type": "null"}, {"enum": ["b", "a"]}]}
    assert list(changes(one, other)) == []
