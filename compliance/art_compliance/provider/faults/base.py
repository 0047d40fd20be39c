"""A fault, and the good answer that it spoils."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from msgspec import Struct

from art_compliance.dialects import Dialect
from art_compliance.findings import HarnessError
from art_compliance.provider.asking import Asked
from art_compliance.provider.script import Response, Send, Step
from art_compliance.scenarios import WrittenAnswer

Kind = Literal["streamed", "unstreamed"]
BOTH: Final[frozenset[Kind]] = frozenset({"streamed", "unstreamed"})
STREAMED: Final[frozenset[Kind]] = frozenset({"streamed"})


class Good(Struct, frozen=True):
    """A good answer that a fault will spoil: its events, or its body as the only one."""

    written: WrittenAnswer
    dialect: Dialect
    events: tuple[bytes, ...]
    content_type: str

    @property
    def body(self) -> bytes:
        """All of it."""
        return b"".join(self.events)

    def script(self, *steps: Step, headers: tuple[tuple[str, str], ...] = ()) -> Response:
        """A response of the good one's type that goes so."""
        return Response(200, content_type=self.content_type, headers=headers, steps=steps)

    def resend(self, events: tuple[bytes, ...] | list[bytes]) -> Response:
        """A response of these events, ended in order."""
        return self.script(*map(Send, events))


class Fault(Struct, frozen=True, kw_only=True):
    """One way to go wrong.

    `expects`: the answer is read `whole` (the fault is benign), told as an `error`, or `either`. `on`: the kinds of
    answers that can go wrong so. `status`: the one that the error is to have. `hangs`: only the client's own time
    limit ends it.
    """

    id: str
    words: str
    spoil: Callable[[Good], Response]
    expects: Literal["whole", "error", "either"] = "error"
    on: frozenset[Kind] = BOTH
    status: int | None = None
    hangs: bool = False

    @property
    def is_benign(self) -> bool:
        """Whether the answer must still be read whole and right."""
        return self.expects == "whole"

    def fits(self, asked: Asked) -> bool:
        """Whether the answer that is asked for can go wrong so."""
        return ("streamed" if asked.wants_stream else "unstreamed") in self.on

    def make(self, written: WrittenAnswer, asked: Asked) -> Response:
        """The answer, gone wrong. Raises CannotWrite, and HarnessError where such an answer cannot go wrong so."""
        if not self.fits(asked):
            raise HarnessError(
                f"the fault {self.id} is for {' and '.join(sorted(self.on))} answers, and another is asked for"
            )
        return self.spoil(good_answer(written, asked))


def good_answer(written: WrittenAnswer, asked: Asked) -> Good:
    """What a fault starts from. Raises CannotWrite."""
    dialect = asked.dialect
    if asked.wants_stream:
        return Good(written, dialect, *asked.stream(written))
    return Good(written, dialect, (dialect.answers.write(written),), "application/json")
