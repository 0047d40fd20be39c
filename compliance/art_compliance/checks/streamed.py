"""Streamed calls: how the provider streams the scenario's answer, whole, cut or paused, and what a call makes of it."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from art_compliance.checks.answerers import giving, half_of
from art_compliance.checks.requirements import NotApplicable, Requirement, require_read
from art_compliance.checks.trial import Trial
from art_compliance.dialects import CannotWrite
from art_compliance.dialects.framing import go_json, pieces, to_json
from art_compliance.provider import Answerer, Asked, Pause, Response, Send, Step
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Reply

STREAMS: Final[tuple[Requirement, ...]] = ("dialect", "call", "streaming", "declared")
"""What a trial must have so that an answer can be streamed to the adapter."""

STREAMED: Final[tuple[Requirement, ...]] = ("answer", *STREAMS)
"""As `STREAMS`, for the scenario's own answer."""


def stream(trial: Trial, answerer: Answerer, **options: Any) -> Reply:
    """The reply of a streamed call. Raises NotApplicable, also where the dialect cannot write the answer."""
    trial.require(*STREAMED)
    trial.once(_require_writable)
    options = {**trial.options, "stream": True, **options}
    return trial.subject.call(trial.scenario.prompt, options, answerer)


def _require_writable(trial: Trial) -> None:
    """Raises NotApplicable where the dialect cannot write the scenario's answer."""
    try:
        trial.dialect.streams.write(trial.written)
    except CannotWrite as error:
        raise NotApplicable(str(error)) from error


def whole_and_streamed(*, can_stream: bool) -> tuple[bool, ...]:
    """Whether a call is streamed: not, and, where the adapter can stream, that it is."""
    return (False, True) if can_stream else (False,)


def options_for(trial: Trial, *, streamed: bool) -> dict[str, Any]:
    """The scenario's options, with `stream` where the answer is streamed."""
    return {**trial.options, **({"stream": True} if streamed else {})}


def in_other_ways(trial: Trial, response: Response) -> Iterator[tuple[str, Reply]]:
    """The replies to this response where a stream is asked for, and by `call_sync`, with the words for each way."""
    prompt, give = trial.scenario.prompt, giving(response)
    if "streaming" in trial.subject.capabilities:
        yield "streamed: ", trial.subject.call(prompt, options_for(trial, streamed=True), give)
    if "call_sync" in trial.subject.call_methods:
        yield "by call_sync: ", trial.subject.call_by("call_sync", prompt, options_for(trial, streamed=False), give)


class StreamedReply(NamedTuple):
    """The reply of a streamed call to an answer, and whether every request asked for a stream.

    `events` are those of the answer to the last request for a stream.
    """

    reply: Reply
    is_asked_for: bool
    events: tuple[bytes, ...] = ()


def streamed_reply(trial: Trial) -> StreamedReply:
    """Answers with the scenario's answer, with one write per event, or unstreamed where the request asks for no stream.

    Raises as `stream` does.
    """
    wanted: list[bool] = []
    sent: list[tuple[bytes, ...]] = [()]

    def answer(asked: Asked) -> Response:
        wanted.append(asked.wants_stream)
        if asked.wants_stream:
            sent.append(events_of(trial, asked))
        return asked.answer(trial.written)

    reply = stream(trial, answer)
    return StreamedReply(reply, all(wanted), sent[-1])


def streamed(trial: Trial) -> Answered:
    """The scenario's answer, streamed. Raises NotApplicable if it is not read, or the request asks for no stream."""
    require_asked_for(trial)
    return require_read(trial.once(streamed_reply).reply)


def require_asked_for(trial: Trial) -> None:
    """Raises NotApplicable if the adapter asks for no stream although the option `stream` is set."""
    if not trial.once(streamed_reply).is_asked_for:
        raise NotApplicable("the request does not ask for a stream: see stream.answer-is-read")


def events_of(trial: Trial, asked: Asked) -> tuple[bytes, ...]:
    """The events of the scenario's answer to a request."""
    return asked.events(trial.written)


def script(trial: Trial, steps: Iterable[Step]) -> Response:
    """A streamed answer of these steps."""
    return Response(200, content_type=trial.dialect.streams.content_type, steps=tuple(steps))


def paused(trial: Trial, asked: Asked, seconds: float) -> Response:
    """The scenario's answer with a pause in the middle of its events."""
    events = events_of(trial, asked)
    half = half_of(events)
    return script(trial, [*map(Send, events[:half]), Pause(seconds), *map(Send, events[half:])])


def in_pieces(data: bytes, dice: random.Random, count: int) -> Iterator[bytes]:
    """The bytes, cut at random places, and more often than by chance inside characters and line ends."""
    inside = [found.start() for found in _INSIDE.finditer(data, 1)]
    drawn = dice.sample(range(1, len(data)), min(count, len(data) - 1)) + dice.sample(inside, min(count, len(inside)))
    cuts = sorted(set(drawn))
    return (data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True))


_INSIDE: Final = re.compile(rb"[\x80-\xbf]|(?<=\r)\n")
"""What follows a cut inside a character of UTF-8, or inside a line end."""


def text_in(written: WrittenAnswer, events: Iterable[bytes], fields: Iterable[str]) -> str | None:
    """The text in some of the answer's events: these fields carry its pieces in order, at most one per event.

    None for an answer with reasoning, which is in the same fields.
    """
    if written.thinking:
        return None
    waiting, arrived = list(pieces(written.content or "")), 0
    for event in events:
        if arrived < len(waiting) and _carries(event, waiting[arrived], fields):
            arrived += 1
    return "".join(waiting[:arrived])


def _carries(event: bytes, piece: str, fields: Iterable[str]) -> bool:
    """Whether one of the fields is exactly this piece: a field's name may contain the same letters."""
    written = (to_json(piece), go_json(piece))
    return any(f'"{name}":{value}'.encode() in event for name in fields for value in written)


def has_finish(events: Iterable[bytes], fields: Iterable[str], last: Iterable[str] = ()) -> bool:
    """Whether one of the events says why the answer ended: the answer is complete then.

    It has one of the fields, or is of one of the types `last`, where the fields are in other events, too.
    """
    kinds = "|".join(map(re.escape, last))
    pattern = rf'"type": ?"(?:{kinds})"' if kinds else rf'"(?:{"|".join(fields)})": ?"'
    finish = re.compile(pattern.encode())
    return any(finish.search(event) for event in events)
