"""Why a run ends before everything that was planned is done."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from art_compliance.run.lines import counted

if TYPE_CHECKING:
    from art_compliance.run.report import Report
    from art_compliance.subject.subject import Subject

MOST_SECONDS: Final = 3600.0
"""How long a run may take if nobody says otherwise."""

TIME_IS_UP: Final = "the run's time is up"
_INTERRUPTED: Final = "interrupted"


def why_stopped(subject: Subject, *, left: int) -> str | None:
    """Why a run ends with so many trials left: the adapter is given up, or the time is up. None if it goes on."""
    if subject.is_given_up:
        return f"{subject.stops[-1]}, not for the first time; {not_run(left)}"
    return out_of_time(left) if time.perf_counter() > subject.ends else None


def out_of_time(left: int) -> str:
    """Why a run ends that takes longer than it may."""
    return f"{TIME_IS_UP}; {not_run(left)}"


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
