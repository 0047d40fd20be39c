"""The events of a call as JSON data, whatever objects they were, and what they add up to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache, lru_cache
from typing import Any, Final, TypeGuard
from uuid import UUID

import msgspec
from msgspec import Struct

from art_compliance.quoting import as_json, show
from art_sdk.json_data import is_array, is_object


@lru_cache(maxsize=1024)
def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda found: f"_{found[0].lower()}", name)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


class NoEvents(Exception):
    """The adapter's call returned something else than events."""


class Endless(Exception):
    """An event's data contains itself, or has more levels than Python reads."""


class ReaderCancelled(Exception):
    """What the reader of a call awaited between two events was cancelled, and nobody had asked for that."""


class Answered(Struct, frozen=True):
    """The events of one call, in order, with the names of the standard (snake_case).

    `at` has the seconds after which each event arrived, if the call was timed.
    """

    events: tuple[dict[str, Any], ...]
    at: tuple[float, ...] = ()

    @classmethod
    def of(cls, events: Iterable[Any]) -> Answered:
        """From events of any kind: structs, objects, or JSON data."""
        return cls(tuple(event_data(event) for event in events))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The events' types."""
        return tuple(str(event.get("type")) for event in self.events)

    @property
    def text(self) -> str | None:
        """The text of the message in END; None if it has none, or its content is of another type."""
        found = self.message.get("content")
        return found if isinstance(found, str) else None

    @property
    def token_text(self) -> str:
        """The text of the answer's tokens, joined."""
        return self._tokens("LLM_RESPONSE")

    @property
    def thinking_text(self) -> str:
        """The text of the reasoning's tokens, joined."""
        return self._tokens("LLM_THINKING")

    @property
    def event_calls(self) -> list[dict[str, Any]]:
        """The tool calls of the TOOL_CALL events; what is not a call is empty."""
        return [_call(event.get("call")) for event in self.of_kind("TOOL_CALL")]

    @property
    def message(self) -> dict[str, Any]:
        """The message in END; empty if there is none."""
        found = self._end.get("message")
        return found if is_object(found) else {}

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The tool calls of the message in END; what is not a call is empty."""
        found = self.message.get("tool_calls")
        return list(map(_call, found)) if is_array(found) else []

    @property
    def finish(self) -> str | None:
        """The finish in END; None if it is of another type."""
        found = self._end.get("finish")
        return found if isinstance(found, str) else None

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata of the METADATA event; empty if there is none."""
        found = next((event.get("metadata") for event in self.of_kind("METADATA")), None)
        return {_snake(name): value for name, value in found.items()} if is_object(found) else {}

    @property
    def error(self) -> dict[str, Any] | None:
        """The error of the ERROR event, or None."""
        event = next(self.of_kind("ERROR"), None)
        if event is None:
            return None
        found = event.get("error")
        return found if is_object(found) else {"message": found} if found is not None else {}

    def wrong_shapes(self) -> Iterator[str]:
        """Each field of an event that has another type than the standard's, with its place.

        What is in END's message and in a call is not looked at: messages and calls are judged by laws of their own.
        """
        for number, event in enumerate(self.events):
            wanted = {**_IDS, **_SHAPES.get(str(event.get("type")), {})}
            for name, (words, fits) in wanted.items():
                if not fits(event.get(name)):
                    text = f"event {number} ({event.get('type')}): {name} must be {words}"
                    yield f"{text}, not {show(event.get(name))}"

    def of_kind(self, kind: str) -> Iterator[dict[str, Any]]:
        """The events of one type."""
        return (event for event in self.events if event.get("type") == kind)

    @property
    def _end(self) -> dict[str, Any]:
        return self.events[-1] if self.events else {}

    def _tokens(self, kind: str) -> str:
        kinds = (kind, f"AGENT_THOUGHT_{kind}", f"FINAL_SYNTHESIS_{kind}")
        return "".join(str(event.get("text")) for event in self.of_kind("TOKEN") if event.get("token_type") in kinds)


def _call(value: Any) -> dict[str, Any]:
    """A call with a function, whatever came in its place."""
    if not is_object(value):
        return {}
    function = value.get("function")
    return value if function is None or is_object(function) else {**value, "function": {}}


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_text_or_null(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_object_or_null(value: Any) -> bool:
    return value is None or is_object(value)


Shape = tuple[str, Callable[[Any], bool]]

_IDS: Final[Mapping[str, Shape]] = dict.fromkeys(
    ("thread_id", "trace_id", "session_id"), ("text or null", _is_text_or_null)
)
_SHAPES: Final[Mapping[str, Mapping[str, Shape]]] = {
    "TOKEN": {"text": ("text", _is_text), "token_type": ("text", _is_text)},
    "TOOL_CALL": {"call": ("an object", is_object)},
    "METADATA": {"metadata": ("an object", is_object)},
    "ERROR": {"error": ("an object", is_object)},
    "END": {"message": ("an object or null", _is_object_or_null), "finish": ("text or null", _is_text_or_null)},
}
"""The types of an event's fields, by its type."""

KINDS: Final = frozenset(_SHAPES)
"""The types of events."""

_ERROR_FACTS: Final = (
    "code",
    "message",
    "provider",
    "status",
    "provider_code",
    "provider_message",
    "retry_after",
    "is_retryable",
    "request_id",
)
_METADATA: Final = (
    "stop_reason",
    "raw_stop_reason",
    "total_generation_time_ms",
    "time_to_first_token_ms",
    "input_tokens",
    "output_tokens",
    "thinking_tokens",
    "cached_tokens",
    "provider_raw_usage",
    "request_id",
    "trace_id",
)
_FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "event": (
        "type",
        "text",
        "token_type",
        "call",
        "metadata",
        "error",
        "message",
        "finish",
        "thread_id",
        "trace_id",
        "session_id",
    ),
    "call": ("id", "type", "function"),
    "function": ("name", "arguments"),
    "message": ("role", "content", "tool_calls", "name", "extensions"),
    "metadata": (*_METADATA, *map(_camel, _METADATA)),
    "error": (*_ERROR_FACTS, "details"),
}
"""The attributes that are read from an object that is not a mapping; all others are ignored."""

_OWN_NAMES: Final = {kind: {_camel(name): name for name in _FIELDS[kind] if "_" in name} for kind in ("event", "error")}
"""The snake_case names of what may also have a camelCase name. `metadata` has its own reader."""

_ELEMENTS: Final = {"tool_calls": "call"}


def _sayable(value: int) -> int | str:
    bits = value.bit_length()
    return value if bits <= _MOST_BITS else f"an integer of {bits} bits"


_MOST_BITS: Final = 10_000
"""Python refuses to write much longer integers as text."""


def next_turn(calls: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """What may follow an answer: the results of its calls, or a message of the user."""
    results = [{"role": "tool_result", "tool_call_id": str(call.get("id")), "content": "done"} for call in calls]
    return results or [{"role": "user", "content": "Go on."}]


def event_data(event: Any) -> dict[str, Any]:
    """An event of any kind as JSON data. Read it as it arrives: the adapter may change the object later."""
    try:
        read = _read(event, "event")
    except RecursionError as error:
        raise Endless("the data of an event contains itself, or has too many levels to be read") from error
    return read if is_object(read) else {"type": as_json(event)}


def _read(value: Any, kind: str) -> Any:
    """The value as JSON data, as far as it can be."""
    return value if type(value) in _PLAIN else _read_other(value, kind)


_MISSING: Final = object()

_PLAIN: Final = frozenset({str, type(None), bool, float})
"""The types of most values, which stay as they are: a long answer has thousands."""


_NO_JSON: Final = (bytes, bytearray, memoryview, datetime, date, timedelta, UUID, Decimal)
"""Types that msgspec writes as texts. An application that stores a message with `json.dumps` gets a TypeError."""


def _read_other(value: Any, kind: str) -> Any:
    if isinstance(value, Enum):
        return _read(value.value, kind)
    if value is None or isinstance(value, (str, int, float)):
        return _sayable(value) if isinstance(value, int) else value
    if isinstance(value, BaseException):
        return {**error_facts(value), "shown": _show(value)}
    if _is_mapping(value):
        own = _OWN_NAMES.get(kind, {})
        return {own.get(name, str(name)): _read(item, str(name)) for name, item in value.items()}
    if isinstance(value, Struct) and kind != "event":
        return _read(msgspec.to_builtins(value, builtin_types=_NO_JSON), kind)  # which leaves tuples as they are
    if is_array(value) and not hasattr(value, "_fields"):
        return [_read(item, _ELEMENTS.get(kind, kind)) for item in value]
    return _read_fields(value, kind)


def error_facts(error: BaseException) -> dict[str, Any]:
    """The fields of the standard that an exception has."""
    known = ((name, getattr(error, name, _MISSING)) for name in _ERROR_FACTS)
    return {name: _read(fact, name) for name, fact in known if fact is not _MISSING}


def _is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    return type(value) is dict or isinstance(value, Mapping)  # most are dicts, which are told at once


def _read_fields(value: Any, kind: str) -> Any:
    config = getattr(value, "__struct_config__", None)
    tag = {config.tag_field: config.tag} if config is not None and config.tag_field else {}
    given = ((own, getattr(value, name, _MISSING)) for name, own in _names_in(value, kind))
    found = {own: _read(item, own) for own, item in given if item is not _MISSING}
    return {**tag, **found} if tag or found else repr(value)


def _names_in(value: object, kind: str) -> tuple[tuple[str, str], ...]:
    """The attributes that are read of this value, each with its own name."""
    made = type(value)
    return _names_of(made, kind) if issubclass(made, Struct) and not made.__dictoffset__ else _names(kind)


@cache
def _names(kind: str) -> tuple[tuple[str, str], ...]:
    """Those of any value of this kind."""
    own = _OWN_NAMES.get(kind, {})
    return tuple((name, own.get(name, name)) for name in (*own, *_FIELDS.get(kind, ())))


@lru_cache(maxsize=64)
def _names_of(made: type[Struct], kind: str) -> tuple[tuple[str, str], ...]:
    """Those that instances of a Struct without a dictionary can have."""
    return tuple(one for one in _names(kind) if hasattr(made, one[0]))


def _show(error: BaseException) -> str:
    """Everything about an error that may end up in a log, in full, and what a traceback shows of its cause."""
    cause = error.__cause__
    return " ".join([str(error), *map(as_json, (error, vars(error), cause, getattr(cause, "__notes__", None)))])
