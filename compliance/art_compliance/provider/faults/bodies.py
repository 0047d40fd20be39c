"""Spoils a body: another status or type, other bytes, or too many."""

from __future__ import annotations

import gzip
from typing import Final

from art_compliance.dialects.aws_events import CONTENT_TYPE, write_message
from art_compliance.dialects.framing import change_bytes, pieces, to_json
from art_compliance.provider.faults.base import EVENT_STREAM, Good
from art_compliance.provider.script import Response, Send

RETRY_AFTER: Final = 2
"""Seconds, in the header of every 429 here."""

LONG: Final = 10_000_000
"""Bytes of a body that is far too long."""

_PAGE: Final = b"<!DOCTYPE html><title>502</title><h1>Bad gateway</h1>\n"


def refuse(status: int, good: Good) -> Response:
    """The provider's own error body with this status."""
    headers = (("retry-after", str(RETRY_AFTER)),) if status == 429 else ()
    words, answers = f"written error {status}", good.dialect.answers
    return Response(
        status, answers.write_error(status, words), headers=(*answers.error_headers(status, words), *headers)
    )


def fail_in_front(status: int, body: bytes, _: Good) -> Response:
    """JSON of a server in front of the provider, whose errors have a form of their own."""
    return Response(status, body)


def page(status: int, size: int, _: Good) -> Response:
    """A page of HTML with at least this many bytes."""
    return Response(status, _PAGE * max(-(-size // len(_PAGE)), 1), "text/html")


def truncate_gzip(good: Good) -> Response:
    """The first half of the gzipped answer."""
    packed = gzip.compress(good.body, mtime=0)
    headers = (("content-encoding", "gzip"),)
    if good.content_type != "application/json":
        return good.script(Send(packed[: len(packed) // 2]), headers=headers)
    return Response(200, packed[: len(packed) // 2], headers=headers)


def break_utf8(good: Good) -> Response:
    """Bytes that are not UTF-8 inside a text or a name of the answer."""
    said = good.written
    text = said.content or said.thinking or (said.tool_calls[0].function.name if said.tool_calls else "")
    start = to_json(next(pieces(text), ""))[:-1].encode()
    spoiled = [change_bytes(event, lambda data: data.replace(start, start + b"\xff\xfe", 1)) for event in good.events]
    return good.resend(spoiled if tuple(spoiled) != good.events else [*good.events[:-1], b"\xff\xfe", good.events[-1]])


def other_json(_: Good) -> Response:
    """JSON that the provider has for other requests."""
    return Response(200, b'{"object":"list","data":[]}')


def unstream(good: Good) -> Response:
    """The whole answer as one body."""
    return Response(200, good.dialect.answers.write(good.written))


def name_charset(good: Good) -> Response:
    """The good answer, whose content type says in which charset it is, as those of many providers do."""
    return Response(200, content_type=f"{good.content_type}; charset=utf-8", steps=tuple(map(Send, good.events)))


def lengthen(size: int, good: Good) -> Response:
    """The good answer with this many bytes of padding that JSON and events allow."""
    if good.content_type == "application/json":
        return Response(200, good.body + b" " * size)
    if good.content_type == CONTENT_TYPE:
        return good.resend([write_message("padding", {"p": " " * size}), *good.events])
    if good.content_type != EVENT_STREAM:
        return good.resend([*good.events[:-1], b" " * size + good.events[-1]])
    return good.resend([b":" + b" " * size + b"\n\n", *good.events])
