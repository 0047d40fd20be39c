"""The types of `ArtStandardPrompt`, version 1.1: one frozen struct per role.

JSON exists only at the edge: `validation.parse_prompt` turns JSON data into these values, and `dump_prompt` turns
them back. Unset optional fields are left out of JSON.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, cast

import msgspec
from msgspec import Meta, Struct

ART_STANDARD_VERSION: Final = "1.1"

NonEmpty = Annotated[str, Meta(min_length=1)]
ResultStatus = Literal["success", "error"]
ArtStandardMessageRole = Literal["system", "user", "assistant", "tool_request", "tool_result", "tool"]


class _Value(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """The base of all of them. JSON data has no cycles, so the garbage collector need not track them."""


class FunctionCall(_Value, frozen=True):
    """A tool's name and its arguments, a JSON object as text."""

    name: NonEmpty
    arguments: str


class ToolCall(_Value, frozen=True, omit_defaults=False):
    """One tool call, made by the model in an assistant message."""

    id: NonEmpty
    function: FunctionCall
    type: Literal["function"] = "function"


class TextPart(_Value, frozen=True, tag_field="type", tag="text"):
    """A text part of a user message."""

    text: str


class ImagePart(_Value, frozen=True, tag_field="type", tag="image"):
    """An image part of a user message, given as either `data` (base64) or `url`."""

    mime_type: NonEmpty
    data: str | None = None
    url: str | None = None

    def __post_init__(self) -> None:
        if (self.data is None) == (self.url is None):
            raise ValueError("an image must have either data or url")


Part = TextPart | ImagePart


class SystemMessage(_Value, frozen=True, tag_field="role", tag="system"):
    """Instructions for the model."""

    content: str
    name: str | None = None


class UserMessage(_Value, frozen=True, tag_field="role", tag="user"):
    """What the user says: text, or parts (since 1.1)."""

    content: str | tuple[Part, ...]
    name: str | None = None


class AssistantMessage(_Value, frozen=True, tag_field="role", tag="assistant"):
    """What the model said: text, calls, or both. `content` is null when it only calls tools.

    `extensions` (since 1.1) keeps, per dialect, opaque provider data that must go back unchanged with the next
    turn. Adapters of other dialects ignore it.
    """

    content: str | None
    tool_calls: tuple[ToolCall, ...] = ()
    name: str | None = None
    extensions: dict[str, dict[str, Any]] | None = None


class ToolResultMessage(_Value, frozen=True, tag_field="role", tag="tool_result"):
    """A tool's output or error as text. On input the role may also be `tool`."""

    content: str
    tool_call_id: NonEmpty
    name: str | None = None
    status: ResultStatus = "success"


class ToolRequest(_Value, frozen=True):
    """An explicit request to call a tool. `arguments` is an object or JSON text."""

    id: NonEmpty
    name: NonEmpty
    arguments: str | dict[str, Any]


class ToolRequestMessage(_Value, frozen=True, tag_field="role", tag="tool_request"):
    """Means the same as an assistant message with this one call."""

    content: ToolRequest | None


ArtStandardMessage = SystemMessage | UserMessage | AssistantMessage | ToolResultMessage | ToolRequestMessage
ArtStandardPrompt = tuple[ArtStandardMessage, ...]
ArtToolCallRequest = ToolCall


class ToolSchema(_Value, frozen=True, rename="camel"):
    """A tool as it is described to the model. `input_schema` is a JSON Schema whose root is an object."""

    name: NonEmpty
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None


class ToolResult(_Value, frozen=True, rename="camel"):
    """What a tool returned: `output` if it succeeded, `error` if it failed."""

    call_id: NonEmpty
    tool_name: NonEmpty
    status: ResultStatus
    output: Any = None
    error: str | None = None


class ParsedToolCall(_Value, frozen=True, rename="camel"):
    """A call with its arguments parsed, ready to be executed."""

    call_id: str
    tool_name: str
    arguments: dict[str, Any]


def dump_prompt(prompt: ArtStandardPrompt) -> list[dict[str, Any]]:
    """The prompt as JSON data, which `parse_prompt` turns back into an equal value."""
    return cast("list[dict[str, Any]]", msgspec.json.decode(msgspec.json.encode(prompt)))
