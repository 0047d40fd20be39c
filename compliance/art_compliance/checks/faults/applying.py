"""The faults that an adapter is called with, and the same answers without a fault."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple

from art_compliance.checks.requirements import require_read
from art_compliance.checks.trial import Trial
from art_compliance.provider import Request
from art_compliance.provider.faults import FAULTS, Fault
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Reply


class Case(NamedTuple):
    """A fault, whether the answer with it is streamed, and what the adapter must make of it.

    Faults that the provider's official client fails on are optional: `either`.
    """

    fault: Fault
    streamed: bool
    expects: Literal["whole", "error", "either"]

    def __str__(self) -> str:
        return f"{self.fault.id} ({'streamed' if self.streamed else 'unstreamed'})"


ANSWER: Final = WrittenAnswer(content="This answer was written, and something is wrong with its way here.")
"""The answer that the faults happen to."""


def cases(trial: Trial) -> list[Case]:
    """Every fault, streamed and unstreamed, as far as it applies to the adapter. Raises NotApplicable."""
    trial.once(good)
    accepted = {name for request in trial.watched.requests for name in _accepted(request)}
    kinds = ("unstreamed", "streamed") if "streaming" in trial.subject.capabilities else ("unstreamed",)
    faults = [fault for fault in FAULTS.values() if "gzip" not in fault.id or "gzip" in accepted]
    return [
        Case(
            fault, kind == "streamed", "either" if fault.id in trial.dialect.streams.client_failures else fault.expects
        )
        for fault in faults
        for kind in kinds
        if kind in fault.on
    ]


def _accepted(request: Request) -> Iterator[str]:
    """The content encodings that a request accepts; the answer must not use others (RFC 9110, 12.5.3)."""
    return (name.partition(";")[0].strip() for name in request.headers.get("accept-encoding", "").split(","))


def call(trial: Trial, case: Case) -> Reply:
    """The reply to an answer with this fault."""
    options = options_for(trial, streamed=case.streamed)
    return trial.subject.call(trial.scenario.prompt, options, lambda asked: case.fault.make(ANSWER, asked))


def options_for(trial: Trial, *, streamed: bool) -> dict[str, Any]:
    """The scenario's options, with `stream` where the answer is streamed."""
    return {**trial.scenario.call_options(), **({"stream": True} if streamed else {})}


def good(trial: Trial) -> Answered:
    """The answer without a fault. Raises NotApplicable."""
    return _read_well(trial, streamed=False)


def good_stream(trial: Trial) -> Answered:
    """The same, streamed. Raises NotApplicable."""
    return _read_well(trial, streamed=True)


def _read_well(trial: Trial, *, streamed: bool) -> Answered:
    options = options_for(trial, streamed=streamed)
    return require_read(trial.subject.call(trial.scenario.prompt, options, lambda asked: asked.answer(ANSWER)))
