"""Spoils the events of a stream, or writes the same ones differently."""

from __future__ import annotations

import re
from typing import Final

from art_compliance.dialects.framing import change_bytes, truncate
from art_compliance.provider.faults.base import Good
from art_compliance.provider.script import Response


def malform(good: Good) -> Response:
    """An event in the middle loses part of its data and still ends as events do."""
    at = len(good.events) // 2
    event = good.events[at]
    broken = truncate(event)
    return good.resend([*good.events[:at], broken, *good.events[at + 1 :]])


def spoil_checksum(good: Good) -> Response:
    """A message in the middle has another last byte, which is one of its checksum's."""
    at = len(good.events) // 2
    *said, last = good.events[at]
    return good.resend([*good.events[:at], bytes((*said, last ^ 1)), *good.events[at + 1 :]])


def add_unknown_event(good: Good) -> Response:
    """An event of an unknown kind after the first."""
    return good.resend([good.events[0], good.dialect.streams.unknown_event, *good.events[1:]])


def add_comments(good: Good) -> Response:
    """A keep-alive before each event and after the last, and a comment on the first line of each."""
    return good.resend([*(b": keep-alive\n\n" + b":\n" + event for event in good.events), b": keep-alive\n\n"])


def add_events_without_data(good: Good) -> Response:
    """Before each event come others without data, which the standard does not dispatch.

    Gateways tell clients so when to reconnect: https://github.com/openai/openai-python/issues/2722.
    """
    return good.resend([b"retry: 3000\n\nid: %d\n\nevent: ping\n\n%b" % one for one in enumerate(good.events)])


def change_newlines(newline: bytes, good: Good) -> Response:
    """The same events with other line ends."""
    return good.resend([newline.join(event.splitlines()) + newline for event in good.events])


def add_fields(good: Good) -> Response:
    """The fields that only reconnecting clients need."""
    return good.resend([b"id: %d\nretry: 3000\n%b" % numbered for numbered in enumerate(good.events)])


def drop_blanks(good: Good) -> Response:
    """The same fields without the space after the colon."""
    lines = re.compile(rb"^(data|event): ", re.MULTILINE)
    return good.resend([lines.sub(rb"\1:", event) for event in good.events])


def split_lines(good: Good) -> Response:
    """The data of each event in two lines; the first is the opening brace."""
    return good.resend([event.replace(b"data: {", b"data: {\ndata: ", 1) for event in good.events])


def cut_between_line_ends(good: Good) -> Response:
    """As `split_lines`, with line ends of two characters, each of which is in another piece.

    Readers take the first for a line end and the second for another, which ends the event too early:
    https://github.com/ax-llm/ax/pull/622.
    """
    text = b"".join(event.replace(b"data: {", b"data: {\ndata: ", 1) for event in good.events)
    return good.resend([*text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n").replace(b"\r", b"\r\0").split(b"\0")])


def lengthen_event(good: Good) -> Response:
    """The event in the middle is as long as those with pictures, pages and encrypted reasoning: JSON may have blanks.

    Readers of lines stop at some length: https://github.com/open-webui/open-webui/pull/24928.
    """
    at = len(good.events) // 2
    long = change_bytes(good.events[at], lambda data: data.replace(b"{", b"{" + b" " * _LONG, 1))
    return good.resend([*good.events[:at], long, *good.events[at + 1 :]])


_LONG: Final = 300_000


def end_in_error(good: Good) -> Response:
    """The provider's own error event instead of the second half."""
    at = max(1, len(good.events) // 2)
    return good.resend([*good.events[:at], good.dialect.streams.write_error(503, "written error 503")])
