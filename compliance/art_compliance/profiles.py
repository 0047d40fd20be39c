"""How hard to search: how many prompts are made, and how long it may take."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from art_compliance.findings import HarnessError


class Profile(Struct, frozen=True, kw_only=True):
    """`examples` prompts a family, made within `seconds`; `shrink_seconds` to find the least prompt for a law."""

    name: str
    examples: int
    seconds: float
    shrink_seconds: float


PROFILES: Final[Mapping[str, Profile]] = {
    "quick": Profile(name="quick", examples=15, seconds=1.0, shrink_seconds=1.0),
    "default": Profile(name="default", examples=100, seconds=3.0, shrink_seconds=2.0),
    "thorough": Profile(name="thorough", examples=2_000, seconds=300.0, shrink_seconds=60.0),
}
DEFAULT_PROFILE: Final = PROFILES["default"]


class Search(Struct, frozen=True, kw_only=True):
    """How a run searches: its profile, and the folder in which failing prompts are kept (none: they are not)."""

    profile: Profile = DEFAULT_PROFILE
    kept: Path | None = None


def find_profile(name: str) -> Profile:
    """The profile of that name. Raises HarnessError."""
    if name not in PROFILES:
        message = f"there is no profile {name!r}; profiles: {', '.join(PROFILES)}"
        raise HarnessError(message)
    return PROFILES[name]
