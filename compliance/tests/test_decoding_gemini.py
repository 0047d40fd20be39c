"""What decoding Gemini's contents keeps, leaves opaque and refuses."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.dialects import DecodeFailed, decode
from art_sdk import AssistantMessage


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
    with pytest.raises(DecodeFailed, match=f"unknown role '{role}'"):
        decode("gemini-generate", {"contents": [{"role": role, "parts": [{"text": "a"}]}]})
