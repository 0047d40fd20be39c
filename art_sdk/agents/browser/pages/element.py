"""One element of a page: what it is, what it says, and in which state it is."""

from __future__ import annotations

from collections.abc import Sequence
from sys import getsizeof
from typing import Final

from msgspec import Struct

from art_sdk.agents.browser.pages.name_sets import name_set

MASKED: Final = "[masked]"
"""What stands in place of a password."""

INTERACTIVE: Final = name_set("a button input select textarea option summary label")
INTERACTIVE_ROLES: Final = name_set(
    "button link checkbox radio tab menuitem menuitemcheckbox menuitemradio option switch textbox combobox "
    "searchbox slider spinbutton treeitem"
)
STATES: Final[tuple[str, ...]] = (
    "type",
    "role",
    "name",
    "value",
    "checked",
    "selected",
    "disabled",
    "readonly",
    "required",
    "open",
    "contenteditable",
    "aria-label",
    "aria-expanded",
    "aria-checked",
    "aria-selected",
    "aria-pressed",
    "aria-current",
    "aria-invalid",
    "aria-disabled",
    "aria-busy",
    "aria-valuenow",
    "placeholder",
    "href",
    "src",
    "alt",
    "title",
    "for",
    "id",
    "data-testid",
)
"""The attributes that are read, in the order in which they are shown. Class, style and nonce say nothing of a state."""

IDENTITY: Final = ("data-testid", "name", "aria-label", "placeholder", "href", "alt", "title", "for", "role", "type")
"""The attributes that an element is recognised by, the most telling first; an id comes before all of them."""

_NOTABLE: Final = INTERACTIVE | {"img", "dialog"}
_TELLING: Final = name_set("role id aria-label contenteditable data-testid")
_LABELS: Final = ("aria-label", "placeholder", "alt", "title", "value", "name")


class Element(Struct, eq=False, gc=False):
    """A visible element. `place` is the same in two pages for elements at the same path.

    `names` and `values` are its attributes. `parent` is the element around it, which need not be one of the page's,
    and `nth` its number there among those of the same tag. A user can act on it if it `is_interactive`. The garbage
    collector need not look at elements: a page has thousands, and no element is in a cycle.
    """

    tag: str
    names: tuple[str, ...]
    values: tuple[str, ...]
    text: str
    depth: int
    place: int
    parent: Element | None
    nth: int
    is_interactive: bool

    @property
    def attributes(self) -> dict[str, str]:
        """The attributes, made anew: a dict in each element would double its memory."""
        return dict(zip(self.names, self.values, strict=True))

    def attribute(self, name: str) -> str | None:
        """One attribute. None if the element does not have it."""
        return self.values[self.names.index(name)] if name in self.names else None

    @property
    def memory(self) -> int:
        """Bytes of itself, its text and its attributes."""
        return sum(map(getsizeof, (self, self.text, self.values, *self.values)))

    @property
    def step(self) -> str:
        """The way to it from the element around it."""
        return self.tag if self.parent is None else f"{self.tag}:nth-of-type({self.nth})"

    @property
    def state(self) -> tuple[object, ...]:
        """All that makes it equal to another element, wherever the two stand."""
        return self.tag, self.text, self.names, self.values

    @property
    def label(self) -> str:
        """What a user would call it."""
        given = self.attributes
        return self.text or next((given[name] for name in _LABELS if given.get(name)), "")


def is_interactive(tag: str, names: Sequence[str], values: Sequence[str]) -> bool:
    """Whether a user can act on an element."""
    if tag in INTERACTIVE or not names:
        return tag in INTERACTIVE
    given = dict(zip(names, values, strict=True))
    return given.get("role") in INTERACTIVE_ROLES or given.get("contenteditable", "false") != "false"


def is_notable(tag: str, names: Sequence[str]) -> bool:
    """Whether an element is worth a line without any text: it can be used, has a role or an id, or is an image."""
    return tag in _NOTABLE or not _TELLING.isdisjoint(names)
