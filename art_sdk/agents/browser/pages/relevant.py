"""The elements that matter to a step: those that share its words, and those that changed.

A score of 0 to 1: 0.6 for the share of the step's words that the element has, each weighted by how rare it is on the
page, 0.25 if it can be used, 0.15 if it changed, and 0.2 less if it is disabled.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from art_sdk.agents.browser.models import ElementContext
from art_sdk.agents.browser.pages.element import Element
from art_sdk.agents.browser.pages.name_sets import name_set
from art_sdk.agents.browser.pages.page import Page
from art_sdk.agents.browser.pages.selectors import selectors
from art_sdk.agents.browser.pages.texts import clip, folded

MOST_ELEMENTS: Final = 20
"""How many relevant elements a prompt lists."""

_WORD: Final = re.compile(r"\w+")
_STOP: Final = name_set(
    "the a an of to in on for and or with is it this that at by from as be are then click press enter type into "
    "button field link page select choose open"
)
_SEARCHED: Final = name_set("aria-label name id placeholder title alt value data-testid type")
_PREFIX: Final = 4


class Relevant(NamedTuple):
    """An element and its score."""

    element: Element
    score: float


def _searchable(text: str) -> str:
    return folded(text).replace("_", " ")


def search_words(step: str) -> set[str]:
    """The words of a step that say something of an element."""
    return set(_WORD.findall(_searchable(step))) - _STOP


class Relevance:
    """How rare each of a step's words is among many texts, and how much of the step each text has.

    A text has a word if one of its own words begins with it, or is its beginning, with at least four characters.
    `found` are the words of each text that mean one of the step's.
    """

    def __init__(self, step: str, texts: Iterable[str]) -> None:
        self._words = sorted(search_words(step))
        pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(_pattern, self._words))})(?!\w)") if self._words else _NOTHING
        self.found = [frozenset(pattern.findall(_searchable(text))) or _NONE for text in texts]
        counts = Counter(one for found in self.found for one in found)
        self._forms = {word: {one for one in counts if _is_form(one, word)} for word in self._words}
        self._weights = {
            word: math.log(1 + len(self.found) / (1 + sum(counts[form] for form in forms)))
            for word, forms in self._forms.items()
        }
        self._sum = sum(self._weights.values())

    def share(self, found: frozenset[str]) -> float:
        """The weighted share, 0 to 1, of the step's words that are among those found. 1 for a step without words."""
        if not self._words:
            return 1.0
        if not found:
            return 0.0
        weight = sum(self._weights[word] for word in self._words if not found.isdisjoint(self._forms[word]))
        return weight / self._sum if self._sum else 0.0


_NOTHING: Final = re.compile(r"(?!)")
_NONE: Final = frozenset[str]()


def _pattern(word: str) -> str:
    """What finds the word, all that begins with it, and its own beginnings."""
    if len(word) < _PREFIX:
        return re.escape(word)
    beginnings = (word[:size] for size in range(len(word) - 1, _PREFIX - 1, -1))
    return "|".join([rf"{re.escape(word)}\w*", *map(re.escape, beginnings)])


def _is_form(found: str, word: str) -> bool:
    return found == word or (
        min(len(found), len(word)) >= _PREFIX and (found.startswith(word) or word.startswith(found))
    )


def find_relevant(page: Page, step: str, changed: frozenset[int] = frozenset()) -> tuple[Relevant, ...]:
    """The most relevant elements, the best first. Equal scores keep the order of the page."""
    if not search_words(step) and not changed:
        return ()
    relevance = Relevance(step, map(_text_of, page.elements))
    has_words = bool(search_words(step))
    found: list[Relevant] = []
    for element, words in zip(page.elements, relevance.found, strict=True):
        share = relevance.share(words) if has_words else 0.0
        if share or id(element) in changed:
            found.append(Relevant(element, _score(element, share, is_changed=id(element) in changed)))
    return tuple(sorted(found, key=lambda one: -one.score)[:MOST_ELEMENTS])


def _text_of(element: Element) -> str:
    if not element.names:
        return element.text
    given = zip(element.names, element.values, strict=True)
    return " ".join([element.text, *[value for name, value in given if name in _SEARCHED]])


def _score(element: Element, share: float, *, is_changed: bool) -> float:
    is_disabled = "disabled" in element.names or element.attribute("aria-disabled") == "true"
    score = 0.6 * share + 0.25 * element.is_interactive + 0.15 * is_changed - 0.2 * is_disabled
    return round(min(1.0, max(0.0, score)), 3)


def element_contexts(page: Page, relevant: Sequence[Relevant]) -> tuple[ElementContext, ...]:
    """The elements as a prompt's data has them."""
    names = selectors(page.elements, [one.element for one in relevant])
    return tuple(map(_element_context, names, relevant))


def _element_context(selector: str, relevant: Relevant) -> ElementContext:
    element = relevant.element
    return ElementContext(
        selector=selector,
        element_type=element.tag,
        text_content=clip(element.text, 200) or None,
        attributes={name: clip(value, 100) for name, value in element.attributes.items()} or None,
        relevance_score=relevant.score,
    )
