"""What wire schemas find in a request, in words, and what they allow as protobuf's JSON does."""

from __future__ import annotations

import pytest

from art_compliance.judging.wire import judge_wire
from wire_requests import chat

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
