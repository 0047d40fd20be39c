"""What decoding a request gives, and what every dialect's decoder is made of."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from msgspec import Struct, field

from art_compliance.pointers import escape
from art_sdk.json_data import is_array, is_object, json_type
from art_sdk.messages import ArtStandardPrompt, Part, TextPart, ToolSchema, UserMessage


class DecodeFailed(ValueError):
    """A request that is not of the dialect. `pointer` says where."""

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(f"{pointer or '/'}: {message}")
        self.pointer = pointer


class Decoded(Struct, frozen=True, kw_only=True):
    """A request in the standard format. Two requests mean the same when their decodings are equal.

    `options` has the names of `CallOptions`. `opaque` holds, by JSON pointer, what the standard
    format has no slot for. `places` says where each thing stood: `prompt/2`,
    `prompt/2/tool_calls/0`, `tools/0`, `options/model` to a JSON pointer.
    """

    prompt: ArtStandardPrompt
    tools: tuple[ToolSchema, ...] = ()
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    opaque: dict[str, Any] = field(default_factory=dict[str, Any])
    places: dict[str, str] = field(default_factory=dict[str, str])


class Decode(Protocol):
    """Decodes a request body, with its URL where the dialect keeps model and stream in it."""

    def __call__(self, payload: object, *, url: str | None = None) -> Decoded:
        """Raises DecodeFailed."""
        ...


def user_message(parts: Sequence[Part], name: str | None = None) -> UserMessage:
    """What stands together in a user's message: one text alone is a text, all else is parts."""
    only = parts[0] if len(parts) == 1 else None
    return UserMessage(only.text if isinstance(only, TextPart) else tuple(parts), name)


class Ledger:
    """Keeps account while a request is decoded: where things stood, and what nobody took."""

    def __init__(self) -> None:
        self.opaque: dict[str, Any] = {}
        self.places: dict[str, str] = {}

    @contextmanager
    def open(self, value: object, pointer: str) -> Generator[Fields]:
        """The fields of an object; those that nobody took are opaque when it closes."""
        if not is_object(value):
            raise wrong_kind(pointer, "an object", value)
        fields = Fields(dict(value), pointer)
        yield fields
        for name, rest in fields.left.items():
            if rest is not None:
                self.opaque[f"{pointer}/{escape(name)}"] = rest


class Fields:
    """An object's fields, to be taken one by one. A field that is null counts as absent."""

    def __init__(self, left: dict[str, Any], pointer: str) -> None:
        self.left = left
        self.pointer = pointer

    def take(self, *names: str) -> Any:
        """The value under the first of the names that is there, or None."""
        for name in names:
            if self.left.get(name) is not None:
                return self.left.pop(name)
        return None

    def take_list(self, *names: str) -> list[Any]:
        """As `take`, for a list; one object alone counts as a list of one (protobuf's JSON reads it so)."""
        value = self.take(*names)
        if value is None:
            return []
        if is_object(value):
            return [value]
        if not is_array(value):
            raise wrong_kind(f"{self.pointer}/{names[0]}", "a list", value)
        return list(value)

    def take_text(self, *names: str) -> str | None:
        """As `take`, for text."""
        value = self.take(*names)
        if value is not None and not isinstance(value, str):
            raise wrong_kind(f"{self.pointer}/{names[0]}", "text", value)
        return value

    def take_object(self, *names: str) -> dict[str, Any] | None:
        """As `take`, for an object."""
        value = self.take(*names)
        if value is None or is_object(value):
            return value
        raise wrong_kind(f"{self.pointer}/{names[0]}", "an object", value)

    def put_back(self, name: str, value: object) -> None:
        """Gives back what turned out to have no slot: it becomes opaque."""
        self.left[name] = value


def wrong_kind(pointer: str, wanted: str, value: object) -> DecodeFailed:
    """The error for a value of another type than the dialect has there."""
    return DecodeFailed(pointer, f"expected {wanted}, got {json_type(value)}")
