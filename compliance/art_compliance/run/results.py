"""What one check found on one scenario."""

from __future__ import annotations

from datetime import date

from msgspec import Struct

from art_compliance.cassettes import Source
from art_compliance.findings import CLASSES, Finding, FindingClass, Verdict
from art_compliance.scenarios import Level


class Known(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the baseline says of a failure: its entry's number, `reason`, `issue` and `expires`."""

    entry: int
    reason: str = ""
    issue: str = ""
    expires: date | None = None


class Result(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One check on one scenario.

    `purpose` is the scenario's purpose. `source` says who gave the answers that were replayed from `cassette`.
    `judged` is the number of generated requests that the check applied to: it stops when the profile's time is up.
    `shown` are the declared losses and repairs that the scenario was the first to show. `left_to` is the failed check
    that reports what this one, not applicable, would find. `known` are the entries of the baseline that the verdict
    `known` comes from.
    """

    check: str
    scenario: str
    purpose: str
    level: Level
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    reason: str | None = None
    left_to: str | None = None
    known: tuple[Known, ...] = ()
    source: Source | None = None
    cassette: str | None = None
    judged: int | None = None
    shown: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def classes(self) -> tuple[FindingClass, ...]:
        """The classes of the findings that count against the adapter, the worst first."""
        if self.verdict != "fail":
            return ()
        found = {finding.finding_class for finding in self.findings if finding.severity == "reject"}
        return tuple(one for one in CLASSES if one in found)
