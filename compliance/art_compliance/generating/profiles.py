"""How hard to search: how many prompts to make, and how long it may take."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from art_compliance.findings import HarnessError


class Profile(Struct, frozen=True, kw_only=True):
    """How many requests of a family to make and judge within `seconds`, and how long to shrink a law's failure.

    `examples` is the number of prompts; answers and dialogues take several calls each, so fewer of them are made.
    """

    name: str
    examples: int
    seconds: float
    shrink_seconds: float

    def count_of(self, family: str) -> int:
        """How many requests of a family to make."""
        return -(-self.examples // _CALLS.get(family, 1))


_CALLS: Final[Mapping[str, int]] = {"generated-answers": 3, "generated-dialogues": 6}


PROFILES: Final[Mapping[str, Profile]] = {
    "quick": Profile(name="quick", examples=15, seconds=1.0, shrink_seconds=1.0),
    "default": Profile(name="default", examples=60, seconds=3.0, shrink_seconds=2.0),
    "thorough": Profile(name="thorough", examples=2_000, seconds=300.0, shrink_seconds=60.0),
}
DEFAULT_PROFILE: Final = PROFILES["default"]


class Search(Struct, frozen=True, kw_only=True):
    """How a run searches: its profile, and the folder for failing prompts (None: they are not kept).

    `only` are the checks that generated prompts are judged by; if it is empty, by all of them.
    """

    profile: Profile = DEFAULT_PROFILE
    kept: Path | None = None
    only: frozenset[str] = frozenset()


def find_profile(name: str) -> Profile:
    """The profile of that name. Raises HarnessError."""
    if name not in PROFILES:
        raise HarnessError(f"there is no profile {name!r}; profiles: {', '.join(PROFILES)}")
    return PROFILES[name]
