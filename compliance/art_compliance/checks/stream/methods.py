"""Stream: every method that calls the provider reads a stream as `call` does, however it is cut, and as it comes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

from msgspec import structs

from art_compliance.checks.answerers import half_of
from art_compliance.checks.base import check
from art_compliance.checks.limits import CUTS, PAUSE
from art_compliance.checks.replies import makes_ids
from art_compliance.checks.response.calling import other_methods, relevant_differences
from art_compliance.checks.stream.closing import hang_after_half, still_connected
from art_compliance.checks.streamed import STREAMS, events_of, in_pieces, options_for, script, streamed
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import Answerer, Asked, Pause, Response, Send
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.host.interrupting import CannotDo
from art_compliance.subject.observations import Crashed, Refused, raised
from art_sdk import FunctionCall, ToolCall


@check(
    "stream.call-methods-stream-alike",
    clause="`call_sync`, `complete` and `complete_sync` read a stream like `call`; `call_sync` yields as it arrives.",
    finding_class="contract",
    requires=STREAMS,
    once=True,
)
def call_methods_stream_alike(trial: Trial) -> Iterator[Problem]:
    """They have a transport and a loop of their own, and so faults of their own."""
    question = trial.with_answer(_WITH_CALL if "tools" in trial.subject.capabilities else _TEXT)
    whole, is_late = streamed(question), False
    options = options_for(question, streamed=True)
    for method in other_methods(trial):
        reply = trial.subject.call_by(method, trial.scenario.prompt, options, _cut_and_paused(question))
        if not isinstance(reply, Answered):
            yield Problem(f"{method} raised {raised(reply)}")
            continue
        for difference in relevant_differences(method, reply, whole, own_ids=makes_ids(question)):
            yield difference.after(f"for a stream cut at other places, {method} and call differ in ")
        if method == "call_sync" and _is_late(reply):
            is_late = True
            yield Problem(
                f"call_sync yielded its first token only after the stream had ended, {PAUSE} s after it was sent"
            )
    if "call_sync" in trial.subject.methods and not is_late:
        yield from _open_after_closing(trial, options)


def _cut_and_paused(trial: Trial) -> Answerer:
    dice = random.Random(f"{trial.seed} ways")

    def answer(asked: Asked) -> Response:
        events = events_of(trial, asked)
        half = half_of(events)
        first, second = (in_pieces(b"".join(part), dice, CUTS) for part in (events[:half], events[half:]))
        return script(trial, [*map(Send, first), Pause(PAUSE), *map(Send, second)])

    return answer


def _is_late(reply: Answered) -> bool:
    """Whether the first token came with the last event."""
    firsts = [at for event, at in zip(reply.events, reply.at, strict=True) if event.get("type") == "TOKEN"]
    return not firsts or reply.at[-1] - firsts[0] < PAUSE / 2


def _open_after_closing(trial: Trial, options: dict[str, Any]) -> Iterator[Problem]:
    with trial.subject.answering(hang_after_half(trial)):
        try:
            took = trial.subject.attempt(
                "close_early", prompt=trial.scenario.prompt, options=options, method="call_sync"
            )
        except CannotDo:
            return  # such as an iterator, which nobody can close
    if isinstance(took, (Refused, Crashed)):
        yield Problem(f"closing the events of call_sync raised {raised(took)}")
        return
    yield from (problem.after("after closing the events of call_sync, ") for problem in still_connected(trial))


_TEXT: Final = WrittenAnswer(content="\u00c9crit \u00e0 la main, \u8fd9\u662f\u7b54\u6848, \U0001f9ea and so on. " * 3)
_WITH_CALL: Final = structs.replace(
    _TEXT, tool_calls=(ToolCall("call_ways", FunctionCall("look", '{"at":"\u00e9"}')),), finish="tool_calls"
)
