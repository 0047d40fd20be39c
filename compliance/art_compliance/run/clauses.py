"""What a check demands, in one sentence: also that of a law of servers."""

from __future__ import annotations

from art_compliance.checks import CHECKS
from art_compliance.examining.laws import LAWS


def clause_of(check: str) -> str:
    """The clause of the check or law with this id, which may be of another suite."""
    if check in CHECKS:
        return CHECKS[check].clause
    return LAWS.get(check, "This suite does not have this check.")
