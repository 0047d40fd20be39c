"""A page as the agent sees it: its visible elements in document order, with text and state.

An element is kept if it has text, a role or an id, or can be used. The text of plain inline elements, and of all that
is inside a link or a button, belongs to the element around it. Hidden elements are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from art_sdk.agents.browser.pages.cleaning import Cleaning
from art_sdk.agents.browser.pages.element import Element
from art_sdk.agents.browser.pages.pieces import PIECE_SIZE
from art_sdk.agents.browser.pages.tree_reader import Scrub, TreeReader


@dataclass(frozen=True, eq=False)
class Page:
    """A page that was read. `left_out` is how many of its `size` characters were not parsed."""

    elements: tuple[Element, ...]
    title: str
    size: int
    left_out: int
    is_flattened: bool
    masked: int = 0

    @property
    def memory(self) -> int:
        """Bytes of its elements, without the HTML."""
        return sum(element.memory for element in self.elements)


def read_page(html: str, *, limit: int, scrub: Scrub, piece_size: int = PIECE_SIZE) -> Page:
    """Reads a page, of which at most `limit` characters are parsed. `scrub` takes secrets out of its texts.

    Takes time and memory in proportion to the page's size, whatever is in it. `piece_size` is how many characters are
    parsed at once. The result does not depend on it, but for the order of text that HTML moves out of tables.
    """
    cleaning = Cleaning(html, limit)
    reader = TreeReader(scrub)
    elements = reader.read(cleaning.pieces(piece_size))
    return Page(
        elements,
        reader.title or "",
        len(html),
        cleaning.left_out,
        cleaning.is_flattened,
        reader.masked,
    )
