"""Load: a long conversation that goes on, or is edited, is sent as it is now, not as it was in an earlier call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, Final, NamedTuple

from art_compliance.checks.base import check
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.trial import Trial
from art_compliance.findings import Problem
from art_compliance.provider import Answerer, Asked, Response
from art_compliance.quoting import show
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Reply


@check(
    "load.conversations-are-sent-as-they-are",
    clause="Each call of a conversation sends the messages it is given, in order, whatever earlier calls sent.",
    requires=("dialect", "call", "sent"),
    once=True,
)
def conversations_are_sent_as_they_are(trial: Trial) -> Iterator[Problem]:
    """Agents go back, clear old results and summarise; adapters remember what they translated."""
    can = trial.subject.capabilities
    steps = _steps(has_tools="tools" in can, has_system="system" in can)
    for typed in (False, True) if trial.subject.takes_types else (False,):
        yield from _faults(trial, steps, typed=typed)


class _Step(NamedTuple):
    """A call: which messages it has, by their indexes in `_MESSAGES`, and what is new in it, in words."""

    what: str
    indexes: Sequence[int]


def _faults(trial: Trial, steps: Sequence[_Step], *, typed: bool) -> Iterator[Problem]:
    has_tools, ids = "tools" in trial.subject.capabilities, trial.ids("talk")
    own = {**trial.options, **ids, **({"tools": [_TOOL]} if has_tools else {})}
    streams = "streaming" in trial.subject.capabilities
    calls = [
        (step.indexes, {**own, **({"stream": True} if streams and at % 2 else {})}) for at, step in enumerate(steps)
    ]
    before = trial.subject.request_count
    with trial.subject.answering(_numbered()):
        replies: list[Reply] | Reply = trial.subject.attempt("converse", messages=_MESSAGES, steps=calls, typed=typed)
    bodies = [one.body for one in trial.subject.seen_since(before) if one.method == "POST"]
    if not isinstance(replies, list):
        yield Problem(f"in a conversation of {len(steps[0].indexes)} messages, {replies}", finding_class="contract")
        return
    if len(bodies) != len(steps):
        raise NotApplicable("a call sends no request, or several: see translation.one-call-one-request")
    for number, (step, body, reply) in enumerate(zip(steps, bodies, replies, strict=True)):
        text = _wrong_request(step.indexes, body) or _wrong_reply(number, reply)
        if text is not None:
            yield Problem(f"{step.what}{', as typed values' if typed else ''}: {text}")
            return


def _wrong_request(indexes: Sequence[int], body: bytes) -> str | None:
    """What the request lacks or has of earlier calls, in words."""
    sent = [int(mark) for mark in _MARK.findall(body)]
    if sorted(sent) == sorted(indexes) and _in_turns(sent) == _in_turns(indexes):
        return None
    lost = [_mark(at) for at in indexes if at not in sent]
    added = [_mark(at) for at in sent if at not in indexes]
    if lost or added:
        missing = f"the request lacks {show(lost[:3])}" if lost else "the request has all its messages"
        return missing + (f", and has {show(added[:3])} of an earlier call" if added else "")
    return "the request has its messages in another order, or one of them twice"


def _in_turns(indexes: Sequence[int]) -> list[int]:
    """Without system messages, whose place differs from provider to provider."""
    return [at for at in indexes if at not in (_SYSTEM, _OTHER_SYSTEM)]


def _wrong_reply(number: int, reply: Reply) -> str | None:
    if not isinstance(reply, Answered) or reply.error is not None:
        return f"the answer is not read: {reply.error if isinstance(reply, Answered) else reply}"
    return None if reply.text == _answer(number) else f"the answer is {show(reply.text)}, which is that of another call"


def _numbered() -> Answerer:
    """Gives each request another answer."""
    numbers = count()

    def answer(asked: Asked) -> Response:
        return asked.answer(WrittenAnswer(content=_answer(next(numbers))))

    return answer


def _answer(number: int) -> str:
    return f"That is answer {number} of this conversation."


def _steps(*, has_tools: bool, has_system: bool) -> list[_Step]:
    """What a long day of one agent is: the conversation grows, is edited, and goes on."""
    system = [_SYSTEM] if has_system else []
    tools = [_CALL, _RESULT] if has_tools else []
    talk = range(_FIRST, _FIRST + _LENGTH)
    longer = [*system, talk[0], *tools, *talk[1:]]
    grown = longer[:-2]
    edited = [_EDITED if at == talk[_AT] else at for at in grown]
    steps = [
        _Step("a long conversation", grown[:-4]),
        _Step("after two messages were added", grown[:-2]),
        _Step("after two more messages were added", grown),
        _Step("after a message in its middle was edited", edited),
        _Step("after its end was taken back", edited[:-2]),
        _Step("after it went on from there", edited),
        _Step("after its beginning was taken out", [*system, *talk[_AT + 1 :]]),
    ]
    if has_tools:
        cleared = [_CLEARED if at == _RESULT else at for at in grown]
        steps += [_Step("after the result of a tool was cleared", cleared)]
    if has_system:
        steps += [_Step("after its system message was changed", [_OTHER_SYSTEM, *grown[1:]])]
    return [*steps, _Step("after all edits were undone, and two messages were added", longer)]


def _mark(at: int) -> str:
    return f"mark-{at:04d}."


_MARK: Final = re.compile(rb"mark-(\d{4})\.")
_TOOL: Final[dict[str, Any]] = {"name": "look", "description": "Looks.", "inputSchema": {"type": "object"}}
_LENGTH: Final = 143
"""Long enough for adapters that remember how they translated a conversation; it ends with the user's turn."""

_AT: Final = 51
_SYSTEM, _OTHER_SYSTEM, _CALL, _RESULT, _CLEARED, _EDITED, _FIRST = range(7)


def _turn(at: int) -> dict[str, Any]:
    role = "assistant" if (at - _FIRST) % 2 else "user"
    return {"role": role, "content": f"It is {_mark(at)}"}


_MESSAGES: Final[list[dict[str, Any]]] = [
    {"role": "system", "content": f"Be brief. {_mark(_SYSTEM)}"},
    {"role": "system", "content": f"Be long. {_mark(_OTHER_SYSTEM)}"},
    {
        "role": "assistant",
        "content": f"I look. {_mark(_CALL)}",
        "tool_calls": [{"id": "call_a1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    },
    {"role": "tool_result", "tool_call_id": "call_a1", "name": "look", "content": f"Found {_mark(_RESULT)}"},
    {"role": "tool_result", "tool_call_id": "call_a1", "name": "look", "content": f"Cleared {_mark(_CLEARED)}"},
    {"role": "assistant", "content": f"Rather {_mark(_EDITED)}"},
    *map(_turn, range(_FIRST, _FIRST + _LENGTH)),
]
