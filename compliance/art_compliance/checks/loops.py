"""Load: an adapter is not bound to the event loop or the thread that uses it first."""

from __future__ import annotations

from collections.abc import Iterator

from art_compliance.checks.base import check
from art_compliance.checks.load import answer_to, ask_number, echo
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Reply


@check(
    "load.every-loop-and-thread-is-served",
    clause="An adapter serves one event loop after the other, several threads at once, and `call_sync` inside a loop.",
    finding_class="contract",
    requires=("dialect", "call", "python"),
    once=True,
)
def every_loop_and_thread_is_served(trial: Trial) -> Iterator[Problem]:
    """A script calls `asyncio.run` again and again; a server has many threads; a notebook has a loop that runs."""
    calls = [ask_number(trial, number) for number in range(_CALLS)]
    for how, at_once in (("event loop", False), ("thread", True)):
        replies = trial.subject.call_in_own_loops(calls, echo, at_once=at_once)
        for number, reply in enumerate(replies):
            wrong = _wrong(number, reply)
            if wrong is not None:
                where = "at the same time" if at_once else "one after the other"
                yield Problem(f"{how} {number + 1} of {_CALLS}, {where}, with a new adapter: {wrong}")
                break
    if "call_sync" in trial.subject.methods:
        prompt, options = calls[0]
        with trial.subject.answering(echo):
            reply = trial.subject.attempt("call_in_running_loop", prompt=prompt, options=options, method="call_sync")
        if (wrong := _wrong(0, reply)) is not None:
            yield Problem(f"call_sync, in a thread whose event loop runs: {wrong}")


_CALLS = 4


def _wrong(number: int, reply: Reply) -> str | None:
    if not isinstance(reply, Answered):
        return str(reply)
    if reply.error is not None:
        return f"an ERROR event: {reply.error.get('message')}"
    return None if reply.text == answer_to(number) else "the answer is not its own"
