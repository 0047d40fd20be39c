"""The JSON Schema of every message of a bridge, for those who write one."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from art_compliance.bridges.messages import FromBridge, ToBridge
from art_sdk import ARTError, CallOptions
from art_sdk.json_data import is_object
from art_sdk.stream import StreamEvent

_PROMPT: Final = {
    "type": "array",
    "items": {"type": "object"},
    "description": "An ArtStandardPrompt: see art-standard-prompt.schema.json.",
}

_ERROR: Final = {
    "type": "object",
    "required": ["code", "message"],
    "properties": {
        "code": {"const": "LLM_PROVIDER_ERROR"},
        "message": {"type": "string"},
        "status": {"type": ["integer", "null"]},
        "provider_code": {"type": ["string", "null"]},
        "provider_message": {"type": ["string", "null"]},
        "retry_after": {"type": ["number", "null"], "description": "Seconds."},
        "is_retryable": {"type": "boolean"},
    },
}


def bridge_schema() -> dict[str, Any]:
    """The schema of a line: `$defs/ToBridge` of those that the suite sends, `$defs/FromBridge` of the answers.

    The events of a good adapter are described, too; what is wrong with an event is a finding, and ends nothing.
    """
    kinds = (ToBridge, FromBridge, StreamEvent, CallOptions)
    (verbs, answers, events, options), definitions = msgspec.json.schema_components(
        kinds, ref_template="#/$defs/{name}", schema_hook=_schema_of_error
    )
    for name in ("Call", "Translate"):
        definitions[name]["properties"] |= {"prompt": _PROMPT, "options": options}
    definitions["Event"]["properties"]["event"] = {"$ref": "#/$defs/StreamEvent"}
    named = {"ToBridge": verbs, "FromBridge": answers, "StreamEvent": events}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line between the suite and a bridge",
        "anyOf": [{"$ref": "#/$defs/ToBridge"}, {"$ref": "#/$defs/FromBridge"}],
        "$defs": {**named, **{name: one for name, one in definitions.items() if is_object(one)}},
    }


def _schema_of_error(kind: type[object]) -> dict[str, Any]:
    """An error in an event. Raises NotImplementedError for any other type that has no schema."""
    if kind is not ARTError:
        raise NotImplementedError(kind)
    return _ERROR
