"""Which baseline a run reads and writes, from the options of the command or of pytest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from art_compliance.findings import HarnessError
from art_compliance.run.baseline.entries import Baseline
from art_compliance.run.baseline.reading import read_baseline
from art_compliance.run.baseline.writing import write_baseline
from art_compliance.run.report import Report
from art_compliance.run.selection import Selection


class BaselineOptions(Struct, frozen=True, kw_only=True):
    """The file that is named, the `usual` one that is read without an option, and what is done with it."""

    requested: Path | None
    usual: Path
    is_ignored: bool = False
    is_written: bool = False

    @property
    def file(self) -> Path:
        """The file that is read or written."""
        return self.requested or self.usual

    def read(self, selection: Selection) -> Baseline | None:
        """The baseline, if there is one. Raises HarnessError for a bad file, and for options that contradict."""
        if self.is_ignored and (self.requested or self.is_written):
            raise HarnessError(
                "a baseline cannot be ignored and named or written at once; leave out one of the options"
            )
        may_be_missing = self.requested is None or self.is_written
        if self.is_ignored or (may_be_missing and not self.file.exists()):
            return None
        return read_baseline(self.file, selection)

    def write(self, old: Baseline | None, reports: Sequence[Report]) -> str:
        """Writes the failures of the reports into the file, and returns a line about it. Raises HarnessError."""
        added, gone = write_baseline(self.file, old, reports)
        kept = 0 if old is None else len(old.entries) - gone
        return f"baseline: {self.file}: {added:,} added, {gone:,} removed, {kept:,} kept"
