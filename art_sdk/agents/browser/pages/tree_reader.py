"""Reads the visible elements of a page from the parser's trees of its pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from art_sdk.agents.browser.pages.attributes import AttributeReader, shown_value
from art_sdk.agents.browser.pages.cleaning import Piece
from art_sdk.agents.browser.pages.element import Element, is_interactive, is_notable
from art_sdk.agents.browser.pages.name_sets import name_set
from art_sdk.agents.browser.pages.pieces import PieceParser, Tree, safe_name
from art_sdk.agents.browser.pages.texts import clip, shown
from art_sdk.agents.browser.pages.visibility import SKIPPED

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

Scrub = Callable[[Sequence[str]], Sequence[str]]
"""Takes secrets out of many texts at once."""

_VALUE_LIMIT: Final = 2_000
_TEXT_LIMIT: Final = 5_000
_INLINE: Final = name_set(
    "b i em strong span small u s sub sup code kbd samp var mark abbr cite q time bdi bdo font big tt wbr br ins "
    "del data dfn"
)


class _Open(Struct, eq=False, gc=False):
    """An element that is being read. `owner` is the element that its text belongs to; None if nobody sees it.

    `awaited` is the element inside of it that the piece before left open.
    """

    tag: str
    owner: Element | None
    child: LexborNode | None
    element: Element | None = None
    is_block: bool = False
    awaited: _Open | None = None
    counts: dict[str, int] = {}


class TreeReader:
    """Collects the elements of a page. `scrub` takes secrets out of their texts, those of one piece at once."""

    def __init__(self, scrub: Scrub) -> None:
        self.title: str | None = None
        self._scrub = scrub
        self._attributes = AttributeReader()
        self._elements: list[Element] = []
        self._closed: list[Element] = []
        self._texts: dict[int, list[str]] = {}
        self._open: list[_Open] = []
        self._is_hidden = False

    @property
    def masked(self) -> int:
        """How many passwords and codes were masked."""
        return self._attributes.masked

    def read(self, pieces: Iterable[Piece]) -> tuple[Element, ...]:
        """The elements that say something, in document order."""
        PieceParser(self._read_tree).parse(pieces)
        return self._finish()

    def _read_tree(self, tree: Tree) -> None:
        if self.title is None and (found := tree.root.css_first("title")) is not None:
            self.title = clip(self._scrub([shown(found.text())])[0], 200)
        body = tree.root.body
        if body is None:
            return
        if self._open:
            self._resume(body)
        else:
            self._read_element(body, "body", None, 1)
        self._walk(tree.end)
        self._settle()

    def _resume(self, body: LexborNode) -> None:
        """Goes on in the elements that the piece before left open."""
        for outer, inner in zip(self._open, self._open[1:], strict=False):
            outer.awaited = inner
        del self._open[1:]
        self._is_hidden |= self._attributes.read(body.attributes, "body") is None  # a second body tag hides all
        first = body.first_child
        self._open[0].child = first.next if first is not None else None

    def _walk(self, end: int | None) -> None:
        """Reads in document order, with its own stack: pages are nested as deep as they like."""
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
                self._enter(around, node, safe_name(tag))
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
            self._open.append(_Open(tag, None, last))

    def _read_element(self, node: LexborNode, tag: str, owner: Element | None, nth: int) -> None:
        attributes = self._attributes.read(node.attributes, tag)
        if attributes is None:
            self._skip(node, tag)
        elif owner is None or not _is_folded(tag, attributes.names, owner):
            place = hash((owner.place if owner else 0, tag, nth))
            element = Element(tag, *attributes, "", 0, place, owner, nth, is_interactive(tag, *attributes))
            self._elements.append(element)
            self._open.append(_Open(tag, element, node.first_child, element))
        else:
            is_block = tag not in _INLINE or tag == "br"
            if is_block:
                self._add_text(owner, " ")
            self._open.append(_Open(tag, owner, node.first_child, is_block=is_block))

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
        saying = [one for one in self._closed if id(one) in self._texts]
        texts = [shown("".join(self._texts.pop(id(one)))) for one in saying]
        values = [shown_value(*pair) for one in self._closed for pair in zip(one.names, one.values, strict=True)]
        scrubbed = iter(self._scrub([*texts, *values]))
        for one in saying:
            one.text = clip(next(scrubbed), _TEXT_LIMIT)
        for one in self._closed:
            if one.names:
                one.values = tuple([clip(next(scrubbed), _VALUE_LIMIT) for _ in one.names])
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


def _is_kept(element: Element) -> bool:
    return element.tag != "body" and (bool(element.text) or is_notable(element.tag, element.names))


def _is_folded(tag: str, names: Sequence[str], owner: Element) -> bool:
    """Whether its text belongs to the element around it."""
    if is_notable(tag, names):
        return False
    return tag in _INLINE or owner.is_interactive
