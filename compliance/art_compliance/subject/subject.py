"""How an adapter is reached: by its factory, as a white box or a black one.

- A `BaseAdapter` is given typed values, and its `translate` is judged.
- Any object with `translate(prompt, options)` is given JSON data, and what it returns is judged.
- An object with only `call(prompt, options)` is a black box: what it sends to the loopback provider is judged.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable
from contextlib import AbstractContextManager, ExitStack, suppress
from difflib import get_close_matches
from typing import Any, Final, Literal, Self, cast

import anyio.from_thread
import msgspec
from msgspec import Struct

from art_compliance.dialects import DIALECTS, Dialect, find_dialect
from art_compliance.findings import HarnessError
from art_compliance.provider import Answerer, LoopbackProvider, answer_as_written
from art_compliance.provider.server import Request
from art_compliance.subject.calling import Caller
from art_compliance.subject.deadlines import await_bounded, run_bounded
from art_compliance.subject.events import Answered
from art_compliance.subject.factories import Factory, name_of, tell, with_article
from art_compliance.subject.observations import Crashed, Observation, Refused, Sent, Watched, observe_error
from art_sdk import BUILT_IN, CAPABILITIES, LOSSES, REPAIRS, BaseAdapter, parse_options, parse_prompt

TEST_KEY: Final = "art-compliance-key-0123456789abcdef"
"""The key that every subject is made with. It opens nothing."""

_encode: Final = msgspec.json.Encoder(order="deterministic").encode


class Access(Struct, frozen=True, kw_only=True):
    """The way to a real provider: a key, and where it is not the adapter's own choice, URL and model."""

    key: str
    base_url: str | None = None
    model: str | None = None

    def __repr__(self) -> str:
        return f"Access(base_url={self.base_url!r}, model={self.model!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:  # msgspec's own shows every field to rich
        return [("base_url", self.base_url), ("model", self.model)]


class Subject:
    """One adapter under test, with the loopback provider that its calls go to. Enter it with `with`.

    With `access` its calls go to the provider that it gives access to.
    """

    def __init__(self, make: Factory, *, name: str, dialect: str | None = None, access: Access | None = None) -> None:
        self.name = name
        self.make = make
        self.asked_dialect = dialect
        self._access = access

    def __enter__(self) -> Self:
        with ExitStack() as opening:  # closes what is open already, whatever ends the opening
            self._server = opening.enter_context(LoopbackProvider())
            self._portal = opening.enter_context(anyio.from_thread.start_blocking_portal())
            try:
                self._open()
            except HarnessError:
                raise
            except Exception as error:
                message = f"{self.name}: looking at the adapter raised {tell(error)}"
                raise HarnessError(message) from error
            self._stack = opening.pop_all()
        return self

    def __exit__(self, *exception: object) -> None:
        with self._stack:
            self._close(self.adapter)

    def _open(self) -> None:
        """Makes the adapter; twice where only an instance says its dialect, and so what its base URL must be."""
        if not callable(self.make):
            message = f"{self.name}: {with_article(self.make)} is no factory; give the adapter's class or a function"
            raise HarnessError(message)
        self.dialect = self._find_dialect(getattr(self.make, "dialect", None))
        self.adapter: Any = self._made()
        if self.dialect is None:
            self.dialect = self._find_dialect(getattr(self.adapter, "dialect", None))
            if self.dialect is not None:
                self._close(self.adapter)
                self.adapter = self._made()
        self.caller = Caller(self.adapter, self._portal)
        self.has_call = callable(getattr(self.adapter, "call", None))
        self.has_translate = callable(getattr(self.adapter, "translate", None))
        if not (self.has_call or self.has_translate):
            made = with_article(self.adapter)
            message = f"{self.name}: the factory made {made}, which has neither translate nor call"
            raise HarnessError(message)
        self._server.dialect = self.dialect
        self.capabilities = self._declared("capabilities", CAPABILITIES, CAPABILITIES)
        self.losses = self._declared("losses", LOSSES, frozenset())
        self.repairs = self._declared("repairs", REPAIRS, frozenset())

    def _close(self, adapter: Any) -> None:
        closing = getattr(adapter, "aclose", None)
        if not inspect.iscoroutinefunction(closing):
            return
        try:
            await_bounded(self._portal.start_task_soon(closing))
        except Exception as error:
            message = f"{self.name}: aclose raised {tell(error)}"
            raise HarnessError(message) from error

    def _find_dialect(self, declared: Any) -> Dialect | None:
        """The one that was asked for, which must be known, or the adapter's, which may be its own."""
        if self.asked_dialect is not None:
            return find_dialect(self.asked_dialect)
        if declared is None:
            return None
        if declared in DIALECTS:
            return DIALECTS[declared]
        near = get_close_matches(str(declared), DIALECTS, n=1)
        if near or not isinstance(declared, str):
            hint = f"; did you mean {near[0]!r}?" if near else ""
            message = f"{self.name}: its dialect is {declared!r}, which is none that the suite knows{hint}"
            raise HarnessError(message)
        return None

    @property
    def is_reference(self) -> bool:
        """Whether it is one of ours, to the class: what is derived from them may differ."""
        made = cast("type[object]", type(self.adapter))
        return name_of(made) in BUILT_IN.values()

    @property
    def kind(self) -> Literal["white box", "black box", "translate only"]:
        """How it is reached."""
        if not self.has_translate:
            return "black box"
        return "white box" if self.has_call else "translate only"

    @property
    def provider(self) -> str:
        """The provider's name, as the adapter says it, else the dialect's: what a folder may be called."""
        told = getattr(self.adapter, "provider_name", None)
        named = told if isinstance(told, str) else "" if self.dialect is None else self.dialect.name
        return re.sub(r"[^a-z0-9]+", "-", named.lower()).strip("-") or "unknown"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The keys that the adapter was made with."""
        return (TEST_KEY,) if self._access is None else (self._access.key,)

    def _made(self) -> Any:
        base_url = self._server.url + ("" if self.dialect is None else self.dialect.base_path)
        own = self._access or Access(key=TEST_KEY, base_url=base_url)
        try:
            return run_bounded(lambda: self.make(api_key=own.key, base_url=own.base_url, model=own.model))
        except Exception as error:
            if self._access is not None:  # its text may hold the key
                message = f"{self.name}: the factory raised {type(error).__name__} with the key that it was given"
                raise HarnessError(message) from None
            message = f"{self.name}: the factory raised {tell(error)}; it is called with api_key, base_url and model"
            raise HarnessError(message) from error

    def _declared(self, attribute: str, known: frozenset[Any], default: frozenset[Any]) -> frozenset[Any]:
        """What the adapter declares. Without a declaration it is judged on all capabilities and forgiven nothing."""
        value = getattr(self.adapter, attribute, None)
        if value is None:
            return default
        if not _is_collection(value):
            message = f"{self.name}: {attribute} must be a set of names, is {with_article(value)}"
            raise HarnessError(message)
        declared = frozenset(value)
        unknown = sorted(map(str, declared - known))
        if unknown:
            message = f"{self.name}: unknown {attribute} {', '.join(unknown)}; known: {', '.join(sorted(known))}"
            raise HarnessError(message)
        return declared

    def translate(self, prompt: list[dict[str, Any]], options: dict[str, Any]) -> Observation:
        """The request that the adapter makes of the prompt: by `translate`, or by watching `call`."""
        if not self.has_translate:
            return self.send(prompt, options)
        try:
            given = self._hand_over(prompt, options)
            payload = self._translated(*given)
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
            return observe_error(error)
        return Sent(payload, self._url(payload, given[1]))

    def translating_changes(self, prompt: list[dict[str, Any]], options: dict[str, Any]) -> bool:
        """Whether prompt or options are not what they were once `translate` has had them."""
        if not self.has_translate:
            return False
        given = self._hand_over(prompt, options)
        before = _encode(given)
        with suppress(Exception):  # another check's business
            self._translated(*given)
        return _encode(given) != before

    def _translated(self, prompt: Any, options: Any) -> Any:
        payload = run_bounded(lambda: self.adapter.translate(prompt, options))
        if inspect.iscoroutine(payload):
            payload.close()  # judged as what it is: no JSON data
        return payload

    def _hand_over(self, prompt: list[dict[str, Any]], options: dict[str, Any]) -> tuple[Any, Any]:
        """What the adapter is given: typed values for ours, JSON data for any other. Always copies of its own."""
        prompt, options = _copy((prompt, options))
        if isinstance(self.adapter, BaseAdapter):
            return parse_prompt(prompt), parse_options(options)
        return prompt, options

    def _url(self, payload: Any, options: Any) -> str | None:
        """The URL that the payload would go to. That `request` works is for `send` to find out."""
        if not isinstance(self.adapter, BaseAdapter):
            return None
        try:
            return self.adapter.request(payload, options).url
        except Exception:  # noqa: BLE001 - a payload that cannot be encoded has no URL either
            return None

    def send(self, prompt: list[dict[str, Any]], options: dict[str, Any]) -> Observation:
        """The request that arrives when the adapter is called, and how many there were of its kind."""
        return self.watch(prompt, options).observation

    def watch(self, prompt: list[dict[str, Any]], options: dict[str, Any]) -> Watched:
        """As `send`, and whether prompt or options are not what they were once `call` has had them."""
        first, given = self._server.count, _copy((prompt, options))
        error: Exception | None = None
        heard: Answered | Refused | Crashed
        try:
            heard = self.caller.read(*given)
        except Exception as raised:  # noqa: BLE001 - whatever the adapter raises is what is judged
            error, heard = raised, observe_error(raised)
        arrived = [request for request in self._server.seen(first) if request.method == "POST"]
        changed = _encode(given) != _encode((prompt, options))
        return Watched(self._observe_arrived(arrived, error), heard, changed, tuple(arrived))

    @property
    def asked(self) -> int:
        """How many requests have arrived so far."""
        return self._server.count

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
    ) -> Answered | Refused | Crashed:
        """What the adapter reads out of the answer that it is given."""
        try:
            with self.answering(answerer):
                return self.caller.read(*_copy((prompt, options)))
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
            return observe_error(error)

    def call_together(
        self, asked: Iterable[tuple[list[dict[str, Any]], dict[str, Any]]], answerer: Answerer, *, seconds: float
    ) -> list[Answered | Refused | Crashed]:
        """As `call`, for calls that are all under way at once; what takes longer than `seconds` has crashed."""
        with self.answering(answerer):
            heard = self.caller.read_together(map(_copy, asked), seconds=seconds)
        return [observe_error(one) if isinstance(one, Exception) else one for one in heard]

    def answering(self, answerer: Answerer) -> AbstractContextManager[None]:
        """Every request is answered so, for a while."""
        return self._server.answering(answerer)

    def forget(self) -> None:
        """The requests so far are kept no longer."""
        self._server.forget()

    @property
    def underway(self) -> int:
        """How many answers the provider is giving just now."""
        return self._server.underway


def _copy(value: Any) -> Any:
    """JSON data that nobody else has."""
    return json.loads(json.dumps(value))


def _is_collection(value: Any) -> bool:
    """Whether names can stand in it; one name alone is none."""
    return isinstance(value, Iterable) and not isinstance(value, str)
