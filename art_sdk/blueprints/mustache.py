"""Splits Mustache text into tokens, as chevron does, and keeps the line of every tag.

chevron's tokenizer keeps no positions and lets malformed tags pass. So the tags are checked here first; text that
passes gives the same tags in the same order when chevron splits it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple


class Location(NamedTuple):
    """A line, from 1, of the blueprint itself or of the part that `within` names."""

    line: int
    within: str = ""

    def __str__(self) -> str:
        return f"line {self.line} of {self.within}" if self.within else f"line {self.line}"


class BlueprintError(Exception):
    """What is wrong with a blueprint or its data, before the blueprint's name is known.

    Not a ValueError, TypeError or LookupError: chevron takes those for a name that it did not find.
    """

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


EXCERPT: Final = 60
"""The most characters of foreign text that a message shows."""

_SAME_AS_PLAIN: Final = frozenset("{&")
_SIGILS: Final = frozenset("#^/>{&")
_NAME: Final = re.compile(r"[^\s{}#^/>!=&$<*][^\s{}]*")
_TABS: Final = re.compile(r"^[ \t]*+(?=\{\{[#^/!][^{}]*+\}\}[ \t]*+\r?$)", re.MULTILINE)
_TAG_LIMIT: Final = 20_000  # chevron's tokenizer copies the rest of the text at each tag


def clip(text: str) -> str:
    """The text, cut at `EXCERPT` characters."""
    return text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"


def error_at(tag: Tag, reason: str) -> BlueprintError:
    """The error of a tag, with its place and its label."""
    return BlueprintError(reason, tag.place, tag=tag.label)


def read_tokens(source: str, within: str = "") -> list[TextToken | Tag]:
    """The texts and tags of the source in order, without comments and changes of delimiters.

    Raises BlueprintError, with tag and line, for text that is not Mustache or that uses an unsupported feature.
    """
    from chevron.tokenizer import tokenize  # noqa: PLC0415 - needed when a blueprint is compiled, not at import

    source = _without_tabs_before_lone_tags(source)
    tags = _find_tags(source, within)
    _check_balance(tags)
    line = source.count("\n") + 1
    tokens: list[TextToken | Tag] = []
    for kind, text in reversed([token for token in tokenize(source) if token[0] != "set delimiter"]):
        if kind == "literal":  # counted backwards from the next tag: chevron drops the line breaks of lone tags
            line -= text.count("\n")
            tokens.append(TextToken(text.removesuffix(_indent_of(tokens)), Location(line, within)))
        else:
            tokens.append(tags.pop())
            line = tokens[-1].place.line
    return tokens[::-1]


def read_marker(text: str, within: str) -> Tag | None:
    """The section tag if the whole text is one, opening or closing. Raises BlueprintError."""
    text = text.strip()
    if text[:3] not in ("{{#", "{{^", "{{/") or text.find("}}") != len(text) - 2:
        return None
    return _find_tags(text, within)[0]


def _without_tabs_before_lone_tags(source: str) -> str:
    """Chevron strips the spaces before a tag that stands alone on its line, but not the tabs."""
    return source if "\t" not in source or "{{=" in source else _TABS.sub("", source)


def _indent_of(tokens: list[TextToken | Tag]) -> str:
    """The indent of the tag that was found last."""
    return tokens[-1].indent if tokens and isinstance(tokens[-1], Tag) else ""


def _find_tags(source: str, within: str) -> list[Tag]:
    tags: list[Tag] = []
    for raw in _scan(source, within):
        if raw.sigil not in ("!", "="):
            _check_name(raw)
            tags.append(raw)
    if len(tags) > _TAG_LIMIT:
        raise BlueprintError(f"more than {_TAG_LIMIT:,} tags", tags[_TAG_LIMIT].place)
    return tags


def _scan(source: str, within: str) -> Iterator[Tag]:
    """Every tag, comments and changes of delimiters included, cut as chevron cuts them."""
    left, right = "{{", "}}"
    at, line = 0, 1
    while (start := source.find(left, at)) >= 0:
        line += source.count("\n", at, start)
        place = Location(line, within)
        end = source.find(right, start + len(left))
        if end < 0:
            raise BlueprintError(f"the tag '{clip(source[start:].split(maxsplit=1)[0])}' is not closed", place)
        inner = source[start + len(left) : end]
        at = end + len(right)
        if inner.startswith("{"):
            at += _third_brace(source, at, left, inner, place)
        elif inner.startswith("="):
            left, right = _delimiters(inner, place)
        yield _tag(inner, place, _indent(source, start, at) if inner.startswith(">") else "")
        line += source.count("\n", start, at)


def _tag(inner: str, place: Location, indent: str) -> Tag:
    sigil = inner[:1] if inner[:1] in {*_SIGILS, "!", "="} else ""
    return Tag(sigil, inner[len(sigil) :].strip(), place, indent)


def _indent(source: str, start: int, stop: int) -> str:
    """The whitespace before a tag that stands alone on its line."""
    before = source[source.rfind("\n", 0, start) + 1 : start]
    after = source[stop : source.find("\n", stop) + 1 or len(source)]
    return before if before.isspace() and not after.strip() else ""


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
    parts = [tag.name] if tag.sigil == ">" or tag.name == "." else tag.name.split(".")
    if not _NAME.fullmatch(tag.name) or not all(parts):
        raise error_at(
            tag,
            f"malformed tag '{tag.label}': the opening braces must be followed by a name, "
            "with at most one of { & # ^ / > before it",
        )


def _check_balance(tags: list[Tag]) -> None:
    opened: list[Tag] = []
    for tag in tags:
        if tag.sigil in ("#", "^"):
            opened.append(tag)
        elif tag.sigil == "/" and (not opened or opened.pop().name != tag.name):
            raise error_at(tag, f"the tag '{tag.label}' does not close the section that was opened last")
    if opened:
        raise error_at(opened[-1], f"the section '{opened[-1].label}' is never closed")
