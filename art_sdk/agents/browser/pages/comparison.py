"""What changed between two pages, named element by element.

What two pages begin and end with alike is passed over. Then four passes over two multisets, each in linear time: equal
elements in the same place cancel each other, then equal elements anywhere (a row put on top of a list is one addition),
then what is left pairs by identity (id, name, label), then by path. Pairs are modifications; the rest was added or
removed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from art_sdk.agents.browser.models import DomComparisonResult
from art_sdk.agents.browser.pages.element import IDENTITY, STATES, Element
from art_sdk.agents.browser.pages.name_sets import name_set
from art_sdk.agents.browser.pages.page import Page
from art_sdk.agents.browser.pages.selectors import selectors
from art_sdk.agents.browser.pages.texts import clip

ITEM_LIMIT: Final = 50
"""The most elements that each list names."""

ELEMENT_LIMIT: Final = 30_000
"""Pages with more elements are compared by their hashes alone."""

MESSAGE_ROLES: Final = name_set("alert alertdialog dialog status log")
"""The roles of elements that tell the user something."""

_Key = Callable[[Element], int | None]
"""What elements are matched by: a hash, which takes less memory than what it is made of."""


@dataclass(frozen=True)
class Changes:
    """The changed elements themselves. `touched` has those of the current page that are new or changed."""

    result: DomComparisonResult
    touched: frozenset[int] = frozenset()
    messages: tuple[str, ...] = ()

    def has(self, element: Element) -> bool:
        """Whether an element of the current page is new or changed."""
        return id(element) in self.touched


def same_page(page: Page) -> Changes:
    """The comparison of a page with an equal one, which needs no parsing."""
    return Changes(_result(f"no change in {len(page.elements)} elements"))


def compare_pages(previous: Page, current: Page) -> Changes:
    """What changed from one page to the next."""
    most = max(len(previous.elements), len(current.elements))
    if most > ELEMENT_LIMIT:
        changed = _hash(previous) != _hash(current)
        note = f"{most} elements are too many to compare (at most {ELEMENT_LIMIT})"
        return Changes(_result(f"{'changed' if changed else 'no change'}; {note}", changed=changed))
    removed, added = _without_equal_ends(previous.elements, current.elements)
    for same in (_in_place, _anywhere):
        removed, added = _without(removed, added, same), _without(added, removed, same)
    pairs: list[tuple[Element, Element]] = []
    for key in (_identity, _path):
        removed, added, paired = _pair(removed, added, key)
        pairs += paired
    return _describe(previous, current, removed, added, pairs)


def _hash(page: Page) -> int:
    return hash(tuple(map(_in_place, page.elements)))


def _in_place(element: Element) -> int:
    return hash((element.place, element.state))


def _anywhere(element: Element) -> int:
    return hash(element.state)


def _without_equal_ends(left: Sequence[Element], right: Sequence[Element]) -> tuple[Sequence[Element], ...]:
    """Both sides without the equal elements that they begin and end with: those are most of two pages."""
    begin = sum(1 for _ in takewhile(_are_equal, zip(left, right, strict=False)))
    left, right = left[begin:], right[begin:]
    end = sum(1 for _ in takewhile(_are_equal, zip(reversed(left), reversed(right), strict=False)))
    return left[: len(left) - end], right[: len(right) - end]


def _are_equal(pair: tuple[Element, Element]) -> bool:
    """Whether two elements are the same in the same place."""
    left, right = pair
    return left.place == right.place and left.state == right.state


def _without(elements: Sequence[Element], others: Sequence[Element], key: _Key) -> list[Element]:
    """The elements without those that have the same key as one of the others, one for one."""
    shared = Counter(map(key, others))
    left: list[Element] = []
    for element in elements:
        found = key(element)
        if shared[found] > 0:
            shared[found] -= 1
        else:
            left.append(element)
    return left


def _pair(
    removed: Sequence[Element], added: Sequence[Element], key: _Key
) -> tuple[list[Element], list[Element], list[tuple[Element, Element]]]:
    """What is left of both sides, and the pairs with the same key."""
    waiting: dict[int, list[Element]] = {}
    for element in reversed(removed):
        if (found := key(element)) is not None:
            waiting.setdefault(found, []).append(element)
    pairs: list[tuple[Element, Element]] = []
    new: list[Element] = []
    for element in added:
        found = key(element)
        if found is not None and waiting.get(found):
            pairs.append((waiting[found].pop(), element))
        else:
            new.append(element)
    paired = {id(before) for before, _ in pairs}
    return [one for one in removed if id(one) not in paired], new, pairs


def _identity(element: Element) -> int | None:
    given = element.attributes
    if identity := given.get("id"):
        return hash((element.tag, identity))
    known = tuple((name, given[name]) for name in IDENTITY if name in given and name not in {"type", "role"})
    return hash((element.tag, known)) if known else None


def _path(element: Element) -> int:
    return hash((element.tag, element.place))


def _describe(
    previous: Page,
    current: Page,
    removed: Sequence[Element],
    added: Sequence[Element],
    pairs: Sequence[tuple[Element, Element]],
) -> Changes:
    messages = tuple(clip(one.text, 200) for one in _messages(added, pairs))
    counts = f"{len(added)} added, {len(removed)} removed, {len(pairs)} modified of {len(current.elements)} elements"
    changed = bool(added or removed or pairs)
    summary = counts if changed else f"no change in {len(current.elements)} elements"
    if messages:
        summary += "; new messages: " + "; ".join(f'"{text}"' for text in messages[:3])
    shown_pairs = pairs[:ITEM_LIMIT]
    modified = _names(current, [new for _, new in shown_pairs])
    result = DomComparisonResult(
        has_changes=changed,
        added_elements=_bounded(_names(current, added[:ITEM_LIMIT]), added),
        removed_elements=_bounded(_names(previous, removed[:ITEM_LIMIT]), removed),
        modified_elements=_bounded(
            [f"{name} ({_difference(*pair)})" for name, pair in zip(modified, shown_pairs, strict=True)], pairs
        ),
        summary=summary,
    )
    touched = frozenset(map(id, added)) | frozenset(id(new) for _, new in pairs)
    return Changes(result, touched, messages)


def _messages(added: Sequence[Element], pairs: Sequence[tuple[Element, Element]]) -> Iterable[Element]:
    """What the page tells the user now: new messages, and what is new inside of messages."""
    changed = [new for old, new in pairs if new.text and new.text != old.text]
    return (one for one in (*added, *changed) if one.text and _is_message(one))


def _is_message(element: Element) -> bool:
    for _ in range(4):  # a message's text is often a few elements further in
        if element.tag == "dialog" or element.attribute("role") in MESSAGE_ROLES:
            return True
        if element.parent is None:
            return False
        element = element.parent
    return False


def _bounded(items: Sequence[str], whole: Sequence[object]) -> tuple[str, ...]:
    """The items, and how many more there are."""
    more = len(whole) - len(items)
    return (*items, f"… {more} more") if more > 0 else tuple(items)


def _names(page: Page, elements: Sequence[Element]) -> list[str]:
    """What to call each element: its selector, and its label."""
    return [
        f'{selector} "{clip(one.label, 80)}"' if one.label else selector
        for selector, one in zip(selectors(page.elements, elements), elements, strict=True)
    ]


def _difference(old: Element, new: Element) -> str:
    """Up to three changes, the text's first."""
    before, after = old.attributes, new.attributes
    pairs = [("text", old.text or None, new.text or None)]
    pairs += [(name, before.get(name), after.get(name)) for name in STATES]
    changes = [f"{name}: {_value(was)} -> {_value(now)}" for name, was, now in pairs if was != now]
    return "; ".join(changes[:3]) + (f"; {len(changes) - 3} more" if len(changes) > 3 else "")


def _value(text: str | None) -> str:
    return "none" if text is None else f'"{clip(text, 60)}"'


def _result(summary: str, *, changed: bool = False) -> DomComparisonResult:
    return DomComparisonResult(
        has_changes=changed, added_elements=(), removed_elements=(), modified_elements=(), summary=summary
    )
