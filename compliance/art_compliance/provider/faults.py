"""What goes wrong between a provider and its client, as a table: each fault makes a script of a good answer.

A fault may be benign: the answer is still there, and must be read whole. `find_fault` knows the faults of the
table and those that are told with a number: `cut-after-event-3` and its like.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Final, Literal

from msgspec import Struct

from art_compliance.dialects import Dialect
from art_compliance.dialects.framing import pieces, to_json
from art_compliance.findings import HarnessError
from art_compliance.provider.asking import Asked
from art_compliance.provider.script import Drop, Hang, Pause, Reset, Response, Send, Start, Step
from art_compliance.scenarios import WrittenAnswer

Kind = Literal["streamed", "unstreamed"]
BOTH: Final[frozenset[Kind]] = frozenset({"streamed", "unstreamed"})
STREAMED: Final[frozenset[Kind]] = frozenset({"streamed"})
UNSTREAMED: Final[frozenset[Kind]] = frozenset({"unstreamed"})

RETRY_AFTER: Final = 2
"""Seconds, in the header of every 429 here."""

LONG: Final = 10_000_000
"""Bytes of a body that is far too long."""


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
            message = f"the fault {self.id} is for {' and '.join(sorted(self.on))} answers, and another is asked for"
            raise HarnessError(message)
        return self.spoil(good_answer(written, asked))


def good_answer(written: WrittenAnswer, asked: Asked) -> Good:
    """What a fault starts from. Raises CannotWrite."""
    dialect = asked.dialect
    if asked.wants_stream:
        return Good(written, dialect, *asked.stream(written))
    return Good(written, dialect, (dialect.write_response(written),), "application/json")


# Statuses.

_STATUSES: Final = {
    400: "the request is refused",
    401: "the key is not known",
    403: "the key may not do this",
    404: "the model is not known",
    408: "the provider waited too long for the request",
    413: "the request is too long",
    422: "the request is understood and refused",
    429: f"too many requests; Retry-After says {RETRY_AFTER} seconds",
    500: "the provider failed",
    503: "the provider is not available",
    529: "the provider is overloaded",
}


def _refuse(status: int, good: Good) -> Response:
    headers = (("retry-after", str(RETRY_AFTER)),) if status == 429 else ()
    return Response(status, good.dialect.write_error(status, f"written error {status}"), headers=headers)


def _status_faults() -> Iterator[Fault]:
    for status, words in _STATUSES.items():
        told = f"status {status} with the provider's own error body: {words}"
        yield Fault(id=f"status-{status}", words=told, spoil=partial(_refuse, status), status=status)


# Bodies that are not what they should be.

_PAGE: Final = b"<!DOCTYPE html><title>502</title><h1>Bad gateway</h1>\n"


def _page(status: int, size: int, _: Good) -> Response:
    return Response(status, (_PAGE * (size // len(_PAGE) + 1))[: max(size, len(_PAGE))], "text/html")


def _truncated_gzip(good: Good) -> Response:
    packed = gzip.compress(good.body, mtime=0)
    headers = (("content-encoding", "gzip"),)
    if good.content_type != "application/json":
        return good.script(Send(packed[: len(packed) // 2]), headers=headers)
    return Response(200, packed[: len(packed) // 2], headers=headers)


def _bad_utf8(good: Good) -> Response:
    """Inside a text of the answer, or a name: in what is told, not in what tells it."""
    said = good.written
    text = said.content or said.thinking or (said.tool_calls[0].function.name if said.tool_calls else "")
    start = to_json(next(pieces(text), ""))[:-1].encode()
    spoiled = [event.replace(start, start + b"\xff\xfe", 1) for event in good.events]
    return good.resend(spoiled if tuple(spoiled) != good.events else [*good.events[:-1], b"\xff\xfe", good.events[-1]])


def _other_json(_: Good) -> Response:
    return Response(200, b'{"object":"list","data":[]}')


def _unstreamed(good: Good) -> Response:
    return Response(200, good.dialect.write_response(good.written))


def _long(good: Good) -> Response:
    """The good answer, and as much of nothing as JSON and events allow."""
    if good.content_type == "application/json":
        return Response(200, good.body + b" " * LONG)
    return good.resend([b":" + b" " * LONG + b"\n\n", *good.events])


# The order of events.


def _malformed(good: Good) -> Response:
    """A frame in the middle whose data is half of what it was, and ends as frames do."""
    at = len(good.events) // 2
    event = good.events[at]
    broken = event.rstrip()[: -max(1, len(event) // 3)] + b"\n\n"
    return good.resend([*good.events[:at], broken, *good.events[at + 1 :]])


def _unknown_event(good: Good) -> Response:
    return good.resend([good.events[0], good.dialect.unknown_event, *good.events[1:]])


def _with_comments(good: Good) -> Response:
    return good.resend([b": keep-alive\n\n" + b":\n" + event for event in good.events])


def _with_newlines(newline: bytes, good: Good) -> Response:
    return good.resend([newline.join(event.splitlines()) + newline for event in good.events])


def _with_fields(good: Good) -> Response:
    """With the fields that only who connects again needs."""
    return good.resend([b"id: %d\nretry: 3000\n%b" % numbered for numbered in enumerate(good.events)])


def _without_blanks(good: Good) -> Response:
    lines = re.compile(rb"^(data|event): ", re.MULTILINE)
    return good.resend([lines.sub(rb"\1:", event) for event in good.events])


def _in_lines(good: Good) -> Response:
    return good.resend([event.replace(b"data: {", b"data: {\ndata: ", 1) for event in good.events])


def _error_event(good: Good) -> Response:
    at = max(1, len(good.events) // 2)
    return good.resend([*good.events[:at], good.dialect.write_stream_error(503, "written error 503")])


# Time, and the connection.


def _trickle(good: Good) -> Response:
    """Bytes that keep a connection awake, and say nothing."""
    crumb = b" " if good.content_type == "application/json" else b": keep-alive\n\n"
    return good.script(Start(), *(step for _ in range(12_000) for step in (Send(crumb), Pause(0.05))))


def _slow(good: Good) -> Response:
    steps = (step for event in good.events for step in (Send(event), Pause(0.02)))
    return good.script(*steps)


def _steady(good: Good) -> Response:
    step = -(-len(good.body) // 6)
    parts = [good.body[at : at + step] for at in range(0, len(good.body), step)]
    return good.script(*(step for part in parts for step in (Send(part), Pause(0.15))))


def _half(good: Good) -> bytes:
    return good.body[: len(good.body) // 2]


def _cut_body(good: Good) -> Response:
    return good.script(Send(_half(good)), Drop(), headers=(("content-length", str(len(good.body))),))


_TABLE: Final = (
    *_status_faults(),
    Fault(id="empty-body", words="status 200, and nothing in the body", spoil=lambda good: good.script()),
    Fault(id="html-page", words="status 200, and a page of HTML", spoil=partial(_page, 200, 0)),
    Fault(id="html-page-502", words="status 502, and a page of HTML", spoil=partial(_page, 502, 0), status=502),
    Fault(id="long-page", words="status 200, and 10 MB of HTML", spoil=partial(_page, 200, LONG)),
    Fault(id="long-page-502", words="status 502, and 10 MB of HTML", spoil=partial(_page, 502, LONG), status=502),
    Fault(
        id="wrong-content-type",
        words="the good answer under the content type text/html",
        spoil=lambda good: Response(200, content_type="text/html", steps=tuple(map(Send, good.events))),
        expects="either",  # the official clients read it, and nothing of it is lost
        on=STREAMED,
    ),
    Fault(
        id="unstreamed-instead",
        words="the whole answer unstreamed, where a stream was asked for",
        spoil=_unstreamed,
        expects="either",
        on=STREAMED,
    ),
    Fault(id="other-json", words="status 200, and JSON that is no answer", spoil=_other_json),
    Fault(id="long-body", words="the good answer, and 10 MB of blanks", spoil=_long, expects="either"),
    Fault(id="truncated-gzip", words="a body that says gzip, and is half of it", spoil=_truncated_gzip),
    Fault(id="bad-utf8", words="bytes in a text that are no UTF-8", spoil=_bad_utf8),
    Fault(
        id="cut-body",
        words="half of the body, then the connection closes, short of its content-length",
        spoil=_cut_body,
    ),
    Fault(
        id="cut-body-chunked",
        words="half of the body, then the connection closes, without the last chunk",
        spoil=lambda good: good.script(Send(_half(good)), Drop()),
    ),
    Fault(
        id="half-body",
        words="half of the body, ended as if it were whole",
        spoil=lambda good: good.script(Send(_half(good))),
    ),
    Fault(
        id="close-before-head",
        words="the connection closes before anything is sent",
        spoil=lambda good: good.script(Drop()),
    ),
    Fault(id="reset-before-head", words="a reset before anything is sent", spoil=lambda good: good.script(Reset())),
    Fault(
        id="reset-mid-body",
        words="a reset after half of the body",
        spoil=lambda good: good.script(Send(_half(good)), Pause(0.02), Reset()),
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
        spoil=lambda good: good.script(Send(_half(good)), Hang()),
        hangs=True,
    ),
    Fault(id="trickle", words="bytes that say nothing, for ten minutes", spoil=_trickle, hangs=True),
    Fault(
        id="error-in-stream",
        words="the provider's own error event in the middle, after status 200",
        spoil=_error_event,
        on=STREAMED,
    ),
    Fault(id="malformed-frame", words="an event in the middle whose data is half of it", spoil=_malformed, on=STREAMED),
    Fault(
        id="missing-end",
        words="the last event is missing, and the stream ends in order",
        spoil=lambda good: good.resend(good.events[:-1]),
        expects="either",  # what is missing may be the mark alone, after everything was said
        on=STREAMED,
    ),
    Fault(
        id="double-end",
        words="the last event twice",
        spoil=lambda good: good.resend([*good.events, good.events[-1]]),
        expects="either",
        on=STREAMED,
    ),
    Fault(
        id="slow",
        words="20 ms between the events",
        spoil=_slow,
        expects="whole",
    ),
    Fault(
        id="byte-by-byte",
        words="every byte sent by itself",
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
        words="a body in gzip, whole",
        spoil=lambda good: good.script(
            Send(gzip.compress(good.body, mtime=0)), headers=(("content-encoding", "gzip"),)
        ),
        expects="whole",
    ),
    Fault(
        id="unknown-event",
        words="an event of a kind that is not known, to be passed over",
        spoil=_unknown_event,
        expects="whole",
        on=STREAMED,
    ),
    Fault(
        id="comments",
        words="comments and keep-alives between and inside the events",
        spoil=_with_comments,
        expects="whole",
        on=STREAMED,
    ),
    Fault(
        id="further-fields",
        words="events with the fields id and retry",
        spoil=_with_fields,
        expects="whole",
        on=STREAMED,
    ),
    Fault(
        id="no-blank-after-colon",
        words="fields whose values follow the colon at once",
        spoil=_without_blanks,
        expects="whole",
        on=STREAMED,
    ),
    Fault(
        id="data-in-lines",
        words="data in two lines of one event",
        spoil=_in_lines,
        expects="whole",
        on=STREAMED,
    ),
    Fault(
        id="lines-end-with-crlf",
        words="lines that end with carriage return and line feed",
        spoil=partial(_with_newlines, b"\r\n"),
        expects="whole",
        on=STREAMED,
    ),
    Fault(
        id="lines-end-with-cr",
        words="lines that end with a carriage return alone",
        spoil=partial(_with_newlines, b"\r"),
        expects="whole",
        on=STREAMED,
    ),
    Fault(
        id="byte-order-mark",
        words="a byte order mark ahead of the first event",
        spoil=lambda good: good.resend([b"\xef\xbb\xbf" + good.events[0], *good.events[1:]]),
        expects="whole",
        on=STREAMED,
    ),
)

STUMBLES: Final[Mapping[str, tuple[str, ...]]] = {
    "byte-order-mark": ("anthropic-messages", "gemini-generate"),
    "comments": ("gemini-generate",),
    "further-fields": ("gemini-generate",),
    "no-blank-after-colon": ("gemini-generate",),
}
"""What the standard of server-sent events takes, and the provider's own client of today does not, by dialect.

Source: anthropic 2.12 and google-genai 3.4, whose clients our tests drive through each.
"""

FAULTS: Final[Mapping[str, Fault]] = {fault.id: fault for fault in _TABLE}
"""Every fault that needs no number."""


STEADY: Final = Fault(
    id="steady",
    words="a good answer that takes 0.9 s in all, and never pauses for long",
    spoil=_steady,
    expects="whole",
)
"""To be read whole by whoever limits the pauses and not the whole. It is none of the table: it is what is usual."""


# Faults of one event.


def _after(at: int, how: tuple[Step, ...], good: Good) -> Response:
    return good.script(*map(Send, good.events[:at]), *how)


def _inside(at: int, how: tuple[Step, ...], good: Good) -> Response:
    *before, event = good.events[:at]
    return good.script(*map(Send, (*before, event[: len(event) // 2])), *how)


_NUMBERED: Final[Mapping[str, tuple[str, Callable[[int, tuple[Step, ...], Good], Response], tuple[Step, ...]]]] = {
    "cut-after-event": ("the connection closes after event {}", _after, (Drop(),)),
    "cut-in-event": ("the connection closes in the middle of event {}", _inside, (Drop(),)),
    "end-after-event": ("the stream ends in order after event {}", _after, ()),
    "end-in-event": ("the stream ends in order in the middle of event {}", _inside, ()),
    "reset-after-event": ("a reset after event {}", _after, (Pause(0.02), Reset())),
    "hang-after-event": ("nothing more comes after event {}", _after, (Hang(),)),
}


def numbered_fault(kind: str, number: int) -> Fault:
    """A fault at an event of the stream, counted from 1. Raises HarnessError for a kind that is not known."""
    if kind not in _NUMBERED:
        message = f"there is no fault {kind!r} of an event; known: {', '.join(_NUMBERED)}"
        raise HarnessError(message)
    words, spoil, how = _NUMBERED[kind]
    return Fault(
        id=f"{kind}-{number}",
        words=words.format(number),
        spoil=partial(spoil, number, how),
        on=STREAMED,
        hangs=kind.startswith("hang"),
    )


def faults_at_events(written: WrittenAnswer, asked: Asked) -> tuple[Fault, ...]:
    """Cuts and early ends of this answer: inside each event, and after each but the last. Raises CannotWrite."""
    count = len(good_answer(written, asked).events)
    kinds = ("cut-after-event", "cut-in-event", "end-after-event", "end-in-event")
    return tuple(
        numbered_fault(kind, number)
        for kind in kinds
        for number in range(1, count + 1)
        if number < count or "-in-" in kind
    )


def find_fault(name: str) -> Fault:
    """The fault of that name. Raises HarnessError with those that there are."""
    if name in FAULTS:
        return FAULTS[name]
    told = re.fullmatch(r"(.+)-([1-9][0-9]{0,5})", name)
    if told is not None and told[1] in _NUMBERED:
        return numbered_fault(told[1], int(told[2]))
    known = (*FAULTS, *(f"{kind}-N" for kind in _NUMBERED))
    near = get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
    message = f"there is no fault {name!r}{hint}"
    raise HarnessError(message)
