"""What is read of an element's attributes: those that say something of its state, with passwords masked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from art_sdk.agents.browser.pages.element import MASKED, STATES
from art_sdk.agents.browser.pages.name_sets import name_set
from art_sdk.agents.browser.pages.texts import shown
from art_sdk.agents.browser.pages.visibility import is_hidden

_SECRET_FIELDS: Final = name_set("current-password new-password one-time-code cc-number cc-csc")
_INLINE_URL: Final = re.compile(r"(?:data|javascript|vbscript|blob):", re.IGNORECASE)
_URL_ATTRIBUTES: Final = name_set("href src")
_PLACES: Final = MappingProxyType({name: at for at, name in enumerate(STATES)})


class Attributes(NamedTuple):
    """The names that are read, in the order of STATES, and their values."""

    names: tuple[str, ...]
    values: tuple[str, ...]


NO_ATTRIBUTES: Final = Attributes((), ())


class AttributeReader:
    """Reads the attributes of the elements of one page. `masked` is how many values were masked."""

    def __init__(self) -> None:
        self.masked = 0
        self._known: dict[tuple[str, ...], tuple[str, ...]] = {}

    def read(self, raw: Mapping[str, str | None], tag: str) -> Attributes | None:
        """What is read of an element's attributes. None if it is hidden."""
        if not raw and tag != "dialog":
            return NO_ATTRIBUTES
        if is_hidden(tag, raw):
            return None
        names = self._names(tuple(raw))
        if not names:
            return NO_ATTRIBUTES
        if "value" in names and raw["value"] and _is_secret(raw):
            self.masked += 1
            raw = {**raw, "value": MASKED}
        return Attributes(names, tuple([raw[name] or "" for name in names]))

    def _names(self, given: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the names that are read. One tuple for all elements that have the same ones."""
        names = self._known.get(given)
        if names is None:
            places = sorted(_PLACES[name] for name in given if name in _PLACES)
            names = self._known[given] = tuple(STATES[at] for at in places)
        return names


def _is_secret(given: Mapping[str, str | None]) -> bool:
    purposes = (given.get("autocomplete") or "").lower().split()
    return (given.get("type") or "").strip().lower() == "password" or not _SECRET_FIELDS.isdisjoint(purposes)


def shown_value(name: str, value: str) -> str:
    """A value as a prompt may show it: of an address that carries data or code, only what it is."""
    text = shown(value)
    if name in _URL_ATTRIBUTES and (scheme := _INLINE_URL.match(text)):
        return f"{scheme[0].lower()}…"
    return text
