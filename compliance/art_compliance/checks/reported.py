"""Response and stream: what METADATA says is this answer's own, in every field and by every method."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any, Final

from msgspec.structs import replace

from art_compliance.checks.answerers import ID_HEADERS
from art_compliance.checks.facts import METADATA, changes, facts_of, misshapen
from art_compliance.checks.kinds import Kind, of_both_stages, options_with_tool
from art_compliance.checks.trial import Trial
from art_compliance.dialects import CannotWrite
from art_compliance.dialects.variations import read_data
from art_compliance.findings import Problem
from art_compliance.pointers import leaves
from art_compliance.provider import Asked, Response, answering_with
from art_compliance.quoting import show
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_sdk import FunctionCall, ToolCall


class _Answering:
    """Gives an answer with ids of its own, and keeps what the provider said in it and what the request said."""

    def __init__(self, written: WrittenAnswer, own: str) -> None:
        self._written = written
        self._own = own
        self.texts: set[str] = {own}
        self.numbers: set[int] = set()

    def __call__(self, asked: Asked) -> Response:
        headers = tuple((name, self._own) for name in ID_HEADERS)
        self.texts.update(asked.request.headers.values())
        for item in self._said(asked):
            for _, leaf in leaves(item):
                self.texts.update([leaf] if isinstance(leaf, str) else [])
                self.numbers.update([leaf] if type(leaf) is int else [])
        return replace(asked.answer(self._written), headers=headers)

    def _said(self, asked: Asked) -> Iterable[Any]:
        if not asked.wants_stream:
            return [json.loads(asked.dialect.answers.write(asked.named(self._written)))]
        return [data for event in asked.events(self._written) if (data := read_data(event)) is not None]


def _metadata_is_of_its_answer(trial: Trial, kind: Kind) -> Iterator[Problem]:
    """Bills, limits and support requests rest on it. Each answer has other counts, ids and another end."""
    for number, (words, written) in enumerate(_ANSWERS.items()):
        if written.tool_calls and "tools" not in trial.subject.capabilities:
            continue
        try:
            trial.dialect.answers.write(written)
        except CannotWrite:
            continue
        answering = _Answering(written, f"of-answer-{number}")
        options = {**options_with_tool(trial, kind), "trace_id": f"trace-{number}"}
        reply = trial.subject.call(trial.scenario.prompt, options, answering)
        if not isinstance(reply, Answered) or reply.error is not None or not reply.metadata:
            continue  # other checks report that the answer is not read
        faults = [*misshapen(reply)] or [*_strange(trial, reply, answering), *_miscounted(reply, written)]
        faults += [*_told_by_others(trial, reply, options, answering)]
        yield from (fault.after(f"{words}: ") for fault in faults)
    yield from _traced_otherwise(trial, kind)


def _traced_otherwise(trial: Trial, kind: Kind) -> Iterator[Problem]:
    """That METADATA has another trace_id than the events of a call whose caller gives none."""
    answer = answering_with(WrittenAnswer(content=_TEXT))
    reply = trial.subject.call(trial.scenario.prompt, options_with_tool(trial, kind), answer)
    found = reply.metadata.get("trace_id") if isinstance(reply, Answered) and reply.error is None else None
    if isinstance(reply, Answered) and found is not None and found not in {one.get("trace_id") for one in reply.events}:
        yield _wrong(f"trace_id is {show(found)}, and that of the events {show(reply.events[0].get('trace_id'))}")


def _strange(trial: Trial, reply: Answered, answering: _Answering) -> Iterator[Problem]:
    """What METADATA says and neither the answer nor its request has. A gateway has ids and words of its own."""
    said = reply.metadata
    if (trace := said.get("trace_id")) not in (None, reply.events[-1].get("trace_id")):
        yield _wrong(f"METADATA has the trace_id {show(trace)}, its event {show(reply.events[-1].get('trace_id'))}")
    if trial.subject.speaks is not None:
        return
    if said.get("request_id") not in (None, *answering.texts):
        yield _wrong(f"request_id is {show(said['request_id'])}; the answer has another id")
    if said.get("raw_stop_reason") not in (None, *answering.texts):
        yield _wrong(f"raw_stop_reason is {show(said['raw_stop_reason'])}, which is no word of the answer")
    counted = [leaf for _, leaf in leaves(said.get("provider_raw_usage")) if type(leaf) is int]
    known = _sums(answering.numbers)
    if foreign := [count for count in counted if count > _SMALL and count not in known]:
        yield _wrong(f"provider_raw_usage has the number {foreign[0]}, which is not in the answer")


def _sums(numbers: Collection[int]) -> set[int]:
    """The numbers, and the sums of two or three of them: totals may be the adapter's."""
    large = [one for one in numbers if one > _SMALL]
    return {sum(some) for size in (1, 2, 3) for some in combinations(large, size)}


_SMALL: Final = 99
"""Numbers up to this one are in every answer."""


def _miscounted(reply: Answered, written: WrittenAnswer) -> Iterator[Problem]:
    """Counts that are not the answer's. One that is null is another check's business."""
    for name in ("input_tokens", "output_tokens", "thinking_tokens", "cached_tokens"):
        wanted, found = getattr(written, name), reply.metadata.get(name)
        if found is not None and found != (wanted or 0):
            yield _wrong(f"{name} is {show(found)}, but the answer says {wanted or 0}")


def _told_by_others(
    trial: Trial, reply: Answered, options: Mapping[str, Any], answering: _Answering
) -> Iterator[Problem]:
    """What the other methods say differently of the same answer."""
    wanted = {name: value for name, value in facts_of(reply, own_ids=False).items() if name in METADATA}
    for method in trial.subject.other_methods:
        other = trial.subject.call_by(method, trial.scenario.prompt, {**options}, answering)
        if not isinstance(other, Answered) or other.error is not None:
            continue  # as above
        found = {name: value for name, value in facts_of(other, own_ids=False).items() if name in METADATA}
        for change in changes(found, wanted):
            yield change.after(f"{method} and call differ in ")


def _wrong(text: str) -> Problem:
    return Problem(text, finding_class="contract")


_TEXT: Final = "This answer was written, and it is counted."
_CALL: Final = ToolCall("call_counted", FunctionCall("look", '{"at":"the counts"}'))

_ANSWERS: Final[Mapping[str, WrittenAnswer]] = {
    "an answer": WrittenAnswer(content=_TEXT, input_tokens=311, output_tokens=173),
    "a long answer that was cut": WrittenAnswer(
        content=_TEXT, finish="length", input_tokens=307, output_tokens=9_001, cached_tokens=307
    ),
    "an answer with large counts": WrittenAnswer(
        content=_TEXT,
        input_tokens=2_000_000_011,
        output_tokens=100_000_007,
        thinking_tokens=70_000_009,
        cached_tokens=1_900_000_003,
    ),
    "an answer with a call": WrittenAnswer(
        tool_calls=(_CALL,), finish="tool_calls", input_tokens=401, output_tokens=211, cached_tokens=127
    ),
    "a blocked answer": WrittenAnswer(content=_TEXT, finish="content_filter", input_tokens=503, output_tokens=101),
    "an answer without tokens": WrittenAnswer(content=_TEXT, input_tokens=0, output_tokens=0),
}
"""No count is the sum of others, and none is more than 32 bits hold, as the numbers of some providers' types."""

REPORTED_CHECKS: Final = of_both_stages(
    "metadata-is-of-its-answer",
    "Each field of METADATA has the answer's own value, of the standard's type, by whatever method it is asked for.",
    _metadata_is_of_its_answer,
)
