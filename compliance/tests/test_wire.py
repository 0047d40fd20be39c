"""The wire schemas: closed, made from the pinned SDKs, right about what providers accepted, and explained in words."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import pytest

from art_compliance import HarnessError
from art_compliance.cassettes.bodies import stream_items
from art_compliance.dialects import DIALECTS, CannotWrite
from art_compliance.judging.wire import judge_wire, load_schema, schema_names
from art_compliance.judging.wire.rebuild import before, changes, rebuild
from art_compliance.judging.wire.shaping import rewrite
from art_compliance.judging.wire.sources import SOURCES
from art_compliance.resources import data_folder
from art_compliance.scenarios import load_scenarios
from recorded_traffic import ADAPTERS, Recorded, accepted, params

OWN_DIALECTS = {"mistral": "mistral-chat", "openrouter": "openrouter-chat", "deepseek": "deepseek-chat"}
PAYLOADS = data_folder("fixtures") / "payloads"

EXCEPTIONS: dict[str, str] = {}
"""Recorded requests that are refused all the same, with the evidence that the judge is right. There are none."""


each_accepted = pytest.mark.parametrize("one", params(accepted()))


def refusals(dialect: str, payload: Any, url: str | None = None) -> list[tuple[str | None, str]]:
    found = judge_wire(dialect, payload, url=url)
    return [(finding.pointer, finding.message) for finding in found if finding.severity == "reject"]


def test_every_dialect_has_a_schema():
    assert set(schema_names()) == set(DIALECTS)
    assert set(SOURCES) >= {f"{name}{kind}" for name in DIALECTS for kind in ("", ".answer", ".stream")}


@pytest.mark.parametrize("name", SOURCES)
def test_a_schema_matches_the_pinned_sdk(name):
    modules = [origin.module.split(".")[0] for origin in SOURCES[name].origins]
    if not all(importlib.util.find_spec(module) for module in modules):
        pytest.skip("the extra judges is not installed")
    assert list(changes(before(name), rebuild(name))) == []


@pytest.mark.parametrize("name", SOURCES)
def test_a_schema_names_its_sources_and_has_no_descriptions(name):
    schema = before(name)
    for source in schema["provenance"]["sources"]:
        assert source.keys() == {"package", "version", "module", "sha256"}
        assert len(source["sha256"]) == 64
    for piece in schema["provenance"].get("overlay", ()):
        assert piece["at"]
        assert piece["source"].startswith(("https://api-docs.deepseek.com/", "recorded in "))
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


@each_accepted
def test_an_accepted_request_is_not_refused_at_its_host(one: Recorded):
    assert refusals(one.dialect, one.request, one.url) == [] or one.name in EXCEPTIONS


@each_accepted
def test_an_accepted_request_is_not_refused_without_a_host(one: Recorded):
    request = {"model": "of the URL", **one.request}
    assert refusals(one.dialect, request) == [] or one.name in EXCEPTIONS


@each_accepted
def test_an_accepted_request_with_one_unknown_field_is_refused(one: Recorded):
    found = refusals(one.dialect, {"model": "of the URL", **one.request, "x_label": 1})
    assert [pointer for pointer, _ in found] == ["/x_label"]


@pytest.mark.parametrize("dialect", ADAPTERS)
def test_every_canonical_payload_matches_its_schema(dialect):
    paths = sorted((PAYLOADS / dialect).glob("*.json"))
    assert len(paths) > 100
    found = {path.stem: judge_wire(dialect, json.loads(path.read_text(encoding="utf-8"))) for path in paths}
    refused = {name: findings for name, findings in found.items() if any(f.severity == "reject" for f in findings)}
    assert refused == {}


def chat(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages) or [{"role": "user", "content": "hi"}], **fields}


EXPLAINED = [
    (chat(temperature="warm"), "/temperature", 'expected a number or null; found a string: "warm"'),
    (chat(temprature=1), "/temprature", "unknown field 'temprature'; did you mean 'temperature'?"),
    (chat({"role": "user"}), "/messages/0", "the field 'content' is missing"),
    (chat({"content": "hi"}), "/messages/0", "the field 'role' is missing"),
    (chat({"role": "user", "content": 5}), "/messages/0/content", "expected a string or an array; found a number: 5"),
    (
        chat({"role": "user", "content": [{"type": "text", "text": "hi", "cache": 1}]}),
        "/messages/0/content/0/cache",
        "unknown field 'cache'; known fields: text, type, prompt_cache_breakpoint",
    ),
    (
        chat({"role": "bot", "content": "hi"}),
        "/messages/0/role",
        'expected "developer", "system", "user", "assistant", "tool" or "function"; found a string: "bot"',
    ),
    (
        chat(tool_choice="always"),
        "/tool_choice",
        'expected "none", "auto", "required" or an object; found a string: "always"',
    ),
    (chat(messages="hi"), "/messages", 'expected an array; found a string: "hi"'),
    (None, "", "expected an object; found null"),
]


@pytest.mark.parametrize(("payload", "pointer", "message"), EXPLAINED, ids=lambda value: str(value)[:50])
def test_a_finding_is_one_sentence_about_one_place(payload, pointer, message):
    findings = judge_wire("openai-chat", payload)
    assert [(finding.pointer, finding.message) for finding in findings] == [(pointer, message)]
    assert findings[0].source.startswith("openai 3.")


def test_exactly_one_field_of_a_protobuf_oneof_is_allowed():
    both = {"contents": [{"parts": [{"text": "hi", "functionCall": {"name": "f"}}]}]}
    neither = {"contents": [{"parts": [{"thought": True}]}]}
    (finding,) = judge_wire("gemini-generate", both)
    assert finding.pointer == "/contents/0/parts/0"
    assert finding.message.endswith("found text and functionCall")
    assert judge_wire("gemini-generate", neither)[0].message.endswith("found none of them")


def test_a_payload_that_cannot_be_sent_is_one_finding():
    (found,) = judge_wire("openai-chat", chat(temperature=float("nan")))
    assert (found.path, found.severity) == ("$.temperature", "reject")
    (found,) = judge_wire("openai-chat", chat({"role": "user", "content": "\ud800"}))
    assert "surrogate" in found.message


def test_subclasses_of_json_types_are_judged_as_plain_types():
    class Text(str):
        __slots__ = ()

    assert judge_wire("openai-chat", chat({"role": Text("user"), "content": Text("hi")})) == []


def test_a_relatives_field_is_accepted_there_refused_at_openai_and_otherwise_a_note():
    payload = chat({"role": "assistant", "content": "4", "reasoning_content": "2 + 2"})
    weigh = lambda url: [finding.severity for finding in judge_wire("openai-chat", payload, url=url)]  # noqa: E731
    assert weigh("https://api.deepseek.com/chat/completions") == []
    assert weigh("https://api.openai.com/v1/chat/completions") == ["reject"]
    assert weigh("http://127.0.0.1:8000/v1/chat/completions") == ["note"]
    assert weigh(None) == ["note"]


def test_unknown_fields_words_and_null_are_notes_at_a_service_without_published_types():
    url = "https://llm.example.com/v1/chat/completions"
    assert [finding.severity for finding in judge_wire("openai-chat", chat(beam_width=4), url=url)] == ["note"]
    assert [finding.severity for finding in judge_wire("openai-chat", chat(tool_choice="any"), url=url)] == ["note"]
    assert [finding.severity for finding in judge_wire("openai-chat", chat(tools=None), url=url)] == ["note"]
    assert [finding.severity for finding in judge_wire("openai-chat", chat(temperature="hot"), url=url)] == ["reject"]


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


@each_accepted
@pytest.mark.parametrize(("provider", "dialect"), OWN_DIALECTS.items())
def test_a_request_that_a_service_accepted_matches_its_own_schema(one: Recorded, provider: str, dialect: str):
    if one.provider == provider:
        assert refusals(dialect, one.request, one.url) == []
        assert refusals(dialect, {**one.request, "x_label": 1}) != []


@pytest.mark.parametrize("dialect", OWN_DIALECTS.values())
@pytest.mark.parametrize(
    ("message", "pointer"),
    [
        ({"role": "user", "content": 5}, "/messages/0/content"),
        ({"role": "model", "content": "hi"}, "/messages/0/role"),
        ({"content": "hi"}, "/messages/0"),
        ({"role": "user", "content": [{"type": "text", "txt": "hi"}]}, "/messages/0/content/0"),
        ({"role": "tool", "content": "x", "is_error": True, "tool_call_id": "c"}, "/messages/0/is_error"),
    ],
)
def test_a_schema_from_models_is_as_strict_about_messages(dialect, message, pointer):
    assert pointer in [place for place, _ in refusals(dialect, chat(message))]


PROVIDERS = {"openai", "azure", "anthropic", "gemini", "vertex", *OWN_DIALECTS}
"""Whom the types speak for. Others of OpenAI's dialect answer with reasons and tiers of their own."""


@pytest.mark.parametrize("one", params(one for one in accepted() if one.provider in PROVIDERS))
def test_a_recorded_answer_matches_its_schema(one: Recorded):
    """Each answer, or each item of a stream, of those who published the types."""
    dialect = OWN_DIALECTS.get(one.provider, one.dialect)
    name = f"{dialect}.{'stream' if one.data is None else 'answer'}"
    answers = list(stream_items(one.answer)) if one.data is None else [one.data]
    assert answers
    assert [fault for answer in answers for fault in load_schema(name).mismatches(answer)] == []


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


def test_fields_that_only_anthropics_beta_knows_are_notes_and_unknown_ones_are_refused():
    beta = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "context_management": None}
    (note,) = judge_wire("anthropic-messages", beta)
    assert (note.severity, note.pointer) == ("note", "/context_management")
    assert note.message.endswith("it needs the header anthropic-beta)")
    found = judge_wire("anthropic-messages", {**beta, "beam_width": 4})
    assert [(one.severity, one.pointer) for one in found] == [
        ("reject", "/beam_width"),
        ("note", "/context_management"),
    ]


def test_another_order_of_a_union_or_an_enum_is_not_a_change():
    one = {"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}
    other = {"anyOf": [{"type": "null"}, {"enum": ["b", "a"]}]}
    assert list(changes(one, other)) == []
