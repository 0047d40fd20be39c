"""The file that a run goes on from after it was stopped: what is counted, and of which parts."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from art_compliance.auditing.plan import Plan
from art_compliance.auditing.tally import TallyData
from art_compliance.auditing.totals import Ending
from art_compliance.run.beforehand import require_writable
from art_compliance.run.writing import writing

NAME: Final = "audit.state"
"""The file's name, in the folder of the report."""

_VERSION: Final = 1


class Kept(Struct, kw_only=True):
    """What a run has counted so far. `suite` is the version that judged: another one may judge differently."""

    plan: Plan
    tally: TallyData
    endings: list[Ending]
    version: int = _VERSION
    suite: str = ""


class Keeper:
    """Writes, reads and removes the file."""

    def __init__(self, folder: Path, suite: str) -> None:
        self.path = folder / NAME
        self._suite = suite

    def prepare(self) -> None:
        """Makes the folder. Raises HarnessError if it cannot be written, before hours of work are lost to that."""
        require_writable(self.path.parent)

    def save(self, kept: Kept) -> None:
        """Replaces the file at once, so that a kill leaves the old one or the new one. Raises HarnessError."""
        kept.suite = self._suite
        beside = self.path.with_suffix(".new")
        with writing(self.path):
            beside.write_bytes(msgspec.msgpack.encode(kept))
            os.replace(beside, self.path)  # noqa: PTH105 - named as the atomic one it is

    def load(self) -> Kept | str | None:
        """What an earlier run has kept, or why it is of no use; None if there is nothing."""
        try:
            kept = msgspec.msgpack.decode(self.path.read_bytes(), type=Kept)
        except OSError:
            return None
        except (ValueError, RecursionError):
            return f"{self.path} is damaged, or was written by another version of the suite"
        is_ours = (kept.version, kept.suite) == (_VERSION, self._suite)
        return (
            kept if is_ours else f"{self.path} was written by another version of the suite, which may judge differently"
        )

    def remove(self) -> None:
        """Removes the file: the run is whole."""
        with suppress(OSError):
            self.path.unlink()
