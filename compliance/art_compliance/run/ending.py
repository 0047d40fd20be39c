"""Why a run ends before everything that was planned is done."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from art_compliance.run.lines import counted

if TYPE_CHECKING:
    from art_compliance.run.report import Report
    from art_compliance.subject.subject import Subject

_INTERRUPTED: Final = "interrupted"


def why_stopped(subject: Subject, ends: float, *, left: int) -> str | None:
    """Why a run ends with so many trials left: the adapter is given up, or it is past `ends`. None if it goes on.

    `ends` is a time of `time.perf_counter`.
    """
    if subject.is_given_up:
        return f"{subject.stops[-1]}, not for the first time; {not_run(left)}"
    return f"the run's time is up; {not_run(left)}" if time.perf_counter() > ends else None


def first_failure(left: int) -> str | None:
    """Why a run ends at its first failure that was asked to; None if nothing is left to run."""
    return f"the first failure ends the run; {not_run(left)}" if left else None


def interrupted(left: int) -> str:
    """Why a run ends that somebody interrupts."""
    return f"{_INTERRUPTED}; {not_run(left)}"


def is_interrupted(report: Report) -> bool:
    """Whether somebody interrupted the run."""
    return report.stopped is not None and report.stopped.startswith(_INTERRUPTED)


def not_run(left: int) -> str:
    """How many trials were planned and not run."""
    return f"{counted(left, 'planned trial')} {'was' if left == 1 else 'were'} not run"
