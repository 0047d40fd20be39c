"""What is seen of an adapter that is asked for something: sent, refused or crashed, and what was read of an answer."""

from __future__ import annotations

import traceback
from typing import Any

from msgspec import Struct

from art_compliance.provider.server import Request
from art_compliance.quoting import shorten
from art_compliance.subject.deadlines import Stopped
from art_compliance.subject.events import Answered
from art_compliance.subject.factories import describe_error
from art_sdk import ARTError


class Sent(Struct, frozen=True):
    """A request that the adapter made: its body, its URL where that is known, and how often it was sent."""

    payload: Any
    url: str | None = None
    count: int = 1

    def __str__(self) -> str:
        return f"it was sent: {shorten(str(self.payload))}"


class Refused(Struct, frozen=True):
    """The adapter said, with a code, that it cannot do this."""

    code: str
    message: str

    def __str__(self) -> str:
        return f"it was refused: {self.code}: {self.message}"


class Crashed(Struct, frozen=True):
    """Any other exception: what it was, and where it came from."""

    error: str
    where: str = ""

    def __str__(self) -> str:
        return f"it raised {self.error}, at {self.where}" if self.where else self.error


Observation = Sent | Refused | Crashed
"""What came of a request that the adapter was to make."""

Reply = Answered | Refused | Crashed
"""What a call gave."""


class Watched(Struct, frozen=True):
    """A call: what arrived, what was read out of the answer, and whether the adapter changed what it was given."""

    observation: Observation
    reply: Reply
    changed: bool
    requests: tuple[Request, ...]


def observe_error(error: Exception) -> Refused | Crashed:
    """A refusal where the exception has a code, a crash with its place where it has none."""
    code = getattr(error, "code", None)
    if isinstance(error, ARTError) or (isinstance(code, str) and code.isupper()):
        return Refused(str(code), getattr(error, "message", None) or str(error))
    if isinstance(error, Stopped):
        return Crashed(str(error))
    last = traceback.extract_tb(error.__traceback__)[-1]
    return Crashed(describe_error(error), f"{last.filename.rsplit('/', 1)[-1]}:{last.lineno} in {last.name}")
