"""The schema of Gemini's requests: the published proto, with the fields of google-genai that it lacks.

google-genai has neither oneofs nor required fields, and the proto lags behind the service. Google has published the
fields of both.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any, Final

from art_compliance.judging.wire.proto import (
    NUMBER,
    WHOLE_NUMBER,
    any_given,
    at_most_one,
    documented_as_required,
    enum_of,
    message_of,
    message_schema,
)
from art_compliance.judging.wire.shaping import Schema, as_any_of, finish, rewrite, rewrite_whole

PROTO: Final = "google.ai.generativelanguage_v1beta"
GENAI: Final = "google.genai.types"

_ROOT: Final = "GenerateContentRequest"
_CONVERTERS: Final = ("_GenerateContentConfig_to_mldev", "_GenerateContentConfig_to_vertex")
_PART_EXTRAS_OF_ONEOF: Final = ("toolCall", "toolResponse")
_NOT_IN_BODY: Final = frozenset({"model"})
"""Required by the message, but given in the URL: https://ai.google.dev/api/generate-content"""

_OFTEN_LEFT_OUT: Final = {
    "Schema": {"type"},  # one with `anyOf` has none: https://ai.google.dev/api/caching#Schema
    "FunctionDeclaration": {"description"},
    "FunctionResponse": {"response"},  # google/adk-go recorded a 200 without: TestDelegation_09_ChatPeerTransfer…
}
"""Documented as required, but not enforced; google-genai makes all of them optional."""


def request_schema() -> Schema:
    """The closed schema of a request."""
    proto, genai = import_module(PROTO), import_module(GENAI)
    documented = documented_as_required(proto)

    def required(descriptor: Any) -> frozenset[str]:
        gone = _unknown_to_client(getattr(genai, descriptor.name, None), descriptor)
        return documented(descriptor) - _NOT_IN_BODY - gone - _OFTEN_LEFT_OUT.get(descriptor.name, set())

    raw = message_schema(getattr(proto, _ROOT).pb().DESCRIPTOR, required)
    definitions: dict[str, Schema] = raw["$defs"]
    extras = _Extras(genai, definitions)
    extras.add_to_messages()
    extras.add_to_root()
    return finish({"$defs": definitions, **definitions[_ROOT]}, is_closed=True)


def _unknown_to_client(model: Any, descriptor: Any) -> set[str]:
    """The fields of a message that google-genai's class of its name lacks: nobody can be required to send them.

    Such as `retrievalResources` of FileSearch: pydantic/pydantic-ai recorded a 200 without it.
    """
    if not hasattr(model, "model_fields"):
        return set()
    known = {field.alias or name for name, field in model.model_fields.items()}
    return {str(field.json_name) for field in descriptor.fields} - known


class _Extras:
    """The fields that google-genai has for the proto's messages, and the messages inside them."""

    def __init__(self, genai: Any, definitions: dict[str, Schema]) -> None:
        self._genai = genai
        self._definitions = definitions
        self._homes = {name.rpartition(".")[2]: name for name in sorted(definitions, reverse=True)}

    def add_to_messages(self) -> None:
        """Adds to each message of the proto the further fields of the class with its name."""
        for name, home in list(self._homes.items()):
            model = getattr(self._genai, name, None)
            if model is not None and hasattr(model, "model_fields"):
                self._add(home, self._raw_fields(model))
        data = self._definitions["Part"]["allOf"][0]
        data["oneOf"] = at_most_one([*data["oneOf"][:-1], *map(any_given, _PART_EXTRAS_OF_ONEOF)])

    def add_to_root(self) -> None:
        """The request has no class: its fields are those that the SDK's converter puts next to `contents`."""
        from pydantic import create_model  # noqa: PLC0415 - only where schemas are made

        models = import_module("google.genai.models")
        sources = [inspect.getsource(getattr(models, name)) for name in _CONVERTERS]
        beside = [name for source in sources for name in re.findall(r"parent_object,\s*\['(\w+)'\]", source)]
        known = {field.alias: field.annotation for field in self._genai.GenerateContentConfig.model_fields.values()}
        new = [name for name in beside if name in known and name not in self._definitions[_ROOT]["properties"]]
        fields: dict[str, Any] = {name: (known[name], None) for name in new}
        self._add(_ROOT, self._raw_fields(create_model(_ROOT, **fields)))

    def _add(self, home: str, fields: dict[str, Schema]) -> None:
        properties = self._definitions[home]["properties"]
        new = {name: value for name, value in fields.items() if name not in properties}
        properties |= message_of(new, frozenset(), [])["properties"]

    def _raw_fields(self, model: Any) -> dict[str, Schema]:
        """The fields of a class by JSON name, in protobuf's JSON form; the types inside them are defined, too."""
        from pydantic import TypeAdapter  # noqa: PLC0415 - only where schemas are made

        schema: Schema = rewrite_whole(TypeAdapter[Any](model).json_schema(by_alias=True), as_any_of)
        definitions: dict[str, Schema] = schema.get("$defs", {})
        if "$ref" in schema:  # a recursive class
            schema = definitions[schema["$ref"].removeprefix("#/$defs/")]
        new = {name: node for name, node in definitions.items() if name not in self._homes}
        self._homes |= {name: name for name in new}  # before they are read: they point to each other
        self._definitions |= {name: self._as_message(node) for name, node in new.items()}
        return {name: rewrite(value, self._as_proto) for name, value in schema["properties"].items()}

    def _as_message(self, node: Schema) -> Schema:
        if "properties" not in node:
            return rewrite_whole(node, self._as_proto)
        fields = {name: rewrite(value, self._as_proto) for name, value in node["properties"].items()}
        return message_of(fields, frozenset(), [])

    def _as_proto(self, node: Schema) -> Schema:
        """A schema of pydantic's in protobuf's JSON form."""
        if "$ref" in node:
            return {"$ref": f"#/$defs/{self._homes[node['$ref'].removeprefix('#/$defs/')]}"}
        if "enum" in node:
            return enum_of(node["enum"])
        if node.get("type") in ("integer", "number"):
            return WHOLE_NUMBER if node["type"] == "integer" else NUMBER
        return {name: value for name, value in node.items() if name not in ("format", "contentMediaType")}
