"""What a check can require of a trial, and the exception that makes it not applicable."""

from __future__ import annotations

from typing import Literal

from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Crashed, Observation, Refused, Reply, Sent
from art_sdk.sendable import find_unsendable, is_surely_sendable


class NotApplicable(Exception):
    """A check has nothing to say of a trial; the reason goes into the report. `judged` is as in `Outcome`."""

    def __init__(self, reason: str, *, judged: int | None = None) -> None:
        super().__init__(reason)
        self.judged = judged


class Misbehaved(Exception):
    """The suite cannot work with an adapter for what that did, as the text says: the adapter has failed."""


class LeftTo(NotApplicable):
    """Another check, named by its id, reports the cause of what this one would find."""

    def __init__(self, check: str) -> None:
        super().__init__(f"the cause is reported: see {check}")
        self.check = check

    def __reduce__(self) -> tuple[type[LeftTo], tuple[str]]:
        """How it is copied: not from its text."""
        return LeftTo, (self.check,)


Requirement = Literal[
    "dialect", "call", "sent", "answer", "declared", "sendable", "streaming", "python", "own_settings"
]
"""Each as its reason says it:

- `dialect`: the suite knows the adapter's wire format.
- `call`: the adapter has a `call`.
- `sent`: the scenario's prompt became a request.
- `answer`: the scenario has an answer.
- `declared`: the adapter declares every capability that the scenario needs.
- `sendable`: the adapter need not refuse the scenario's prompt. Where it must and does not, that is the one finding.
- `streaming`: the adapter declares the capability `streaming`.
- `python`: the adapter is an object in Python. Behind a bridge or a gateway, only data reaches the suite.
- `own_settings`: key, URL and time limits are those that the suite gives. A gateway has its own.
"""

Requires = Requirement | tuple[Requirement, ...]


def why_unsent(seen: Observation) -> str | None:
    """Why there is no request to judge, or None where there is one: other checks judge that."""
    match seen:
        case Sent():
            return None if is_json(seen.payload) else "the payload is not JSON data: see translation.is-total"
        case Refused():
            return f"refused: {seen.code}"
        case Crashed():
            return "it crashed: see translation.is-total"


def require_polite(seen: Observation | Reply) -> None:
    """Raises Misbehaved for what would have stopped the suite."""
    if isinstance(seen, Crashed) and seen.is_rude:
        raise Misbehaved(str(seen))


def require_sent(seen: Observation) -> Sent:
    """The request. Raises NotApplicable if there is none, or none that is JSON data."""
    reason = why_unsent(seen)
    if reason is None and isinstance(seen, Sent):
        return seen
    raise NotApplicable(str(reason))


def require_read(reply: Reply) -> Answered:
    """The answer. Raises NotApplicable if it was not read: `answer-is-read` of a stage reports that."""
    if isinstance(reply, Answered) and reply.error is None and not any(reply.wrong_shapes()):
        return reply
    raise NotApplicable("the answer is not read: see the checks named answer-is-read")


def is_json(payload: object) -> bool:
    """Whether a payload is JSON data: string keys, finite numbers and all."""
    return is_surely_sendable(payload) or find_unsendable(payload) is None
