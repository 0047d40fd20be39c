"""A trial: one subject on one scenario. What several checks look at is made once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import Struct

from art_compliance.cassettes import BadCassette, Cassette, Source, load_cassette
from art_compliance.cassettes.matching import ScrubbedRequest, Tape
from art_compliance.cassettes.scrubbing import Scrubber
from art_compliance.checks.requirements import NotApplicable, Requirement, require_read, require_sent, why_unsent
from art_compliance.comparison import Comparison, Expected, compare, expected_options
from art_compliance.dialects import CannotWrite, Decoded, DecodeFailed, Dialect
from art_compliance.generating.profiles import Search
from art_compliance.provider import Response
from art_compliance.scenarios import Scenario, WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Observation, Reply, Sent, Watched
from art_compliance.subject.subject import Subject
from art_sdk import Capability, Repair, parse_options, parse_prompt

T = TypeVar("T")

Player = Callable[[Cassette, Dialect], AbstractContextManager[Tape]]
"""Plays a cassette for a while. The checks do not know how."""

RecordCommand = Callable[[str, Sequence[str]], str]
"""The command line that records a scenario again, from its id and the options that say who is to answer."""


_USUAL: Final = Search()


class Replayed(Struct, frozen=True, kw_only=True):
    """A call that a cassette answered: its reply, its requests, and the numbers of unplayed interactions."""

    cassette: Cassette
    reply: Reply
    requests: tuple[ScrubbedRequest, ...]
    unplayed: tuple[int, ...]


class Trial:
    """What a check is given.

    `seed` makes this run's canaries and prompts, and `search` says how hard to look. `cassette` is the path where the
    scenario's cassette would be, and `player` plays it. `live` is the same adapter with the real provider behind it.
    `turns` are those of a generated dialogue.
    """

    def __init__(
        self,
        subject: Subject,
        scenario: Scenario,
        seed: int,
        search: Search = _USUAL,
        *,
        cassette: Path | None = None,
        player: Player | None = None,
        live: Subject | None = None,
        turns: Sequence[dict[str, Any]] = (),
        record_command: RecordCommand | None = None,
    ) -> None:
        self._live = live
        self._record_command = record_command
        self.turns = turns
        self._cassette = cassette
        self._player = player
        self.subject = subject
        self.scenario = scenario
        self.seed = seed
        self.search = search
        self._looked: dict[Callable[[Trial], Any], Any] = {}

    def describe_recording(self, source_options: Sequence[str]) -> str:
        """How to record this scenario again; `source_options` say who is to answer."""
        return "art record" if self._record_command is None else self._record_command(self.scenario.id, source_options)

    @cached_property
    def undeclared(self) -> tuple[Capability, ...]:
        """What the scenario needs and the adapter does not declare: it must refuse such a prompt."""
        return tuple(name for name in self.scenario.needs if name not in self.subject.capabilities)

    @cached_property
    def observation(self) -> Observation:
        """What the adapter makes of the scenario's prompt."""
        return self.subject.translate(self.scenario.prompt, self.scenario.call_options())

    def with_answer(self, answer: WrittenAnswer) -> Trial:
        """The same prompt with another answer."""
        return Trial(self.subject, msgspec.structs.replace(self.scenario, answer=answer), self.seed)

    @property
    def declared_repairs(self) -> frozenset[Repair]:
        """What the adapter may change. An adapter that loses call ids changes them, too."""
        lost: frozenset[Repair] = frozenset({"maps_call_ids"} if "call_ids" in self.subject.losses else ())
        return self.subject.repairs | lost

    @property
    def provider_fields(self) -> dict[str, Any]:
        """The scenario's options for this provider alone."""
        given: dict[str, dict[str, Any]] = self.scenario.options.get("provider", {})
        return given.get(self.dialect.name, {})

    def require(self, *requirements: Requirement) -> None:
        """Raises NotApplicable, with the reason, for the first that is missing."""
        for one in requirements:
            reason = self._why_missing(one)
            if reason is not None:
                raise NotApplicable(reason)

    def _why_missing(self, requirement: Requirement) -> str | None:
        match requirement:
            case "dialect" if self.subject.dialect is None:
                return "the dialect is unknown"
            case "call" if not self.subject.has_call:
                return "the adapter has no call"
            case "sent":
                return why_unsent(self.observation)
            case "answer" if self.scenario.answer is None:
                return "the scenario has no answer"
            case "declared" if self.undeclared:
                return f"not declared: {', '.join(self.undeclared)}"
            case "streaming" if "streaming" not in self.subject.capabilities:
                return "not declared: streaming"
            case _:
                return None

    @property
    def sent(self) -> Sent:
        """The request. Raises NotApplicable if there is none: other checks report that."""
        return require_sent(self.observation)

    @property
    def dialect(self) -> Dialect:
        """The subject's dialect. Raises NotApplicable if it is unknown: only format-free checks apply then."""
        self.require("dialect")
        return cast("Dialect", self.subject.dialect)

    @cached_property
    def watched(self) -> Watched:
        """A call with the scenario's prompt: what arrives, and whether the adapter changed its arguments."""
        return self.subject.watch(self.scenario.prompt, self.scenario.call_options())

    @property
    def arrived(self) -> Observation:
        """What arrives when the adapter is called with the scenario's prompt."""
        return self.watched.observation

    @cached_property
    def reply(self) -> Reply:
        """What a call gives when the provider sends the scenario's own answer. Raises NotApplicable."""
        return self.call(self.written)

    @property
    def answered(self) -> Answered:
        """The reply as an answer. Raises NotApplicable if there is none."""
        return require_read(self.reply)

    @property
    def written(self) -> WrittenAnswer:
        """The scenario's answer. Raises NotApplicable if it has none."""
        self.require("answer")
        return cast("WrittenAnswer", self.scenario.answer)

    def call(self, answer: WrittenAnswer, **options: Any) -> Reply:
        """What a call gives for this answer. Raises NotApplicable if the dialect cannot write it."""
        try:
            body = self.dialect.answers.write(answer)
        except CannotWrite as error:
            raise NotApplicable(str(error)) from error
        return self.call_with(Response(200, body), **options)

    def call_with(self, response: Response, **options: Any) -> Reply:
        """What a call gives for this HTTP response. Raises NotApplicable."""
        self.require("dialect", "call", "declared")
        return self.subject.call(self.scenario.prompt, {**self.scenario.call_options(), **options}, lambda _: response)

    @cached_property
    def cassette(self) -> Cassette:
        """The scenario's cassette. Raises NotApplicable if there is none, and BadCassette."""
        if self._cassette is None or not self._cassette.exists():
            raise NotApplicable("the scenario has no cassette")
        return load_cassette(self._cassette)

    @property
    def source(self) -> Source | None:
        """Who gave the answers of the scenario's cassette; None where that is unknown, or there is no cassette."""
        try:
            known = self.cassette.provenance
        except (NotApplicable, BadCassette):
            return None
        return None if known is None else known.source

    @cached_property
    def replayed(self) -> Replayed:
        """The call, answered from the scenario's cassette. Raises NotApplicable and BadCassette."""
        cassette = self.cassette
        self.require("call")
        if self._player is None:
            raise NotApplicable("nothing can play its cassette")
        with self._player(cassette, self.dialect) as tape:
            reply = self.subject.call(self.scenario.prompt, self.replay_options)
        return Replayed(cassette=cassette, reply=reply, requests=tuple(tape.requests), unplayed=tuple(tape.unplayed))

    @property
    def replay_options(self) -> dict[str, Any]:
        """The options of the recorded call, with its model: the adapter itself may choose another."""
        options, known = self.scenario.call_options(), self.cassette.provenance
        if known is not None and known.model is not None:
            options.setdefault("model", known.model)
        return options

    @cached_property
    def live_reply(self) -> Reply:
        """What a call to the real provider gives. Raises NotApplicable if this run does not call it."""
        if self._live is None:
            raise NotApplicable("this run does not call the real provider")
        self.require("sent")
        return self._live.call(self.scenario.prompt, self.scenario.call_options())

    def scrubbed(self, text: str) -> str:
        """The text without the key of the real provider, and without what identifies its account."""
        return Scrubber(() if self._live is None else self._live.secrets).text(text)

    def once(self, look: Callable[[Trial], T]) -> T:
        """The function's value for this trial, computed once for all checks."""
        if look not in self._looked:
            self._looked[look] = look(self)
        return cast("T", self._looked[look])

    @cached_property
    def decoded(self) -> Decoded:
        """The request in the standard format. Raises NotApplicable if it has another format."""
        try:
            return self.decode(self.sent)
        except DecodeFailed as error:
            raise NotApplicable("the request cannot be decoded: see translation.request-is-of-its-dialect") from error

    @cached_property
    def comparison(self) -> Comparison:
        """The scenario against the decoded request. Raises NotApplicable."""
        return self.compare(self.decoded, self.scenario.prompt, self.scenario.call_options(), self.sent)

    def decode(self, sent: Sent) -> Decoded:
        """A request in the standard format. Raises DecodeFailed."""
        return self.dialect.requests.decode(sent.payload, url=sent.url)

    def compare(
        self, decoded: Decoded, prompt: list[dict[str, Any]], options: dict[str, Any], sent: Sent
    ) -> Comparison:
        """Compares a prompt with what was decoded from its request."""
        wanted = expected_options(options)
        if sent.url is None and "model" not in decoded.options:
            wanted.pop("model", None)
        tools = parse_options(options).tools
        expected = Expected(dialect=self.dialect.name, prompt=parse_prompt(prompt), tools=tools, options=wanted)
        return compare(expected, decoded)

    def observe(self, prompt: list[dict[str, Any]], options: dict[str, Any] | None = None) -> Observation:
        """What the adapter makes of another prompt."""
        return self.subject.translate(prompt, options or self.scenario.call_options())

    def observe_sent(self, prompt: list[dict[str, Any]], options: dict[str, Any] | None = None) -> Sent:
        """The request for another prompt. Raises NotApplicable if there is none."""
        return require_sent(self.observe(prompt, options))
