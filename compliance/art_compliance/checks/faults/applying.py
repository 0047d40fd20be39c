"""The faults that an adapter is called with, and the same answers without a fault."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final, Literal, NamedTuple

from msgspec.structs import replace

from art_compliance.checks.requirements import require_read
from art_compliance.checks.streamed import StreamedReply, options_for
from art_compliance.checks.trial import Trial
from art_compliance.provider import Asked, Request, Response
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

    def of_size(self, size: int) -> Case:
        """The same with a body of about so many bytes, if its fault is one of a long body."""
        sized = self.fault.of_size
        return self if sized is None else self._replace(fault=replace(self.fault, spoil=partial(sized, size)))

    def __str__(self) -> str:
        return f"{self.fault.id} ({'streamed' if self.streamed else 'unstreamed'})"


ANSWER: Final = WrittenAnswer(content="This answer was written, and something is wrong with its way here.")
"""The answer that the faults happen to."""


def cases(trial: Trial) -> list[Case]:
    """Every fault, streamed and unstreamed, as far as it applies to the adapter. Raises NotApplicable.

    An adapter that always asks for a stream has none of the faults that only a whole answer can have.
    """
    trial.once(good)
    asked = {"streamed": "streamed", "unstreamed": "streamed" if trial.once(_whole).is_asked_for else "unstreamed"}
    accepted = {name for request in trial.watched.requests for name in _accepted(request)}
    kinds = ("unstreamed", "streamed") if trial.once(can_stream) else ("unstreamed",)
    known = [fault for fault in FAULTS.values() if fault.is_for(trial.dialect)]
    faults = [fault for fault in known if "gzip" not in fault.id or "gzip" in accepted]
    return [
        Case(
            fault, kind == "streamed", "either" if fault.id in trial.dialect.streams.client_failures else fault.expects
        )
        for fault in faults
        for kind in kinds
        if {kind, asked[kind]} <= fault.on
    ]


def _accepted(request: Request) -> Iterator[str]:
    """The content encodings that a request accepts; the answer must not use others (RFC 9110, 12.5.3)."""
    return (name.partition(";")[0].strip() for name in request.headers.get("accept-encoding", "").split(","))


def call(trial: Trial, case: Case) -> Reply:
    """The reply to an answer with this fault."""
    options = options_for(trial, streamed=case.streamed)
    answerer = partial(_make, case)
    return trial.subject.call(trial.scenario.prompt, options, answerer, seconds=case.fault.patience)


def _make(case: Case, asked: Asked) -> Response:
    return case.fault.make(ANSWER, asked)


def can_stream(trial: Trial) -> bool:
    """Whether the adapter declares streaming and, with the option `stream`, asks for a stream."""
    return "streaming" in trial.subject.capabilities and trial.once(_streamed).is_asked_for


def good(trial: Trial) -> Answered:
    """The answer without a fault. Raises NotApplicable."""
    return require_read(trial.once(_whole).reply)


def good_stream(trial: Trial) -> Answered:
    """The same, streamed. Raises NotApplicable."""
    return require_read(trial.once(_streamed).reply)


def _whole(trial: Trial) -> StreamedReply:
    return _call_well(trial, streamed=False)


def _streamed(trial: Trial) -> StreamedReply:
    return _call_well(trial, streamed=True)


def _call_well(trial: Trial, *, streamed: bool) -> StreamedReply:
    wanted: list[bool] = []

    def answer(asked: Asked) -> Response:
        wanted.append(asked.wants_stream)
        return asked.answer(ANSWER)

    reply = trial.subject.call(trial.scenario.prompt, options_for(trial, streamed=streamed), answer)
    return StreamedReply(reply, all(wanted) if streamed else any(wanted))
