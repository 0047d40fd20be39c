"""Turns untrusted JSON data into typed values. All other code trusts what comes from here.

There are two layers, and the error says which: *shape* (always checked) and *conversation* (on request, with the
rules of `conversation.py`). Every violation is reported, not just the first.
"""

from __future__ import annotations

import json
import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final, Literal, TypedDict, TypeVar
from uuid import UUID

import msgspec
from msgspec import Struct

from art_sdk.conversation import argument_faults, read_conversation
from art_sdk.errors import PromptValidationFailed
from art_sdk.json_data import find_unsendable, is_array, is_surely_sendable, json_type
from art_sdk.messages import (
    ArtStandardMessage,
    ArtStandardPrompt,
    AssistantMessage,
    SystemMessage,
    ToolRequestMessage,
    ToolResultMessage,
    UserMessage,
)

T = TypeVar("T")


class Violation(TypedDict):
    """One violation: where it is, and what is wrong there."""

    path: str
    message: str


class _ToolAlias(ToolResultMessage, frozen=True, tag_field="role", tag="tool"):
    """The role `tool_result` under its other name. Exists only on input."""


_Incoming = SystemMessage | UserMessage | AssistantMessage | ToolResultMessage | ToolRequestMessage | _ToolAlias
_ROLES: Final = "system, user, assistant, tool_request, tool_result (or tool)"

_FOREIGN: Final = (bytes, bytearray, memoryview, date, datetime, time, timedelta, Decimal, UUID)
"""Types that msgspec would convert to text. They are kept as they are, and rejected."""

_PLAIN: Final = frozenset({dict})
_encode: Final = msgspec.json.Encoder().encode


class _Prompt(Struct):
    """The whole prompt. msgspec prepares the types of a struct once, but those of a bare tuple at every call."""

    messages: tuple[_Incoming, ...]


def parse_prompt(data: object, *, conversation: bool = False) -> ArtStandardPrompt:
    """Parses JSON data (a list of objects) or checks typed messages.

    `conversation=True` also checks the rules of a tool conversation. Raises PromptValidationFailed with every
    violation.
    """
    prompt, plain = _parse_shape(data)
    try:
        _encode(prompt)  # the cheapest way to find text that UTF-8 cannot encode
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
        _check_sendable(plain, range(len(plain)))
    if conversation:
        _check_conversation(prompt)
    return prompt


def parse_prompt_to_encode(data: object) -> ArtStandardPrompt:
    """`parse_prompt` for a caller who encodes all of the prompt's text, and calls `parse_prompt` if that fails."""
    prompt, _ = _parse_shape(data)
    return prompt


def _parse_shape(data: object) -> tuple[ArtStandardPrompt, list[Any] | tuple[Any, ...]]:
    """The prompt, and the plain data it was made of. Text is not checked."""
    if not is_array(data):
        found = json_type(data)
        raise _failed(
            layer="shape", violations=[{"path": "$", "message": f"expected an array of messages, got {found}"}]
        )
    plain = _without_structs(data)
    try:
        incoming = msgspec.convert({"messages": plain}, _Prompt).messages
    except (msgspec.ValidationError, UnicodeEncodeError, RecursionError) as error:
        violations = _shape_violations(plain) or [_explain(plain, "$", error)]
        raise _failed(layer="shape", violations=violations) from None
    kinds = set(map(type, incoming))
    prompt = (
        tuple([_standard(m) if type(m) is _ToolAlias else m for m in incoming]) if _ToolAlias in kinds else incoming
    )
    _check_sendable(plain, [index for index, message in enumerate(prompt) if _has_any_json(message)])
    return prompt, plain


def parse_prompt_json(text: str | bytes, *, conversation: bool = False) -> ArtStandardPrompt:
    """`parse_prompt` for JSON text. Also raises PromptValidationFailed for text that is not JSON."""
    try:
        data = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise _failed(layer="shape", violations=[{"path": "$", "message": f"not JSON: {error}"}]) from error
    return parse_prompt(data, conversation=conversation)


def parse_value(data: object, kind: type[T]) -> T:
    """A typed value, made of JSON data. Raises ValueError with path and reason."""
    plain = _without_structs(data)
    try:
        value = msgspec.convert(plain, kind)
    except (msgspec.ValidationError, UnicodeEncodeError, RecursionError) as error:
        violation = _explain(plain, "$", error)
        raise ValueError(f"{violation['path']}: {violation['message']}") from None
    if not is_surely_sendable(value) and (found := find_unsendable(plain)):
        raise ValueError(f"{found.path}: {found.reason}")
    return value


def _standard(alias: ToolResultMessage) -> ToolResultMessage:
    return ToolResultMessage(alias.content, alias.tool_call_id, alias.name, alias.status)


def _without_structs(data: Any) -> Any:
    """Typed values as plain data again: `convert` would not check their fields."""
    if is_array(data) and _PLAIN.issuperset(map(type, data)):
        return data
    try:
        return msgspec.to_builtins(data, builtin_types=_FOREIGN)
    except (TypeError, RecursionError):
        return data


def _check_sendable(plain: list[Any] | tuple[Any, ...], suspects: list[int] | range) -> None:
    """Raises PromptValidationFailed if one of these messages cannot be sent as UTF-8 JSON."""
    found = [one for index in suspects if (one := find_unsendable(plain[index], f"$[{index}]"))]
    if found:
        raise _failed(layer="shape", violations=[{"path": one.path, "message": one.reason} for one in found])


def _has_any_json(message: ArtStandardMessage) -> bool:
    """Whether the message has a field of arbitrary JSON data, in which msgspec would write NaN as null."""
    if type(message) is AssistantMessage:
        return message.extensions is not None
    return type(message) is ToolRequestMessage


def _check_conversation(prompt: ArtStandardPrompt) -> None:
    conversation = read_conversation(prompt)
    faults = sorted([*conversation.faults, *argument_faults(conversation)], key=lambda fault: fault.index)
    if faults:
        raise _failed(
            layer="conversation", violations=[{"path": fault.path, "message": fault.message} for fault in faults]
        )


def _shape_violations(plain: list[Any] | tuple[Any, ...]) -> list[Violation]:
    """The first violation of each message: msgspec stops at the first of whatever it converts."""
    found: list[Violation] = []
    for index, item in enumerate(plain):
        try:
            msgspec.convert(item, _Incoming)
        except (msgspec.ValidationError, UnicodeEncodeError, RecursionError) as error:
            found.append(_explain(item, f"$[{index}]", error))
    return found


def _explain(item: object, root: str, error: Exception) -> Violation:
    """What was wrong with the item. Only msgspec's own errors say where; for others we search."""
    if not isinstance(error, msgspec.ValidationError) and (found := find_unsendable(item, root)):
        return {"path": found.path, "message": found.reason}
    return _read_msgspec(str(error), root)


_AT: Final = re.compile(r" - at (?:`key` in )?`\$(?P<path>[^`]*)`$")
_UNKNOWN_FIELD: Final = re.compile(r"^Object contains unknown field `(?P<name>.*)`$", re.DOTALL)
_MISSING_FIELD: Final = re.compile(r"^Object missing required field `(?P<name>.*)`$")


def _read_msgspec(text: str, root: str) -> Violation:
    """Path and reason from msgspec's message, with the path of a missing or unknown field instead of its parent's."""
    at = _AT.search(text)
    path = root + (at["path"] if at else "")
    reason = text[: at.start()] if at else text
    if unknown := _UNKNOWN_FIELD.match(reason):
        return {"path": f"{path}.{unknown['name']}", "message": "unknown field"}
    if missing := _MISSING_FIELD.match(reason):
        return {"path": f"{path}.{missing['name']}", "message": "missing required field"}
    if path.endswith(".role"):
        return {"path": path, "message": f"{reason}; expected one of {_ROLES}"}
    return {"path": path, "message": reason}


def _failed(*, layer: Literal["shape", "conversation"], violations: list[Violation]) -> PromptValidationFailed:
    first, more = violations[0], len(violations) - 1
    message = f"{first['path']}: {first['message']}" + (f" (and {more} more)" if more else "")
    return PromptValidationFailed(message, details={"layer": layer, "violations": violations})
