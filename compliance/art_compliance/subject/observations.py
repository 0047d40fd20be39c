"""What the suite observes of an adapter: the request that it sent, or its refusal or crash, and its reply."""

from __future__ import annotations

import traceback
from typing import Any

from msgspec import Struct

from art_compliance.provider.server import Request
from art_compliance.quoting import shorten
from art_compliance.subject.deadlines import Stopped, TimedOut
from art_compliance.subject.events import Answered
from art_compliance.subject.factories import describe_error
from art_sdk import ARTError


class Sent(Struct, frozen=True):
    """A request that the adapter made: its body, its URL if known, and how often it was sent."""

    payload: Any
    url: str | None = None
    count: int = 1

    def __str__(self) -> str:
        return f"it was sent: {shorten(str(self.payload))}"


class Refused(Struct, frozen=True):
    """The adapter refused with an error code."""

    code: str
    message: str

    def __str__(self) -> str:
        return f"it was refused: {self.code}: {self.message}"


class Crashed(Struct, frozen=True):
    """Any other exception, and where it was raised."""

    error: str
    where: str = ""
    timed_out: bool = False

    def __str__(self) -> str:
        return f"it raised {self.error}, at {self.where}" if self.where else self.error


Observation = Sent | Refused | Crashed
"""What came of a request that the adapter was to make."""

Reply = Answered | Refused | Crashed
"""What a call gave."""


class Watched(Struct, frozen=True):
    """A call: what arrived at the provider, the reply, and whether the adapter changed its arguments."""

    observation: Observation
    reply: Reply
    changed: bool
    requests: tuple[Request, ...]


def observe_error(error: Exception) -> Refused | Crashed:
    """A refusal if the exception has an error code, otherwise a crash with its place."""
    code = getattr(error, "code", None)
    if isinstance(error, ARTError) or (isinstance(code, str) and code.isupper()):
        return Refused(str(code), getattr(error, "message", None) or str(error))
    if isinstance(error, Stopped):
        return Crashed(str(error), timed_out=isinstance(error, TimedOut))
    last = traceback.extract_tb(error.__traceback__)[-1]
    return Crashed(describe_error(error), f"{last.filename.rsplit('/', 1)[-1]}:{last.lineno} in {last.name}")
