"""What END's message keeps of a stream that fails inside a thought: it goes back with the next turn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from msgspec import structs

from art_compliance.checks.kinds import call_as, events_in, options_with_tool
from art_compliance.checks.trial import Trial
from art_compliance.dialects import CannotWrite
from art_compliance.dialects.framing import pieces, to_json
from art_compliance.dialects.variations import Variation
from art_compliance.findings import Problem
from art_compliance.judging.rulebook import judge_rules
from art_compliance.pointers import leaves
from art_compliance.provider import Answerer, Asked, Response, Send
from art_compliance.quoting import show
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered, next_turn
from art_compliance.subject.observations import Reply, Sent
from art_sdk import FunctionCall, ToolCall

_TEXT: Final = WrittenAnswer(content="This answer fails before its call.")
_TEXT_AND_CALL: Final = structs.replace(
    _TEXT, tool_calls=(ToolCall("call_unfinished", FunctionCall("look", '{"at":"the one side"}')),), finish="tool_calls"
)
_THINKING: Final = "What was asked is known, and the answer follows."
_THOUGHT: Final = structs.replace(_TEXT, thinking=_THINKING)
_STATUS: Final = 503
_WORDS: Final = "written failure of a thought"


def kept_of_thoughts(trial: Trial) -> Iterator[Problem]:
    """What is wrong with END's message after a stream that fails inside a thought, the last of several or the first."""
    if "reasoning" not in trial.subject.capabilities:
        return
    answer = _TEXT_AND_CALL if "tools" in trial.subject.capabilities else _TEXT
    for form in trial.dialect.answers.variations:
        if len(form.goes_back) > 1 and "provider_fields" not in form.needs and "call" not in form.words:
            last = form.goes_back[-1]
            reply = call_as(trial, "stream", _failing_before(last, answer, form))
            faults = _kept_of_a_part(trial, reply, _body_of(trial, answer, form), last)
            yield from (fault.after(f"a stream with {form.words} that fails in the last: ") for fault in faults)
    try:
        whole = _body_of(trial, _THOUGHT)
    except CannotWrite:
        return
    reply = call_as(trial, "stream", _failing_before([*pieces(_THINKING)][-1], _THOUGHT))
    faults = _kept_of_a_part(trial, reply, whole, _THINKING)
    yield from (fault.after("a stream that fails in its reasoning: ") for fault in faults)


def _body_of(trial: Trial, answer: WrittenAnswer, form: Variation | None = None) -> Any:
    body = json.loads(trial.dialect.answers.write(answer))
    return body if form is None or form.whole is None else form.whole(body)


def _failing_before(last: str, answer: WrittenAnswer, form: Variation | None = None) -> Answerer:
    """Streams the answer, in this form, and fails one event before the first that has all of this text."""
    said = to_json(last)[1:-1].encode()

    def fail(asked: Asked) -> Response:
        streams = asked.dialect.streams
        events = asked.events(answer) if form is None else events_in(form, asked, answer)
        at = next(at for at, event in enumerate(events) if said in event)
        data = b"".join((*events[: at - 1], streams.write_error(_STATUS, _WORDS)))
        return Response(200, content_type=streams.content_type, steps=(Send(data),))

    return fail


def _kept_of_a_part(trial: Trial, reply: Reply, whole: Any, last: str) -> Iterator[Problem]:
    """That END's message is not taken back, or with a part of what had not arrived whole."""
    if not isinstance(reply, Answered) or reply.error is None or not reply.message:
        return
    options = options_with_tool(trial, "stream")
    seen = trial.observe([*trial.scenario.prompt, reply.message, *next_turn(reply.calls)], options)
    is_to_append = bool(reply.text or reply.calls)
    if not isinstance(seen, Sent):
        if is_to_append:
            yield Problem(f"appended, END's message is not sent: {seen}", finding_class="contract")
        return
    texts = [(_field(pointer), text) for pointer, text in leaves(whole) if isinstance(text, str)]
    known = {text for _, text in texts}
    for pointer, found in leaves(seen.payload):
        if isinstance(found, str) and found not in known:
            name = _field(pointer)
            if any(name == field and _is_part(found, text, last) for field, text in texts):
                yield Problem(f"{name} {show(found)} is sent back with END's message, and had not arrived whole")
                return
    for finding in judge_rules(trial.dialect.name, seen.payload, url=seen.url, version=seen.version):
        if is_to_append and finding.severity == "reject":
            yield Problem.of(finding).after("END's message is sent back, and ")


def _field(pointer: str) -> str:
    return pointer.rpartition("/")[2]


def _is_part(found: str, text: str, last: str) -> bool:
    """Whether this is the beginning of a text with what goes back last; none of it only where that is all."""
    return text.startswith(found) and (text == last if not found else last in text)
