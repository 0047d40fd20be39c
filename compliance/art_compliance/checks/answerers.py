"""Answers that several checks have the provider give to every request: a response, an error, a stream that is cut."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Final

from msgspec.structs import replace

from art_compliance.checks.limits import RETRY_AFTER
from art_compliance.dialects import Dialect
from art_compliance.provider import Answerer, Asked, Drop, Response, Send
from art_compliance.scenarios import WrittenAnswer

ID_HEADERS: Final = ("x-request-id", "request-id", "x-amzn-requestid", "apim-request-id", "x-goog-request-id")
"""The headers in which providers name a request."""


def giving(response: Response) -> Answerer:
    """Gives this response, whatever is asked for."""
    return lambda _: response


def by_text(answerers: Mapping[str, Answerer]) -> Answerer:
    """Answers each of concurrent calls in its own way. Their prompts have the texts that distinguish them."""

    def answer(asked: Asked) -> Response:
        found = [one for text, one in answerers.items() if text in str(asked.payload)]
        if len(found) != 1:
            return Response(500, f"the request has the texts of {len(found)} calls".encode(), "text/plain")
        return found[0](asked)

    return answer


def refusing(status: int, words: str | None = None) -> Answerer:
    """Gives an error answer with this HTTP status and words, in the dialect of the request."""
    said = f"written error {status}" if words is None else words

    def refuse(asked: Asked) -> Response:
        answers = asked.dialect.answers
        return Response(status, answers.write_error(status, said), headers=answers.error_headers(status, said))

    return refuse


def busy(asked: Asked) -> Response:
    """A 503 answer with a Retry-After that adapters which retry wait for."""
    return replace(refusing(503)(asked), headers=(("retry-after", str(RETRY_AFTER)),))


def cutting(written: WrittenAnswer) -> Answerer:
    """Streams the first half of the answer's events, rounded up, and drops the connection."""

    def cut(asked: Asked) -> Response:
        events = asked.dialect.streams.write(written, asked.payload)
        begun = map(Send, events[: half_of(events)])
        return Response(200, content_type=asked.dialect.streams.content_type, steps=(*begun, Drop()))

    return cut


def error_stream(dialect: Dialect, status: int, words: str) -> Response:
    """A stream, with HTTP status 200, of one error event."""
    event = Send(dialect.streams.write_error(status, words))
    return Response(200, content_type=dialect.streams.content_type, steps=(event,))


def http_date(seconds: float) -> str:
    """The time in so many seconds, as a header has it: RFC 9110, 5.6.7."""
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


def half_of(events: tuple[bytes, ...]) -> int:
    """How many events are the first half, rounded up."""
    return -(-len(events) // 2)
