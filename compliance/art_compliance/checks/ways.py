"""The ways to make a call: by each method of the adapter, whole and streamed."""

from __future__ import annotations

from typing import NamedTuple

from art_compliance.checks.streamed import whole_and_streamed
from art_compliance.checks.trial import Trial


class Way(NamedTuple):
    """A way to call: the method, and whether the answer is streamed."""

    method: str
    streamed: bool

    def __str__(self) -> str:
        return f"{self.method}, streamed" if self.streamed else self.method


def ways_of(trial: Trial) -> list[Way]:
    """Every way to call the adapter: by each method a whole answer, then, where it can stream, a streamed one."""
    kinds = whole_and_streamed(can_stream="streaming" in trial.subject.capabilities)
    return [Way(method, streamed) for streamed in kinds for method in trial.subject.call_methods]
