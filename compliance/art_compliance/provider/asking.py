"""What an answerer is given: a request and its dialect."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from art_compliance.dialects import Dialect
from art_compliance.dialects.framing import as_array
from art_compliance.provider.script import Response, stream_of
from art_compliance.provider.server import Request
from art_compliance.scenarios import WrittenAnswer

WRITTEN_TEXT: Final = "This answer was written, not generated. \u2713"
"""The text of every answer that the loopback provider gives by default."""


class Asked(Struct, frozen=True):
    """A request with its dialect. `payload` is the body as JSON data; where it is not JSON, `trouble` says why."""

    dialect: Dialect
    request: Request
    payload: Any = None
    trouble: str | None = None

    @property
    def wants_stream(self) -> bool:
        """Whether the request asks for a stream."""
        return self.dialect.streams.is_requested(self.payload, self.request.target)

    def answer(self, written: WrittenAnswer) -> Response:
        """The answer in the dialect, streamed if the request asks for it. Raises CannotWrite."""
        if not self.wants_stream:
            return Response(200, self.dialect.answers.write(written))
        return stream_of(*self.stream(written))

    def stream(self, written: WrittenAnswer) -> tuple[tuple[bytes, ...], str]:
        """The pieces of a streamed answer and their content type. Raises CannotWrite."""
        events = self.dialect.streams.write(written, self.payload)
        wants_array = self.dialect.streams.is_array
        if wants_array is not None and wants_array(self.request.target):
            return as_array(events), "application/json"
        return events, self.dialect.streams.content_type


Answerer = Callable[[Asked], Response]
"""Answers a request of a dialect."""


def ask(dialect: Dialect, request: Request) -> Asked:
    """The request, with its body as JSON data."""
    try:
        return Asked(dialect, request, json.loads(request.body))
    except (ValueError, RecursionError) as error:
        return Asked(dialect, request, trouble=str(error))


def answer_as_written(asked: Asked) -> Response:
    """The default answer: a short text."""
    return asked.answer(WrittenAnswer(content=WRITTEN_TEXT))
