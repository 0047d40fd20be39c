"""Load: the work for a chunk of an answer does not grow with what came before it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain
from math import inf
from typing import Any, Final, NamedTuple

from art_compliance.checks.base import check
from art_compliance.checks.limits import (
    ARGUMENTS_COST,
    DRIP_PAUSE,
    DRIPS_OF_A_PIECE,
    GROWN_BY,
    GROWN_BY_ALL,
    GROWN_MORE_THAN,
    GROWTH_ROUNDS,
    LONG_ANSWER,
    LONG_ARGUMENTS,
    PIECES_IN_DRIPS,
)
from art_compliance.checks.streamed import options_for
from art_compliance.checks.trial import Trial
from art_compliance.dialects import CannotWrite
from art_compliance.dialects.framing import change_data, to_json
from art_compliance.findings import Problem
from art_compliance.provider import Answerer, Asked, Pause, Response, Send, Step
from art_compliance.scenarios import WrittenAnswer
from art_sdk import FunctionCall, ToolCall


@check(
    "load.late-chunks-cost-no-more",
    clause="What an adapter does with a chunk of bytes does not grow with what came before it.",
    finding_class="contract",
    requires=("dialect", "call", "python"),
    once=True,
)
def late_chunks_cost_no_more(trial: Trial) -> Iterator[Problem]:
    """Reading all again with each chunk takes the square of the length: a long answer stops everything else."""
    yield from _late_chunks_of_texts(trial)
    if "streaming" in trial.subject.capabilities and "tools" in trial.subject.capabilities:
        yield from _pieces_of_arguments(trial)


def _late_chunks_of_texts(trial: Trial) -> Iterator[Problem]:
    usual = inf
    for way in _ways(trial):
        late = _cost(trial, way, late=True)
        if usual < inf and late <= GROWN_BY_ALL * usual:
            continue  # as quick as another way, where late and early chunks cost the same
        early, late = _compare(trial, way, late)
        if not early:
            continue
        if late > GROWN_BY * early and late - early > GROWN_MORE_THAN:
            end = f"with {PIECES_IN_DRIPS * DRIPS_OF_A_PIECE} small chunks at its end"
            took = f"takes {late * 1000:.0f} ms of processor time {end}, {early * 1000:.0f} ms with them at its start"
            yield Problem(f"{way}: an answer of {LONG_ANSWER / 1e6:g} MB {took}; the work for a chunk must not grow")
            return
        usual = min(usual, early)


def _pieces_of_arguments(trial: Trial) -> Iterator[Problem]:
    """Parsing what there is with each piece is slow, unless a compiled parser does it: official clients have one."""
    if _count_events(trial, _ARGUMENTS) <= _PIECES:
        return
    text, arguments = inf, inf
    for _ in range(2):
        text = min(text, _cost(trial, _Way("call", _SHORTER_TEXT, streamed=True), late=True))
        arguments = min(arguments, _cost(trial, _Way("call", _ARGUMENTS, streamed=True), late=True))
        if not text or arguments <= ARGUMENTS_COST * text:
            return
    took = f"take {arguments * 1000:.0f} ms of processor time, and a text of that length {text * 1000:.0f} ms"
    yield Problem(f"arguments of {LONG_ARGUMENTS / 1e3:g} kB in pieces {took}; read them once, when the call is whole")


def _count_events(trial: Trial, answer: WrittenAnswer) -> int:
    """The number of events in which the provider streams the answer; 0 where it cannot."""
    try:
        return len(trial.dialect.streams.write(answer))
    except CannotWrite:
        return 0


class _Way(NamedTuple):
    """A method, and what the answer is: a text or reasoning, streamed or not."""

    method: str
    answer: WrittenAnswer
    streamed: bool = False

    def __str__(self) -> str:
        what = "reasoning" if self.answer.thinking else "a text"
        return f"{self.method}, {what}{', streamed' if self.streamed else ''}"


def _ways(trial: Trial) -> Iterator[_Way]:
    """Each method reads a stream; every other one, of reasoning, where the provider has that."""
    if "streaming" in trial.subject.capabilities:
        has_reasoning = _count_events(trial, WrittenAnswer(thinking="so", content="done")) > 0
        texts = (_TEXT, _THINKING if has_reasoning else _TEXT)
        yield from (_Way(method, texts[at % 2], streamed=True) for at, method in enumerate(trial.subject.call_methods))
    yield _Way("call", _TEXT)


_TEXT: Final = WrittenAnswer(content="w" * LONG_ANSWER)
_THINKING: Final = WrittenAnswer(thinking="w" * LONG_ANSWER, content="done")
_SHORTER_TEXT: Final = WrittenAnswer(content="w" * LONG_ARGUMENTS)
_ARGUMENTS: Final = WrittenAnswer(
    tool_calls=(ToolCall("call_long", FunctionCall("look", json.dumps({"at": "w" * LONG_ARGUMENTS}))),),
    finish="tool_calls",
)


def _compare(trial: Trial, way: _Way, late: float) -> tuple[float, float]:
    """The least that the call costs with small chunks early, and late: a busy machine seems to be slow."""
    early = _cost(trial, way, late=False)
    for _ in range(GROWTH_ROUNDS):
        if not early or late <= GROWN_BY * early:
            break
        early, late = min(early, _cost(trial, way, late=False)), min(late, _cost(trial, way, late=True))
    return early, late


def _cost(trial: Trial, way: _Way, *, late: bool) -> float:
    """The seconds of processor time of a call; none where it fails, which others report."""
    options = options_for(trial, streamed=way.streamed)
    with trial.subject.answering(_dripping(way.answer, late=late)):
        cost = trial.subject.attempt("cost", prompt=trial.scenario.prompt, options=options, method=way.method)
    return cost if isinstance(cost, float) else 0.0


def _dripping(answer: WrittenAnswer, *, late: bool) -> Answerer:
    """The answer, with some of its pieces in small chunks: the first ones, or the last."""
    size = max(len(answer.content or ""), len(answer.thinking or ""), LONG_ARGUMENTS) / _PIECES

    def answer_so(asked: Asked) -> Response:
        response = asked.answer(answer)
        events = tuple(step.data for step in response.steps or () if isinstance(step, Send))
        steps = _in_drips(events or response.body, size, late=late)
        return Response(200, content_type=response.content_type, steps=steps)

    return answer_so


@lru_cache(maxsize=4)
def _in_drips(answer: bytes | tuple[bytes, ...], size: float, *, late: bool) -> tuple[Step, ...]:
    """A body or events, of which the pieces of about that size are in small chunks. Each method is sent the same."""
    pieces, drips = (_cut(answer, _PIECES), _bytes_of) if isinstance(answer, bytes) else (answer, _events_of)
    long = [at for at, piece in enumerate(pieces) if size / 2 < len(piece) < 4 * size]
    begin = max(long[-1] - PIECES_IN_DRIPS, 0) if late else long[0]  # the last one may end the answer
    dripping = map(drips, pieces[begin:][:PIECES_IN_DRIPS])
    return tuple(_steps(pieces[:begin], dripping, pieces[begin + PIECES_IN_DRIPS :]))


_PIECES: Final = 128
"""A streamed answer is written in so many."""


def _steps(before: Sequence[bytes], drips: Iterable[list[bytes]], after: Sequence[bytes]) -> Iterator[Step]:
    yield Send(b"".join(before))
    for drip in chain.from_iterable(drips):
        yield from (Send(drip), Pause(DRIP_PAUSE))
    yield Send(b"".join(after))


def _bytes_of(piece: bytes) -> list[bytes]:
    return _cut(piece, DRIPS_OF_A_PIECE)


def _events_of(event: bytes) -> list[bytes]:
    """Events with parts of this one's text, or parts of the event where that is one of a JSON array."""
    text = _LETTERS.search(event)
    parts = [] if text is None else _cut(text[0], DRIPS_OF_A_PIECE)
    events = [change_data(event, partial(_with_text, part)) for part in parts]
    return _bytes_of(event) if event in (events or [event]) else events


_LETTERS: Final = re.compile(rb"w{99,}")


def _with_text(text: bytes, data: Any) -> Any:
    return json.loads(_LETTERS.sub(text, to_json(data).encode()))


def _cut(data: bytes, parts: int) -> list[bytes]:
    size = -(-len(data) // parts)
    return [data[at : at + size] for at in range(0, len(data), size)]
