"""The outline of a page: one line per element, indented, as short as the limit wants it.

The stages stop as soon as the outline fits: attributes and texts as they are, then both shortened and runs of like
siblings cut after ten, then lines left out, those of elements that can be used last. No line is ever cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from art_sdk.agents.browser.pages.element import Element
from art_sdk.agents.browser.pages.texts import clip

RUN_LIMIT: Final = 10
"""How many like siblings in a row are shown."""

_DEEPEST: Final = 12


class Marks(NamedTuple):
    """The elements to mark: `*` for new or changed ones, `>` for those that matter to the step."""

    changed: frozenset[int] = frozenset()
    relevant: frozenset[int] = frozenset()

    def of(self, element: Element) -> str:
        """The element's marks, and a blank after them."""
        marks = ("*" if id(element) in self.changed else "") + (">" if id(element) in self.relevant else "")
        return f"{marks} " if marks else ""


class Outline(NamedTuple):
    """The text, and how it came about: `stage` is `whole`, `shortened` or `truncated`.

    `left_out` is how many of the `elements` have no line of their own.
    """

    text: str
    stage: str
    elements: int
    left_out: int


class _Stage(NamedTuple):
    name: str
    value_limit: int
    text_limit: int
    cuts_runs: bool


_STAGES: Final = (
    _Stage("whole", 100, 1_000, cuts_runs=False),
    _Stage("shortened", 60, 300, cuts_runs=True),
    _Stage("truncated", 60, 300, cuts_runs=True),
)


def outline(elements: Sequence[Element], limit: int, marks: Marks = Marks()) -> Outline:  # noqa: B008 - a constant
    """The outline, of at most `limit` characters."""
    for stage in _STAGES[:-1]:
        made = _write(_lines(elements, marks, stage), stage, limit)
        if made is not None:
            return Outline(made.text, stage.name, len(elements), len(elements) - made.shown)
    return _truncate(elements, limit, marks)


class _Written(NamedTuple):
    """Lines as text, and how many of them are of an element."""

    text: str
    shown: int


def _write(lines: Iterable[_Line], stage: _Stage, limit: int) -> _Written | None:
    """The lines, or None if they are longer than the limit."""
    kept: list[str] = []
    left = limit + 1
    shown = 0
    for line in lines:
        text = _text(line, stage)
        left -= len(text) + 1
        if left < 0:
            return None
        kept.append(text)
        shown += line.element is not None
    return _Written("\n".join(kept), shown)


def _truncate(elements: Sequence[Element], limit: int, marks: Marks) -> Outline:
    """What fits: first what can be used, then all other lines, from the top; and how many elements are missing."""
    stage = _STAGES[-1]
    left = limit - len(_note(len(elements), len(elements)))
    spare = _room_beside_usable(_lines(elements, marks, stage), stage, left)
    kept: list[str] = []
    shown = 0
    for line in _lines(elements, marks, stage):  # made again: all lines at once would take much memory
        room = left if line.is_usable else spare
        if room > 0 and (size := len(text := _text(line, stage)) + 1) <= room:
            kept.append(text)
            shown += line.element is not None
            left -= size
            spare -= 0 if line.is_usable else size
        elif line.is_usable:
            break
    missing = len(elements) - shown
    return Outline("\n".join([*kept, _note(missing, len(elements))[:limit]]), stage.name, len(elements), missing)


def _room_beside_usable(lines: Iterable[_Line], stage: _Stage, room: int) -> int:
    """The room that the lines of elements that can be used leave to others."""
    for line in lines:
        if line.is_usable:
            room -= len(_text(line, stage)) + 1
            if room <= 0:
                return 0
    return room


def _note(missing: int, elements: int) -> str:
    return f"[truncated: {missing} of {elements} elements left out]"


class _Line(NamedTuple):
    """A line that is not written yet: its beginning, and the element that the rest is of, if any."""

    beginning: str
    element: Element | None
    is_usable: bool = False


def _lines(elements: Sequence[Element], marks: Marks, stage: _Stage) -> Iterator[_Line]:
    runs: dict[int, tuple[object, int]] = {}
    hidden_below: int | None = None
    for element in elements:
        is_usable = element.is_interactive
        if hidden_below is not None and element.depth > hidden_below and not is_usable:
            continue
        hidden_below = None
        count = _count_run(runs, element) if stage.cuts_runs else 0
        indent = "  " * min(element.depth, _DEEPEST)
        mark = marks.of(element)
        if count > RUN_LIMIT and not is_usable and not mark:
            hidden_below = element.depth
            if count == RUN_LIMIT + 1:
                yield _Line(f"{indent}… more <{element.tag}> like these", None)
            continue
        yield _Line(f"{indent}{mark}", element, is_usable)


def _text(line: _Line, stage: _Stage) -> str:
    element = line.element
    if element is None:
        return line.beginning
    return f"{line.beginning}{_tag(element, stage)}{clip(element.text, stage.text_limit)}"


def _count_run(runs: dict[int, tuple[object, int]], element: Element) -> int:
    """How many like siblings in a row this element ends."""
    kind = (element.tag, id(element.parent), element.attribute("role"))
    before, many = runs.get(element.depth, (None, 0))
    count = many + 1 if before == kind else 1
    runs[element.depth] = (kind, count)
    return count


def _tag(element: Element, stage: _Stage) -> str:
    given = [f" {name}{_value(value, stage)}" for name, value in zip(element.names, element.values, strict=True)]
    return f"<{element.tag}{''.join(given)}>"


def _value(value: str, stage: _Stage) -> str:
    return '="{}"'.format(clip(value, stage.value_limit).replace('"', "'")) if value else ""
