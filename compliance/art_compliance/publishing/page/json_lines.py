"""JSON values as lines of marked text, cut to what a page can show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from art_compliance.quoting import as_json, shorten, show
from art_sdk.json_data import is_array, is_object

Step = str | int
Place = tuple[Step, ...]
"""Where a value is: the keys and indexes that lead to it."""

Kind = Literal["key", "text", "number", "mark", "cut", "sign"]

_SHORT: Final = 72
"""Characters of a value that is written on one line."""
_DEEPEST: Final = 14
"""Levels that are shown of what is not marked."""
_END: Final = 40
"""Characters shown of the end of a long text."""


class Token(NamedTuple):
    """A piece of a line. A `mark` is what was lost or changed, and `cut` says what is left out."""

    kind: Kind
    text: str


class JsonLine(NamedTuple):
    """A line: how deep it is indented, whether it belongs to the marked value, and its pieces."""

    depth: int
    is_marked: bool
    tokens: tuple[Token, ...]


class Span(NamedTuple):
    """Characters of a text, from `start` up to `end`. An empty one marks a position."""

    start: int
    end: int


class Marks(NamedTuple):
    """The values that findings name, and the characters of texts that were lost or changed, in their order."""

    places: tuple[Place, ...] = ()
    spans: Mapping[Place, Sequence[Span]] = {}

    def touch(self, place: Place) -> bool:
        """Whether something is marked at the place or below it."""
        return any(one[: len(place)] == place for one in (*self.spans, *self.places))

    def keep(self, place: Place) -> bool:
        """Whether the place is a marked value, or in one."""
        return any(place[: len(one)] == one for one in self.places)


class Limits(NamedTuple):
    """How much of a value is shown: items of a list or object, characters of a text, lines in all."""

    items: int = 12
    characters: int = 320
    lines: int = 140


def json_lines(value: Any, marks: Marks = Marks(), limits: Limits = Limits()) -> list[JsonLine]:  # noqa: B008 - frozen
    """The value as lines. What is marked is shown, and of the rest as much as the limits allow."""
    lines: list[JsonLine] = []
    for line in _Writer(marks, limits).lines(value):
        if len(lines) == limits.lines:
            lines.append(JsonLine(0, is_marked=False, tokens=(Token("cut", "… the rest is left out"),)))
            break
        lines.append(line)
    return lines


class _Writer:
    def __init__(self, marks: Marks, limits: Limits) -> None:
        self._marks = marks
        self._limits = limits

    def lines(
        self, value: Any, place: Place = (), before: tuple[Token, ...] = (), after: str = ""
    ) -> Iterator[JsonLine]:
        """The value's lines; `before` begins the first of them, and `after` ends the last."""
        ends = (Token("sign", after),) if after else ()
        line = JsonLine(len(place), self._marks.keep(place), before)
        if not (is_object(value) or is_array(value)):
            yield line._replace(tokens=(*before, *self._scalar(value, place), *ends))
            return
        signs = "{}" if is_object(value) else "[]"
        if (short := self._in_short(value, place)) is not None:
            yield line._replace(tokens=(*before, *short, *ends))
            return
        yield line._replace(tokens=(*before, Token("sign", signs[0])))
        yield from self._items(value, place)
        yield line._replace(tokens=(Token("sign", signs[1] + after),))

    def _items(self, value: Any, place: Place) -> Iterator[JsonLine]:
        items = _items_of(value)
        shown = self._shown([key for key, _ in items], place)
        left_out = 0
        for number, (key, item) in enumerate(items):
            if number not in shown:
                left_out += 1
                continue
            yield from self._gap(left_out, place)
            left_out = 0
            before = (Token("key", self._key(key)), Token("sign", ": ")) if isinstance(key, str) else ()
            yield from self.lines(item, (*place, key), before, "," if number < len(items) - 1 else "")
        yield from self._gap(left_out, place)

    def _key(self, name: str) -> str:
        return as_json(shorten(name, self._limits.characters))

    def _gap(self, count: int, place: Place) -> Iterator[JsonLine]:
        if count:
            text = f"… {count:,} more {'item' if count == 1 else 'items'}"
            yield JsonLine(len(place) + 1, self._marks.keep(place), (Token("cut", text),))

    def _shown(self, keys: list[Step], place: Place) -> set[int]:
        """The positions of the items that are shown: all of a few, else the first ones, the last, and marked ones."""
        if len(keys) <= self._limits.items:
            return set(range(len(keys)))
        touched = [number for number, key in enumerate(keys) if self._marks.touch((*place, key))][: self._limits.items]
        near = {number + beside for number in touched for beside in (-1, 0, 1)}
        return {*range(self._limits.items // 2), len(keys) - 1, *near}

    def _in_short(self, value: Any, place: Place) -> tuple[Token, ...] | None:
        """The tokens of a value on one line, if it is short, or too deep to be shown otherwise."""
        if not value:
            return (Token("sign", "{}" if is_object(value) else "[]"),)
        if len(place) >= self._depth():
            fields = f"{len(value):,} {'fields' if is_object(value) else 'items'}"
            return (Token("cut", f"{{ {fields} }}" if is_object(value) else f"[ {fields} ]"),)
        if len(value) > _SHORT // 4 or any(is_object(item) or is_array(item) for _, item in _items_of(value)):
            return None
        if any(one[: len(place)] == place for one in self._marks.spans):
            return None
        tokens = tuple(self._flat(value, place))
        return tokens if sum(len(token.text) for token in tokens) <= _SHORT else None

    def _depth(self) -> int:
        marked = [len(place) for place in (*self._marks.spans, *self._marks.places)]
        return max(_DEEPEST, min(max(marked, default=0) + 2, 3 * _DEEPEST))

    def _flat(self, value: Any, place: Place) -> Iterator[Token]:
        yield Token("sign", "{" if is_object(value) else "[")
        for number, (key, item) in enumerate(_items_of(value)):
            if number:
                yield Token("sign", ", ")
            if isinstance(key, str):
                yield from (Token("key", self._key(key)), Token("sign", ": "))
            yield from self._scalar(item, (*place, key))
        yield Token("sign", "}" if is_object(value) else "]")

    def _scalar(self, value: Any, place: Place) -> Iterator[Token]:
        if not isinstance(value, str):
            yield Token("number", show(value))
            return
        spans = self._marks.spans.get(place, ())
        yield Token("sign", '"')
        yield from self._marked_text(value, spans) if spans else self._text(value)
        yield Token("sign", '"')

    def _text(self, text: str) -> Iterator[Token]:
        most = self._limits.characters
        if len(text) <= most + _END:
            yield Token("text", _inside(text))
            return
        yield Token("text", _inside(text[: most - _END]))
        yield Token("cut", f" … {len(text) - most:,} more characters … ")
        yield Token("text", _inside(text[-_END:]))

    def _marked_text(self, text: str, spans: Sequence[Span]) -> Iterator[Token]:
        """The marked characters, and some around them."""
        around, at = self._limits.characters // 2, 0
        for start, end in spans:
            if start - at > 2 * around:
                yield from self._text_before_cut(text[at:start], around)
            else:
                yield Token("text", _inside(text[at:start]))
            yield from self._mark(text[start:end])
            at = end
        yield Token("text", _inside(text[at : at + around]))
        if len(text) > at + around:
            yield Token("cut", f" … {len(text) - at - around:,} more characters")

    @staticmethod
    def _text_before_cut(text: str, around: int) -> Iterator[Token]:
        yield Token("text", _inside(text[:_END]))
        yield Token("cut", f" … {len(text) - _END - around:,} more characters … ")
        yield Token("text", _inside(text[-around:]))

    def _mark(self, text: str) -> Iterator[Token]:
        most = self._limits.characters
        yield Token("mark", _inside(text[:most]) or "‸")
        if len(text) > most:
            yield Token("cut", f" … {len(text) - most:,} more characters, marked, too … ")


def _items_of(value: Any) -> list[tuple[Step, Any]]:
    items: list[Any] = list(value.values() if is_object(value) else value)
    keys: Iterable[Step] = value if is_object(value) else range(len(items))
    return list(zip(keys, items, strict=True))


def _inside(text: str) -> str:
    """What is between the quotation marks of a text in JSON, with escapes for what nobody can see."""
    return as_json(text)[1:-1]
