"""Every fault without a number, as a table."""

from __future__ import annotations

import gzip
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from art_compliance.dialects.aws_events import CONTENT_TYPE
from art_compliance.provider.faults.base import EVENT_STREAM, STREAMED, UNSTREAMED, Fault, Good
from art_compliance.provider.faults.bodies import (
    LONG,
    RETRY_AFTER,
    break_utf8,
    fail_in_front,
    lengthen,
    name_charset,
    other_json,
    page,
    refuse,
    truncate_gzip,
    unstream,
)
from art_compliance.provider.faults.events import (
    add_comments,
    add_events_without_data,
    add_fields,
    add_unknown_event,
    change_newlines,
    cut_between_line_ends,
    drop_blanks,
    end_in_error,
    lengthen_event,
    malform,
    split_lines,
    spoil_checksum,
)
from art_compliance.provider.faults.timing import (
    announce,
    begin_late,
    crawl,
    cut_body,
    cut_refusal,
    half,
    keep_alive,
    keep_steady,
    pause_once,
    slow_down,
    trickle,
)
from art_compliance.provider.script import Drop, Hang, Pause, Raw, Reset, Response, Send, Start

_LINES: Final = "application/x-ndjson"

_STATUSES: Final = {
    400: "the request is rejected",
    401: "the key is unknown",
    403: "the key lacks permission",
    404: "the model is unknown",
    408: "the provider waited too long for the request",
    413: "the request is too long",
    422: "the request is understood, but rejected",
    429: f"too many requests; Retry-After says {RETRY_AFTER} seconds",
    500: "the provider failed",
    503: "the provider is not available",
    529: "the provider is overloaded",
}


def _status_faults() -> Iterator[Fault]:
    for status, words in _STATUSES.items():
        text = f"status {status} with the provider's own error body: {words}"
        yield Fault(id=f"status-{status}", words=text, spoil=partial(refuse, status), status=status)


def _long(name: str, words: str, of_size: Callable[[int, Good], Response], **more: Any) -> Fault:
    """A body of 10 MB. A client that searches it for a minute is slow, but what it then gives may be right."""
    return Fault(id=name, words=words, spoil=partial(of_size, LONG), of_size=of_size, patience=60.0, **more)


_TABLE: Final = (
    *_status_faults(),
    Fault(id="empty-body", words="status 200 with an empty body", spoil=lambda good: good.script()),
    Fault(id="html-page", words="status 200 with a page of HTML", spoil=partial(page, 200, 0)),
    Fault(id="html-page-502", words="status 502 with a page of HTML", spoil=partial(page, 502, 0), status=502),
    Fault(
        id="gateways-json-502",
        words="status 502 with the JSON of a gateway in front of the provider",
        spoil=partial(fail_in_front, 502, b'{"message": "the upstream server failed"}'),
        status=502,
    ),
    Fault(
        id="word-in-json-504",
        words="status 504 with a JSON string",
        spoil=partial(fail_in_front, 504, b'"Gateway Timeout"'),
        status=504,
    ),
    _long("long-page", "status 200 with 10 MB of HTML", partial(page, 200)),
    _long("long-page-502", "status 502 with 10 MB of HTML", partial(page, 502), status=502),
    Fault(
        id="wrong-content-type",
        words="the good answer with the content type text/html",
        spoil=lambda good: Response(200, content_type="text/html", steps=tuple(map(Send, good.events))),
        expects="either",  # the official clients read it, and nothing is lost
        on=STREAMED,
    ),
    Fault(
        id="unstreamed-instead",
        words="the whole answer unstreamed, although a stream was requested",
        spoil=unstream,
        expects="either",
        on=STREAMED,
    ),
    Fault(id="other-json", words="status 200 with JSON that is not an answer", spoil=other_json),
    _long("long-body", "the good answer with 10 MB of padding", lengthen, expects="either"),
    Fault(id="truncated-gzip", words="half of a gzipped body", spoil=truncate_gzip),
    Fault(
        id="bad-utf8",
        words="bytes in a text that are not UTF-8",
        spoil=break_utf8,
        official_clients_read_it=True,  # google-genai, and all in JavaScript: fetch replaces such bytes by U+FFFD
    ),
    Fault(
        id="cut-body",
        words="the connection closes after half of the body, short of its content-length",
        spoil=cut_body,
    ),
    Fault(
        id="cut-body-chunked",
        words="the connection closes after half of the body, without the last chunk",
        spoil=lambda good: good.script(Send(half(good)), Drop()),
    ),
    Fault(
        id="half-body",
        words="half of the body, ended as if it were complete",
        spoil=lambda good: good.script(Send(half(good))),
    ),
    Fault(
        id="cut-refusal",
        words="status 401, and the connection closes after half of the body",
        spoil=cut_refusal,
        status=401,
    ),
    Fault(
        id="close-before-head",
        words="the connection closes before anything is sent",
        spoil=lambda good: good.script(Drop()),
    ),
    Fault(id="reset-before-head", words="a reset before anything is sent", spoil=lambda good: good.script(Reset())),
    Fault(
        id="cut-in-head",
        words="the connection closes inside the head",
        spoil=lambda good: good.script(Raw(b"HTTP/1.1 200 OK\r\ncontent-ty"), Drop()),
    ),
    Fault(
        id="not-http",
        words="bytes that are not HTTP, as a port of TLS answers: an alert",
        spoil=lambda good: good.script(Raw(b"\x15\x03\x01\x00\x02\x02\x46"), Drop()),
    ),
    Fault(
        id="reset-mid-body",
        words="a reset after half of the body",
        spoil=lambda good: good.script(Send(half(good)), Pause(0.02), Reset()),
    ),
    Fault(
        id="hang-before-head",
        words="nothing is sent, and the connection stays open",
        spoil=lambda good: good.script(Hang()),
        hangs=True,
    ),
    Fault(
        id="hang-after-head",
        words="the head is sent, and nothing more",
        spoil=lambda good: good.script(Start(), Hang()),
        hangs=True,
    ),
    Fault(
        id="hang-mid-body",
        words="half of the body is sent, and nothing more",
        spoil=lambda good: good.script(Send(half(good)), Hang()),
        hangs=True,
    ),
    Fault(id="trickle", words="meaningless bytes for ten minutes", spoil=trickle, hangs=True),
    Fault(
        id="endless-announcements",
        words="heads with status 102 for ten minutes, and no answer",
        spoil=announce,
        hangs=True,
    ),
    Fault(id="slow-head", words="the head is sent byte by byte, with 50 ms between them", spoil=crawl, hangs=True),
    Fault(
        id="error-in-stream",
        words="the provider's own error event in the middle, after status 200",
        spoil=end_in_error,
        on=STREAMED,
    ),
    Fault(id="malformed-frame", words="an event in the middle with truncated data", spoil=malform, on=STREAMED),
    Fault(
        id="missing-end",
        words="the last event is missing, and the stream ends in order",
        spoil=lambda good: good.resend(good.events[:-1]),
        expects="either",  # only the end mark may be missing, after the whole answer
        on=STREAMED,
    ),
    Fault(
        id="double-end",
        words="the last event twice",
        spoil=lambda good: good.resend([*good.events, good.events[-1]]),
        expects="either",
        on=STREAMED,
    ),
    Fault(id="slow", words="20 ms between the events", spoil=slow_down, expects="whole"),
    Fault(
        id="byte-by-byte",
        words="every byte sent separately",
        spoil=lambda good: good.resend([bytes((byte,)) for byte in good.body]),
        expects="whole",
    ),
    Fault(
        id="one-piece",
        words="everything in one piece",
        spoil=lambda good: good.resend([good.body]),
        expects="whole",
        on=STREAMED,
    ),
    Fault(
        id="whole-gzip",
        words="the whole body gzipped",
        spoil=lambda good: good.script(
            Send(gzip.compress(good.body, mtime=0)), headers=(("content-encoding", "gzip"),)
        ),
        expects="whole",
    ),
    Fault(
        id="unknown-event",
        words="an event of an unknown kind, which clients skip",
        spoil=add_unknown_event,
        expects="whole",
        on=STREAMED,
    ),
    Fault(
        id="wrong-checksum",
        words="a message in the middle with a wrong checksum",
        spoil=spoil_checksum,
        on=STREAMED,
        within=CONTENT_TYPE,
    ),
    Fault(
        id="comments",
        words="comments and keep-alives between, inside and after the events",
        spoil=add_comments,
        expects="whole",
        on=STREAMED,
        within=EVENT_STREAM,
    ),
    Fault(
        id="further-fields",
        words="events with the fields id and retry",
        spoil=add_fields,
        expects="whole",
        on=STREAMED,
        within=EVENT_STREAM,
    ),
    Fault(
        id="events-without-data",
        words="events without data between its own, which clients skip",
        spoil=add_events_without_data,
        expects="whole",
        on=STREAMED,
        within=EVENT_STREAM,
    ),
    Fault(
        id="no-blank-after-colon",
        words="fields without a space after the colon",
        spoil=drop_blanks,
        expects="whole",
        on=STREAMED,
        within=EVENT_STREAM,
    ),
    Fault(
        id="data-in-lines",
        words="data in two lines of one event",
        spoil=split_lines,
        expects="whole",
        on=STREAMED,
        within=EVENT_STREAM,
    ),
    Fault(
        id="lines-end-with-crlf",
        words="lines that end with carriage return and line feed",
        spoil=partial(change_newlines, b"\r\n"),
        expects="whole",
        on=STREAMED,
        is_of_text=True,
    ),
    Fault(
        id="cut-between-line-ends",
        words="data in two lines that end with carriage return and line feed, each in another piece",
        spoil=cut_between_line_ends,
        expects="whole",
        on=STREAMED,
        within=EVENT_STREAM,
    ),
    Fault(
        id="lines-end-with-cr",
        words="lines that end with a carriage return only",
        spoil=partial(change_newlines, b"\r"),
        expects="whole",
        on=STREAMED,
        within=EVENT_STREAM,
    ),
    Fault(
        id="long-event",
        words="an event of 300 kB, most of it blanks between its fields",
        spoil=lengthen_event,
        expects="whole",
        on=STREAMED,
    ),
    Fault(
        id="charset",
        words="the good answer, whose content type names its charset",
        spoil=name_charset,
        expects="whole",
        is_of_text=True,
    ),
    Fault(
        id="no-last-line-end",
        words="no line end after the last line",
        spoil=lambda good: good.script(Send(good.body.rstrip(b"\n"))),
        expects="whole",
        on=STREAMED,
        within=_LINES,
    ),
    Fault(
        id="blank-lines-first",
        words="blank lines before the JSON, which keep a slow connection open",
        spoil=lambda good: good.script(Send(b"\n\n"), Pause(0.02), Send(b"\n" + good.body)),
        expects="whole",
        on=UNSTREAMED,
    ),
    Fault(
        id="marked-body",
        words="a byte order mark before the body, which readers of JSON may refuse",
        spoil=lambda good: good.script(Send(BOM_UTF8 + good.body)),
        expects="either",  # RFC 8259, 8.1
        on=UNSTREAMED,
    ),
    Fault(
        id="byte-order-mark",
        words="a byte order mark before the first event",
        spoil=lambda good: good.resend([b"\xef\xbb\xbf" + good.events[0], *good.events[1:]]),
        expects="whole",
        on=STREAMED,
        is_of_text=True,
    ),
)

FAULTS: Final[Mapping[str, Fault]] = {fault.id: fault for fault in _TABLE}
"""Every fault without a number, by id."""

STEADY: Final = Fault(
    id="steady",
    words="a good answer that takes 0.9 s in total, without long pauses",
    spoil=keep_steady,
    expects="whole",
)
"""Clients that limit pauses, not the total, must read it whole. It is usual, so it is not in the table."""

PAUSED: Final = Fault(
    id="paused",
    words="a good stream with a pause of 0.7 s in its middle",
    spoil=pause_once,
    expects="whole",
    on=STREAMED,
)
"""Whoever limits the wait for the connection alone must read it whole.

Many clients have one limit for each read, so `first_byte` may end a pause, too.
"""

LATE: Final = Fault(
    id="late",
    words="a good answer that begins after 0.8 s",
    spoil=begin_late,
    expects="whole",
)
"""Whoever has no limit must read it whole."""

KEPT_ALIVE: Final = Fault(
    id="kept-alive",
    words="a good stream in which comments alone come for 0.75 s",
    spoil=keep_alive,
    expects="whole",
    on=STREAMED,
    within=EVENT_STREAM,
)
"""As OpenRouter sends them while a model thinks (openrouter.ai/docs/api/reference/streaming)."""
