"""What a call gave: its events as JSON data, whatever they were made of, and what they add up to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, Final, cast

import msgspec
from msgspec import Struct

from art_sdk.json_data import is_array, is_object


class Answered(Struct, frozen=True):
    """The events of one call, in order, in the names that the standard gives them (snake_case)."""

    events: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, events: Iterable[Any]) -> Answered:
        """Events of any make: structs, objects, or JSON data."""
        return cls(tuple(_event(event) for event in events))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The events' types."""
        return tuple(str(event.get("type")) for event in self.events)

    @property
    def text(self) -> str | None:
        """The text of the message at the end."""
        return self.message.get("content")

    @property
    def told_text(self) -> str:
        """The text of the answer's tokens, one after the other."""
        return self._tokens("LLM_RESPONSE")

    @property
    def told_thinking(self) -> str:
        """The text of the reasoning's tokens."""
        return self._tokens("LLM_THINKING")

    @property
    def told_calls(self) -> list[dict[str, Any]]:
        """The calls of the TOOL_CALL events."""
        return [event.get("call") or {} for event in self.of_kind("TOOL_CALL")]

    @property
    def message(self) -> dict[str, Any]:
        """The message at the end, ready to append; empty where there is none."""
        found: dict[str, Any] = self._end.get("message") or {}
        kept = {name: value for name, value in found.items() if value not in (None, []) or name == "content"}
        return {"role": "assistant", **kept} if kept else {}

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The calls of the message at the end."""
        found: list[dict[str, Any]] = self.message.get("tool_calls", [])
        return found

    @property
    def finish(self) -> str | None:
        """Why the answer ended, as END says."""
        return self._end.get("finish")

    @property
    def metadata(self) -> dict[str, Any]:
        """The METADATA event's own; empty where there is none."""
        found = next((event.get("metadata") for event in self.of_kind("METADATA")), None)
        return {_snake(name): value for name, value in found.items()} if is_object(found) else {}

    @property
    def error(self) -> dict[str, Any] | None:
        """The ERROR event's own, or None."""
        event = next(self.of_kind("ERROR"), None)
        return None if event is None else event.get("error") or {}

    @property
    def is_failure(self) -> bool:
        """Whether it is a failure as it should be told: ERROR, then END with the finish `error`."""
        return self.kinds[-2:] == ("ERROR", "END") and self.finish == "error" and self.kinds.count("END") == 1

    def of_kind(self, kind: str) -> Iterator[dict[str, Any]]:
        """The events of a type."""
        return (event for event in self.events if event.get("type") == kind)

    @property
    def _end(self) -> dict[str, Any]:
        return self.events[-1] if self.events else {}

    def _tokens(self, kind: str) -> str:
        told = self.of_kind("TOKEN")
        return "".join(str(event.get("text")) for event in told if str(event.get("token_type")).endswith(kind))


_ERROR_FACTS: Final = ("code", "message", "provider", "status", "provider_code", "provider_message", "retry_after")


def _event(event: Any) -> dict[str, Any]:
    plain = _plain(event)
    return plain if is_object(plain) else {"type": repr(event)}


def _plain(value: Any) -> Any:
    """The value as JSON data, as far as it can be."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, BaseException):
        facts = {name: getattr(value, name, None) for name in _ERROR_FACTS}
        return {**facts, "shown": f"{value} {value!r}", "details": _plain(getattr(value, "details", None))}
    if is_object(value):
        return {name: _plain(item) for name, item in value.items()}
    if is_array(value):
        return [_plain(item) for item in value]
    if isinstance(value, Struct):
        return _plain_struct(value)
    if hasattr(value, "__dict__") and not callable(value):
        return _plain(cast("dict[str, Any]", vars(value)))
    return value


def _plain_struct(value: Struct) -> dict[str, Any]:
    config = value.__struct_config__
    tag = {config.tag_field: config.tag} if config.tag_field else {}
    return {**tag, **{name: _plain(item) for name, item in msgspec.structs.asdict(value).items()}}


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda found: f"_{found[0].lower()}", name)
