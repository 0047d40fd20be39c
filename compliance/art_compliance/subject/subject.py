"""One adapter under test, and the three ways to reach it.

- A `BaseAdapter` gets typed values, and the payload that its `translate` returns is judged.
- Any other object with `translate(prompt, options)` gets JSON data, and the payload that it returns is judged.
- An object with only `call(prompt, options)` is a black box: the requests that reach the loopback provider are judged.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable
from contextlib import AbstractContextManager, suppress
from typing import Any, Final, Literal, cast

import msgspec

from art_compliance.dialects import Dialect
from art_compliance.provider import Answerer, LoopbackProvider, answer_as_written
from art_compliance.provider.server import Request
from art_compliance.subject.calling import Caller
from art_compliance.subject.deadlines import run_bounded
from art_compliance.subject.declarations import Declarations
from art_compliance.subject.factories import Factory, name_of
from art_compliance.subject.observations import Crashed, Observation, Reply, Sent, Watched, observe_error
from art_sdk import BUILT_IN, BaseAdapter, parse_options, parse_prompt

_encode: Final = msgspec.json.Encoder(order="deterministic").encode


class Subject:
    """One adapter under test, with the loopback provider that answers its calls. `open_subject` makes it."""

    def __init__(
        self,
        adapter: Any,
        *,
        name: str,
        make: Factory,
        dialect: Dialect | None,
        requested_dialect: str | None,
        declarations: Declarations,
        caller: Caller,
        server: LoopbackProvider,
        key: str,
    ) -> None:
        self.adapter = adapter
        self.name = name
        self.make = make
        self.dialect = dialect
        self.requested_dialect = requested_dialect
        self.capabilities = declarations.capabilities
        self.losses = declarations.losses
        self.repairs = declarations.repairs
        self.caller = caller
        self.secrets = (key,)
        self.has_call = callable(getattr(adapter, "call", None))
        self.has_translate = callable(getattr(adapter, "translate", None))
        self._server = server

    @property
    def is_reference(self) -> bool:
        """Whether the adapter's class is a reference adapter itself: derived classes may behave differently."""
        made = cast("type[object]", type(self.adapter))
        return name_of(made) in BUILT_IN.values()

    @property
    def kind(self) -> Literal["white box", "black box", "translate only"]:
        """How the adapter is reached."""
        if not self.has_translate:
            return "black box"
        return "white box" if self.has_call else "translate only"

    @property
    def provider(self) -> str:
        """The provider's name as a folder name: the adapter's `provider_name`, or the dialect's name."""
        declared = getattr(self.adapter, "provider_name", None)
        named = declared if isinstance(declared, str) else "" if self.dialect is None else self.dialect.name
        return re.sub(r"[^a-z0-9]+", "-", named.lower()).strip("-") or "unknown"

    @property
    def request_count(self) -> int:
        """How many requests have arrived so far."""
        return self._server.count

    @property
    def underway(self) -> int:
        """How many answers the provider is sending right now."""
        return self._server.underway

    def forget(self) -> None:
        """Drops the requests that were kept so far."""
        self._server.forget()

    def answering(self, answerer: Answerer) -> AbstractContextManager[None]:
        """Answers every request with `answerer` until the block ends."""
        return self._server.answering(answerer)

    def translate(self, prompt: list[dict[str, Any]], options: dict[str, Any]) -> Observation:
        """The request that the adapter makes of the prompt: what `translate` returns, or what `call` sends."""
        if not self.has_translate:
            return self.send(prompt, options)
        try:
            arguments = self._arguments(prompt, options)
            payload = self._translate(*arguments)
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
            return observe_error(error)
        return Sent(payload, self._url(payload, arguments[1]))

    def translating_changes(self, prompt: list[dict[str, Any]], options: dict[str, Any]) -> bool:
        """Whether `translate` changes the prompt or the options that it is given."""
        if not self.has_translate:
            return False
        arguments = self._arguments(prompt, options)
        before = _encode(arguments)
        with suppress(Exception):  # another check's business
            self._translate(*arguments)
        return _encode(arguments) != before

    def _arguments(self, prompt: list[dict[str, Any]], options: dict[str, Any]) -> tuple[Any, Any]:
        """Copies of the arguments: typed values for a `BaseAdapter`, JSON data for any other adapter."""
        prompt, options = _copy((prompt, options))
        if isinstance(self.adapter, BaseAdapter):
            return parse_prompt(prompt), parse_options(options)
        return prompt, options

    def _translate(self, prompt: Any, options: Any) -> Any:
        payload = run_bounded(lambda: self.adapter.translate(prompt, options))
        if inspect.iscoroutine(payload):
            payload.close()  # preflight reports it: a coroutine is not JSON data
        return payload

    def _url(self, payload: Any, options: Any) -> str | None:
        """The URL that the payload would go to. Errors of `request` are left for `send` to find."""
        if not isinstance(self.adapter, BaseAdapter):
            return None
        try:
            return self.adapter.request(payload, options).url
        except Exception:  # noqa: BLE001 - a payload that cannot be encoded has no URL either
            return None

    def send(self, prompt: list[dict[str, Any]], options: dict[str, Any]) -> Observation:
        """The request that `call` sends, and how many POST requests it sent."""
        return self.watch(prompt, options).observation

    def watch(self, prompt: list[dict[str, Any]], options: dict[str, Any]) -> Watched:
        """As `send`, with the reply, the requests, and whether `call` changed the prompt or the options."""
        first, arguments = self._server.count, _copy((prompt, options))
        error: Exception | None = None
        reply: Reply
        try:
            reply = self.caller.read(*arguments)
        except Exception as raised:  # noqa: BLE001 - whatever the adapter raises is what is judged
            error, reply = raised, observe_error(raised)
        arrived = [request for request in self._server.seen(first) if request.method == "POST"]
        changed = _encode(arguments) != _encode((prompt, options))
        return Watched(self._observe_arrived(arrived, error), reply, changed, tuple(arrived))

    def _observe_arrived(self, arrived: list[Request], error: Exception | None) -> Observation:
        if not arrived:
            return Crashed("call ended without a POST to base_url") if error is None else observe_error(error)
        try:
            payload = json.loads(arrived[0].body)
        except ValueError as broken:
            return Crashed(f"the request's body is not JSON: {broken}")
        return Sent(payload, self._server.url + arrived[0].target, len(arrived))

    def call(
        self, prompt: list[dict[str, Any]], options: dict[str, Any], answerer: Answerer = answer_as_written
    ) -> Reply:
        """The adapter's reply to a call that the provider answers with `answerer`."""
        try:
            with self.answering(answerer):
                return self.caller.read(*_copy((prompt, options)))
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
            return observe_error(error)

    def call_together(
        self, calls: Iterable[tuple[list[dict[str, Any]], dict[str, Any]]], answerer: Answerer, *, seconds: float
    ) -> list[Reply]:
        """As `call`, for concurrent calls. A call that takes longer than `seconds` has crashed."""
        with self.answering(answerer):
            replies = self.caller.read_together(map(_copy, calls), seconds=seconds)
        return [observe_error(one) if isinstance(one, Exception) else one for one in replies]


def _copy(value: Any) -> Any:
    """A deep copy of JSON data."""
    return json.loads(json.dumps(value))
