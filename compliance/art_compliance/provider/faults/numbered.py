"""Faults at one event of a stream, by its number, such as `cut-after-event-3`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from art_compliance.findings import HarnessError
from art_compliance.provider.asking import Asked
from art_compliance.provider.faults.base import STREAMED, Fault, Good, good_answer
from art_compliance.provider.script import Drop, Hang, Pause, Reset, Response, Send, Step
from art_compliance.scenarios import WrittenAnswer

_Spoil = Callable[[int, tuple[Step, ...], Good], Response]
"""Makes a response from the event's number, the steps that follow there, and the good answer."""


def _after(at: int, how: tuple[Step, ...], good: Good) -> Response:
    return good.script(*map(Send, good.events[:at]), *how)


def _inside(at: int, how: tuple[Step, ...], good: Good) -> Response:
    *before, event = good.events[:at]
    return good.script(*map(Send, (*before, event[: len(event) // 2])), *how)


NUMBERED: Final[Mapping[str, tuple[str, _Spoil, tuple[Step, ...]]]] = {
    "cut-after-event": ("the connection closes after event {}", _after, (Drop(),)),
    "cut-in-event": ("the connection closes in the middle of event {}", _inside, (Drop(),)),
    "end-after-event": ("the stream ends in order after event {}", _after, ()),
    "end-in-event": ("the stream ends in order in the middle of event {}", _inside, ()),
    "reset-after-event": ("a reset after event {}", _after, (Pause(0.02), Reset())),
    "hang-after-event": ("nothing more comes after event {}", _after, (Hang(),)),
}


def numbered_fault(kind: str, number: int) -> Fault:
    """A fault at an event of the stream, counted from 1. Raises HarnessError for an unknown kind."""
    if kind not in NUMBERED:
        raise HarnessError(f"unknown fault {kind!r} of an event; known: {', '.join(NUMBERED)}")
    words, spoil, how = NUMBERED[kind]
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
