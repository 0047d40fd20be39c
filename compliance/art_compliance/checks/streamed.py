"""What the checks of streams look at: the scenario's answer as the provider streams it, and what a call makes of it."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from art_compliance.checks.answer_laws import wrong_ids
from art_compliance.checks.requirements import NotApplicable, Requirement
from art_compliance.checks.trial import Trial
from art_compliance.comparison.normal_form import same_json
from art_compliance.dialects import CannotWrite
from art_compliance.dialects.framing import pieces, to_json
from art_compliance.provider import Answerer, Asked, Pause, Response, Send, Step
from art_compliance.quoting import show
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Refused, Reply

STREAMS: Final[tuple[Requirement, ...]] = ("dialect", "call", "streaming", "declared")
"""What a trial must have so that an answer can be streamed to the adapter."""

STREAMED: Final[tuple[Requirement, ...]] = ("answer", *STREAMS)
"""As `STREAMS`, for the scenario's own answer."""


def stream(trial: Trial, answerer: Answerer, **options: Any) -> Reply:
    """What a streamed call gives when it is answered so. Raises NotApplicable, also for what the dialect cannot say."""
    trial.require(*STREAMED)
    told = {**trial.scenario.call_options(), "stream": True, **options}
    try:
        trial.dialect.streams.write(trial.written)
    except CannotWrite as error:
        raise NotApplicable(str(error)) from error
    return trial.subject.call(trial.scenario.prompt, told, answerer)


def streamed_reply(trial: Trial) -> Reply:
    """What a streamed call gives when it is answered with the scenario's own answer."""
    return stream(trial, lambda asked: asked.answer(trial.written))


def streamed(trial: Trial) -> Answered:
    """As `streamed_reply`, where it was read. Raises NotApplicable."""
    return require_read(trial.once(streamed_reply))


def require_read(reply: Reply) -> Answered:
    """The answer as it was read. Raises NotApplicable where it was not: `answer-is-read` of its stage judges that."""
    if not isinstance(reply, Answered) or reply.error is not None:
        message = "the answer is not read: see response.answer-is-read and stream.answer-is-read"
        raise NotApplicable(message)
    return reply


def events_of(trial: Trial, asked: Asked) -> tuple[bytes, ...]:
    """The events of the scenario's answer to a request."""
    return trial.dialect.streams.write(trial.written, asked.payload)


def script(trial: Trial, steps: Iterable[Step]) -> Response:
    """A streamed answer that goes so."""
    return Response(200, content_type=trial.dialect.streams.content_type, steps=tuple(steps))


def paused(trial: Trial, asked: Asked, seconds: float) -> Response:
    """The scenario's answer with a pause in the middle of its events."""
    events = events_of(trial, asked)
    half = half_of(events)
    return script(trial, [*map(Send, events[:half]), Pause(seconds), *map(Send, events[half:])])


def half_of(events: tuple[bytes, ...]) -> int:
    """How many events are the first half, the odd one included."""
    return -(-len(events) // 2)


def in_pieces(data: bytes, dice: random.Random, count: int) -> Iterator[bytes]:
    """The bytes, cut at random places: also, and likelier than by chance, inside characters and line ends."""
    inside = [at for at in range(1, len(data)) if data[at] & 0xC0 == 0x80 or data[at - 1 : at + 1] == b"\r\n"]
    drawn = dice.sample(range(1, len(data)), min(count, len(data) - 1)) + dice.sample(inside, min(count, len(inside)))
    cuts = sorted(set(drawn))
    return (data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True))


def differences(one: Answered, other: Answered) -> Iterator[str]:
    """In what two answers differ that should say the same."""
    for what, first, second in (
        ("the message", _plain(one.message), _plain(other.message)),
        ("the text of the tokens", one.token_text, other.token_text),
        ("the thinking of the tokens", one.thinking_text, other.thinking_text),
        ("the calls of TOOL_CALL", *(list(map(_plain_call, said.event_calls)) for said in (one, other))),
        ("the finish", one.finish, other.finish),
        *((name, one.metadata.get(name), other.metadata.get(name)) for name in _COUNTS),
    ):
        if not same_json(first, second):
            yield f"{what}: {show(first)}, and {show(second)}"


_COUNTS: Final = ("input_tokens", "output_tokens", "thinking_tokens", "cached_tokens", "stop_reason")


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    """The message, its calls' arguments as what they say: the blanks between them are nobody's."""
    calls: list[Any] = message.get("tool_calls") or []
    told = {name: value for name, value in message.items() if value not in (None, [], ())}
    return told | ({"tool_calls": list(map(_plain_call, calls))} if calls else {})


def _plain_call(call: Any) -> Any:
    function: Any = call.get("function") or {}
    try:
        arguments: Any = json.loads(function.get("arguments") or "{}")
    except (TypeError, ValueError):
        return call
    return {**call, "function": {**function, "arguments": arguments}}


def text_in(written: WrittenAnswer, events: Iterable[bytes], fields: Iterable[str]) -> str | None:
    """The text in some of the answer's events: these fields carry its pieces in order, at most one per event.

    None where something else is told by the same fields: the reasoning.
    """
    if written.thinking:
        return None
    waiting, arrived = list(pieces(written.content or "")), 0
    for event in events:
        if arrived < len(waiting) and _carries(event, waiting[arrived], fields):
            arrived += 1
    return "".join(waiting[:arrived])


def _carries(event: bytes, piece: str, fields: Iterable[str]) -> bool:
    """Whether the piece is all of a text in the event: a part of a field's name may read like it."""
    return any(f'"{name}":{to_json(piece)}'.encode() in event for name in fields)


def has_finish(events: Iterable[bytes], fields: Iterable[str]) -> bool:
    """Whether one of these fields of the events says why the answer ended: all of it is known then."""
    finish = re.compile(rf'"(?:{"|".join(fields)})": ?"'.encode())
    return any(finish.search(event) for event in events)


def wrong_failure(trial: Trial, reply: Reply, arrived: str | None = None) -> Iterator[str]:
    """What is wrong with how a stream's failure is told; `arrived` is the text that came before it, where known."""
    if not isinstance(reply, Answered):
        yield f"call raised {reply.code}; tell it by ERROR and END" if isinstance(reply, Refused) else str(reply)
        return
    *told, error, end = (*reply.kinds, "", "")[: max(2, len(reply.kinds))]
    if (error, end, reply.finish) != ("ERROR", "END", "error") or not set(told) <= {"TOKEN", "TOOL_CALL"}:
        kinds = ", ".join(reply.kinds) or "no events"
        yield f"expected tokens and calls, then ERROR and END; got {kinds}; finish {reply.finish!r}"
        return
    if (reply.error or {}).get("code") != PROVIDER_ERROR:
        yield f"the error's code is {(reply.error or {}).get('code')!r}, not {PROVIDER_ERROR}"
    yield from wrong_ids(trial, reply)
    if arrived is not None and reply.token_text != arrived:
        yield f"the tokens are {show(reply.token_text)}; what arrived is {show(arrived)}"
    if (reply.text or "") != reply.token_text or not same_json(reply.calls, reply.event_calls):
        yield f"END has {show(reply.message)}; the tokens and calls before it say {show(reply.token_text)}"


PROVIDER_ERROR: Final = "LLM_PROVIDER_ERROR"
