"""What a recorded answer says, read without any adapter: texts, calls and counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from art_compliance.dialects.framing import to_json
from art_compliance.pointers import look_up
from art_sdk.json_data import is_array, is_object


class RecordedCall(Struct):
    """A call: its name, and its arguments as far as they have arrived."""

    name: str = ""
    arguments: str = ""

    @property
    def value(self) -> Any:
        """The arguments as JSON, or as text where they are not JSON."""
        return arguments_of(self.arguments)


class Recorded(Struct, frozen=True):
    """An answer: its texts and calls, each by its place in the answer, without the reasoning."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    calls: dict[str, RecordedCall] = field(default_factory=dict[str, RecordedCall])
    counts: dict[str, int] = field(default_factory=dict[str, int])

    def say(self, place: str, text: Any) -> None:
        """Adds to the text at the place."""
        if isinstance(text, str) and text:
            self.texts[place] = self.texts.get(place, "") + text

    def call(self, place: str, name: Any, arguments: Any) -> None:
        """Adds to the call at the place."""
        call = self.calls.setdefault(place, RecordedCall())
        call.name = call.name or str(name or "")
        call.arguments += arguments if isinstance(arguments, str) else to_json(arguments) if arguments else ""


ReadRecorded = Callable[[Recorded, int, Mapping[str, Any]], None]
"""Adds to a Recorded what a body says, or an event of a stream, given with its number."""


class TokenCounts(Struct, frozen=True, kw_only=True):
    """Where an answer counts its tokens: each count is the sum of the numbers at these JSON pointers."""

    input: tuple[str, ...]
    output: tuple[str, ...]
    roots: tuple[str, ...] = ("",)
    """What may stand before each pointer."""

    def read(self, items: list[Any]) -> dict[str, int]:
        """The counts of an answer, or of a stream's events: each event counts on from the one before."""
        wanted = {"input_tokens": self.input, "output_tokens": self.output}
        return {name: sum(self._last(items, pointer) for pointer in pointers) for name, pointers in wanted.items()}

    def _last(self, items: list[Any], pointer: str) -> int:
        places = [f"{root}{pointer}" for root in reversed(self.roots)]
        found = (look_up(item, place) for item in reversed(items) for place in places)
        return next((count for count in found if isinstance(count, int)), 0)


def arguments_of(text: str) -> Any:
    """A call's arguments as JSON, or as text where they are not JSON, or nested too deep."""
    try:
        return json.loads(text.strip() or "{}")
    except (ValueError, RecursionError):
        return text


def object_of(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if is_object(value) else {}


def objects_of(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a list; none where it is not a list."""
    found: list[Any] = list(value) if is_array(value) else []
    return (one for one in found if is_object(one))
