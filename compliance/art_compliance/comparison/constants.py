"""The texts that an adapter adds when it repairs a prompt. They must be the same in every request."""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from msgspec import Struct

from art_compliance.comparison.normal_form import Role

LONGEST_NOTE: Final = 200
"""The most characters that an adapter may put around a text: a note, not an instruction."""


class Frame(NamedTuple):
    """What is before and after a text."""

    before: str = ""
    after: str = ""

    def around(self, text: str) -> str:
        """The text inside the frame."""
        return f"{self.before}{text}{self.after}"

    def has(self, text: str, whole: str) -> bool:
        """Whether `whole` is the text inside the frame, as it is or as a JSON string's inside."""
        if whole == self.around(text):
            return True
        is_framed = whole.startswith(self.before) and whole.endswith(self.after)
        return is_framed and _unescaped(whole[len(self.before) : len(whole) - len(self.after)]) == text


def _unescaped(inside: str) -> Any:
    try:
        return json.loads(f'"{inside}"')
    except ValueError:
        return None


class Notes(NamedTuple):
    """Texts of their own that stand before and after a text in the same turn."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class Filler(NamedTuple):
    """A turn that an adapter adds where the provider wants the roles to alternate."""

    role: Role
    text: str


class Constants(Struct, frozen=True, kw_only=True):
    """The constants of one adapter."""

    demoted: Frame = Frame()
    """Around a system text that becomes a user turn."""
    beside_demoted: Notes = Notes()
    """Beside such a text."""
    result: Frame = Frame()
    """Around every result."""
    failed: Frame = Frame()
    """Around a failed result."""
    fillers: frozenset[Filler] = frozenset()
    """Turns that keep the roles alternating."""
    arguments_key: str | None = None
    """The field that has the text of arguments that are not a JSON object."""
    blanks: dict[Role, str] = {}
    """In place of a blank text, by the role of its turn."""


NO_CONSTANTS: Final = Constants()
