"""How hard to search: how many prompts are made, and how long it may take."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from art_compliance.findings import HarnessError


class Profile(Struct, frozen=True, kw_only=True):
    """How much is made of a family, and judged within `seconds`; `shrink_seconds` to find the least prompt for a law.

    `examples` are prompts; answers and dialogues take several calls each, so there are fewer of them.
    """

    name: str
    examples: int
    seconds: float
    shrink_seconds: float

    def count_of(self, family: str) -> int:
        """How many of a family are made."""
        return -(-self.examples // _CALLS.get(family, 1))


_CALLS: Final[Mapping[str, int]] = {"generated-answers": 3, "generated-dialogues": 6}


PROFILES: Final[Mapping[str, Profile]] = {
    "quick": Profile(name="quick", examples=15, seconds=1.0, shrink_seconds=1.0),
    "default": Profile(name="default", examples=60, seconds=3.0, shrink_seconds=2.0),
    "thorough": Profile(name="thorough", examples=2_000, seconds=300.0, shrink_seconds=60.0),
}
DEFAULT_PROFILE: Final = PROFILES["default"]


class Search(Struct, frozen=True, kw_only=True):
    """How a run searches: its profile, and the folder in which failing prompts are kept (none: they are not).

    `only` are the checks that are run; where there are some, generated prompts are judged by no other.
    """

    profile: Profile = DEFAULT_PROFILE
    kept: Path | None = None
    only: frozenset[str] = frozenset()


def find_profile(name: str) -> Profile:
    """The profile of that name. Raises HarnessError."""
    if name not in PROFILES:
        message = f"there is no profile {name!r}; profiles: {', '.join(PROFILES)}"
        raise HarnessError(message)
    return PROFILES[name]
