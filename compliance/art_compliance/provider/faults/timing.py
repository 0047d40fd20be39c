"""Spoils when an answer arrives and where its connection ends."""

from __future__ import annotations

from art_compliance.dialects.aws_events import CONTENT_TYPE, write_message
from art_compliance.provider.faults.base import EVENT_STREAM, Good
from art_compliance.provider.script import Announce, Crawl, Drop, Pause, Response, Send, Start


def trickle(good: Good) -> Response:
    """Bytes that keep a connection alive and mean nothing."""
    crumbs = {EVENT_STREAM: b": keep-alive\n\n", CONTENT_TYPE: write_message("ping", {})}
    crumb = crumbs.get(good.content_type, b" ")
    return good.script(Start(), *(step for _ in range(12_000) for step in (Send(crumb), Pause(0.05))))


def announce(good: Good) -> Response:
    """Heads that say that the answer is still to come."""
    return good.script(*(step for _ in range(12_000) for step in (Announce(102), Pause(0.05))))


def crawl(good: Good) -> Response:
    """The good answer behind a head that comes slowly."""
    return good.script(Crawl(0.05), *map(Send, good.events))


def cut_refusal(good: Good) -> Response:
    """The provider's own refusal of the key, of which only a part arrives."""
    body = good.dialect.answers.write_error(401, "written error 401")
    steps = (Send(body[: len(body) // 2]), Drop())
    return Response(401, headers=(("content-length", str(len(body))),), steps=steps)


def slow_down(good: Good) -> Response:
    """A pause after each event."""
    steps = (step for event in good.events for step in (Send(event), Pause(0.02)))
    return good.script(*steps)


def keep_steady(good: Good) -> Response:
    """Six pieces with a pause after each."""
    step = -(-len(good.body) // 6)
    parts = [good.body[at : at + step] for at in range(0, len(good.body), step)]
    return good.script(*(step for part in parts for step in (Send(part), Pause(0.15))))


def begin_late(good: Good) -> Response:
    """A pause before anything is sent."""
    return good.script(Pause(0.8), *map(Send, good.events))


def pause_once(good: Good) -> Response:
    """A pause in the middle of the body."""
    begun = half(good)
    return good.script(Send(begun), Pause(0.7), Send(good.body[len(begun) :]))


def keep_alive(good: Good) -> Response:
    """Comments alone for 0.75 s in the middle of the events, a few in a second."""
    at = len(good.events) // 2
    waiting = (Send(b": keep-alive\n\n"), Pause(0.15)) * 5
    return good.script(*map(Send, good.events[:at]), *waiting, *map(Send, good.events[at:]))


def half(good: Good) -> bytes:
    """The first half of the body."""
    return good.body[: len(good.body) // 2]


def cut_body(good: Good) -> Response:
    """The connection closes after half of the body, short of its length."""
    return good.script(Send(half(good)), Drop(), headers=(("content-length", str(len(good.body))),))
