"""The entries of a baseline, and which findings each of them has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from art_compliance.findings import Finding
from art_compliance.generating.requests import Request
from art_compliance.run.causes import shape_of
from art_compliance.run.results import Known

KEY: Final = "known"
"""The entries of a file are its tables `[[known]]`."""


class Entry(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A known failure: of a check on a scenario, of a check for a cause on any scenario, or both.

    `cause` is a message of the check; what it quotes, numbers included, makes no difference. `adapter` limits the entry
    to the adapter of this name. `request` is for a generated prompt: the smallest one that fails, as JSON text with
    `prompt`, `options` and, for a dialogue, `turns`. The entry holds through the day `expires` (in UTC).
    """

    check: str
    scenario: str | None = None
    cause: str | None = None
    adapter: str | None = None
    reason: str = ""
    issue: str = ""
    expires: date | None = None
    request: str | None = None

    def __str__(self) -> str:
        where = f" on {self.scenario}" if self.scenario else ""
        return f"{self.check}{where}" + (f" ({self.cause})" if self.cause and not self.scenario else "")

    def is_about(self, check: str, scenario: str) -> bool:
        """Whether the entry is about this check on this scenario, for some cause at least."""
        return self.check == check and self.scenario in (None, scenario)

    def has(self, check: str, scenario: str, shape: str) -> bool:
        """Whether the entry has a finding, from the shape of its message."""
        return self.is_about(check, scenario) and (self.cause is None or shape_of(self.cause) == shape)


class Baseline(Struct, frozen=True, kw_only=True):
    """The entries of a file, by their numbers in it, counted from 1."""

    file: Path
    entries: dict[int, Entry]

    def of(self, adapter: str) -> Baseline:
        """The entries that are about this adapter."""
        chosen = {number: one for number, one in self.entries.items() if one.adapter in (None, adapter)}
        return structs.replace(self, entries=chosen)

    def sort(self, scenario: str, findings: Sequence[Finding]) -> tuple[list[Finding], list[Finding], list[Known]]:
        """Which of a check's findings on a scenario count, which are known, and what is said of these."""
        counted: list[Finding] = []
        known: list[Finding] = []
        said: dict[int, Known] = {}
        for finding in findings:
            found = self._entry_of(scenario, finding) if finding.severity == "reject" else None
            (counted if found is None else known).append(finding)
            if found is not None:
                said[found[0]] = _said(*found)
        return counted, known, list(said.values())

    def _entry_of(self, scenario: str, finding: Finding) -> tuple[int, Entry] | None:
        shape = shape_of(finding.message)
        matching = ((n, one) for n, one in self.entries.items() if one.has(finding.check, scenario, shape))
        return next(matching, None)

    def shapes(self, scenario: str) -> frozenset[str]:
        """The shapes of the messages that a search on a family of generated prompts need not find again.

        A law over generated prompts quotes the message of the check that judges one prompt behind that check's id.
        """
        causes = (one.cause for one in self.entries.values() if one.scenario == scenario and one.cause and one.request)
        return frozenset(shape_of(_JUDGED_BY.sub("", cause)) for cause in causes)

    def requests(self, check: str, scenario: str) -> Iterable[tuple[Entry, Request]]:
        """The generated requests that the entries about a check and a family keep."""
        if not self.entries:  # as in most runs, for each of their results
            return
        from art_compliance.run.baseline.requests import read_request  # noqa: PLC0415 - few baselines have any

        for one in self.entries.values():
            if one.request is not None and one.is_about(check, scenario):
                yield one, read_request(one.request)


NO_BASELINE: Final = Baseline(file=Path(), entries={})

_JUDGED_BY: Final = re.compile(r"^[a-z]+\.[a-z0-9-]+: ")


def _said(number: int, entry: Entry) -> Known:
    return Known(entry=number, reason=entry.reason, issue=entry.issue, expires=entry.expires)
