"""A trial: one subject on one scenario. What several checks look at is made once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from random import Random
from typing import Any, Final, TypeVar, cast

import msgspec

from art_compliance.checks.answerers import giving
from art_compliance.checks.kept_form import has_own_form
from art_compliance.checks.recording import Recording
from art_compliance.checks.requirements import NotApplicable, Requirement, require_read, require_sent, why_unsent
from art_compliance.comparison import Comparison, Expected, compare, expected_options
from art_compliance.dialects import CannotWrite, Decoded, DecodeFailed, Dialect
from art_compliance.dialects.writing import as_sayable
from art_compliance.generating.profiles import Search
from art_compliance.provider import Answerer, Change, Response, answering_with, ask
from art_compliance.provider.composing import answer_as_asked
from art_compliance.scenarios import Scenario, WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Observation, Reply, Sent, Watched
from art_compliance.subject.subject import Subject
from art_sdk import ARTError, Capability, Repair, parse_options, parse_prompt

T = TypeVar("T")

_USUAL: Final = Search()

_IMPLIED: Final[dict[str, Repair]] = {
    "call_ids": "maps_call_ids",
    "always_hoists_late_system": "hoists_late_system",
    "demotes_system": "demotes_late_system",
}
"""The repairs that other declarations include."""


def _is_new(_: str) -> bool:
    """Says of every message that nothing like it has been reported."""
    return False


def drawn_id(seed: int, name: str, kind: str = "thread_id") -> str:
    """An id of a kind for a purpose, from the seed: an adapter cannot see by its ids that it is tested."""
    return Random(f"{seed} {kind} {name}").randbytes(8).hex()


class Trial:
    """What a check is given.

    `seed` makes this run's canaries and prompts, and `search` says how hard to look. `recording` is the scenario's
    recorded call, if it has one. `live` is the same adapter with the real provider behind it.
    `turns` are those of a generated dialogue. `is_known` says of a message whether this run has reported its cause
    on a scenario: what is generated is searched for other causes.
    """

    def __init__(
        self,
        subject: Subject,
        scenario: Scenario,
        seed: int,
        search: Search = _USUAL,
        *,
        recording: Recording | None = None,
        live: Subject | None = None,
        turns: Sequence[dict[str, Any]] = (),
        is_known: Callable[[str], bool] = _is_new,
    ) -> None:
        self.subject = subject
        self.scenario = scenario
        self.seed = seed
        self.search = search
        self.recording = recording or Recording(scenario)
        self.live = live
        self.turns = turns
        self.is_known = is_known
        self._kept: dict[object, tuple[Any, int | None]] = {}
        self.exchange: int | None = None
        """The number of the exchange that was looked at last: see `Subject.exchange`."""

    @cached_property
    def undeclared(self) -> tuple[Capability, ...]:
        """What the scenario needs and the adapter does not declare: it must refuse such a prompt."""
        ignored: frozenset[Capability] = frozenset(() if self._has_own_fields else ("provider_fields",))
        return tuple(name for name in self.scenario.needs if name not in self.subject.capabilities | ignored)

    @property
    def _has_own_fields(self) -> bool:
        """Whether the call sets fields of the adapter's own provider: those of others are left aside."""
        return self.subject.dialect is not None and bool(self.provider_fields)

    def _keep(self, name: object, make: Callable[[], T]) -> T:
        """What `make` gives, made once; with each look at it, its exchange is the one that was looked at last."""
        if (kept := self._kept.get(name)) is None:
            before = self.subject.request_count
            made = make()
            latest = self.subject.request_count
            kept = self._kept[name] = made, latest if latest > before else None
        found, exchange = kept
        self.exchange = exchange or self.exchange
        return cast("T", found)

    @property
    def options(self) -> dict[str, Any]:
        """A copy of the scenario's call options, with a thread id, which the check may change."""
        return self._options.copy()

    @cached_property
    def _options(self) -> dict[str, Any]:
        return {"thread_id": self.id_of(self.scenario.id), **self.scenario.options}

    @property
    def recorded_options(self) -> dict[str, Any]:
        """The options of the recorded call, with its model and an id of this run."""
        return {**self.recording.options, **self.options}

    def id_of(self, name: str, kind: str = "thread_id") -> str:
        """An id of this run for a purpose."""
        return drawn_id(self.seed, name, kind)

    def ids(self, name: str) -> dict[str, str]:
        """The ids of a thread, a trace and a session for a purpose, as options."""
        return {kind: self.id_of(name, kind) for kind in ("thread_id", "trace_id", "session_id")}

    @property
    def observation(self) -> Observation:
        """What the adapter makes of the scenario's prompt."""
        return self._keep("observation", lambda: self.observe(self.scenario.prompt))

    def with_answer(self, answer: WrittenAnswer) -> Trial:
        """The same prompt with another answer."""
        return Trial(self.subject, msgspec.structs.replace(self.scenario, answer=answer), self.seed)

    @property
    def declared_repairs(self) -> frozenset[Repair]:
        """What the adapter may change, including what follows from its declarations."""
        declared: set[str] = {*self.subject.repairs, *self.subject.losses}
        implied: frozenset[Repair] = frozenset(repair for name, repair in _IMPLIED.items() if name in declared)
        return self.subject.repairs | implied

    @property
    def shown(self) -> frozenset[str]:
        """The declared losses and repairs that the scenario's comparison shows, if it has been made."""
        if "comparison" not in self.__dict__:
            return frozenset()
        made: set[str] = {*self.comparison.repairs, *(one.loss or "" for one in self.comparison.differences)}
        is_asked_to = self.scenario.options.get("late_system") == "hoist"
        made |= {name for name, implied in _IMPLIED.items() if implied in made and not is_asked_to}
        if self.decoded.options.get("stream") and not self.scenario.options.get("stream"):
            made.add("streams_inside")
        return frozenset({*self.subject.losses, *self.subject.repairs} & made)

    @property
    def provider_fields(self) -> dict[str, Any]:
        """The scenario's options for this provider alone."""
        given: dict[str, dict[str, Any]] = self.scenario.options.get("provider", {})
        return given.get(self.dialect.name, {})

    def require(self, *requirements: Requirement) -> None:
        """Raises NotApplicable, with the reason, for the first that is missing."""
        for one in requirements:
            reason = _REASONS[one](self)
            if reason is not None:
                raise NotApplicable(reason)

    def why_unsendable(self) -> str | None:
        """Why the adapter must refuse the prompt, or None where it need not."""
        if self.undeclared:
            return _why_undeclared(self)
        known = self.subject.dialect
        right = () if known is None else self.scenario.outcomes_for(known.name)
        must_refuse = right and all(outcome.startswith("refused:") for outcome in right)
        return "the prompt must be refused: see translation.outcome-is-right" if must_refuse else None

    @property
    def sent(self) -> Sent:
        """The request. Raises NotApplicable if there is none: other checks report that."""
        seen = self.observation
        if self._unsent is not None:
            raise NotApplicable(self._unsent)
        return cast("Sent", seen)

    @cached_property
    def _unsent(self) -> str | None:
        """Why there is no request to judge: a long one is read once for all checks."""
        return why_unsent(self.observation)

    def why_unsent(self) -> str | None:
        """Why there is no request to judge, or None where there is one."""
        _ = self.observation  # its exchange is the one that was looked at last
        return self._unsent

    @property
    def dialect(self) -> Dialect:
        """The subject's dialect. Raises NotApplicable if it is unknown: only format-free checks apply then."""
        self.require("dialect")
        return cast("Dialect", self.subject.dialect)

    @property
    def watched(self) -> Watched:
        """A call with the scenario's prompt: what arrives, and whether the adapter changed its arguments."""
        return self._keep("watched", lambda: self.subject.watch(self.scenario.prompt, self.options))

    @property
    def arrived(self) -> Observation:
        """What arrives when the adapter is called with the scenario's prompt."""
        return self.watched.observation

    @property
    def reply(self) -> Reply:
        """What a call gives when the provider sends the scenario's own answer. Raises NotApplicable."""
        return self._keep("reply", lambda: self.call(self.written))

    @property
    def answered(self) -> Answered:
        """The reply as an answer. Raises NotApplicable if there is none."""
        return require_read(self.reply)

    @property
    def written(self) -> WrittenAnswer:
        """The scenario's answer, unsigned where the provider signs nothing. Raises NotApplicable if it has none."""
        self.require("answer")
        answer = cast("WrittenAnswer", self.scenario.answer)
        return answer if self.subject.dialect is None else as_sayable(self.subject.dialect.answers.write, answer)

    def call(self, answer: WrittenAnswer, *, change: Change | None = None, **options: Any) -> Reply:
        """What a call gives for this answer, streamed where the request asks for a stream. Raises NotApplicable.

        `change` is as in `Asked.answer`.
        """
        self.require("dialect", "call", "declared")
        try:
            self.dialect.answers.write(answer)
        except CannotWrite as error:
            raise NotApplicable(str(error)) from error
        return self._call(answering_with(answer, change), options)

    def call_with(self, response: Response, **options: Any) -> Reply:
        """What a call gives for this HTTP response, whatever the request asks for. Raises NotApplicable."""
        self.require("dialect", "call", "declared")
        return self._call(giving(response), options)

    def call_as_asked(self) -> Reply:
        """What a call gives for an answer that has what the request asks for: calls, or JSON of the schema."""
        return self._call(answer_as_asked, {})

    def _call(self, answerer: Answerer, options: dict[str, Any]) -> Reply:
        return self.subject.call(self.scenario.prompt, {**self.options, **options}, answerer)

    @cached_property
    def asks_for_stream(self) -> bool:
        """Whether the adapter asks for a stream with the scenario's own options: some always do."""
        return any(ask(self.dialect, request).wants_stream for request in self.watched.requests)

    def once(self, look: Callable[[Trial], T]) -> T:
        """The function's value for this trial, computed once for all checks. Raises NotApplicable where it does."""
        found = self._keep(look, lambda: self._look(look))
        if isinstance(found, NotApplicable):
            raise copy(found)  # the traceback of one that is kept would grow, and keep every frame alive
        return found

    def _look(self, look: Callable[[Trial], T]) -> T | NotApplicable:
        try:
            return look(self)
        except NotApplicable as error:
            return _without_frames(error)

    @cached_property
    def decoded(self) -> Decoded:
        """The request in the standard format. Raises NotApplicable if it has another format."""
        try:
            return self.decode(self.sent)
        except DecodeFailed as error:
            raise NotApplicable("the request cannot be decoded: see translation.request-matches-its-dialect") from error

    @cached_property
    def comparison(self) -> Comparison:
        """The scenario against the decoded request. Raises NotApplicable."""
        return self.compare(self.decoded, self.scenario.prompt, self.options, self.sent)

    def decode(self, sent: Sent) -> Decoded:
        """A request in the standard format. Raises DecodeFailed."""
        return self.dialect.requests.decode(sent.payload, url=sent.url)

    def compare(
        self, decoded: Decoded, prompt: list[dict[str, Any]], options: dict[str, Any], sent: Sent
    ) -> Comparison:
        """Compares a prompt with what was decoded from its request.

        The texts that the adapter adds are learned only where they may explain a difference.
        """
        wanted = expected_options(options)
        for name in self._only_in_url if sent.url is None else ():
            if name not in decoded.options:
                wanted.pop(name, None)
        try:
            messages = parse_prompt(prompt)
        except ARTError as error:
            raise NotApplicable("END's message is not standard: see the checks named message-is-standard") from error
        tools = parse_options(options).tools
        expected = Expected(
            dialect=self.dialect.name,
            prompt=messages,
            tools=tools,
            options=wanted,
            declared=self.declared_repairs,
            text_names=self.dialect.requests.text_names,
        )
        found = compare(expected, decoded)
        if all(difference.loss in self.subject.losses for difference in found.differences):
            return found
        is_own = any(one.slot == "extensions" for one in found.differences) and self._has_own_form
        learned = msgspec.structs.replace(expected, constants=self.subject.constants, has_own_form=is_own)
        return compare(learned, decoded)

    @cached_property
    def _has_own_form(self) -> bool:
        return has_own_form(self.subject, self.dialect, self.ids("kept"))

    def observe(self, prompt: list[dict[str, Any]], options: dict[str, Any] | None = None) -> Observation:
        """What the adapter makes of another prompt.

        Where translate gives no URL, it is that of the scenario's call, if model and stream are the same.
        """
        own = self.options
        seen = self.subject.translate(prompt, options or own)
        is_alike = all((options or own).get(name) == own.get(name) for name in ("model", "stream"))
        is_unplaced = isinstance(seen, Sent) and seen.url is None and is_alike
        if is_unplaced and self.subject.kind == "white box" and isinstance(self.arrived, Sent):
            return msgspec.structs.replace(cast("Sent", seen), url=self.arrived.url, version=self.arrived.version)
        return seen

    @property
    def _only_in_url(self) -> tuple[str, ...]:
        """Options that may be in the URL alone: they are not judged where it is unknown."""
        return ("model",) if self.dialect.streams.is_requested({"stream": True}, "") else ("model", "stream")

    def observe_sent(self, prompt: list[dict[str, Any]], options: dict[str, Any] | None = None) -> Sent:
        """The request for another prompt. Raises NotApplicable if there is none."""
        return require_sent(self.observe(prompt, options))


def _without_frames(error: NotApplicable) -> NotApplicable:
    """A copy without traceback, cause and context, which other libraries (tblib) teach `copy` to keep."""
    found = copy(error)
    found.__cause__ = found.__context__ = None
    return found.with_traceback(None)


def _why_undeclared(trial: Trial) -> str | None:
    return f"not declared: {', '.join(trial.undeclared)}" if trial.undeclared else None


def _why_only_data(subject: Subject) -> str | None:
    if subject.bridged is not None:
        return "the adapter is behind a bridge, where only data reaches the suite"
    return None if subject.speaks is None else "a gateway is reached over HTTP, where only data reaches the suite"


_REASONS: Final[Mapping[Requirement, Callable[[Trial], str | None]]] = {
    "dialect": lambda trial: "the dialect is unknown" if trial.subject.dialect is None else None,
    "call": lambda trial: None if trial.subject.has_call else "the adapter has no call",
    "sent": Trial.why_unsent,
    "answer": lambda trial: "the scenario has no answer" if trial.scenario.answer is None else None,
    "declared": _why_undeclared,
    "sendable": Trial.why_unsendable,
    "streaming": lambda trial: None if "streaming" in trial.subject.capabilities else "not declared: streaming",
    "python": lambda trial: _why_only_data(trial.subject),
    "own_settings": lambda trial: None if trial.subject.speaks is None else "a gateway has settings of its own",
}
"""For each requirement, why a trial does not have it; None where it has."""
