"""One adapter under test, and the three ways to reach it.

- A `BaseAdapter`, or a proxy of one, gets typed values, and the payload that its `translate` returns is judged.
- Any other object with `translate(prompt, options)` gets JSON data, and the payload that it returns is judged.
- An object with only `call(prompt, options)` is a black box: the requests that reach the loopback provider are judged.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from math import inf
from typing import Any, Literal

from msgspec.structs import replace

from art_compliance.comparison import NO_CONSTANTS, Constants
from art_compliance.comparison.names import pair_names
from art_compliance.dialects import DIALECTS, DecodeFailed
from art_compliance.dialects.endpoints import find_service
from art_compliance.dialects.urls import target_of
from art_compliance.provider import Answerer, Asked, LoopbackProvider, Response, answer_as_written
from art_compliance.provider.receiving import Request
from art_compliance.provider.server import Served
from art_compliance.quoting import shorten
from art_compliance.subject.access import Keys
from art_compliance.subject.constants import learn_constants
from art_compliance.subject.deadlines import OutOfTime, Stopped
from art_compliance.subject.events import Answered
from art_compliance.subject.factories import Factory
from art_compliance.subject.facts import METHODS
from art_compliance.subject.gateways import REFUSALS
from art_compliance.subject.host.collecting import is_folded
from art_compliance.subject.observations import (
    Called,
    Crashed,
    Observation,
    Refused,
    Reply,
    Sent,
    Translation,
    Watched,
    observe_error,
)
from art_compliance.subject.reaching import MOST_STOPS, Reach
from art_sdk import BUILT_IN, ErrorCode

CallOnce = Callable[[str, list[dict[str, Any]], dict[str, Any], Answerer], Reply]
"""Calls an adapter by a method with a prompt and options, answered by an answerer."""

AskingBy = tuple[list[dict[str, Any]], dict[str, Any], str]
"""Prompt and options of a call, and its method."""


class Subject:
    """One adapter under test, with the loopback provider that answers its calls. `open_subject` makes it."""

    def __init__(
        self,
        reach: Reach,
        *,
        name: str,
        make: Factory,
        requested_dialect: str | None,
        server: LoopbackProvider,
        keys: Keys,
        in_process: str | None,
        ends: float = inf,
    ) -> None:
        """`ends` is the time of `time.perf_counter` after which the adapter is not used any more."""
        facts = reach.facts
        self._reach = reach
        self.name = name
        self.make = make
        declared = None if facts.dialect is None else DIALECTS[facts.dialect]
        self.service = None if declared is None else find_service(declared, facts.provider_name)
        self.dialect = declared if self.service is None else self.service.format
        self.requested_dialect = requested_dialect
        self.base_url = server.url + ("" if declared is None else declared.service.base_path)
        self.capabilities = facts.declarations.capabilities
        self.losses = facts.declarations.losses
        self.repairs = facts.declarations.repairs
        self.methods = facts.methods
        self.takes_types = facts.takes_types
        self.settings = facts.settings
        self.factory_name = facts.factory_name
        self.class_name = facts.class_name
        self.keys = keys
        self.secrets = (keys.own,)
        self.has_call = "call" in facts.methods
        self.has_translate = "translate" in facts.methods
        self.in_process = in_process
        self.ends = ends
        self.bridged = facts.bridged
        self.speaks = facts.speaks
        self._server = server
        self._version_header = (self.dialect and self.dialect.service.access.version_header) or ""

    @cached_property
    def constants(self) -> Constants:
        """The texts that the adapter adds when it repairs a prompt. Its dialect must be known."""
        return NO_CONSTANTS if self.dialect is None else learn_constants(self.translate, self.dialect)

    @property
    def is_reference(self) -> bool:
        """Whether the adapter's class is a reference adapter itself: derived classes may behave differently."""
        return self.class_name in BUILT_IN.values()

    @property
    def kind(self) -> Literal["white box", "black box", "translate only", "gateway"]:
        """How the adapter is reached."""
        if self.speaks is not None:
            return "gateway"
        if not self.has_translate:
            return "black box"
        return "white box" if self.has_call else "translate only"

    @property
    def is_translated(self) -> bool:
        """Whether a gateway translates the provider's answers to another format."""
        return self.speaks is not None and (self.dialect is None or self.speaks != self.dialect.name)

    @property
    def provider(self) -> str:
        """The provider's name as a folder name: the adapter's `provider_name`, or the dialect's name."""
        declared = self._reach.facts.provider_name
        named = declared if declared is not None else "" if self.dialect is None else self.dialect.name
        return re.sub(r"[^a-z0-9]+", "-", named.lower()).strip("-") or "unknown"

    @property
    def request_count(self) -> int:
        """How many requests have arrived so far."""
        return self._server.count

    @property
    def other_requests(self) -> list[str]:
        """Method and target of the first requests of the run that are no POST."""
        return self._server.others

    @property
    def underway(self) -> int:
        """How many answers the provider is sending right now."""
        return self._server.underway

    def seen_since(self, first: int) -> list[Request]:
        """The requests that arrived after the first `first` ones, of every method."""
        return self._server.seen(first)

    def exchange(self, number: int) -> Served | None:
        """The request of this number, counted from 1, with its answer; None if it is no longer remembered."""
        return self._server.exchange(number)

    def forget(self) -> None:
        """Drops the requests that were kept so far."""
        self._server.forget()

    def answering(self, answerer: Answerer) -> AbstractContextManager[None]:
        """Answers every request with `answerer` until the block ends."""
        return self._server.answering(answerer)

    def use(self, verb: str, /, **arguments: Any) -> Any:
        """What a method of `Host` observes.

        Raises Stopped for an adapter that does not answer, CannotDo, and OutOfTime once the run's time is up.
        """
        if time.perf_counter() > self.ends:
            raise OutOfTime
        return self._reach.use(verb, **arguments)

    def attempt(self, verb: str, /, **arguments: Any) -> Any:
        """As `use`, but what the adapter does instead of answering is an observation. Raises CannotDo."""
        try:
            return self.use(verb, **arguments)
        except Stopped as error:
            return observe_error(error)

    @property
    def call_methods(self) -> list[str]:
        """The methods by which the adapter can be called, `call` first."""
        return [name for name in METHODS if name != "translate" and name in self.methods]

    @property
    def other_methods(self) -> list[str]:
        """Those besides `call`."""
        return [name for name in self.call_methods if name != "call"]

    @property
    def stops(self) -> list[str]:
        """What each call did that did not return, or that ended the adapter's process."""
        return self._reach.stops

    def leave(self) -> list[str]:
        """Closes the adapter: what it leaves behind. It is made again for the next use. Raises HarnessError, Stopped.

        An adapter in the suite's own process stays as it is, and leaves nothing.
        """
        return self._reach.leave()

    @property
    def is_given_up(self) -> bool:
        """Whether the adapter is not used any more."""
        return len(self.stops) >= MOST_STOPS

    def translate(self, prompt: list[dict[str, Any]], options: dict[str, Any]) -> Observation:
        """The request that the adapter makes of the prompt: what `translate` returns, or what `call` sends."""
        if not self.has_translate:
            return self.send(prompt, options)
        try:
            seen: Observation = self.use("translate", prompt=prompt, options=options)
        except Stopped as error:
            return observe_error(error)
        if not isinstance(seen, Sent) or seen.url is None:
            return seen
        return replace(seen, url=self._without_own_address(seen.url))

    def translate_in_turn(self, calls: Sequence[tuple[list[dict[str, Any]], dict[str, Any]]]) -> list[Observation]:
        """As `translate`, of one prompt after the other: with one message to the adapter's process."""
        return [one.observation for one in self.watch_translations(calls)]

    def watch_translations(self, calls: Sequence[tuple[list[dict[str, Any]], dict[str, Any]]]) -> list[Translation]:
        """As `translate_in_turn`, with whether `translate` changes the prompt or the options that it is given."""
        if not self.has_translate:
            return [Translation(self.send(*call)) for call in calls]
        try:
            translations: list[Translation] = self.use("watch_translations", calls=list(calls))
        except Stopped as error:
            return [Translation(observe_error(error))] * len(calls)
        return translations

    def translate_together(self, calls: Iterable[tuple[list[dict[str, Any]], dict[str, Any]]]) -> Sequence[Observation]:
        """What `translate` makes of prompts and their options at the same time, each on its own thread."""
        return self._use_for_each("translate_together", calls=list(calls))

    def _without_own_address(self, url: str) -> str:
        """Of a URL at the suite's own provider, only path and query: its address does not say whom it plays.

        Where that is a service, the URL is the service's: its own rules count.
        """
        own = (self._server.url, self._server.url.replace("127.0.0.1", "localhost"))
        if not url.startswith(own):
            return url
        return target_of(url) if self.service is None else self.service.url(url)

    def send(self, prompt: list[dict[str, Any]], options: dict[str, Any]) -> Observation:
        """The request that `call` sends, and how many POST requests it sent."""
        return self.watch(prompt, options).observation

    def watch(self, prompt: list[dict[str, Any]], options: dict[str, Any]) -> Watched:
        """As `send`, with the reply, the requests, and whether `call` changed the prompt or the options."""
        first = self._server.count
        called = self._call(prompt, options)
        arrived = [request for request in self._server.seen(first) if request.method == "POST"]
        seen = self._observe_arrived(arrived) if arrived else self._observe_silence(called.reply)
        return Watched(seen, called.reply, called.changed, tuple(arrived))

    def _call(
        self,
        prompt: list[dict[str, Any]],
        options: dict[str, Any],
        method: str = "call",
        *,
        seconds: float | None = None,
    ) -> Called:
        try:
            called: Called = self.use("call", prompt=prompt, options=options, method=method, seconds=seconds)
        except Stopped as error:
            return Called(observe_error(error))
        return called

    def _observe_arrived(self, arrived: list[Request]) -> Observation:
        try:
            payload = json.loads(arrived[0].body)
        except (ValueError, RecursionError) as broken:
            return Crashed(f"the request's body is not JSON: {broken}")
        target = arrived[0].target
        url = target_of(target) if self.service is None else self.service.url(target)
        return Sent(payload, url, len(arrived), arrived[0].headers.get(self._version_header))

    def _observe_silence(self, reply: Reply) -> Observation:
        """A call that sent nothing. What it raised, or gave as its ERROR, is the reason, if there is one.

        A gateway refuses a prompt by its status.
        """
        if not isinstance(reply, Answered):
            return reply
        error = reply.error or {}
        said = shorten(str(error.get("message")))
        if self.speaks is not None and error.get("status") in REFUSALS:
            return Refused(ErrorCode.PROMPT_TRANSLATION_FAILED, said, error["status"])
        return Crashed(f"call ended without a POST to base_url{f', with the ERROR {said}' if error else ''}")

    def call(
        self,
        prompt: list[dict[str, Any]],
        options: dict[str, Any],
        answerer: Answerer = answer_as_written,
        *,
        seconds: float | None = None,
    ) -> Reply:
        """The adapter's reply to a call that the provider answers with `answerer`, and that may take so long."""
        with self.answering(self.with_sent_names(answerer, options)):
            return self._call(prompt, options, seconds=seconds).reply

    def call_by(self, method: str, prompt: list[dict[str, Any]], options: dict[str, Any], answerer: Answerer) -> Reply:
        """As `call`, by another method of the adapter. Where that gives a whole answer, it is read as events."""
        with self.answering(self.with_sent_names(answerer, options)):
            return self.use_method(method, prompt, options)

    def use_method(self, method: str, prompt: list[dict[str, Any]], options: dict[str, Any]) -> Reply:
        """As `call_by`, with the answerer of now."""
        if not is_folded(method):
            return self._call(prompt, options, method).reply
        reply: Reply = self.attempt("fold", prompt=prompt, options=options, method=method)
        return reply

    def with_sent_names(self, answerer: Answerer, options: dict[str, Any]) -> Answerer:
        """The answerer, for an adapter that renames tools: answers then name the tools as the request does."""
        tools: list[dict[str, Any]] = options.get("tools", [])
        if not (tools and "renames_tools" in self.repairs):
            return answerer
        given = [tool["name"] for tool in tools]

        def answer(asked: Asked) -> Response:
            try:
                sent = [tool.name for tool in asked.dialect.requests.decode(asked.payload).tools]
            except DecodeFailed:
                return answerer(asked)
            return answerer(replace(asked, names=dict(pair_names(given, sent))))

        return answer

    def call_in_own_loops(self, calls: Iterable[AskingBy], answerer: Answerer, *, at_once: bool) -> list[Reply]:
        """The replies of another adapter, made as this one was, to calls each in its own event loop.

        They run one after the other, or `at_once`, each on its own thread.
        """
        with self.answering(answerer):
            return self._use_for_each("call_in_own_loops", calls=list(calls), at_once=at_once)

    def call_together_in_own_loops(
        self, loops: list[list[tuple[Any, Any]]], method: str, answerer: Answerer
    ) -> list[list[Reply]]:
        """The replies of another adapter to calls at the same time in one event loop, then to others in the next.

        Raises CannotDo if its calls are not asynchronous.
        """
        with self.answering(answerer):
            try:
                replies: list[list[Reply]] = self.use("call_together_in_own_loops", loops=loops, method=method)
            except Stopped as error:
                return [[observe_error(error)]]
        return replies

    @contextmanager
    def opening_another(self, *, key: str, path: str) -> Generator[CallOnce]:
        """A second adapter with another key and a base URL with this path: calls it once per call."""
        self.attempt("open_another", key=key, path=path)

        try:
            yield self._calling("call_another")
        finally:
            self.attempt("close_another")

    @contextmanager
    def opening_with(self, settings: dict[str, Any]) -> Generator[CallOnce]:
        """Another adapter with these settings besides key and URL: calls it by a method. Raises CannotDo."""
        self.use("open_with", settings=settings)

        try:
            yield self._calling("call_with")
        finally:
            self.attempt("close_with")

    def _calling(self, verb: str) -> CallOnce:
        """Calls by a verb of `Host`."""

        def call(method: str, prompt: list[dict[str, Any]], options: dict[str, Any], answerer: Answerer) -> Reply:
            with self.answering(answerer):
                reply: Reply = self.attempt(verb, prompt=prompt, options=options, method=method)
            return reply

        return call

    def call_at(self, address: str, prompt: list[dict[str, Any]], options: dict[str, Any]) -> Reply:
        """The reply of another adapter, whose base URL is at this address, to a call."""
        reply: Reply = self.attempt("call_at", address=address, prompt=prompt, options=options)
        return reply

    def translate_for(
        self,
        calls: Iterable[tuple[list[dict[str, Any]], dict[str, Any]]],
        *,
        key: str,
        base_url: str,
        model: str | None = None,
    ) -> list[Observation]:
        """What another adapter makes of prompts, with this key, base URL and model. It is not called.

        It has a `translate`. Raises CannotDo if the factory makes none, or one that declares other capabilities.
        """
        return self._use_for_each("translate_for", calls=list(calls), key=key, base_url=base_url, model=model)

    def call_together(self, calls: Iterable[AskingBy], answerer: Answerer, *, seconds: float) -> list[Reply]:
        """As `call_by`, for concurrent calls. A call that takes longer than `seconds` has crashed."""
        with self.answering(answerer):
            return self._use_for_each("call_together", calls=list(calls), seconds=seconds)

    def call_together_with(self, calls: Iterable[AskingBy], answerer: Answerer, *, seconds: float) -> list[Reply]:
        """As `call_together`, by the adapter that `opening_with` made."""
        with self.answering(answerer):
            return self._use_for_each("call_together_with", calls=list(calls), seconds=seconds)

    def call_slowly(
        self, calls: Iterable[AskingBy], answerer: Answerer, *, pause: float, seconds: float
    ) -> list[Reply]:
        """As `call_together`, by readers who pause for so many seconds after the first token."""
        with self.answering(answerer):
            return self._use_for_each("call_slowly", calls=list(calls), pause=pause, seconds=seconds)

    def _use_for_each(self, verb: str, *, calls: list[Any], **arguments: Any) -> list[Any]:
        try:
            observed: list[Any] = self.use(verb, calls=calls, **arguments)
        except Stopped as error:
            return [observe_error(error)] * len(calls)
        return observed
