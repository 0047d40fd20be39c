"""A fault, and the good answer that it spoils."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from msgspec import Struct

from art_compliance.dialects import Dialect
from art_compliance.dialects.aws_events import CONTENT_TYPE
from art_compliance.findings import HarnessError
from art_compliance.provider.asking import Asked
from art_compliance.provider.script import Response, Send, Step
from art_compliance.scenarios import WrittenAnswer

Kind = Literal["streamed", "unstreamed"]
BOTH: Final[frozenset[Kind]] = frozenset({"streamed", "unstreamed"})
STREAMED: Final[frozenset[Kind]] = frozenset({"streamed"})
UNSTREAMED: Final[frozenset[Kind]] = frozenset({"unstreamed"})
EVENT_STREAM: Final = "text/event-stream"


class Good(Struct, frozen=True):
    """A good answer before it is spoiled: its events, or its body as the only event."""

    written: WrittenAnswer
    dialect: Dialect
    events: tuple[bytes, ...]
    content_type: str

    @property
    def body(self) -> bytes:
        """All events joined."""
        return b"".join(self.events)

    def script(self, *steps: Step, headers: tuple[tuple[str, str], ...] = ()) -> Response:
        """A response of the good answer's content type with these steps."""
        return Response(200, content_type=self.content_type, headers=headers, steps=steps)

    def resend(self, events: tuple[bytes, ...] | list[bytes]) -> Response:
        """A response with these events, ended in order."""
        return self.script(*map(Send, events))


class Fault(Struct, frozen=True, kw_only=True):
    """One way in which an answer goes wrong.

    `expects`: the client reads the answer `whole` (the fault is benign), reports an `error`, or does `either`. `on`:
    the kinds of answers that the fault applies to. `within`: the content type of the streams that it applies to; None
    for all. `is_of_text`: it is one of lines, which streams of Amazon's messages do not have. `status`: the status
    that the error should have. `hangs`: only the
    client's own time limit ends it. `patience`: seconds that a call with it may take, where it is more than for others.
    `of_size`: the same with a body of about so many bytes, for clients that are too slow for the whole.
    `official_clients_read_it`: some of the providers' own clients give an answer, so another client's is no loss.
    """

    id: str
    words: str
    spoil: Callable[[Good], Response]
    expects: Literal["whole", "error", "either"] = "error"
    on: frozenset[Kind] = BOTH
    within: str | None = None
    is_of_text: bool = False
    status: int | None = None
    hangs: bool = False
    patience: float | None = None
    of_size: Callable[[int, Good], Response] | None = None
    official_clients_read_it: bool = False

    @property
    def is_benign(self) -> bool:
        """Whether clients must still read the whole answer."""
        return self.expects == "whole"

    def fits(self, asked: Asked) -> bool:
        """Whether the fault applies to the answer that the request asks for."""
        return ("streamed" if asked.wants_stream else "unstreamed") in self.on and self.is_for(asked.dialect)

    def is_for(self, dialect: Dialect) -> bool:
        """Whether the fault applies to answers of the dialect at all."""
        kind = dialect.streams.content_type
        return self.within in (None, kind) and not (self.is_of_text and kind == CONTENT_TYPE)

    @property
    def _framed(self) -> str:
        return "" if self.within is None else f" with the content type {self.within}"

    def make(self, written: WrittenAnswer, asked: Asked) -> Response:
        """The spoiled answer. Raises CannotWrite, and HarnessError where the fault does not apply."""
        if not self.fits(asked):
            kinds = " and ".join(sorted(self.on))
            raise HarnessError(f"the fault {self.id} applies only to {kinds} answers{self._framed}")
        return self.spoil(good_answer(written, asked))


def good_answer(written: WrittenAnswer, asked: Asked) -> Good:
    """The good answer to a request. Raises CannotWrite."""
    dialect = asked.dialect
    if asked.wants_stream:
        return Good(written, dialect, *asked.stream(written))
    return Good(written, dialect, (dialect.answers.write(written),), "application/json")
