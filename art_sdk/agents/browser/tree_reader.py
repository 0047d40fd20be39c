"""Reads the visible elements of a page, piece by piece, from the parser's trees.

The tree of a whole page would take 17 times the page's memory. So pieces of it are parsed, each inside of the elements
that the one before it left open. A comment at the end of a piece shows which these are. Where the parser would not
open them again as they were, the piece is made longer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from art_sdk.agents.browser.cleaning import FORMATTING, Piece
from art_sdk.agents.browser.element import MASKED, NO_ATTRIBUTES, STATES, Element, is_notable
from art_sdk.agents.browser.page_text import clip, shown
from art_sdk.agents.browser.visibility import SKIPPED, is_hidden

PIECE_SIZE: Final = 16_384
"""Characters that are parsed at once."""

UNKNOWN: Final = "unknown"
"""The name of an element whose own name is odd."""

Scrub = Callable[[Sequence[str]], Sequence[str]]
"""Takes secrets out of many texts at once."""

_PLACES: Final = MappingProxyType({name: at for at, name in enumerate(STATES)})
_INLINE: Final = frozenset(
    [
        "b",
        "i",
        "em",
        "strong",
        "span",
        "small",
        "u",
        "s",
        "sub",
        "sup",
        "code",
        "kbd",
        "samp",
        "var",
        "mark",
        "abbr",
        "cite",
        "q",
        "time",
        "bdi",
        "bdo",
        "font",
        "big",
        "tt",
        "wbr",
        "br",
        "ins",
        "del",
        "data",
        "dfn",
    ]
)
_SECRET_FIELDS: Final = frozenset({"current-password", "new-password", "one-time-code", "cc-number", "cc-csc"})
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,39}\Z")
_DOCTYPE: Final = re.compile(r"\s*(<!doctype[^>]*>)", re.IGNORECASE)
_INLINE_URL: Final = re.compile(r"(?:data|javascript|vbscript|blob):", re.IGNORECASE)
_URL_ATTRIBUTES: Final = frozenset({"href", "src"})
_VALUE_LIMIT: Final = 2_000
_TEXT_LIMIT: Final = 5_000
_END: Final = "<!---->"
_BODY: Final = f"<body>.{_END}"
"""The text says that the page has begun, so that no frameset takes the place of the body; the comment ends it."""


@dataclass(slots=True, eq=False)
class _Open:
    """An element that is being read. `owner` is the element that its text belongs to; None if nobody sees it.

    `awaited` is the element inside of it that the piece before left open.
    """

    tag: str
    owner: Element | None
    element: Element | None = None
    is_block: bool = False
    child: LexborNode | None = None
    awaited: _Open | None = None
    counts: dict[str, int] = field(default_factory=dict[str, int])


class TreeReader:
    """Collects the elements of a page. `scrub` takes secrets out of their texts, those of one piece at once."""

    def __init__(self, scrub: Scrub) -> None:
        self.masked = 0
        self.title: str | None = None
        self._scrub = scrub
        self._elements: list[Element] = []
        self._closed: list[Element] = []
        self._texts: dict[int, list[str]] = {}
        self._open: list[_Open] = []
        self._doctype = ""
        self._is_hidden = False

    def read(self, pieces: Iterable[Piece]) -> tuple[Element, ...]:
        """The elements that say something, in document order."""
        held, wanted = "", 0
        for piece in pieces:
            held += piece.html
            if not self._open and not self._doctype and (found := _DOCTYPE.match(held)):
                self._doctype = found[1]
            if piece.is_last:
                self._read_piece(held, is_last=True)
            elif len(held) >= wanted and self._can_cut(held, in_form=piece.in_form):
                self._read_piece(held, is_last=False)
                held, wanted = "", 0
            else:
                wanted = max(wanted, 2 * len(held))
        return self._finish()

    def _can_cut(self, html: str, *, in_form: bool) -> bool:
        """Whether the parser opens the elements that a piece leaves open again, each inside of the one before it."""
        path, end = _end_of(self._parse(html + _END))
        if end is None or ("form" in path) != in_form or not FORMATTING.isdisjoint(path):
            return False
        if any(_name(one) != one for one in path):
            return False
        again = _end_of(_parse(_opening(self._doctype, path) + _END))
        return again[0] == path

    def _parse(self, html: str) -> LexborHTMLParser:
        """The tree of a piece, inside of what is open."""
        return _parse((_opening(self._doctype, [one.tag for one in self._open]) if self._open else "") + html)

    def _read_piece(self, html: str, *, is_last: bool) -> None:
        """Reads a piece. It was parsed before, but a tree takes a megabyte at least: there is only one at a time."""
        tree = self._parse(html if is_last else html + _END)
        if self.title is None and (found := tree.css_first("title")) is not None:
            self.title = clip(self._scrub([shown(found.text())])[0], 200)
        body = tree.body
        if body is None:
            return
        if self._open:
            self._resume(body)
        else:
            self._read_element(body, "body", None, 1)
        self._walk(None if is_last else _end_of(tree)[1])
        self._settle()

    def _resume(self, body: LexborNode) -> None:
        """Goes on in the elements that the piece before left open."""
        for outer, inner in zip(self._open, self._open[1:], strict=False):
            outer.awaited = inner
        del self._open[1:]
        self._is_hidden |= self._attributes(body.attributes, "body") is None  # a second body tag hides all
        first = body.first_child
        self._open[0].child = first.next if first is not None else None

    def _walk(self, end: int | None) -> None:
        """Reads in document order, with a stack of its own: pages are nested as deep as they like."""
        while self._open:
            around = self._open[-1]
            node = around.child
            if node is None:
                self._leave(self._open.pop())
                continue
            around.child = node.next
            tag = node.tag
            if tag == "-text":
                if around.owner is not None:
                    self._add_text(around.owner, node.text_content or "")
            elif tag is not None and tag[0] != "-":
                self._enter(around, node, _name(tag))
            elif end is not None and node.mem_id == end:
                break

    def _enter(self, around: _Open, node: LexborNode, tag: str) -> None:
        awaited = around.awaited
        if awaited is not None and awaited.tag == tag:
            around.awaited = None
            awaited.child = node.first_child
            self._open.append(awaited)
        elif around.owner is None or tag in SKIPPED:
            self._skip(node, tag)
        else:
            nth = around.counts[tag] = around.counts.get(tag, 0) + 1
            self._read_element(node, tag, around.owner, nth)

    def _skip(self, node: LexborNode, tag: str) -> None:
        """Passes over an element, but looks for the end of the piece in it, which would be in its last child."""
        last = node.last_child
        if last is not None:
            self._open.append(_Open(tag, None, child=last))

    def _read_element(self, node: LexborNode, tag: str, owner: Element | None, nth: int) -> None:
        raw = node.attributes
        attributes = self._attributes(raw, tag) if raw or tag == "dialog" else NO_ATTRIBUTES
        if attributes is None:
            self._skip(node, tag)
        elif owner is None or not _is_folded(tag, attributes, owner):
            place = hash((owner.place if owner else 0, tag, nth))
            element = Element(tag, attributes, "", 0, place, owner, nth)
            self._elements.append(element)
            self._open.append(_Open(tag, element, element, child=node.first_child))
        else:
            is_block = tag not in _INLINE or tag == "br"
            if is_block:
                self._add_text(owner, " ")
            self._open.append(_Open(tag, owner, is_block=is_block, child=node.first_child))

    def _attributes(self, raw: Mapping[str, str | None], tag: str) -> Mapping[str, str] | None:
        """What is read of an element's attributes. None if it is hidden."""
        given = {name: value or "" for name, value in raw.items()}
        if is_hidden(tag, given):
            return None
        places = sorted(_PLACES[name] for name in given if name in _PLACES)
        if not places:
            return NO_ATTRIBUTES
        attributes = {STATES[at]: given[STATES[at]] for at in places}  # the names of STATES: the parser's are copies
        is_secret = given.get("type", "").strip().lower() == "password" or (
            "autocomplete" in given and not _SECRET_FIELDS.isdisjoint(given["autocomplete"].lower().split())
        )
        if is_secret and attributes.get("value"):
            attributes["value"] = MASKED
            self.masked += 1
        return attributes

    def _leave(self, one: _Open) -> None:
        if one.is_block and one.owner is not None:
            self._add_text(one.owner, " ")
        if one.element is not None:
            self._closed.append(one.element)

    def _add_text(self, owner: Element, text: str) -> None:
        self._texts.setdefault(id(owner), []).append(text)

    def _settle(self) -> None:
        """Gives the elements that are closed their texts, scrubbed. The parser's tree can be given up."""
        for still_open in self._open:
            still_open.child = None
        texts = [shown("".join(self._texts.pop(id(one), ()))) for one in self._closed]
        values = [_shown_value(*pair) for one in self._closed for pair in one.attributes.items()]
        scrubbed = iter(self._scrub([*texts, *values]))
        for one in self._closed:
            one.text = clip(next(scrubbed), _TEXT_LIMIT)
        for one in self._closed:
            if one.attributes:
                one.attributes = {name: clip(next(scrubbed), _VALUE_LIMIT) for name in one.attributes}
        self._closed.clear()

    def _finish(self) -> tuple[Element, ...]:
        """All elements but those that say nothing."""
        kept: list[Element] = []
        for element in () if self._is_hidden else self._elements:
            around = element.parent
            if around is not None:
                element.depth = around.depth + _is_kept(around)
            if _is_kept(element) or (element.tag == "body" and element.text):
                kept.append(element)
        return tuple(kept)


def _opening(doctype: str, path: Sequence[str]) -> str:
    """The tags that open a body and the elements of the path below it."""
    return doctype + _BODY + "".join(f"<{tag}>" for tag in path[1:])


def _parse(html: str) -> LexborHTMLParser:
    """The parser's tree. With its events, options would take quadratic time."""
    return LexborHTMLParser(html.encode("utf-8", "replace"), options=LexborDocumentOptions.WO_EVENTS)


def _end_of(tree: LexborHTMLParser) -> tuple[list[str], int | None]:
    """The names of the elements that are open at the end, and the comment there. None if it is not in the body."""
    path: list[str] = []
    node = tree.body
    while node is not None and (tag := node.tag) is not None and tag[0] != "-":
        path.append(tag)
        node = node.last_child
    return path, node.mem_id if node is not None and node.tag == "-comment" else None


@lru_cache(maxsize=1_024)
def _name(tag: str) -> str:
    """An element's name, which a page may make up: UNKNOWN for one that says more than a name does."""
    return tag if _NAME.match(tag) and tag != "secret" else UNKNOWN


def _is_kept(element: Element) -> bool:
    return element.tag != "body" and (bool(element.text) or is_notable(element.tag, element.attributes))


def _is_folded(tag: str, attributes: Mapping[str, str], owner: Element) -> bool:
    """Whether its text belongs to the element around it."""
    if is_notable(tag, attributes):
        return False
    return tag in _INLINE or owner.is_interactive


def _shown_value(name: str, value: str) -> str:
    text = shown(value)
    if name in _URL_ATTRIBUTES and (scheme := _INLINE_URL.match(text)):
        return f"{scheme[0].lower()}…"
    return text
