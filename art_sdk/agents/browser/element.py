"""One element of a page: what it is, what it says, and in which state it is."""

from __future__ import annotations

from collections.abc import Mapping
from sys import getsizeof
from types import MappingProxyType
from typing import Final

from msgspec import Struct

MASKED: Final = "[masked]"
"""What stands in place of a password."""

INTERACTIVE: Final = frozenset({"a", "button", "input", "select", "textarea", "option", "summary", "label"})
INTERACTIVE_ROLES: Final = frozenset(
    [
        "button",
        "link",
        "checkbox",
        "radio",
        "tab",
        "menuitem",
        "menuitemcheckbox",
        "menuitemradio",
        "option",
        "switch",
        "textbox",
        "combobox",
        "searchbox",
        "slider",
        "spinbutton",
        "treeitem",
    ]
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

NO_ATTRIBUTES: Final[Mapping[str, str]] = MappingProxyType({})
_TELLING: Final = frozenset({"role", "id", "aria-label", "contenteditable", "data-testid"})
_LABELS: Final = ("aria-label", "placeholder", "alt", "title", "value", "name")


class Element(Struct, eq=False, gc=False):
    """A visible element. `place` is the same in two pages for elements at the same path.

    `parent` is the element around it, which need not be one of the page's, and `nth` its number there among those of
    the same tag. The garbage collector need not look at elements: a page has thousands, and no element is in a cycle.
    """

    tag: str
    attributes: Mapping[str, str]
    text: str
    depth: int
    place: int
    parent: Element | None
    nth: int

    @property
    def is_interactive(self) -> bool:
        """Whether a user can act on it."""
        return (
            self.tag in INTERACTIVE
            or self.attributes.get("role") in INTERACTIVE_ROLES
            or self.attributes.get("contenteditable", "false") != "false"
        )

    @property
    def memory(self) -> int:
        """Bytes of itself, its text and its attributes."""
        values = (self.attributes, *self.attributes.values()) if self.attributes else ()
        return sum(map(getsizeof, (self, self.text, *values)))

    @property
    def step(self) -> str:
        """The way to it from the element around it."""
        return self.tag if self.parent is None else f"{self.tag}:nth-of-type({self.nth})"

    @property
    def state(self) -> tuple[str, ...]:
        """All that makes it equal to another element, wherever the two stand."""
        return (self.tag, self.text, *[part for pair in self.attributes.items() for part in pair])

    @property
    def label(self) -> str:
        """What a user would call it."""
        given = self.attributes
        return self.text or next((given[name] for name in _LABELS if given.get(name)), "")


def is_notable(tag: str, attributes: Mapping[str, str]) -> bool:
    """Whether an element is worth a line without any text: it can be used, has a role or an id, or is an image."""
    return tag in INTERACTIVE or tag in {"img", "dialog"} or not _TELLING.isdisjoint(attributes)
