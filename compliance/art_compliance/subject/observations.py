"""What the suite observes of an adapter: the request that it sent, or its refusal or crash, and its reply."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from art_compliance.quoting import show
from art_compliance.subject.bridged import RaisedThere
from art_compliance.subject.deadlines import Stopped, TimedOut
from art_compliance.subject.events import Answered, Endless, NoEvents, ReaderCancelled, error_facts
from art_compliance.subject.places import describe_error, last_place_of
from art_sdk import ARTError

if TYPE_CHECKING:
    from art_compliance.provider.receiving import Request


class Sent(Struct, frozen=True):
    """A request that the adapter made: its body, its URL if known, how often it was sent, and the API's version.

    Of a URL at the suite's own provider only path and query: the address does not say which provider it plays.
    """

    payload: Any
    url: str | None = None
    count: int = 1
    version: str | None = None

    def __str__(self) -> str:
        return f"it was sent: {show(self.payload)}"


class Refused(Struct, frozen=True):
    """The adapter refused with an error code, and with the provider's status if the error has one.

    `facts` are those of an error that a whole answer failed with.
    """

    code: str
    message: str
    status: int | None = None
    facts: dict[str, Any] = {}

    def __str__(self) -> str:
        return f"it was refused: {self.code}: {self.message}"


class Crashed(Struct, frozen=True):
    """Any other exception, and where it was raised.

    `is_rude` says that it would have stopped a program that does not expect it: the adapter hangs, tried to exit,
    raised what is not an Exception, or nested data beyond what Python can write.
    """

    error: str
    where: str = ""
    timed_out: bool = False
    is_rude: bool = False

    def __str__(self) -> str:
        return f"it raised {self.error}, at {self.where}" if self.where else self.error


Observation = Sent | Refused | Crashed
"""What came of a request that the adapter was to make."""

Reply = Answered | Refused | Crashed
"""What a call gave."""


class Called(Struct, frozen=True):
    """The reply to a call, and whether the adapter changed its arguments."""

    reply: Reply
    changed: bool = False


class Translation(Struct, frozen=True):
    """What came of `translate`, and whether the adapter changed its arguments."""

    observation: Observation
    changed: bool = False


class Watched(Struct, frozen=True):
    """A call: what arrived at the provider, the reply, and whether the adapter changed its arguments."""

    observation: Observation
    reply: Reply
    changed: bool
    requests: tuple[Request, ...]


def raised(seen: Refused | Crashed) -> str:
    """What was raised, in one line."""
    return seen.error if isinstance(seen, Crashed) else f"{seen.code}: {seen.message}"


def observe_each(outcomes: Iterable[Answered | Exception]) -> list[Reply]:
    """The replies that calls gave, and what is seen of the errors that others raised."""
    return [observe_error(one) if isinstance(one, Exception) else one for one in outcomes]


def observe_error(error: Exception) -> Refused | Crashed:
    """A refusal if the exception has an error code, otherwise a crash with its place."""
    code = getattr(error, "code", None)
    if isinstance(error, ARTError) or (isinstance(code, str) and code.isupper()):
        status = getattr(error, "status", None)
        known = status if isinstance(status, int) else None
        return Refused(str(code), getattr(error, "message", None) or str(error), known, error_facts(error))
    if isinstance(error, Stopped):
        return Crashed(str(error), timed_out=isinstance(error, TimedOut), is_rude=True)
    if isinstance(error, RaisedThere):
        return Crashed(f"its bridge answered with an error: {error}")
    if isinstance(error, (NoEvents, Endless, ReaderCancelled)):
        return Crashed(str(error), is_rude=isinstance(error, Endless))
    return Crashed(describe_error(error), last_place_of(error))
