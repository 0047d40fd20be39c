"""Turns untrusted JSON data into typed values. All other code trusts what comes from here.

There are two layers, and the error says which: *shape* (always checked) and *conversation* (on request, with the
rules of `conversation.py`). Every violation is reported, up to a thousand, not just the first.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any, Final, Literal, TypedDict, TypeVar, cast
from uuid import UUID

import msgspec
from msgspec import Struct

from art_sdk.conversation import argument_faults, read_conversation
from art_sdk.errors import PromptValidationFailed
from art_sdk.json_data import as_plain_data, is_array, is_object, json_type, to_plain
from art_sdk.messages import (
    ArtStandardPrompt,
    AssistantMessage,
    SystemMessage,
    ToolRequestMessage,
    ToolResultMessage,
    UserMessage,
)
from art_sdk.sendable import find_unsendable, is_surely_sendable, repeats_much

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

VIOLATION_LIMIT: Final = 1_000
"""The most violations that an error lists: each takes more memory than the message it is about."""

_ARRAYS: Final = frozenset({list, tuple})
_PLAIN: Final = frozenset({dict})
_encode: Final = msgspec.json.Encoder().encode


class _Prompt(Struct):
    """The whole prompt. msgspec prepares the types of a struct once, but those of a bare tuple at every call."""

    messages: tuple[_Incoming, ...]


def parse_prompt(data: object, *, conversation: bool = False) -> ArtStandardPrompt:
    """Parses JSON data (a list of objects) or checks typed messages.

    `conversation=True` also checks the rules of a tool conversation. Raises PromptValidationFailed with every
    violation, up to `VIOLATION_LIMIT`.
    """
    prompt, plain = _parse_shape(data)
    if not is_encodable(prompt):
        prompt, plain = _parse_shape(to_plain(data))
        _check_sendable(plain, range(len(plain)))
    if conversation:
        _check_conversation(prompt)
    return prompt


def is_encodable(prompt: ArtStandardPrompt) -> bool:
    """Whether all values of the prompt are of JSON's own types, and all text is Unicode."""
    try:
        _encode(prompt)  # the cheapest way to find out
    except Exception:  # noqa: BLE001 - whatever a value's own methods raise
        return False
    return True


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
    if type(data) not in _ARRAYS:
        data = cast("list[Any]", as_plain_data(data))
    given = set(map(type, data))
    typed = _with_any_json(data, given)
    _check_sendable(data, typed)  # before anything writes it: shared parts would be written each time
    try:
        plain = data if given <= _PLAIN else _without_structs(data)
        incoming = _convert_prompt(plain)
    except Exception:  # noqa: BLE001 - those of values with methods of their own, too: the slow way finds them
        plain = to_plain(data)
        incoming = _convert_or_explain(plain)
    kinds = set(map(type, incoming))
    prompt = (
        tuple([_standard(m) if type(m) is _ToolAlias else m for m in incoming]) if _ToolAlias in kinds else incoming
    )
    _check_sendable(plain, _with_any_json(prompt, kinds) - typed)
    return prompt, plain


def _convert_prompt(plain: list[Any] | tuple[Any, ...]) -> tuple[_Incoming, ...]:
    return msgspec.convert({"messages": plain}, _Prompt).messages


def _convert_or_explain(plain: list[Any]) -> tuple[_Incoming, ...]:
    try:
        return _convert_prompt(plain)
    except Exception as error:  # noqa: BLE001 - as above
        violations = [*islice(_shape_violations(plain), VIOLATION_LIMIT)] or [_explain(plain, "$", error)]
        raise _failed(layer="shape", violations=violations) from None


def parse_prompt_json(text: str | bytes, *, conversation: bool = False) -> ArtStandardPrompt:
    """`parse_prompt` for JSON text. Also raises PromptValidationFailed for text that is not JSON."""
    try:
        data = json.loads(text, object_pairs_hook=_without_doubled_keys)
    except RecursionError as error:
        raise _not_json("nested too deeply") from error
    except (ValueError, TypeError) as error:
        raise _not_json(str(error)) from error
    return parse_prompt(data, conversation=conversation)


def _not_json(reason: str) -> PromptValidationFailed:
    return _failed(layer="shape", violations=[{"path": "$", "message": f"not JSON: {reason}"}])


def _without_doubled_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object. Raises ValueError for a key that is there twice: which value is meant is not known."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, many in Counter(key for key, _ in pairs).items() if many > 1)
        raise ValueError(f"the key {twice!r:.60} appears twice in one object")
    return found


def parse_value(data: object, kind: type[T]) -> T:
    """A typed value, made of JSON data. Raises ValueError with path and reason."""
    if repeats_much(data):
        return _parse_slowly(to_plain(data), kind)
    try:
        value = msgspec.convert(_without_structs(data), kind)
        if is_surely_sendable(value):
            return value
    except Exception:  # noqa: BLE001, S110 - those of values with methods of their own, too: the slow way finds them
        pass
    return _parse_slowly(to_plain(data), kind)


def _parse_slowly(plain: object, kind: type[T]) -> T:
    if (found := find_unsendable(plain)) and found.is_too_large:
        raise ValueError(f"{found.path}: {found.reason}")  # what says why another part is wrong would write it
    try:
        value = msgspec.convert(plain, kind)
    except Exception as error:  # noqa: BLE001 - as above
        violation = _explain(plain, "$", error)
        raise ValueError(f"{violation['path']}: {violation['message']}") from None
    if found := find_unsendable(plain):
        raise ValueError(f"{found.path}: {found.reason}")
    return value


def _standard(alias: ToolResultMessage) -> ToolResultMessage:
    return ToolResultMessage(alias.content, alias.tool_call_id, alias.name, alias.status)


def _without_structs(data: Any) -> Any:
    """Typed values as plain data again: `convert` would not check their fields."""
    try:
        return msgspec.to_builtins(data, builtin_types=_FOREIGN)
    except (TypeError, RecursionError):
        return to_plain(data)


def _check_sendable(messages: list[Any] | tuple[Any, ...], suspects: set[int] | range) -> None:
    """Raises PromptValidationFailed if one of these messages cannot be sent as UTF-8 JSON."""
    if not suspects:
        return
    found = (one for index in sorted(suspects) if (one := find_unsendable(messages[index], f"$[{index}]")))
    violations: list[Violation] = [{"path": one.path, "message": one.reason} for one in islice(found, VIOLATION_LIMIT)]
    if violations:
        raise _failed(layer="shape", violations=violations)


def _with_any_json(messages: Iterable[object], kinds: set[type]) -> set[int]:
    """The messages with a field of arbitrary JSON data, in which msgspec would write NaN as null, by index.

    `kinds` are the types of the messages.
    """
    # the fastest loop first: every message of every call comes here
    if ToolRequestMessage not in kinds and (AssistantMessage not in kinds or not _extended(messages)):
        return set()
    return {at for at, one in enumerate(messages) if type(one) is ToolRequestMessage or _extended([one])}


def _extended(messages: Iterable[object]) -> list[AssistantMessage]:
    return [one for one in messages if type(one) is AssistantMessage and one.extensions is not None]


def _check_conversation(prompt: ArtStandardPrompt) -> None:
    conversation = read_conversation(prompt)
    faults = sorted([*conversation.faults, *argument_faults(conversation)], key=lambda fault: fault.index)
    violations: list[Violation] = [{"path": one.path, "message": one.message} for one in faults[:VIOLATION_LIMIT]]
    if violations:
        raise _failed(layer="conversation", violations=violations)


def _shape_violations(plain: list[Any] | tuple[Any, ...]) -> Iterator[Violation]:
    """The first violation of each message: msgspec stops at the first of whatever it converts."""
    for index, item in enumerate(plain):
        try:
            msgspec.convert(item, _Incoming)
        except Exception as error:  # noqa: BLE001 - whatever a value's own methods raise
            yield _explain(item, f"$[{index}]", error)


def _explain(item: object, root: str, error: Exception) -> Violation:
    """What was wrong with the item. Only msgspec's own errors say where; for others we search."""
    if not isinstance(error, msgspec.ValidationError) and (found := find_unsendable(item, root)):
        return {"path": found.path, "message": found.reason}
    violation = _read_msgspec(str(error), root)
    role = item.get("role") if is_object(item) else None
    if violation["path"].rpartition(".")[0] == root and violation["message"] == _UNKNOWN and role in _FIELDS:
        violation["message"] = f"unknown field; messages with the role {role} accept {_FIELDS[role]}"
    return violation


_UNKNOWN: Final = "unknown field"
_FIELDS: Final = {
    **{
        str(kind.__struct_config__.tag): ", ".join(kind.__struct_fields__)
        for kind in (SystemMessage, UserMessage, AssistantMessage, ToolResultMessage, _ToolAlias)
    },
    "tool_request": "only content, the call: an object with id, name and arguments",
}
"""What the message of a role takes."""

_AT: Final = re.compile(r" - at (?:`key` in )?`\$(?P<path>[^`]*)`$")
_UNKNOWN_FIELD: Final = re.compile(r"^Object contains unknown field `(?P<name>.*)`$", re.DOTALL)
_MISSING_FIELD: Final = re.compile(r"^Object missing required field `(?P<name>.*)`$")


def _read_msgspec(text: str, root: str) -> Violation:
    """Path and reason from msgspec's message, with the path of a missing or unknown field instead of its parent's."""
    at = _AT.search(text)
    path = root + (at["path"] if at else "")
    reason = text[: at.start()] if at else text
    if unknown := _UNKNOWN_FIELD.match(reason):
        return {"path": f"{path}.{unknown['name']}", "message": _UNKNOWN}
    if missing := _MISSING_FIELD.match(reason):
        return {"path": f"{path}.{missing['name']}", "message": "missing required field"}
    if path.endswith(".role"):
        return {"path": path, "message": f"{reason}; expected one of {_ROLES}"}
    return {"path": path, "message": reason}


def summarize(violations: list[Violation]) -> str:
    """The first violation, and how many more there are."""
    first, more = violations[0], len(violations) - 1
    text = f"{first['path']}: {first['message']}"
    if not more:
        return text
    return f"{text} (and {more} more)" if more + 1 < VIOLATION_LIMIT else f"{text} (and at least {more} more)"


def _failed(*, layer: Literal["shape", "conversation"], violations: list[Violation]) -> PromptValidationFailed:
    return PromptValidationFailed(summarize(violations), details={"layer": layer, "violations": violations})
