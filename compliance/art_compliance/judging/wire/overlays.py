"""What is laid over a provider's relative's types where the provider has published none of its own.

Each piece says where it belongs and who says so; the kept schema's provenance repeats both.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct

from art_compliance.judging.wire.shaping import Schema


class Overlaid(Struct, frozen=True):
    """One piece: a property's schema, or another one in its place, and the evidence.

    `at` is a definition's name and a property's (`Choice/finish_reason`), or a property of the root alone.
    """

    at: str
    schema: Schema
    source: str


def lay_over(schema: Schema, pieces: Iterable[Overlaid], *, nullable: bool = False) -> Schema:
    """The schema with the pieces in it; `nullable`: null is taken for every field of the root that may be absent.

    Raises KeyError for a piece whose definition is not there: the types have changed.
    """
    root, definitions = dict(schema["properties"]), dict(schema["$defs"])
    if nullable:
        needed = schema["required"]
        root = {name: told if name in needed else or_null(told) for name, told in root.items()}
    for piece in pieces:
        definition, _, name = piece.at.rpartition("/")
        if definition:
            old = definitions[definition]
            definitions[definition] = {**old, "properties": {**old["properties"], name: piece.schema}}
        else:
            root[name] = piece.schema
    return {**schema, "properties": root, "$defs": definitions}


def or_null(schema: Schema) -> Schema:
    """The schema, or null."""
    null: Schema = {"type": "null"}
    branches: list[Schema] = schema["anyOf"] if set(schema) == {"anyOf"} else [schema]
    return {"anyOf": branches if null in branches else [*branches, null]}


_WORDS: Final[Schema] = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}, {"type": "null"}]
}
_TEXT: Final[Schema] = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_FINISH: Final[list[Any]] = [
    "stop",
    "length",
    "tool_calls",
    "content_filter",
    "function_call",
    "insufficient_system_resource",
]

_CREATE: Final = "https://api-docs.deepseek.com/api/create-chat-completion"
_THINKING: Final = "https://api-docs.deepseek.com/guides/thinking_mode"
_CALLS: Final = "https://api-docs.deepseek.com/guides/tool_calls: its example appends the answer's message as it came"

DEEPSEEK_REQUEST: Final = (
    Overlaid(
        "thinking",
        {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"type": {"enum": ["enabled", "disabled"]}},
                    "required": ["type"],
                    "additionalProperties": False,
                },
                {"type": "null"},
            ]
        },
        _THINKING,
    ),
    Overlaid("reasoning_effort", _TEXT, f"{_THINKING}: words beyond OpenAI's, among them max and ultra"),
    Overlaid("stop", _WORDS, _CREATE),
    Overlaid("user_id", _TEXT, _CREATE),
    Overlaid(
        "ChatCompletionAssistantMessageParam/reasoning_content", _TEXT, f"{_THINKING}; recorded in requests of 2026"
    ),
    Overlaid(
        "ChatCompletionAssistantMessageParam/prefix",
        {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
        "https://api-docs.deepseek.com/guides/chat_prefix_completion",
    ),
    Overlaid("ChatCompletionMessageFunctionToolCallParam/index", {"type": "integer"}, _CALLS),
)
"""Beyond OpenAI's request. The documents' own example sends null for what is not used."""

DEEPSEEK_ANSWER: Final = (
    Overlaid("ChatCompletionMessage/reasoning_content", _TEXT, "recorded in answers of 2026"),
    Overlaid("Choice/finish_reason", {"enum": _FINISH}, _CREATE),
)
DEEPSEEK_STREAM: Final = (
    Overlaid("ChoiceDelta/reasoning_content", _TEXT, "recorded in streams of 2026"),
    Overlaid("Choice/finish_reason", {"enum": [*_FINISH, None]}, _CREATE),
)
