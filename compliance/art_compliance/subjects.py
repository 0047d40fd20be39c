"""How an adapter is reached: by its factory, as a white box or a black one.

- A `BaseAdapter` is given typed values, and its `translate` is judged.
- Any object with `translate(prompt, options)` is given JSON data, and what it returns is judged.
- An object with only `call(prompt, options)` is a black box: what it sends to the loopback provider is judged.
"""

from __future__ import annotations

import copy
import inspect
import json
import traceback
from contextlib import ExitStack
from typing import Any, Final, Literal, Self, cast

import anyio.from_thread
import msgspec
from msgspec import Struct

from art_compliance.bounded import Stopped, await_bounded, run_bounded
from art_compliance.dialects import DIALECTS, Dialect, find_dialect
from art_compliance.factories import Factory, tell, with_article
from art_compliance.findings import HarnessError
from art_compliance.provider import loopback_provider
from art_sdk import CAPABILITIES, LOSSES, REPAIRS, ARTError, BaseAdapter, parse_options, parse_prompt

TEST_KEY: Final = "art-compliance-key-0123456789abcdef"
"""The key that every subject is made with. It opens nothing."""

_encode: Final = msgspec.json.Encoder(order="deterministic").encode


class Sent(Struct, frozen=True):
    """A request that the adapter made: its body, and its URL where that is known."""

    payload: Any
    url: str | None = None


class Refused(Struct, frozen=True):
    """The adapter said, with a code, that it cannot do this."""

    code: str
    message: str


class Crashed(Struct, frozen=True):
    """Any other exception: what it was, and where it came from."""

    error: str
    where: str


Observation = Sent | Refused | Crashed


class Answered(Struct, frozen=True):
    """What a call gave: the types of its events in order, and the message of the last."""

    kinds: tuple[str, ...]
    text: str | None
    error: str | None = None


class Subject:
    """One adapter under test, with the loopback provider that its calls go to. Enter it with `with`."""

    def __init__(self, make: Factory, *, name: str, dialect: str | None = None) -> None:
        self.name = name
        self._make = make
        self._dialect_name = dialect
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._server = self._stack.enter_context(loopback_provider())
        self._portal = self._stack.enter_context(anyio.from_thread.start_blocking_portal())
        try:
            self._open()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        closing = getattr(self.adapter, "aclose", None)
        with self._stack:
            if inspect.iscoroutinefunction(closing):
                self._portal.call(closing)

    def _open(self) -> None:
        """Makes the adapter, twice where its dialect must be known to tell it the right base URL."""
        self.adapter: Any = self._made(self._server.url)
        self.dialect = self._find_dialect()
        if self.dialect is not None:
            self.adapter = self._made(self._server.url + self.dialect.base_path)
        self.has_call = callable(getattr(self.adapter, "call", None))
        self.has_translate = callable(getattr(self.adapter, "translate", None))
        if not (self.has_call or self.has_translate):
            message = (
                f"{self.name}: the factory made {with_article(self.adapter)}, which has neither translate nor call"
            )
            raise HarnessError(message)
        self.capabilities = self._declared("capabilities", CAPABILITIES, CAPABILITIES)
        self.losses = self._declared("losses", LOSSES, frozenset())
        self.repairs = self._declared("repairs", REPAIRS, frozenset())

    def _find_dialect(self) -> Dialect | None:
        """The one that was asked for, which must be known, or the adapter's, which may be its own."""
        if self._dialect_name is not None:
            return find_dialect(self._dialect_name)
        return DIALECTS.get(str(getattr(self.adapter, "dialect", None)))

    @property
    def kind(self) -> Literal["white box", "black box", "translate only"]:
        """How it is reached."""
        if not self.has_translate:
            return "black box"
        return "white box" if self.has_call else "translate only"

    def _made(self, base_url: str) -> Any:
        try:
            return run_bounded(lambda: self._make(api_key=TEST_KEY, base_url=base_url, model=None))
        except Exception as error:
            message = f"{self.name}: the factory raised {tell(error)}; it is called with api_key, base_url and model"
            raise HarnessError(message) from error

    def _declared(self, attribute: str, known: frozenset[Any], default: frozenset[Any]) -> frozenset[Any]:
        """What the adapter declares. Without a declaration it is judged on all capabilities and forgiven nothing."""
        value = getattr(self.adapter, attribute, None)
        if value is None:
            return default
        try:
            declared = frozenset(value)
        except TypeError as error:
            message = f"{self.name}: {attribute} must be a set of names, is {with_article(value)}"
            raise HarnessError(message) from error
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
            payload = run_bounded(lambda: self.adapter.translate(*given))
            if inspect.iscoroutine(payload):
                payload.close()  # judged as what it is: no JSON data
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
            return _observe_error(error)
        return Sent(payload, self._url(payload, given[1]))

    def changes_arguments(self, prompt: list[dict[str, Any]], options: dict[str, Any]) -> bool:
        """Whether prompt or options are not what they were once the adapter has had them."""
        given = self._hand_over(copy.deepcopy(prompt), copy.deepcopy(options))
        before = _encode(given)
        try:
            if self.has_translate:
                run_bounded(lambda: self.adapter.translate(*given))
            else:
                self._events(*given)
        except Exception:  # noqa: BLE001, S110 - another check's business
            pass
        return _encode(given) != before

    def _events(self, prompt: Any, options: Any) -> list[Any]:
        """Every event of a call, however it gives them: async or sync, at once or behind an await."""
        given: Any = run_bounded(lambda: self.adapter.call(prompt, options))
        if inspect.isawaitable(given) or hasattr(given, "__aiter__"):
            return await_bounded(self._portal.start_task_soon(_drain, given))
        return run_bounded(lambda: list(given))

    def _hand_over(self, prompt: list[dict[str, Any]], options: dict[str, Any]) -> tuple[Any, Any]:
        """What the adapter is given: typed values for ours, JSON data for any other."""
        if isinstance(self.adapter, BaseAdapter) and self.has_translate:
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
        """The request that arrives when the adapter is called."""
        before = len(self._server.seen())
        try:
            self._events(prompt, options)
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
            arrived = self._server.seen()[before:]
            if not arrived:
                return _observe_error(error)
        arrived = self._server.seen()[before:]
        if not arrived:
            return Crashed("call ended without a request to base_url", "")
        try:
            return Sent(json.loads(arrived[0].body), self._server.url + arrived[0].target)
        except ValueError as error:
            return Crashed(f"the request's body is not JSON: {error}", "")

    def call(self, prompt: list[dict[str, Any]], options: dict[str, Any]) -> Answered | Refused | Crashed:
        """The answer that the adapter reads out of the written one."""
        try:
            events = self._events(prompt, options)
        except Exception as error:  # noqa: BLE001 - whatever the adapter raises is what is judged
            return cast("Refused | Crashed", _observe_error(error))
        kinds = tuple(_kind(event) for event in events)
        message = _field(events[-1], "message") if events else None
        failed = next((_field(event, "error") for event in events if _kind(event) == "ERROR"), None)
        return Answered(kinds, _field(message, "content"), None if failed is None else str(failed))


async def _drain(given: Any) -> list[Any]:
    if inspect.isawaitable(given):
        given = await given
    return [event async for event in given] if hasattr(given, "__aiter__") else list(given)


def _observe_error(error: Exception) -> Observation:
    code = getattr(error, "code", None)
    if isinstance(error, ARTError) or (isinstance(code, str) and code.isupper()):
        return Refused(str(code), getattr(error, "message", None) or str(error))
    if isinstance(error, Stopped):
        return Crashed(str(error), "")
    last = traceback.extract_tb(error.__traceback__)[-1]
    return Crashed(tell(error), f", at {last.filename.rsplit('/', 1)[-1]}:{last.lineno} in {last.name}")


def _kind(event: Any) -> str:
    """An event's type: the tag of ours, or the field `type`."""
    config = getattr(event, "__struct_config__", None)
    return str(config.tag if config is not None else _field(event, "type"))


def _field(value: Any, name: str) -> Any:
    return cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else getattr(value, name, None)
