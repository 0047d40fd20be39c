"""The JSON Schema of the prompt format, made from the types, for implementers in other languages."""

from __future__ import annotations

from typing import Any

import msgspec

from art_sdk import ART_STANDARD_VERSION, ArtStandardMessage


def prompt_schema() -> dict[str, Any]:
    """What `parse_prompt` takes, but for the conversation rules and the alias `tool`, which is added here."""
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
