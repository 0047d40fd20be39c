"""CSS selectors of a page's elements: by an attribute that only one element has, else by the path to it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from art_sdk.agents.browser.pages.element import IDENTITY, Element

_PLAIN_ID: Final = re.compile(r"[A-Za-z][\w-]*\Z", re.ASCII)
_UNSAFE_VALUE: Final = re.compile(r"[\"\\‹›…\n]|\A\Z")
_SELECTOR_LIMIT: Final = 600
_SHORT_VALUE: Final = 120


def selectors(page: Iterable[Element], wanted: Sequence[Element]) -> list[str]:
    """The selectors of the wanted elements. `page` has all elements: one pass counts who shares an attribute."""
    near = {id(one): one for element in wanted for one in _lineage(element)}
    values = {value for one in near.values() for value in one.values if value}
    counts = Counter(
        short for element in page if not values.isdisjoint(element.values) for short in _short_selectors(element)
    )
    return [_selector(element, counts) for element in wanted]


def _lineage(element: Element) -> Iterator[Element]:
    """The element itself, and those around it."""
    around: Element | None = element
    while around is not None:
        yield around
        around = around.parent


def _selector(element: Element, counts: Counter[str]) -> str:
    short = next((one for one in _short_selectors(element) if counts[one] == 1), None)
    if short is not None:
        return short
    path = _path(element, counts)
    if len(path) <= _SELECTOR_LIMIT:
        return path
    return next(_short_selectors(element), f"{path[: _SELECTOR_LIMIT - 1]}…")


def _path(element: Element, counts: Counter[str]) -> str:
    """The way to it, from the nearest element with its own id."""
    steps = [element.step]
    around = element.parent
    while around is not None:
        anchor = next(_short_selectors(around), "") if "id" in around.names else ""
        if counts[anchor] == 1:
            steps.append(anchor)
            break
        steps.append(around.step)
        around = around.parent
    return ">".join(reversed(steps))


def _short_selectors(element: Element) -> Iterator[str]:
    """The selectors by one attribute, the most telling first."""
    given = element.attributes
    identity = given.get("id", "")
    if _PLAIN_ID.match(identity):
        yield f"#{identity}"
    elif not _UNSAFE_VALUE.search(identity):
        yield f'{element.tag}[id="{identity}"]'
    for name in IDENTITY:
        value = given.get(name)
        if value and len(value) <= _SHORT_VALUE and not _UNSAFE_VALUE.search(value):
            yield f'{element.tag}[{name}="{value}"]'
