"""Response: an answer that the caller edits before it goes back is sent as it is then, not as it came."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace

from art_compliance.checks.base import check
from art_compliance.checks.requirements import NotApplicable, require_read
from art_compliance.checks.translation.conservation import CAUSES, as_problem
from art_compliance.checks.trial import Trial
from art_compliance.dialects import CannotWrite, DecodeFailed
from art_compliance.dialects.writing import as_sayable
from art_compliance.findings import Problem
from art_compliance.judging.rulebook import judge_rules
from art_compliance.provider import answering_with
from art_compliance.provider.signatures import sign
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import next_turn
from art_compliance.subject.observations import Crashed, Refused
from art_sdk import FunctionCall, ToolCall

Message = dict[str, Any]
Edit = Callable[[Message], Message]


@check(
    "response.edited-answer-is-sent-as-edited",
    clause="An answer's message goes back as the caller has edited it, or is refused.",
    requires=("dialect", "call", "sent"),
    leaves_to=CAUSES,
    once=True,
    on_every_prompt=True,
)
def edited_answer_is_sent_as_edited(trial: Trial) -> Iterator[Problem]:
    """Agents redact secrets, shorten texts and drop calls. What is kept in `extensions` still has them."""
    message = trial.once(_message)
    has_calls = bool(message.get("tool_calls"))
    for what, edit in (_EDITS if has_calls else _EDITS_OF_TEXT).items():
        yield from (problem.after(f"{what}: ") for problem in _faults(trial, edit(message)))
    if has_calls:
        bare = trial.once(_bare_message)
        for what, edit in _ADDITIONS.items():
            yield from (problem.after(f"{what}: ") for problem in _faults(trial, edit(bare)))


@check(
    "response.odd-extensions-are-no-crash",
    clause="A message whose extensions the adapter cannot read is refused, or sent without them.",
    requires=("dialect", "call", "sent"),
    leaves_to=CAUSES,
    once=True,
    on_every_prompt=True,
)
def odd_extensions_are_no_crash(trial: Trial) -> Iterator[Problem]:
    """Conversations are stored, and come back from an older version of the adapter, or from other hands."""
    message = trial.once(_message)
    for what, spoil in _ODD.items():
        odd = _with_extensions(message, trial.dialect.name, spoil)
        yield from (problem.after(f"with {what} in its extensions: ") for problem in _faults(trial, odd))


def _message(trial: Trial) -> Message:
    """The message of an answer that has the most. Raises NotApplicable where it is not read."""
    return _read(trial, _answer_for(trial))


def _bare_message(trial: Trial) -> Message:
    """The message of an answer that has a call alone. Raises NotApplicable where it is not read."""
    return _read(trial, WrittenAnswer(tool_calls=_CALLS[:1], finish="tool_calls"))


def _read(trial: Trial, answer: WrittenAnswer) -> Message:
    reply = require_read(trial.subject.call(trial.scenario.prompt, trial.options, answering_with(answer)))
    if (reply.message.get("content") or "") != (answer.content or "") or len(reply.calls) != len(answer.tool_calls):
        raise NotApplicable("the answer is not read: see the checks named answer-is-read")
    return reply.message


def _answer_for(trial: Trial) -> WrittenAnswer:
    """The most that the adapter declares and the provider can say: reasoning, a text and two calls."""
    can, write = trial.subject.capabilities, trial.dialect.answers.write
    count = 0 if "tools" not in can else 2 if "parallel_tools" in can else 1
    plain = WrittenAnswer(content=_TEXT, tool_calls=_CALLS[:count], finish="tool_calls" if count else "stop")
    if "reasoning" not in can:
        return plain
    said = as_sayable(write, replace(plain, thinking=_THOUGHT, signature=sign(_THOUGHT)))
    try:
        write(said)
    except CannotWrite:
        return plain
    return said


def _faults(trial: Trial, message: Message) -> Iterator[Problem]:
    prompt = [*trial.scenario.prompt, message, *next_turn(message.get("tool_calls") or [])]
    options = {**trial.options, **({"tools": [_TOOL]} if "tools" in trial.subject.capabilities else {})}
    seen = trial.observe(prompt, options)
    if isinstance(seen, Refused):
        return
    if isinstance(seen, Crashed):
        yield Problem(f"appended, {seen}", finding_class="contract")
        return
    try:
        decoded = trial.decode(seen)
    except DecodeFailed as error:
        text = f"appended, it cannot be decoded: {error}"
        yield Problem(text, pointer=error.pointer, finding_class="refused")
        return
    for finding in judge_rules(trial.dialect.name, seen.payload, url=seen.url, version=seen.version):
        if finding.severity == "reject":
            yield Problem.of(finding)
    for difference in trial.compare(decoded, prompt, options, seen).differences:
        is_kept = difference.slot == "extensions"  # what belongs to the answer as it came may go
        if not is_kept and difference.loss not in trial.subject.losses:
            yield as_problem(difference)


def _with_text(message: Message) -> Message:
    return {**message, "content": "The station opens at eight."}


def _without_text(message: Message) -> Message:
    return {**message, "content": None}


def _with_arguments(message: Message) -> Message:
    first, *others = message["tool_calls"]
    return {**message, "tool_calls": [{**first, "function": {**first["function"], "arguments": _REDACTED}}, *others]}


def _with_call(message: Message) -> Message:
    added = {"id": "call_e3", "type": "function", "function": {"name": "look", "arguments": _REDACTED}}
    return {**message, "tool_calls": [*message["tool_calls"], added]}


def _without_first(message: Message) -> Message:
    return _calling(message, message["tool_calls"][1:])


def _without_last(message: Message) -> Message:
    return _calling(message, message["tool_calls"][:-1])


def _without_calls(message: Message) -> Message:
    return _calling(message, [])


def _calling(message: Message, calls: list[Message]) -> Message:
    """The message with these calls. Without any, it has no such field: the standard has no null there."""
    others = {name: value for name, value in message.items() if name != "tool_calls"}
    return {**others, "tool_calls": calls} if calls else others


def _with_extensions(message: Message, dialect: str, spoil: Callable[[str], Any]) -> Message:
    extensions: dict[str, dict[str, Any]] = message.get("extensions") or {}
    names = [*extensions.get(dialect, {})] or ["of_another_version"]
    return {**message, "extensions": {dialect: {name: spoil(name) for name in names}}}


_ODD: Final[Mapping[str, Callable[[str], Any]]] = {
    "numbers": lambda _: 7,
    "texts": lambda name: name,
    "lists": lambda name: [name, {"at": 99, "index": -1}],
    "objects": lambda name: {name: None, "0": {}, "type": 1},
}
_ADDITIONS: Final[Mapping[str, Edit]] = {
    "with a text that the answer did not have": _with_text,
    "with a call that the answer did not have": _with_call,
}
_EDITS_OF_TEXT: Final[Mapping[str, Edit]] = {"with another text": _with_text, "without its text": _without_text}
_EDITS: Final[Mapping[str, Edit]] = {
    **_EDITS_OF_TEXT,
    "with other arguments in its first call": _with_arguments,
    "without its first call": _without_first,
    "without its last call": _without_last,
    "without its calls": _without_calls,
}

_TEXT: Final = "I look up when the station opens."
_THOUGHT: Final = "They want the hours of the station, so I look them up."
_REDACTED: Final = '{"at":"removed"}'
_CALLS: Final = (
    ToolCall("call_e1", FunctionCall("look", '{"at":"station"}')),
    ToolCall("call_e2", FunctionCall("look", '{"at":"museum"}')),
)
_TOOL: Final[Message] = {
    "name": "look",
    "description": "Looks something up.",
    "inputSchema": {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]},
}
