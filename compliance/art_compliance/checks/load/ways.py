"""The ways to make a call: by each method of the adapter, whole and streamed."""

from __future__ import annotations

from itertools import cycle, islice
from typing import NamedTuple

from art_compliance.checks.load.numbered import ask_number
from art_compliance.checks.streamed import whole_and_streamed
from art_compliance.checks.trial import Trial
from art_compliance.subject.subject import AskingBy


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


def in_every_way(trial: Trial, least: int) -> list[AskingBy]:
    """At least so many calls, numbered from 0: by each method one, and where it can stream, one that is streamed."""
    ways = ways_of(trial)
    numbered = enumerate(islice(cycle(ways), max(least, len(ways))))
    return [(*ask_number(trial, number, streamed=way.streamed), way.method) for number, way in numbered]
