"""Mustache text to tokens, as chevron reads it, with the place of every tag.

chevron's tokenizer keeps no positions and lets malformed tags pass, so the tags are looked over first:
what is refused here never reaches it, and what it then finds are the same tags in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple


class Place(NamedTuple):
    """Where something stands: a line, from 1, of the blueprint itself or of the part that `within` names."""

    line: int
    within: str = ""

    def __str__(self) -> str:
        return f"line {self.line} of {self.within}" if self.within else f"line {self.line}"


class Fault(Exception):
    """What is wrong in a blueprint, as long as the blueprint's name is not known.

    No ValueError, TypeError or LookupError: chevron takes those for a name that it did not find.
    """

    def __init__(self, reason: str, place: Place | None = None, *, tag: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.place = place
        self.tag = tag


class Literal(NamedTuple):
    """Text between tags. `place` is that of its first character."""

    text: str
    place: Place


class Tag(NamedTuple):
    """A tag: `sigil` is what stands before the name, nothing for a plain variable.

    `indent` is the blank space before a partial's tag that stands alone on its line; each line of the
    partial begins with it.
    """

    sigil: str
    name: str
    place: Place
    indent: str = ""

    @property
    def label(self) -> str:
        """The tag as it is shown in messages."""
        sigil = "" if self.sigil in _SAME_AS_PLAIN else self.sigil
        return f"{{{{{sigil}{clip(self.name)}}}}}"


EXCERPT: Final = 60
"""How many characters of foreign text a message shows at most."""

_SAME_AS_PLAIN: Final = frozenset("{&")
_SIGILS: Final = frozenset("#^/>{&")
_NAME: Final = re.compile(r"[^\s{}#^/>!=&$<*][^\s{}]*")
_TABS: Final = re.compile(r"^[ \t]*+(?=\{\{[#^/!][^{}]*+\}\}[ \t]*+\r?$)", re.MULTILINE)
_TAG_LIMIT: Final = 20_000  # chevron's tokenizer copies the rest of the text at each tag


def clip(text: str) -> str:
    """The text, or its beginning where it is long."""
    return text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"


def read_tokens(source: str, within: str = "") -> list[Literal | Tag]:
    """The text's literals and tags in order; comments and changes of delimiters are gone.

    Raises Fault, with tag and line, for what is not Mustache or not supported here.
    """
    from chevron.tokenizer import tokenize  # noqa: PLC0415 - needed when a blueprint is compiled, not at import

    source = _without_tabs_before_lone_tags(source)
    tags = _find_tags(source, within)
    _hold_balance(tags)
    line = source.count("\n") + 1
    tokens: list[Literal | Tag] = []
    for kind, text in reversed([token for token in tokenize(source) if token[0] != "set delimiter"]):
        if kind == "literal":  # counted back from the tag behind it: blank lines of lone tags are gone in front
            line -= text.count("\n")
            tokens.append(Literal(text.removesuffix(_indent_of(tokens)), Place(line, within)))
        else:
            tokens.append(tags.pop())
            line = tokens[-1].place.line
    return tokens[::-1]


def read_marker(text: str, within: str) -> Tag | None:
    """The section tag, opening or closing, that the text is as a whole, if it is one. Raises Fault."""
    text = text.strip()
    if text[:3] not in ("{{#", "{{^", "{{/") or text.find("}}") != len(text) - 2:
        return None
    return _find_tags(text, within)[0]


def _without_tabs_before_lone_tags(source: str) -> str:
    """Of such a line, chevron takes the spaces away and leaves the tabs."""
    return source if "\t" not in source or "{{=" in source else _TABS.sub("", source)


def _indent_of(tokens: list[Literal | Tag]) -> str:
    """The blank space that belongs to the tag found last."""
    return tokens[-1].indent if tokens and isinstance(tokens[-1], Tag) else ""


def _find_tags(source: str, within: str) -> list[Tag]:
    tags: list[Tag] = []
    for raw in _scan(source, within):
        if raw.sigil not in ("!", "="):
            _hold_name(raw)
            tags.append(raw)
    if len(tags) > _TAG_LIMIT:
        raise Fault(f"more than {_TAG_LIMIT:,} tags", tags[_TAG_LIMIT].place)
    return tags


def _scan(source: str, within: str) -> Iterator[Tag]:
    """Every tag, comments and delimiters included, cut out as chevron cuts them."""
    left, right = "{{", "}}"
    at, line = 0, 1
    while (start := source.find(left, at)) >= 0:
        line += source.count("\n", at, start)
        place = Place(line, within)
        end = source.find(right, start + len(left))
        if end < 0:
            raise Fault(f"the tag '{clip(source[start:].split(maxsplit=1)[0])}' is not closed", place)
        inner = source[start + len(left) : end]
        at = end + len(right)
        if inner.startswith("{"):
            at += _third_brace(source, at, left, inner, place)
        elif inner.startswith("="):
            left, right = _delimiters(inner, place)
        yield _tag(inner, place, _indent(source, start, at) if inner.startswith(">") else "")
        line += source.count("\n", start, at)


def _tag(inner: str, place: Place, indent: str) -> Tag:
    sigil = inner[:1] if inner[:1] in {*_SIGILS, "!", "="} else ""
    return Tag(sigil, inner[len(sigil) :].strip(), place, indent)


def _indent(source: str, start: int, stop: int) -> str:
    """The blank space before what stands alone on its line."""
    before = source[source.rfind("\n", 0, start) + 1 : start]
    after = source[stop : source.find("\n", stop) + 1 or len(source)]
    return before if before.isspace() and not after.strip() else ""


def _third_brace(source: str, at: int, left: str, inner: str, place: Place) -> int:
    if left != "{{" or not source.startswith("}", at):
        raise Fault(f"'{{{{{clip(inner)}}}}}' opens with three braces and closes with two", place)
    return 1


def _delimiters(inner: str, place: Place) -> tuple[str, str]:
    words = inner[1:-1].strip().split(" ")
    pair = words[0], words[-1]
    if not inner.endswith("=") or inner[1:-1].split() != [*pair] or "=" in "".join(pair):
        raise Fault(f"'{{{{{clip(inner)}}}}}' does not set two delimiters, as '{{{{=<% %>=}}}}' does", place)
    return pair


def _hold_name(tag: Tag) -> None:
    parts = [tag.name] if tag.sigil == ">" or tag.name == "." else tag.name.split(".")
    if not _NAME.fullmatch(tag.name) or not all(parts):
        reason = (
            f"malformed tag '{tag.label}': a name follows the opening braces, with at most one of {{ & # ^ / > before"
        )
        raise Fault(reason, tag.place, tag=tag.label)


def _hold_balance(tags: list[Tag]) -> None:
    opened: list[Tag] = []
    for tag in tags:
        if tag.sigil in ("#", "^"):
            opened.append(tag)
        elif tag.sigil == "/" and (not opened or opened.pop().name != tag.name):
            raise Fault(f"'{tag.label}' does not close the section that was opened last", tag.place, tag=tag.label)
    if opened:
        raise Fault(f"the section '{opened[-1].label}' is never closed", opened[-1].place, tag=opened[-1].label)
