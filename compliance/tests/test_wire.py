"""The wire schemas: closed, made from the pinned SDKs, right about what providers accepted, and explained in words."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import pytest

from art_compliance import HarnessError
from art_compliance.cassettes.bodies import stream_items
from art_compliance.dialects import DIALECTS, CannotWrite
from art_compliance.dialects.endpoints import ENDPOINTS
from art_compliance.judging.wire import judge_answer, judge_wire, load_schema, schema_names
from art_compliance.judging.wire.rebuild import before, changes, rebuild
from art_compliance.judging.wire.shaping import rewrite
from art_compliance.judging.wire.sources import SOURCES
from art_compliance.resources import data_folder
from art_compliance.scenarios import load_scenarios
from recorded_traffic import SHAPES, Recorded, accepted, params
from row_tables import table

OWN_DIALECTS = {
    "mistral": "mistral-chat",
    "openrouter": "openrouter-chat",
    "deepseek": "deepseek-chat",
    "groq": "groq-chat",
}
PAYLOADS = data_folder("fixtures") / "payloads"

EXCEPTIONS: dict[str, str] = {}
"""Recorded requests that are refused all the same, with the evidence that the judge is right. There are none."""


each_accepted = pytest.mark.parametrize("one", params(accepted()))


def own_dialect(one: Recorded) -> str:
    """The provider's own member of the family of chat completions, or the format that was recorded."""
    return OWN_DIALECTS.get(one.provider, one.dialect) if one.dialect == "openai-chat" else one.dialect


def refusals(dialect: str, payload: Any, url: str | None = None) -> list[tuple[str | None, str]]:
    found = judge_wire(dialect, payload, url=url)
    return [(finding.pointer, finding.message) for finding in found if finding.severity == "reject"]


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


@each_accepted
def test_an_accepted_request_is_not_refused_at_its_host(one: Recorded):
    assert refusals(one.dialect, one.request, one.url) == [] or one.name in EXCEPTIONS


def with_a_model(one: Recorded) -> dict[str, Any]:
    """The request as the format has it where its URL does not name the model. Converse's URL always does."""
    return one.request if one.shape == "bedrock_converse" else {"model": "of the URL", **one.request}


@each_accepted
def test_an_accepted_request_is_not_refused_without_a_host(one: Recorded):
    assert refusals(one.dialect, with_a_model(one)) == [] or one.name in EXCEPTIONS


@each_accepted
def test_an_accepted_request_with_one_unknown_field_is_refused_or_the_field_ignored(one: Recorded):
    found = judge_wire(SHAPES[one.shape], {**with_a_model(one), "x_label": 1})
    severity = "ignored" if one.shape == "ollama_chat" else "reject"
    assert [finding.pointer for finding in found if finding.severity == severity] == ["/x_label"]


SERVICES = {one.service: one.dialect for one in ENDPOINTS}


@pytest.mark.parametrize("name", sorted(path.name for path in PAYLOADS.iterdir()))
def test_every_canonical_payload_matches_its_schema(name):
    paths = sorted((PAYLOADS / name).glob("*.json"))
    dialect = SERVICES.get(name, name)
    assert len(paths) > (10 if name in SERVICES else 100)
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


def test_at_most_one_field_of_a_protobuf_oneof_is_allowed():
    both = {"contents": [{"parts": [{"text": "hi", "function_call": {"name": "f"}}]}]}
    (finding,) = judge_wire("gemini-generate", both)
    assert finding.pointer == "/contents/0/parts/0"
    assert finding.message.endswith("found text and function_call")


def test_a_number_in_the_place_of_a_message_is_named_as_such():
    for contents in ([{"parts": 5}], [{"parts": [5]}]):
        (finding,) = judge_wire("gemini-generate", {"contents": contents})
        assert finding.message.endswith("found a number: 5")
        assert finding.message.startswith("expected an ")


@pytest.mark.parametrize("part", [{"thoughtSignature": "aGk="}, {"text": "hi", "inlineData": None}])
def test_a_protobuf_oneof_may_be_unset_and_null_is_unset(part):
    assert judge_wire("gemini-generate", {"contents": [{"parts": [part]}]}) == []


PROTOBUF_JSON = [
    {"safetySettings": [{"category": 10, "threshold": 3}]},
    {"safety_settings": [{"category": "harm_category_harassment", "threshold": "BLOCK_NONE"}]},
    {"toolConfig": {"functionCallingConfig": {"mode": 2, "allowedFunctionNames": ["f"]}}},
    {"tools": [{"functionDeclarations": [{"name": "f", "parameters": {"type": 6, "properties": {"a": {"type": 1}}}}]}]},
    {"tools": [{"function_declarations": {"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}}]},
    {"tools": [{"fileSearch": {"fileSearchStoreNames": ["fileSearchStores/a"]}}]},
    {"generationConfig": {"maxOutputTokens": "9", "temperature": "0.5", "seed": None, "topK": 1.0}},
    {"generationConfig": {"responseSchema": {"type": "OBJECT", "minProperties": "1", "nullable": True}}},
]
"""What protobuf's JSON allows beyond the names and types that Google's documentation of the API shows."""


@pytest.mark.parametrize("fields", PROTOBUF_JSON)
def test_gemini_is_judged_by_what_protobufs_json_allows(fields):
    assert judge_wire("gemini-generate", {"contents": [{"parts": [{"text": "hi"}]}], **fields}) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"safetySettings": [{"category": "HARM_CATEGORY_RUDENESS", "threshold": 3}]},
        {"safetySettings": [{"category": 1.5, "threshold": 3}]},
        {"generationConfig": {"maxOutputTokens": "nine"}},
        {"generationConfig": {"maxOutputTokens": True}},
        {"generation_Config": {}},
    ],
)
def test_what_protobufs_json_does_not_allow_is_refused(fields):
    found = judge_wire("gemini-generate", {"contents": [{"parts": [{"text": "hi"}]}], **fields})
    assert [finding.severity for finding in found] == ["reject"]


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


UNKNOWN_HOSTS = ("https://llm.example.com/v1", "http://192.168.1.7:8000/v1", "http://localhost:11434/v1", "<API_BASE>")


@pytest.mark.parametrize("base", UNKNOWN_HOSTS)
@table(
    ("payload", "severity"),
    [
        (chat(beam_width=4), "note"),
        (chat(tool_choice="any"), "note"),
        (chat(tools=None), "note"),
        (chat(tool_choice={"function": {"name": "f"}}), "note"),
        ({"messages": [{"role": "user", "content": "hi"}]}, "note"),
        (chat(temperature="hot"), "reject"),
        (chat({"content": "hi"}), "reject"),
        ({"model": "m"}, "reject"),
        (["hi"], "reject"),
    ],
)
def test_a_host_that_is_not_known_is_judged_by_the_shape_of_the_family(payload, severity, base):
    found = judge_wire("openai-chat", payload, url=f"{base}/chat/completions")
    assert {finding.severity for finding in found} == {severity}


def test_what_is_a_note_at_an_unknown_host_is_refused_at_openai():
    for payload in (chat(beam_width=4), chat(tool_choice="any"), chat(tool_choice={"function": {"name": "f"}})):
        found = judge_wire("openai-chat", payload, url="https://api.openai.com/v1/chat/completions")
        assert "reject" in [finding.severity for finding in found]


@pytest.mark.parametrize(
    ("dialect", "payload", "pointer"),
    [
        ("openrouter-chat", chat(beam_width=4), "/beam_width"),
        ("openrouter-chat", chat({"role": "user", "content": "hi", "colour": 1}), "/messages/0/colour"),
        (
            "openrouter-chat",
            chat(tools=[{"type": "function", "eager": 1, "function": {"name": "f"}}]),
            "/tools/0/eager",
        ),
        ("deepseek-chat", chat(beam_width=4), "/beam_width"),
        ("deepseek-chat", chat({"role": "assistant", "content": "hi", "reasoning": "hm"}), "/messages/0/reasoning"),
        (
            "openai-chat",
            chat(tools=[{"type": "function", "function": {"name": "f", "owner": "me"}}]),
            "/tools/0/function/owner",
        ),
    ],
)
def test_what_a_service_ignores_is_not_refused_in_its_name(dialect, payload, pointer):
    (found,) = judge_wire(dialect, payload)
    assert (found.pointer, found.severity) == (pointer, "ignored")
    assert found.message.startswith(f"unknown field {pointer.rpartition('/')[2]!r}")


@pytest.mark.parametrize("place", [{"provider": {"beam_width": 4}}, {"provider": {"max_price": {"beam_width": 4}}}])
def test_what_openrouter_closes_stays_closed(place):
    assert [finding.severity for finding in judge_wire("openrouter-chat", chat(**place))] == ["reject"]


def test_an_allowance_for_certain_models_leaves_the_others_alone():
    shown = {"role": "user", "content": [{"type": "image_url", "image_url": "https://example.com/a.png"}]}
    url = "https://api.openai.com/v1/chat/completions"
    old, new = ({"model": model, "messages": [shown]} for model in ("gpt-4-vision-preview", "gpt-4o"))
    assert [finding.severity for finding in judge_wire("openai-chat", old, url=url)] == ["note"]
    assert [finding.severity for finding in judge_wire("openai-chat", new, url=url)] == ["reject"]


def test_a_host_written_without_its_scheme_is_the_same_host():
    for base in ("api.openai.com/v1", "https://API.openai.com:443/v1", "https://user@api.openai.com./v1"):
        found = judge_wire("openai-chat", chat(beam_width=4), url=f"{base}/chat/completions")
        assert [finding.severity for finding in found] == ["reject"]


@pytest.mark.parametrize(
    ("url", "severity"),
    [
        (None, "note"),
        ("/v1/chat/completions", "reject"),
        ("/openai/deployments/gpt-4o/chat/completions", "note"),
        ("https://api.openai.com/v1/chat/completions", "reject"),
        ("https://mine.openai.azure.com/openai/deployments/gpt-4o/chat/completions", None),
    ],
)
def test_a_body_may_lack_the_model_only_where_the_url_may_name_it(url, severity):
    found = judge_wire("openai-chat", {"messages": [{"role": "user", "content": "hi"}]}, url=url)
    assert [finding.severity for finding in found] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("max_completion_tokens", "max_tokens"),
        ("maxTokens", "max_tokens"),
        ("max_output_tokens", "max_tokens"),
        ("temprature", "temperature"),
        ("seed", "random_seed"),
        ("top_a", None),
        ("beam_width", None),
    ],
)
def test_an_unknown_field_names_the_known_one_with_the_same_words(name, meant):
    (found,) = judge_wire("mistral-chat", chat(**{name: 1}))
    assert found.message.startswith(f"unknown field {name!r}; ")
    assert ("did you mean" in found.message) is (meant is not None)
    assert meant is None or found.message.endswith(f"did you mean {meant!r}?")


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
@table("dialect", OWN_DIALECTS.values())
def test_a_request_that_a_service_accepted_matches_its_own_schema(one: Recorded, dialect: str):
    if own_dialect(one) == dialect:
        assert refusals(dialect, one.request, one.url) == []
        found = judge_wire(dialect, {**one.request, "x_label": 1}, url=one.url)
        severity = "reject" if dialect in {"groq-chat", "mistral-chat"} else "ignored"
        assert ("/x_label", severity) in [(finding.pointer, finding.severity) for finding in found]


@pytest.mark.parametrize("dialect", OWN_DIALECTS.values())
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


PROVIDERS = {"openai", "azure", "anthropic", "gemini", "vertex", *OWN_DIALECTS}
"""Whom the types speak for. Others of OpenAI's dialect answer with reasons and tiers of their own."""


@table("one", params(one for one in accepted() if one.provider in PROVIDERS))
def test_a_recorded_answer_matches_its_schema(one: Recorded):
    """Each answer, or each item of a stream, of those who published the types."""
    name = f"{own_dialect(one)}.{'stream' if one.data is None else 'answer'}"
    items = [one.data] if one.data is not None else list(stream_items(one.answer))
    answers = [item for item in items if not item.get("error")]
    assert answers
    assert [fault for answer in answers for fault in judge_answer(name, answer, url=one.url)] == []


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


BEDROCK = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-haiku-4-5-v1%3A0/invoke"
VERTEX = "https://aiplatform.googleapis.com/v1/publishers/anthropic/models/claude-haiku-4-5:rawPredict"


@pytest.mark.parametrize(
    ("url", "version", "severities"),
    [
        (BEDROCK, "bedrock-2023-05-31", []),
        (VERTEX, "vertex-2023-10-16", []),
        (VERTEX, "2026-10-21", []),
        (BEDROCK, "2023-06-01", ["reject"]),
        ("https://api.anthropic.com/v1/messages", "bedrock-2023-05-31", ["reject", "reject"]),
    ],
)
def test_at_bedrock_and_vertex_ai_anthropics_messages_have_a_version_and_no_model(url, version, severities):
    body = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 9, "anthropic_version": version}
    assert [finding.severity for finding in judge_wire("anthropic-messages", body, url=url)] == severities
