"""A second judge of Gemini's requests: Vertex AI's own discovery document, in google-api-python-client.

It is of another service than the proto that our schema is made from, so they may differ; each difference is listed.
"""

from __future__ import annotations

import importlib.util
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from art_compliance.resources import data_folder
from row_tables import table

ROOT = "GoogleCloudAiplatformV1GenerateContentRequest"
FOLDER = data_folder("fixtures") / "judges" / "gemini-generate"

if importlib.util.find_spec("googleapiclient") is None:
    pytest.skip("the extra judges is not installed", allow_module_level=True)


@cache
def vertex() -> Draft202012Validator:
    """The discovery document's request as JSON Schema, closed, each field under both of protobuf's names."""
    package = importlib.util.find_spec("googleapiclient")
    assert package is not None
    path = Path(package.origin or "").parent / "discovery_cache" / "documents" / "aiplatform.v1.json"
    schemas = json.loads(path.read_text(encoding="utf-8"))["schemas"]
    definitions = {name: as_json_schema(schema) for name, schema in schemas.items()}
    return Draft202012Validator({"$ref": f"#/$defs/{ROOT}", "$defs": definitions})


def as_json_schema(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return {"$ref": f"#/$defs/{schema['$ref']}"}
    kind = schema.get("type", "any")
    if kind == "object":
        return as_object(schema)
    if kind == "array":
        return {"type": "array", "items": as_json_schema(schema["items"])}
    if kind == "string" and "enum" in schema:
        return {"enum": schema["enum"]}
    if kind == "string" and schema.get("format") in ("int64", "uint64"):
        return {"type": ["string", "integer"]}
    return {} if kind == "any" else {"type": kind}


def as_object(schema: dict[str, Any]) -> dict[str, Any]:
    if "properties" not in schema:
        inner = schema.get("additionalProperties")
        return {"type": "object", "additionalProperties": as_json_schema(inner) if inner else True}
    own = {name: as_json_schema(one) for name, one in schema["properties"].items()}
    snake = {re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower(): one for name, one in own.items()}
    return {"type": "object", "properties": snake | own, "additionalProperties": False}


def cases(kind: str) -> dict[str, Any]:
    cases = json.loads((FOLDER / f"{kind}.json").read_text(encoding="utf-8"))
    return {case["id"]: case["payload"] for case in cases}


GOOD_AND_REFUSED = {
    "lower-case-types": "the document writes types in upper case alone; both services take either",
    "null-unused": "a discovery document has no word for null; protobuf's JSON reads it as absent",
}
WRONG_AND_ACCEPTED = {
    **dict.fromkeys(
        (
            "no-contents",
            "call-without-name",
            "response-without-name",
            "function-without-name",
            "safety-flat",
        ),
        "what is required stands in descriptions, not in the document's types",
    ),
    **dict.fromkeys(
        ("part-empty", "part-thought-alone", "part-both"),
        "that exactly one field is set is not in the document's types",
    ),
}
"""Where the two judges differ, and why. Nothing else may."""


def test_good_payloads_are_good_for_vertex_too():
    assert {name for name, payload in cases("good").items() if not vertex().is_valid(payload)} == set(GOOD_AND_REFUSED)


def test_wrong_payloads_are_wrong_for_vertex_too():
    accepted = {name for name, payload in cases("wrong").items() if vertex().is_valid(payload)}
    assert accepted == set(WRONG_AND_ACCEPTED)
    assert len(accepted) * 5 < len(cases("wrong"))


@table("path", sorted((data_folder("fixtures") / "payloads" / "gemini-generate").glob("*.json")))
def test_a_canonical_payload_is_good_for_vertex_too(path):
    errors = [list(error.instance_path) for error in vertex().iter_errors(json.loads(path.read_text(encoding="utf-8")))]
    assert [place for place in errors if place[-1:] != ["type"]] == []  # of a schema's type see lower-case-types
