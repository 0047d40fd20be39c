"""Answers that several checks have the provider give to every request: a response, an error, a stream that is cut."""

from __future__ import annotations

from art_compliance.dialects import Dialect
from art_compliance.provider import Answerer, Asked, Drop, Response, Send
from art_compliance.scenarios import WrittenAnswer


def giving(response: Response) -> Answerer:
    """Gives this response, whatever is asked for."""
    return lambda _: response


def refusing(status: int) -> Answerer:
    """Gives an error answer with this HTTP status, in the dialect of the request."""

    def refuse(asked: Asked) -> Response:
        words, answers = f"written error {status}", asked.dialect.answers
        return Response(status, answers.write_error(status, words), headers=answers.error_headers(status, words))

    return refuse


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


def half_of(events: tuple[bytes, ...]) -> int:
    """How many events are the first half, rounded up."""
    return -(-len(events) // 2)
