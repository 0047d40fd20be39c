"""Response: the calls of an answer carry the names that the caller gave to the tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from art_compliance.checks.base import check
from art_compliance.checks.replies import names_of, why_unread
from art_compliance.checks.translation.declared import renamed_trials
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_sdk import FunctionCall, ToolCall


@check(
    "response.renamed-tools-come-back",
    clause="An adapter that renames tools restores the original name of each call in an answer, streamed and whole.",
    requires=("dialect", "call"),
    once=True,
)
def renamed_tools_come_back(trial: Trial) -> Iterator[Problem]:
    """The caller knows no other name."""
    for one in renamed_trials(trial):
        names = [tool["name"] for tool in one.scenario.options["tools"]]
        names = names if "parallel_tools" in trial.subject.capabilities else names[-1:]
        calls = tuple(ToolCall(f"call9{at:04}", FunctionCall(name, '{"at": "1"}')) for at, name in enumerate(names))
        answer = WrittenAnswer(tool_calls=calls, finish="tool_calls")
        for what in ("whole", "streamed") if "streaming" in trial.subject.capabilities else ("whole",):
            reply = one.call(answer, stream=what == "streamed")
            if not isinstance(reply, Answered) or reply.error is not None:
                yield Problem(f"{what}, the answer is not read: {why_unread(reply)}")
                continue
            for where, found in (("TOOL_CALL", reply.event_calls), ("the message's tool_calls", reply.calls)):
                came = names_of(found)
                if came != names:
                    yield Problem(f"{what}, {where}: the calls of {_listed(names)} are named {_listed(came)}")


def _listed(names: list[Any]) -> str:
    return ", ".join(map(repr, names))
