"""Joins the pieces of a stream that go back with the next turn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from art_sdk.adapters.answers import LongText
from art_sdk.adapters.chat_completions.answers import write_extensions
from art_sdk.json_data import is_array, is_object

_TEXTS: Final = ("text", "summary")
"""Fields of an item whose pieces are joined; of all others the last value counts."""
_TEXTS_OF_AUDIO: Final = ("data", "transcript")


class _Item:
    """An object of a list, whose pieces may still be coming."""

    def __init__(self, first: dict[str, Any], text_names: tuple[str, ...] = _TEXTS) -> None:
        self._text_names = text_names
        self._fields: dict[str, Any] = {}
        self._texts: dict[str, LongText] = {}
        self._inner = JoinedItems()
        self.add(first)

    def goes_on_with(self, piece: dict[str, Any]) -> bool:
        """Whether the piece is of the same item: the same type and index, and a text that it can be added to."""
        is_same = all(self._fields.get(name) == piece.get(name) for name in ("type", "index"))
        return is_same and bool(self._texts or self._inner.items)

    def add(self, piece: dict[str, Any]) -> None:
        for name, value in piece.items():
            if name in self._text_names and isinstance(value, str):
                self._texts.setdefault(name, LongText()).write(value)
            elif name == "thinking" and is_array(value):  # Mistral's chunk has a list of texts
                self._inner.add(value)
            self._fields[name] = value

    def read(self) -> dict[str, Any]:
        texts = {name: text.read() for name, text in self._texts.items()}
        return self._fields | texts | ({"thinking": self._inner.read()} if self._inner.items else {})


class JoinedItems:
    """A list of objects, of which the last one may go on in the next piece of the list."""

    def __init__(self) -> None:
        self.items: list[_Item] = []

    def add(self, pieces: Iterable[Any]) -> None:
        """Adds a piece of the list."""
        for piece in filter(is_object, pieces):
            if self.items and self.items[-1].goes_on_with(piece):
                self.items[-1].add(piece)
            else:
                self.items.append(_Item(piece))

    def read(self) -> list[dict[str, Any]]:
        """The list so far."""
        return [item.read() for item in self.items]


class KeptPieces:
    """The fields of a message that go back, and the chunks of its content, as they come."""

    def __init__(self) -> None:
        self._fields: dict[str, LongText | JoinedItems] = {}
        self._chunks = JoinedItems()
        self._audio = _Item({}, _TEXTS_OF_AUDIO)

    def add(self, name: str, value: Any) -> None:
        """Adds a piece of the field. Raises ValueError for one that cannot be joined with those before it."""
        if value is None:
            return
        field = self._fields.setdefault(name, LongText() if isinstance(value, str) else JoinedItems())
        if isinstance(field, LongText) and isinstance(value, str):
            field.write(value)
        elif isinstance(field, JoinedItems) and is_array(value):
            field.add(value)
        else:
            raise ValueError(f"the pieces of {name} must all be strings or all lists")

    def add_audio(self, audio: dict[str, Any]) -> None:
        """Adds a piece of the answer's audio."""
        self._audio.add(audio)

    def add_chunks(self, chunks: Iterable[dict[str, Any]]) -> None:
        """Adds chunks of the content."""
        self._chunks.add(chunks)

    def extensions(self, dialect: str, other_calls: list[dict[str, Any]]) -> dict[str, dict[str, Any]] | None:
        """The message's extensions."""
        fields: dict[str, Any] = {name: field.read() for name, field in self._fields.items()}
        more = {"audio": self._audio.read() or None, "other_calls": other_calls}
        return write_extensions(fields | more, self._chunks.read(), dialect)
