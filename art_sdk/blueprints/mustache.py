"""Splits Mustache text into texts and tags, each with its line. One pass over the text, whatever is in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple


class Path(NamedTuple):
    """Where a part of an object blueprint is. Linked, as most paths are never shown and keys may be long."""

    parent: Path | None
    step: str

    def __str__(self) -> str:
        steps: list[str] = []
        node: Path | None = self
        while node is not None:
            steps.append(node.step)
            node = node.parent
        return clip_middle("".join(reversed(steps)))


class Location(NamedTuple):
    """A line, from 1, of the blueprint itself or of the part that `within` names."""

    line: int
    within: str | Path = ""

    def __str__(self) -> str:
        return f"line {self.line} of {self.within}" if self.within else f"line {self.line}"


class BlueprintError(Exception):
    """What is wrong with a blueprint or its data, before the blueprint's name is known."""

    def __init__(self, reason: str, place: Location | None = None, *, tag: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.place = place
        self.tag = tag


class TextToken(NamedTuple):
    """Text between tags. `place` is the place of its first character."""

    text: str
    place: Location


class Tag(NamedTuple):
    """A tag. `sigil` is the character before the name, empty for a plain variable.

    `indent` is the whitespace before a partial's tag that stands alone on its line; every line of the partial
    is indented by it.
    """

    sigil: str
    name: str
    place: Location
    indent: str = ""

    @property
    def label(self) -> str:
        """The tag as messages show it."""
        sigil = "" if self.sigil in _SAME_AS_PLAIN else self.sigil
        return f"{{{{{sigil}{clip(self.name)}}}}}"


class _Found(NamedTuple):
    """A tag and where it is in the source."""

    tag: Tag
    start: int
    stop: int


EXCERPT: Final = 60
"""The most characters of foreign text that a message shows."""

_SAME_AS_PLAIN: Final = frozenset("{&")
_SIGILS: Final = frozenset("#^/>{&!=")
_MAY_STAND_ALONE: Final = frozenset("#^/>!=")
_SILENT: Final = frozenset("!=")
_NAME: Final = re.compile(r"[^\s{}#^/>!=&$<*][^\s{}]*")
_LINE_END: Final = re.compile(r"[ \t]*+\r?(?:\n|\Z)")
_MOST_STEPS: Final = 200  # of a dotted name: data is never nested deeper


def clip(text: str) -> str:
    """The text, cut at `EXCERPT` characters."""
    return text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"


def clip_middle(text: str) -> str:
    """The text with its middle left out if it is longer than `EXCERPT` characters: for paths."""
    return text if len(text) <= EXCERPT else f"{text[:29]}…{text[-30:]}"


def error_at(tag: Tag, reason: str) -> BlueprintError:
    """The error of a tag, with its place and its label."""
    return BlueprintError(reason, tag.place, tag=tag.label)


def read_tokens(source: str, within: str | Path = "") -> Iterator[TextToken | Tag]:
    """The texts and tags of the source in order, without comments and changes of delimiters. Sections are balanced.

    A section's tag, a comment or a partial that stands alone on its line takes the line with it. Raises
    BlueprintError, with tag and line, for text that is not Mustache or that uses an unsupported feature.
    """
    opened: list[Tag] = []
    at, line = 0, 1
    for found in _scan(source, within):
        tag, start, stop = _with_its_line(source, at, found)
        if at < start:
            yield TextToken(source[at:start], Location(line, within))
        if tag.sigil not in _SILENT:
            _check_name(tag)
            _check_balance(tag, opened)
            yield tag
        line = tag.place.line + source.count("\n", found.start, stop)
        at = stop
    if opened:
        raise error_at(opened[-1], f"the section '{opened[-1].label}' is never closed")
    if at < len(source):
        yield TextToken(source[at:], Location(line, within))


def read_marker(text: str, within: str | Path) -> Tag | None:
    """The section tag if the whole text is one, opening or closing. Raises BlueprintError."""
    text = text.strip()
    if text[:3] not in ("{{#", "{{^", "{{/") or text.find("}}") != len(text) - 2:
        return None
    (found,) = _scan(text, within)
    _check_name(found.tag)
    return found.tag


def _scan(source: str, within: str | Path) -> Iterator[_Found]:
    """Every tag, comments and changes of delimiters included."""
    left, right = "{{", "}}"
    at, line = 0, 1
    while (start := source.find(left, at)) >= 0:
        line += source.count("\n", at, start)
        place = Location(line, within)
        end = source.find(right, start + len(left))
        if end < 0:
            raise BlueprintError(f"the tag '{_first_word(source, start)}' is not closed", place)
        inner = source[start + len(left) : end]
        at = end + len(right)
        if inner.startswith("{"):
            at += _third_brace(source, at, left, inner, place)
        elif inner.startswith("="):
            left, right = _delimiters(inner, place)
        sigil = inner[:1] if inner[:1] in _SIGILS else ""
        yield _Found(Tag(sigil, inner[len(sigil) :].strip(), place), start, at)
        line += source.count("\n", start, at)


def _with_its_line(source: str, at: int, found: _Found) -> _Found:
    """The tag with the rest of its line if it stands alone on it. Everything before `at` is read already."""
    tag, start, stop = found
    newline = source.rfind("\n", at, start)
    line_start = at if newline < 0 else newline + 1
    if tag.sigil not in _MAY_STAND_ALONE or (line_start and source[line_start - 1] != "\n"):
        return found
    indent, end = source[line_start:start], _LINE_END.match(source, stop)
    if end is None or indent.strip(" \t"):
        return found
    return _Found(tag._replace(indent=indent) if tag.sigil == ">" else tag, line_start, end.end())


def _first_word(source: str, start: int) -> str:
    return clip(source[start : start + EXCERPT + 1].split(maxsplit=1)[0])


def _third_brace(source: str, at: int, left: str, inner: str, place: Location) -> int:
    if left != "{{" or not source.startswith("}", at):
        raise BlueprintError(f"the tag '{{{{{clip(inner)}}}}}' opens with three braces and closes with two", place)
    return 1


def _delimiters(inner: str, place: Location) -> tuple[str, str]:
    words = inner[1:-1].strip().split(" ")
    pair = words[0], words[-1]
    if not inner.endswith("=") or inner[1:-1].split() != [*pair] or "=" in "".join(pair):
        raise BlueprintError(
            f"the tag '{{{{{clip(inner)}}}}}' must set two delimiters, as '{{{{=<% %>=}}}}' does", place
        )
    return pair


def _check_name(tag: Tag) -> None:
    parts = [tag.name] if tag.sigil == ">" or tag.name == "." else tag.name.split(".", _MOST_STEPS)
    if not _NAME.fullmatch(tag.name) or not all(parts):
        raise error_at(
            tag,
            f"malformed tag '{tag.label}': the opening braces must be followed by a name, "
            "with at most one of { & # ^ / > before it",
        )
    if len(parts) > _MOST_STEPS:
        raise error_at(tag, f"the tag '{tag.label}' has a name of more than {_MOST_STEPS} parts")


def _check_balance(tag: Tag, opened: list[Tag]) -> None:
    if tag.sigil in ("#", "^"):
        opened.append(tag)
    elif tag.sigil == "/" and (not opened or opened.pop().name != tag.name):
        raise error_at(tag, f"the tag '{tag.label}' does not close the section that was opened last")
