"""Checks that are made twice, of whole answers and of streams, and how a reply differs from what was sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, Final, Literal

from art_compliance.checks.answer_laws import same_arguments
from art_compliance.checks.base import Check, check
from art_compliance.checks.replies import unread
from art_compliance.checks.requirements import Requirement
from art_compliance.checks.trial import Trial
from art_compliance.dialects.variations import Events, FailureForm, Variation
from art_compliance.findings import Problem
from art_compliance.provider import Answerer, Asked
from art_compliance.quoting import describe_change, show
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Reply

Kind = Literal["response", "stream"]
_NEEDS: Final[Mapping[Kind, tuple[Requirement, ...]]] = {
    "response": ("dialect", "call", "sent"),
    "stream": ("dialect", "call", "sent", "streaming"),
}


def of_both_stages(name: str, clause: str, look: Callable[[Trial, Kind], Iterator[Problem]]) -> tuple[Check, ...]:
    """The check of whole answers, and that of streams."""

    def declare(kind: Kind) -> Check:
        declared = check(f"{kind}.{name}", clause=clause, requires=_NEEDS[kind], once=True, on_every_prompt=True)

        @wraps(look)
        def run(trial: Trial) -> Iterator[Problem]:
            yield from look(trial, kind)

        return declared(run)

    return declare("response"), declare("stream")


def call_as(trial: Trial, kind: Kind, answerer: Answerer, **options: Any) -> Reply:
    """A call with a tool, streamed or not."""
    return trial.subject.call(trial.scenario.prompt, {**options_with_tool(trial, kind), **options}, answerer)


def options_with_tool(trial: Trial, kind: Kind) -> dict[str, Any]:
    """The options of such a call."""
    tools = {"tools": TOOLS} if "tools" in trial.subject.capabilities else {}
    return {**trial.options, "stream": kind == "stream", **tools}


TOOLS: Final[list[dict[str, Any]]] = [
    {"name": "look", "description": "Looks.", "inputSchema": {"type": "object", "properties": {}}}
]


def meets(trial: Trial, form: Variation | FailureForm) -> bool:
    """Whether the adapter may be sent this form. One that names a provider of its own knows what that one sends."""
    return not form.some_servers or trial.subject.provider == trial.dialect.name


def events_in(variation: Variation, asked: Asked, answer: WrittenAnswer) -> Events:
    """The events of the answer in this form."""
    events, write = asked.events(answer), asked.dialect.streams.write_body
    if variation.events is not None:
        return variation.events(events)
    if variation.whole is not None and write is not None:
        return write(variation.whole(json.loads(asked.dialect.answers.write(asked.named(answer)))))
    return events


def differing(trial: Trial, reply: Reply, answer: WrittenAnswer) -> Iterator[Problem]:
    """How the reply is not this answer."""
    if not isinstance(reply, Answered) or reply.error is not None:
        yield from unread(reply)
        return
    if (reply.text or "") != (answer.content or "") or reply.token_text != (answer.content or ""):
        found = reply.text if reply.text != answer.content else reply.token_text
        yield Problem(f"the text differs: {describe_change(answer.content or '', found or '')}")
    for what, calls in (("TOOL_CALL", reply.event_calls), ("the message", reply.calls)):
        if wrong := _wrong_calls(trial, calls, answer):
            yield Problem(f"{what} has {wrong}")
    for name in ("input_tokens", "output_tokens"):
        wanted, found = getattr(answer, name), reply.metadata.get(name)
        if found and found != wanted:
            yield Problem(f"{name} is {show(found)}, but the answer says {wanted}", finding_class="contract")
    if reply.finish != answer.finish:
        yield Problem(f"END says {show(reply.finish)}, but the answer ended with {show(answer.finish)}")


def _wrong_calls(trial: Trial, calls: list[dict[str, Any]], answer: WrittenAnswer) -> str | None:
    """How these calls are not those of the answer. Their ids may be the adapter's own."""
    if len(calls) != len(answer.tool_calls):
        return f"{len(calls)} of {len(answer.tool_calls)} calls"
    ids = [call.get("id") for call in calls]
    if not all(ids) or len(set(map(str, ids))) != len(ids):
        return f"calls with the ids {show(ids)}; each needs one of its own"
    for number, (wanted, call) in enumerate(zip(answer.tool_calls, calls, strict=True), 1):
        function: dict[str, Any] = call.get("function") or {}
        name, arguments = function.get("name"), function.get("arguments")
        if name != wanted.function.name:
            return f"the name {show(name)} in call {number}; it is {show(wanted.function.name)}"
        if not same_arguments(trial.dialect.answers, wanted.function.arguments, arguments):
            return f"other arguments of call {number}: {describe_change(wanted.function.arguments, str(arguments))}"
    return None
