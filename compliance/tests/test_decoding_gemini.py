"""What decoding Gemini's contents keeps, leaves opaque and refuses."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.comparison import Expected, compare
from art_compliance.dialects import Decoded, DecodeFailed, decode
from art_sdk import AssistantMessage, ImagePart, UserMessage


def turns(*contents: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"contents": list(contents), **fields}


SIGNED = {"role": "model", "parts": [{"text": "x", "thoughtSignature": "="}]}


@pytest.mark.parametrize(
    ("parts", "extensions"),
    [
        ([{"text": "x"}, {"functionCall": {"name": "f"}}], None),
        (SIGNED["parts"], {"text": "="}),
        ([{"text": "", "thoughtSignature": "="}, {"functionCall": {"name": "f"}}], {"text": "="}),
        (
            [
                {"text": "x", "thoughtSignature": "="},
                {"functionCall": {"name": "f"}, "thoughtSignature": "+"},
                {"functionCall": {"name": "f"}},
                {"functionCall": {"name": "f"}, "thought_signature": "-"},
            ],
            {"text": "=", "calls": {"0": "+", "2": "-"}},
        ),
    ],
)
def test_thought_signatures_become_extensions_of_the_models_turn(parts: Any, extensions: Any):
    decoded = decode("gemini-generate", turns({"role": "model", "parts": parts}))
    (message,) = decoded.prompt
    assert isinstance(message, AssistantMessage)
    assert message.extensions == (extensions and {"gemini-generate": extensions})
    assert decoded.opaque == {}


@pytest.mark.parametrize("dummy", ["skip_thought_signature_validator", "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="])
def test_a_signature_that_only_says_that_there_is_none_is_no_extension(dummy: str):
    parts = [{"text": "x"}, {"functionCall": {"name": "f"}, "thoughtSignature": dummy}]
    (message,) = decode("gemini-generate", turns({"role": "model", "parts": parts})).prompt
    assert isinstance(message, AssistantMessage)
    assert message.extensions is None


@pytest.mark.parametrize(("mode", "choice"), [("AUTO", "auto"), ("VALIDATED", "auto"), ("ANY", "required")])
def test_the_mode_of_calling_is_the_tool_choice(mode: str, choice: str):
    decoded = decode("gemini-generate", turns(toolConfig={"functionCallingConfig": {"mode": mode}}))
    assert decoded.options["tool_choice"] == choice


@pytest.mark.parametrize(
    ("written", "read"),
    [("+/8=", "+/8="), ("-_8=", "+/8="), ("-_8", "+/8="), ("-_8\n", "+/8="), ("", ""), ("-_8==", "-_8=="), ("é", "é")],
)
def test_bytes_are_the_same_in_either_alphabet_of_base64_padded_or_not(written: str, read: str):
    image = {"inlineData": {"mimeType": "image/png", "data": written}}
    signed = {"role": "model", "parts": [{"text": "x", "thoughtSignature": written}]}
    asked, said = decode("gemini-generate", turns({"parts": [image]}, signed)).prompt
    assert asked == UserMessage((ImagePart("image/png", data=read),))
    assert isinstance(said, AssistantMessage)
    assert said.extensions == {"gemini-generate": {"text": read}}


@pytest.mark.parametrize("name", ["inlineData", "inline_data", "fileData", "file_data"])
@pytest.mark.parametrize("kind", ["audio/wav", "video/mp4", "application/pdf", "text/plain"])
def test_a_file_that_is_no_image_is_opaque(name: str, kind: str):
    decoded = decode("gemini-generate", turns({"parts": [{"text": "Look."}, {name: {"mimeType": kind, "x": "y"}}]}))
    assert decoded.prompt == (UserMessage("Look."),)
    assert len(decoded.opaque) == 1


def test_enums_may_be_written_as_numbers():
    schema = {"type": 6, "properties": {"a": {"type": 5, "items": {"type": "STRING"}}}}
    decoded = decode(
        "gemini-generate",
        turns(
            {"parts": [{"text": "x"}]},
            tools=[{"functionDeclarations": [{"name": "f", "parameters": schema}]}],
            toolConfig={"functionCallingConfig": {"mode": 2}},
        ),
    )
    assert decoded.tools[0].input_schema == {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "string"}}},
    }
    assert decoded.options == {"tool_choice": "required"}


@pytest.mark.parametrize(
    ("response", "text", "status"),
    [
        ({"output": "ok"}, "ok", "success"),
        ({"result": "ok"}, "ok", "success"),
        ({"error": "no"}, "no", "error"),
        ({"zone": "ok"}, '{"zone":"ok"}', "success"),
        ({"area": "ok"}, '{"area":"ok"}', "success"),
        ({"output": 7}, '{"output":7}', "success"),
        ({"output": "ok", "error": "no"}, '{"output":"ok","error":"no"}', "success"),
        ({"name": "f", "content": "ok"}, "ok", "success"),
        ({"name": "f", "result": "ok"}, "ok", "success"),
        ({"name": "f", "error": "no"}, "no", "error"),
        ({"name": "g", "content": "ok"}, '{"name":"g","content":"ok"}', "success"),
        ({"name": "f", "zone": "ok"}, '{"name":"f","zone":"ok"}', "success"),
        ({"name": "f"}, '{"name":"f"}', "success"),
        ({}, "{}", "success"),
    ],
)
def test_a_result_is_unwrapped_to_its_text(response: Any, text: str, status: str):
    call, answer = {"id": "c", "name": "f", "args": {}}, {"id": "c", "name": "f", "response": response}
    contents = [{"role": "model", "parts": [{"functionCall": call}]}, {"parts": [{"functionResponse": answer}]}]
    found: Any = decode("gemini-generate", {"contents": contents}).prompt[-1]
    assert (found.content, found.status) == (text, status)


@pytest.mark.parametrize(
    ("config", "is_opaque"),
    [
        ({"responseMimeType": "application/json", "responseJsonSchema": {"type": "object"}}, False),
        ({"responseMimeType": "application/json"}, True),
        ({"responseMimeType": "text/x.enum", "responseJsonSchema": {"type": "object"}}, True),
        ({"responseMimeType": "text/plain"}, True),
        ({"responseJsonSchema": {"type": "object"}}, False),
    ],
)
def test_a_mime_type_is_opaque_unless_it_belongs_to_a_schema(config: dict[str, Any], is_opaque: bool):  # noqa: FBT001
    found = decode("gemini-generate", {"contents": [{"parts": [{"text": "a"}]}], "generationConfig": config})
    assert ("/generationConfig/responseMimeType" in found.opaque) is is_opaque
    assert ("response_schema" in found.options) is ("responseJsonSchema" in config)


@pytest.mark.parametrize("role", ["assistant", "model2", "system", "tool", "a", "z"])
def test_an_unknown_role_is_refused(role: str):
    with pytest.raises(DecodeFailed, match=f'unknown role "{role}"'):
        decode("gemini-generate", {"contents": [{"role": role, "parts": [{"text": "a"}]}]})


def sent_result(response: Any) -> Decoded:
    call, answer = {"id": "c", "name": "f", "args": {}}, {"id": "c", "name": "f", "response": response}
    called = {"role": "model", "parts": [{"functionCall": call}]}
    return decode(
        "gemini-generate", turns({"parts": [{"text": "?"}]}, called, {"parts": [{"functionResponse": answer}]})
    )


@pytest.mark.parametrize(
    ("text", "response", "is_same"),
    [
        ('{"zone": "ok", "n": [1, 2.0]}', {"zone": "ok", "n": [1.0, 2]}, True),
        ('{"zone": "ok"}', {"output": {"zone": "ok"}}, True),
        ('{"output": "ok"}', {"output": "ok"}, True),
        ("[1, 2]", {"output": [1, 2]}, True),
        ("7", {"result": 7}, True),
        (" true", {"return_value": True}, True),
        ("7", {"result": 8}, False),
        ("7", {"result": "7"}, True),
        ("1", {"result": True}, False),
        ("{zone}", {"output": "{zone}"}, True),
        ("", {}, False),
        ('{"a": 1, "a": 2}', {"a": 2}, False),
        ("12345678901234567890", {"output": 12345678901234567890}, True),
        ("12345678901234567890", {"output": 12345678901234567000}, False),
        ("NaN", {"output": None}, False),
        ('{"zone": "ok"}', {"zone": "ko"}, False),
        ('{"zone": "ok"}', {"weather": {"zone": "ok"}}, False),
    ],
)
def test_a_result_that_is_json_may_be_sent_parsed(text: str, response: Any, is_same: bool):  # noqa: FBT001
    prompt = sent_result({"output": text}).prompt
    wanted = Expected(dialect="gemini-generate", prompt=prompt, tools=(), options={})
    differences = compare(wanted, sent_result(response)).differences
    assert [one.slot for one in differences] == ([] if is_same else ["result"])


def test_a_schemas_fields_have_two_names_and_its_properties_one():
    union = {"any_of": [{"type": "STRING", "max_length": 9}, {"type": "INTEGER"}]}
    declared = {
        "name": "act",
        "parameters": {"type": "OBJECT", "properties": {"a": union, "any_of": {"type": "STRING"}}},
    }
    sent = turns({"parts": [{"text": "hi"}]}, tools=[{"functionDeclarations": [declared]}])
    (tool,) = decode("gemini-generate", sent).tools
    read = {"anyOf": [{"type": "string", "maxLength": 9}, {"type": "integer"}]}
    assert tool.input_schema["properties"] == {"a": read, "any_of": {"type": "string"}}
