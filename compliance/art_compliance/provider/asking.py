"""What an answerer is given: a request and its dialect."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from art_compliance.dialects import Dialect
from art_compliance.dialects.base import Access
from art_compliance.dialects.endpoints import Endpoint
from art_compliance.dialects.framing import as_array, change_data
from art_compliance.dialects.urls import target_of
from art_compliance.provider.receiving import Request
from art_compliance.provider.script import Response, in_one_write, stream_of
from art_compliance.scenarios import WrittenAnswer

WRITTEN_TEXT: Final = "This answer was written, not generated. \u2713"
"""The text of every answer that the loopback provider gives by default."""


Change = Callable[[Any], Any]
"""What becomes of the JSON data of an answer."""


class Asked(Struct, frozen=True):
    """A request with its dialect. `payload` is the body as JSON data; where it is not JSON, `trouble` says why.

    `names` are the names under which the request has the tools that were renamed, by the names that answers have.
    """

    dialect: Dialect
    request: Request
    payload: Any = None
    trouble: str | None = None
    names: Mapping[str, str] = {}
    endpoint: Endpoint | None = None
    """The service that is played, where it is known."""

    @property
    def access(self) -> Access:
        """Keys and other headers of the service that is played."""
        return self.dialect.service.access if self.endpoint is None else self.endpoint.access

    @property
    def url(self) -> str:
        """The URL that the request would have at the service that is played; only its path where that is not known."""
        target = self.request.target
        return target_of(target) if self.endpoint is None else self.endpoint.url(target)

    @property
    def version(self) -> str | None:
        """The version of the API that a header names."""
        name = self.dialect.service.access.version_header
        return None if name is None else self.request.headers.get(name)

    @property
    def wants_stream(self) -> bool:
        """Whether the request asks for a stream."""
        return self.dialect.streams.is_requested(self.payload, self.request.target)

    def answer(self, written: WrittenAnswer, change: Change | None = None) -> Response:
        """The answer in the dialect, streamed if the request asks for it. Raises CannotWrite.

        `change` changes the JSON data of the body, or of each event of a stream.
        """
        if self.wants_stream:
            return stream_of(*self.stream(written, change))
        body = self.dialect.answers.write(self.named(written))
        return Response(200, body if change is None else json.dumps(change(json.loads(body))).encode())

    def stream(self, written: WrittenAnswer, change: Change | None = None) -> tuple[tuple[bytes, ...], str]:
        """The pieces of a streamed answer and their content type. Raises CannotWrite."""
        events = self.events(written)
        if change is not None:
            events = tuple(change_data(event, change) for event in events)
        wants_array = self.dialect.streams.is_array
        if wants_array is not None and wants_array(self.request.target):
            return as_array(events), "application/json"
        return events, self.dialect.streams.content_type

    def events(self, written: WrittenAnswer) -> tuple[bytes, ...]:
        """The events of a streamed answer. Raises CannotWrite."""
        return self.dialect.streams.write(self.named(written), self.payload)

    def named(self, written: WrittenAnswer) -> WrittenAnswer:
        """The answer, with the names that the provider knows in its calls."""
        if not self.names:
            return written
        calls = (
            replace(call, function=replace(call.function, name=self.names.get(call.function.name, call.function.name)))
            for call in written.tool_calls
        )
        return replace(written, tool_calls=tuple(calls))


Answerer = Callable[[Asked], Response]
"""Answers a request of a dialect."""


def ask(dialect: Dialect, request: Request, endpoint: Endpoint | None = None) -> Asked:
    """The request to the service, with its body as JSON data."""
    try:
        text = request.body.decode("utf-8-sig")  # RFC 8259, 8.1; `json` would read UTF-16, too
        return Asked(dialect, request, json.loads(text), endpoint=endpoint)
    except (ValueError, RecursionError) as error:
        return Asked(dialect, request, trouble=str(error), endpoint=endpoint)


def answering_with(written: WrittenAnswer, change: Change | None = None) -> Answerer:
    """An answerer that gives this answer to every request, in one write. `change` is as in `Asked.answer`."""
    return lambda asked: in_one_write(asked.answer(written, change))


def answer_as_written(asked: Asked) -> Response:
    """The default answer: a short text."""
    return in_one_write(asked.answer(WrittenAnswer(content=WRITTEN_TEXT)))
