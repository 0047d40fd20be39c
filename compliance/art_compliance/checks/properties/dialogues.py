"""Dialogues with a strict provider: what the adapter returns is appended, and the next turn must be accepted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from art_compliance.checks.answer_laws import same_arguments
from art_compliance.checks.base import check
from art_compliance.checks.replies import PROVIDER_ERROR
from art_compliance.checks.translation.conservation import as_problem, class_of
from art_compliance.checks.trial import Trial
from art_compliance.dialects import CannotWrite, DecodeFailed, Dialect
from art_compliance.dialects.base import Answers
from art_compliance.dialects.writing import as_sayable
from art_compliance.findings import Example, Problem
from art_compliance.pointers import leaves
from art_compliance.provider import WRITTEN_TEXT, Asked, Response
from art_compliance.provider.signatures import sign
from art_compliance.provider.strict import answer_strictly
from art_compliance.quoting import AT_LENGTH, quote, shorten, show
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Sent
from art_sdk import ToolCall

Message = dict[str, Any]

_RESULTS: Final = ({"content": "done"},)
_USER: Final = "Go on."


class Dialogue:
    """An adapter in a dialogue. `prompt` is the conversation so far; each message of the adapter is appended.

    The adapter must have a `call`. Raises NotApplicable if its dialect is unknown.
    """

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._dialect = trial.dialect
        self._can = trial.subject.capabilities
        self._options = trial.options
        if "tools" not in self._can:
            self._options.pop("tools", None)
        unfit = ("system",) if "system" not in self._can else ()
        self.prompt: list[Message] = [one for one in trial.scenario.prompt if one["role"] not in unfit]
        self.asked: Asked | None = None
        self.last: tuple[list[Message], WrittenAnswer] | None = None
        """The prompt and the answer of the previous turn."""
        self._wanted_back: list[str] = []
        self._number = 0

    @property
    def pending(self) -> list[str]:
        """The ids of the calls that have no results yet."""
        last = self.prompt[-1]
        calls: list[dict[str, Any]] = last.get("tool_calls") or [] if last.get("role") == "assistant" else []
        return [str(call.get("id")) for call in calls]

    def ask(self, answer: WrittenAnswer, *, is_streamed: bool = False) -> list[Problem]:
        """Calls the adapter, answers, and appends the message it returns. Returns what is wrong with it."""
        self._number += 1
        said = self._fit(answer)
        streams = {"stream": True} if is_streamed and "streaming" in self._can else {}
        reply = self._trial.subject.call(
            self.prompt, {**self._options, **streams}, lambda asked: self._answer(asked, said)
        )
        faults = list(self._faults(reply, said))
        if not faults and isinstance(reply, Answered):
            self.last = list(self.prompt), said
            self._wanted_back += _wanted_back(self._dialect, said) if "reasoning" in self._can else []
            self.prompt.append(reply.message)
        return faults

    def go_on(
        self, results: Sequence[dict[str, Any]] = _RESULTS, *, user: str = _USER, is_reversed: bool = False
    ) -> None:
        """Appends the results of the calls, in order or reversed; without calls, appends a user message."""
        answered = [
            {"role": "tool_result", "tool_call_id": call_id, **results[at % len(results)]}
            for at, call_id in enumerate(self.pending)
        ]
        self.prompt += answered[:: -1 if is_reversed else 1] or [{"role": "user", "content": user}]

    def example(self) -> Example:
        """The turn before the failed one, which caused the failure, or the first turn; and the last payload."""
        prompt, said = self.last or (self.prompt, None)
        payload = None if self.asked is None else self.asked.payload
        answer = None if said is None else msgspec.to_builtins(said)
        return Example(prompt=prompt, options=self._options, payload=payload, answer=answer)

    def _fit(self, answer: WrittenAnswer) -> WrittenAnswer:
        """The answer as the dialect can write it and the adapter can read it: signed, with new ids."""
        calls = answer.tool_calls if "tools" in self._can else ()
        calls = calls if "parallel_tools" in self._can else calls[:1]
        renamed = tuple(ToolCall(f"{call.id}_{self._number}", call.function) for call in calls)
        said = replace(answer, tool_calls=renamed, finish="tool_calls" if renamed else "stop")
        said = said if said.content or renamed else replace(said, content=WRITTEN_TEXT)
        if said.thinking and "reasoning" in self._can:
            said = as_sayable(self._dialect.answers.write, replace(said, signature=sign(said.thinking)))
            try:
                self._dialect.answers.write(said)
            except CannotWrite:
                pass
            else:
                return said
        return replace(said, thinking="", signature=None, thinking_tokens=None)

    def _answer(self, asked: Asked, said: WrittenAnswer) -> Response:
        self.asked = asked
        return answer_strictly(asked, lambda _: said)

    def _faults(self, reply: Any, said: WrittenAnswer) -> Iterator[Problem]:
        if not isinstance(reply, Answered):
            yield Problem(f"the call gave no answer: {reply}", finding_class="contract")
        elif reply.error is not None:
            known = {name: value for name, value in reply.error.items() if name in _SHOWN and value is not None}
            is_refused = known.get("code") == PROVIDER_ERROR
            what = "the request is refused" if is_refused else "the answer is not read"
            text = f"{what}: {shorten(json.dumps(known, ensure_ascii=False), AT_LENGTH)}"
            yield Problem(text, finding_class="refused" if is_refused else "contract")
        elif (wrong := next(reply.wrong_shapes(), None)) is not None:
            yield Problem(wrong, finding_class="contract")
        else:
            has_own_ids = "call_ids" in self._trial.subject.losses
            yield from _misread(self._trial.dialect.answers, reply, said, has_own_ids=has_own_ids)
            yield from self._lost()

    def _lost(self) -> Iterator[Problem]:
        """What is missing in the request, of the dialogue so far."""
        if self.asked is None:
            yield Problem("no request has arrived", finding_class="contract")
            return
        sent = Sent(self.asked.payload, self.asked.request.target, version=self.asked.version)
        try:
            decoded = self._trial.decode(sent)
        except DecodeFailed as error:
            yield Problem(f"the request cannot be decoded: {error}", finding_class="refused")
            return
        for one in self._trial.compare(decoded, self.prompt, self._options, sent).differences:
            is_known = self._trial.is_known(as_problem(one).message)
            if one.loss not in self._trial.subject.losses and not is_known:
                yield Problem(f"{one.path}: {one.message}", finding_class=class_of(one))
        there = {leaf for _, leaf in leaves(sent.payload)} if self._wanted_back else set[Any]()
        for text in self._wanted_back:
            if text not in there:
                yield Problem(f"{quote(text)} is not sent back with the message that it came with")


_SHOWN: Final = ("code", "message", "status", "provider_message")


def _wanted_back(dialect: Dialect, said: WrittenAnswer) -> list[str]:
    """The texts of an answer's reasoning that must be in the next request, character for character."""
    texts = [
        said.signature if dialect.requests.has_signature else None,
        said.thinking if dialect.requests.has_thinking else None,
    ]
    return [text for text in texts if text]


def _misread(answers: Answers, reply: Answered, said: WrittenAnswer, *, has_own_ids: bool) -> Iterator[Problem]:
    """How the answer is read otherwise than it was written. Ids may be the adapter's own if it declares that."""
    if (reply.text or "") != (said.content or ""):
        yield Problem(f"the answer's text was read as {show(reply.text)}")
    found: list[tuple[Any, dict[str, Any]]] = [
        (has_own_ids or call.get("id"), call.get("function") or {}) for call in reply.calls
    ]
    wanted = [(has_own_ids or call.id, call.function) for call in said.tool_calls]
    if [(one, function.get("name")) for one, function in found] != [(one, function.name) for one, function in wanted]:
        yield Problem(f"the answer's calls were read as {show(reply.calls)}")
        return
    for (_, function), (call_id, written) in zip(found, wanted, strict=True):
        if not same_arguments(answers, written.arguments, function.get("arguments")):
            yield Problem(f"the arguments of {call_id} were read as {show(function.get('arguments'))}")


@check(
    "properties.conversations-go-on",
    clause="With each answer and the results of its calls appended, the next turn is accepted and read, for 20 turns.",
    requires=("call", "dialect"),
)
def conversations_go_on(trial: Trial) -> Iterator[Problem]:
    """An agent makes more than one call."""
    dialogue = Dialogue(trial)
    first = trial.scenario.answer or WrittenAnswer(content=WRITTEN_TEXT)
    turns = trial.turns if len(trial.turns) > 1 else [{"answer": msgspec.to_builtins(first)}, _LAST]
    for number, turn in enumerate(turns, 1):
        answer = msgspec.convert(turn["answer"], WrittenAnswer)
        faults = dialogue.ask(answer, is_streamed=turn.get("is_streamed", False))
        for fault in faults:
            yield replace(fault.after(f"turn {number}: "), example=dialogue.example())
        if faults:
            return
        results, user = turn.get("results", _RESULTS), turn.get("user", _USER)
        dialogue.go_on(results, user=user, is_reversed=turn.get("is_reversed", False))


_LAST: Final = {"answer": {"content": WRITTEN_TEXT}}
