"""The parser's trees of a page, piece by piece.

The tree of a whole page would take 17 times the page's memory. So pieces of it are parsed, each inside of the elements
that the one before it left open. A comment at the end of a piece shows which these are. Where the parser would not
open them again as they were, the piece is made longer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from art_sdk.agents.browser.pages.cleaning import FORMATTING, Piece

PIECE_SIZE: Final = 16_384
"""Characters that are parsed at once."""

UNKNOWN: Final = "unknown"
"""The name of an element whose own name is odd."""

_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,39}\Z")
_DOCTYPE: Final = re.compile(r"\s*(<!doctype[^>]*>)", re.IGNORECASE)
_END: Final = "<!---->"
_BODY: Final = f"<body>.{_END}"
"""The text says that the page has begun, so that no frameset takes the place of the body; the comment ends it."""


class Tree(NamedTuple):
    """The tree of a piece. `end` is the `mem_id` of the comment at its end; None for the last piece of a page."""

    root: LexborHTMLParser
    end: int | None


@lru_cache(maxsize=1_024)
def safe_name(tag: str) -> str:
    """An element's name, which a page may make up: UNKNOWN for one that says more than a name does."""
    return tag if _NAME.match(tag) and tag != "secret" else UNKNOWN


class PieceParser:
    """Parses the pieces of one page, and calls `read` with the tree of each: there is only one tree at a time."""

    def __init__(self, read: Callable[[Tree], None]) -> None:
        self._read = read
        self._doctype = ""
        self._path: tuple[str, ...] = ()
        self._opens_again: dict[tuple[str, ...], bool] = {}

    def parse(self, pieces: Iterable[Piece]) -> None:
        """Parses all of them, in order."""
        html, wanted = "", 0
        for piece in pieces:
            html += piece.html
            if not self._path and not self._doctype and (found := _DOCTYPE.match(html)):
                self._doctype = found[1]
            if piece.is_last:
                self._read(Tree(self._parse(html), None))
            elif len(html) >= wanted:
                is_read = self._read_if_cut(html + _END, in_form=piece.in_form)
                html, wanted = ("", 0) if is_read else (html, 2 * len(html))

    def _read_if_cut(self, html: str, *, in_form: bool) -> bool:
        """Reads a piece, unless the parser would not open the elements again that it leaves open, each in the last."""
        tree = self._parse(html)
        path, end = _end_of(tree)
        if end is None or ("form" in path) != in_form or not FORMATTING.isdisjoint(path):
            return False
        if any(safe_name(one) != one for one in path):
            return False
        if path not in self._opens_again:
            del tree
            self._opens_again[path] = _end_of(_parse(self._opening(path) + _END))[0] == path
            return self._read_if_cut(html, in_form=in_form)
        if self._opens_again[path]:
            self._read(Tree(tree, end))
            self._path = path
        return self._opens_again[path]

    def _parse(self, html: str) -> LexborHTMLParser:
        """The tree of a piece, inside of what is open."""
        return _parse((self._opening(self._path) if self._path else "") + html)

    def _opening(self, path: Sequence[str]) -> str:
        """The tags that open a body and the elements of the path below it."""
        return self._doctype + _BODY + "".join(f"<{tag}>" for tag in path[1:])


def _parse(html: str) -> LexborHTMLParser:
    """The parser's tree. With its events, options would take quadratic time."""
    return LexborHTMLParser(html.encode("utf-8", "replace"), options=LexborDocumentOptions.WO_EVENTS)


def _end_of(tree: LexborHTMLParser) -> tuple[tuple[str, ...], int | None]:
    """The names of the elements that are open at the end, and the comment there. None if it is not in the body."""
    path: list[str] = []
    node = tree.body
    while node is not None and (tag := node.tag) is not None and tag[0] != "-":
        path.append(tag)
        node = node.last_child
    return tuple(path), node.mem_id if node is not None and node.tag == "-comment" else None
