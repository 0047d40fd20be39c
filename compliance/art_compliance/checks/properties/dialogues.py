"""A dialogue with a strict provider, turn by turn: what the adapter returned is appended, and the next must go on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from art_compliance.checks.base import check
from art_compliance.checks.streamed import PROVIDER_ERROR
from art_compliance.checks.trial import Trial
from art_compliance.comparison.normal_form import same_json
from art_compliance.dialects import CannotWrite, DecodeFailed, Dialect
from art_compliance.findings import Example, Problem
from art_compliance.pointers import leaves
from art_compliance.provider import WRITTEN_TEXT, Asked, Response
from art_compliance.provider.signatures import sign
from art_compliance.provider.strict import answer_strictly
from art_compliance.quoting import AT_LENGTH, quote, shorten
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Sent
from art_sdk import ToolCall

Message = dict[str, Any]

_RESULTS: Final = ({"content": "done"},)
_USER: Final = "Go on."


class Dialogue:
    """An adapter in a dialogue: `prompt` is what was said so far, and grows by what the adapter returns.

    Raises NotApplicable for an adapter that cannot be called, or whose dialect is unknown.
    """

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._dialect = trial.dialect
        self._can = trial.subject.capabilities
        self._options = trial.scenario.call_options()
        if "tools" not in self._can:
            self._options.pop("tools", None)
        unfit = ("system",) if "system" not in self._can else ()
        self.prompt: list[Message] = [one for one in trial.scenario.prompt if one["role"] not in unfit]
        self.asked: Asked | None = None
        self.last: tuple[list[Message], WrittenAnswer] | None = None
        """The prompt and the answer of the turn before."""
        self._wanted_back: list[str] = []
        self._number = 0

    @property
    def pending(self) -> list[str]:
        """The ids of the calls that wait for their results."""
        last = self.prompt[-1]
        calls: list[dict[str, Any]] = last.get("tool_calls") or [] if last["role"] == "assistant" else []
        return [call["id"] for call in calls]

    def ask(self, answer: WrittenAnswer, *, is_streamed: bool = False) -> list[str]:
        """Asks, is answered so, and appends what the adapter returns; what is wrong with that is given in words."""
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
        """Answers the calls with the results, in their order or reversed; where there are none, the user speaks."""
        answered = [
            {"role": "tool_result", "tool_call_id": call_id, **results[at % len(results)]}
            for at, call_id in enumerate(self.pending)
        ]
        self.prompt += answered[:: -1 if is_reversed else 1] or [{"role": "user", "content": user}]

    def example(self) -> Example:
        """The turn before the one that failed, which it failed for, or the first one; and what was sent last."""
        prompt, said = self.last or (self.prompt, None)
        payload = None if self.asked is None else self.asked.payload
        answer = None if said is None else msgspec.to_builtins(said)
        return Example(prompt=prompt, options=self._options, payload=payload, answer=answer)

    def _fit(self, answer: WrittenAnswer) -> WrittenAnswer:
        """The answer as this dialect can say it and this adapter declares to read it: signed, its ids new here."""
        calls = answer.tool_calls if "tools" in self._can else ()
        calls = calls if "parallel_tools" in self._can else calls[:1]
        renamed = tuple(ToolCall(f"{call.id}_{self._number}", call.function) for call in calls)
        said = replace(answer, tool_calls=renamed, finish="tool_calls" if renamed else "stop")
        said = said if said.content or renamed else replace(said, content=WRITTEN_TEXT)
        if said.thinking and "reasoning" in self._can:
            said = replace(said, signature=sign(said.thinking))
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

    def _faults(self, reply: Any, said: WrittenAnswer) -> Iterator[str]:
        if not isinstance(reply, Answered):
            yield f"it is not asked: {reply}"
        elif reply.error is not None:
            known = {name: value for name, value in reply.error.items() if name in _TOLD and value is not None}
            what = "the request is refused" if known.get("code") == PROVIDER_ERROR else "the answer is not read"
            yield f"{what}: {shorten(json.dumps(known, ensure_ascii=False), AT_LENGTH)}"
        else:
            yield from _misread(reply, said)
            yield from self._lost()

    def _lost(self) -> Iterator[str]:
        """What of the dialogue so far does not stand in the request."""
        if self.asked is None:
            yield "no request has come"
            return
        sent = Sent(self.asked.payload, self.asked.request.target)
        try:
            decoded = self._trial.decode(sent)
        except DecodeFailed as error:
            yield f"the request cannot be decoded: {error}"
            return
        for one in self._trial.compare(decoded, self.prompt, self._options, sent).differences:
            if one.loss not in self._trial.subject.losses:
                yield f"{one.path}: {one.message}"
        there = {leaf for _, leaf in leaves(sent.payload)} if self._wanted_back else set[Any]()
        yield from (
            f"{quote(text)} is not sent back with what it came with" for text in self._wanted_back if text not in there
        )


_TOLD: Final = ("code", "message", "status", "provider_message")


def _wanted_back(dialect: Dialect, said: WrittenAnswer) -> list[str]:
    """What of an answer's reasoning stands in the next request, to the letter."""
    texts = [
        said.signature if dialect.requests.has_signature else None,
        said.thinking if dialect.requests.has_thinking else None,
    ]
    return [text for text in texts if text]


def _misread(reply: Answered, said: WrittenAnswer) -> Iterator[str]:
    if (reply.text or "") != (said.content or ""):
        yield f"its text was read as {quote(str(reply.text))}"
    found: list[tuple[Any, dict[str, Any]]] = [(call.get("id"), call.get("function") or {}) for call in reply.calls]
    wanted = [(call.id, call.function) for call in said.tool_calls]
    if [(one, function.get("name")) for one, function in found] != [(one, function.name) for one, function in wanted]:
        yield f"its calls were read as {shorten(str(reply.calls))}"
        return
    for (_, function), (call_id, written) in zip(found, wanted, strict=True):
        if not same_json(_arguments(function.get("arguments")), _arguments(written.arguments)):
            yield f"the arguments of {call_id} were read as {shorten(str(function.get('arguments')))}"


def _arguments(text: Any) -> Any:
    try:
        return json.loads(text or "{}")
    except (TypeError, ValueError):
        return text


@check(
    "properties.conversations-go-on",
    clause="What was answered is appended, its calls are answered, and the next turn is accepted and read: 20 turns.",
    requires=("call", "dialect"),
)
def conversations_go_on(trial: Trial) -> Iterator[Problem]:
    """What an agent is: a call is not its last."""
    dialogue = Dialogue(trial)
    first = trial.scenario.answer or WrittenAnswer(content=WRITTEN_TEXT)
    turns = trial.turns if len(trial.turns) > 1 else [{"answer": msgspec.to_builtins(first)}, _LAST]
    for number, turn in enumerate(turns, 1):
        answer = msgspec.convert(turn["answer"], WrittenAnswer)
        faults = dialogue.ask(answer, is_streamed=turn.get("is_streamed", False))
        for fault in faults:
            yield Problem(f"turn {number}: {fault}", example=dialogue.example())
        if faults:
            return
        results, user = turn.get("results", _RESULTS), turn.get("user", _USER)
        dialogue.go_on(results, user=user, is_reversed=turn.get("is_reversed", False))


_LAST: Final = {"answer": {"content": WRITTEN_TEXT}}
