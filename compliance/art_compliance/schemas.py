"""The published JSON Schemas, made from the types, for implementers in other languages."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from art_compliance.scenarios import scenario_schema
from art_sdk import ART_STANDARD_VERSION, ArtStandardMessage
from art_sdk.json_data import is_array, is_object


def prompt_schema() -> dict[str, Any]:
    """The schema of what `parse_prompt` accepts without the conversation rules, with the role `tool` added."""
    (schema,), definitions = msgspec.json.schema_components(
        [tuple[ArtStandardMessage, ...]], ref_template="#/$defs/{name}"
    )
    result = definitions["ToolResultMessage"]
    result["properties"]["role"]["enum"] = ["tool_result", "tool"]
    mapping = schema["items"]["discriminator"]["mapping"]
    mapping["tool"] = mapping["tool_result"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"ArtStandardPrompt {ART_STANDARD_VERSION}",
        **schema,
        "$defs": definitions,
    }


SCHEMAS: Final[Mapping[str, Callable[[], dict[str, Any]]]] = {"prompt": prompt_schema, "scenario": scenario_schema}
"""The function that makes each schema, by name."""


def published(name: str) -> str:
    """The schema as JSON text, the same on every Python: only 3.13 strips the indentation of docstrings."""
    return json.dumps(_clean(SCHEMAS[name]()), indent=2, ensure_ascii=False)


def _clean(value: Any) -> Any:
    if is_object(value):
        return {key: _clean_text(item) if key == "description" else _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if is_array(value) else value


def _clean_text(value: Any) -> Any:
    """A docstring, or a property that is called `description`."""
    return inspect.cleandoc(value) if isinstance(value, str) else _clean(value)
