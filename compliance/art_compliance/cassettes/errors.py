"""Why a cassette cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import Final

AGAIN: Final = "record it again with: art record"
"""The remedy for most errors."""

REVOKE: Final = "revoke it, remove it from the history as well,"
"""What to do about a secret in a repository."""


class BadCassette(Exception):
    """A cassette that cannot be used. `path` is the file, `place` the place in it, `reason` what is wrong there."""

    def __init__(self, path: Path, place: str, message: str) -> None:
        super().__init__(f"{path}: {place}: {message}" if place else f"{path}: {message}")
        self.path = path
        self.place = place
        self.reason = message


class NotCassette(BadCassette):
    """A file that is not a cassette."""


class ContainsSecret(BadCassette):
    """A cassette with something that looks like a secret: it is neither written nor played."""
