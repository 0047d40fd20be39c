"""Adapters that are right once, but carry something over, or tell strangers what is not theirs."""

from __future__ import annotations

import asyncio
import os
from base64 import b64encode
from codecs import BOM_UTF8
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from hashlib import sha256
from netrc import NetrcParseError, netrc
from threading import Event, Thread
from typing import Any, Final, cast
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import msgspec

from art_compliance.miniatures.base import (
    as_data,
    change_events,
    change_options,
    change_payload,
    made_with,
    miniature,
    retell,
)
from art_compliance.subject.events import event_data
from art_sdk import CallOptions
from art_sdk.json_data import is_object


def readdress(adapter: Any, change: Callable[[dict[str, Any], Any], dict[str, Any]]) -> None:
    """The adapter sends another request: `change` is given method, URL, headers and body, and the options."""
    own = adapter.request

    def request(payload: Any, options: Any) -> Any:
        made = own(payload, options)
        given = {name: getattr(made, name) for name in ("method", "url", "headers", "body")}
        return type(made)(**change({**given, "headers": dict(given["headers"])}, options))

    adapter.request = request


def _with_header(request: dict[str, Any], name: str, value: str | None) -> dict[str, Any]:
    return request if value is None else {**request, "headers": {**request["headers"], name: value}}


@miniature("load.adapters-are-isolated")
def has_one_key_for_all(adapter: Any) -> None:
    """Every adapter of the process sends the key of the first one."""
    own, first = _own_and_first_key()
    readdress(adapter, lambda request, _: _with_headers(request, lambda text: text.replace(own, first)))


def _own_and_first_key() -> tuple[str, str]:
    """The adapter's key, and that of the first one with a URL of the same host."""
    given = made_with()
    own = given.get("api_key") or "none"
    return own, _FIRST_KEYS.setdefault(urlsplit(given.get("base_url") or "").netloc, own)


_FIRST_KEYS: Final[dict[str, str]] = {}


@miniature("load.adapters-are-isolated", "wire.request-goes-to-the-right-endpoint", around=("openai",))
def asks_whether_its_one_key_counts(adapter: Any) -> None:
    """An adapter asks for the models when it is made, and always sends the key of the first one."""
    has_one_key_for_all.spoil(adapter)
    _ask_for_the_models(adapter)


@miniature("wire.request-goes-to-the-right-endpoint", around=("openai",))
def asks_for_the_models_first(adapter: Any) -> None:
    """The models are asked for when the adapter is made."""
    _ask_for_the_models(adapter)


def _ask_for_the_models(adapter: Any) -> None:
    made = adapter.request({}, CallOptions(thread_id="thread"))
    url = made.url.replace("/chat/completions", "/models")
    with suppress(OSError), urlopen(Request(url, headers=dict(made.headers))) as answer:  # noqa: S310 - the loopback's
        answer.read()


@miniature("load.adapters-are-isolated")
def has_one_url_for_all(adapter: Any) -> None:
    """Every adapter of the process asks at the URL of the first one."""
    readdress(adapter, lambda request, _: {**request, "url": request["url"].replace("/another/", "/")})


@miniature("load.adapters-are-isolated")
def keeps_one_key_for_each_url(adapter: Any) -> None:
    """The headers of a URL are made once for all adapters: a second one there sends the first one's key."""
    own, first = _own_and_first_key()

    def change(request: dict[str, Any], _: Any) -> dict[str, Any]:
        is_elsewhere = "/another/" in request["url"]
        return request if is_elsewhere else _with_headers(request, lambda text: text.replace(own, first))

    readdress(adapter, change)


@miniature("load.adapters-are-isolated", around=("openai",))
def trusts_the_environment(adapter: Any) -> None:
    """A key in the environment counts more than the one that the adapter is given."""

    def change(request: dict[str, Any], _: Any) -> dict[str, Any]:
        found = os.environ.get("OPENAI_API_KEY")
        return request if found is None else _with_header(request, "authorization", f"Bearer {found}")

    readdress(adapter, change)


@miniature("load.adapters-are-isolated", around=("anthropic",))
def sends_a_token_of_the_environment(adapter: Any) -> None:
    """A token in the environment is sent besides the key that the adapter is given."""

    def change(request: dict[str, Any], _: Any) -> dict[str, Any]:
        found = os.environ.get("ANTHROPIC_AUTH_TOKEN")
        return _with_header(request, "authorization", found and f"Bearer {found}")

    readdress(adapter, change)


@miniature("load.adapters-are-isolated", around=("openai", "cohere"))
def prefers_a_login_of_the_user(adapter: Any) -> None:
    """The login that the user's netrc file has for the host is sent in place of the key."""

    def change(request: dict[str, Any], _: Any) -> dict[str, Any]:
        url: str = request["url"]
        try:
            found = netrc().authenticators(urlsplit(url).hostname or "")
        except (OSError, NetrcParseError):
            found = None
        login = found and b64encode(f"{found[0]}:{found[2]}".encode()).decode()
        return _with_header(request, "authorization", login and f"Basic {login}")

    readdress(adapter, change)


@miniature("load.calls-are-isolated", around=("openai",))
def sends_one_idempotency_key(adapter: Any) -> None:
    """All calls have the same idempotency key."""
    readdress(adapter, lambda request, _: _with_header(request, "idempotency-key", "of-the-first-call"))


@miniature("load.calls-are-isolated", around=("openai", "anthropic"))
def knows_one_request_id(adapter: Any) -> None:
    """Every call has the request_id of the first one's answer."""
    known: list[Any] = []

    def first(event: dict[str, Any]) -> dict[str, Any]:
        metadata = event.get("metadata")
        if not is_object(metadata) or "requestId" not in metadata:
            return event
        known.append(metadata["requestId"])
        return {**event, "metadata": {**metadata, "requestId": known[0]}}

    change_events(adapter, lambda events: [first(event) for event in events])


@miniature("load.calls-are-isolated", around=("openai",))
def keeps_the_temperature_of_a_call(adapter: Any) -> None:
    """A streamed call without a temperature uses that of the call before it."""
    known: dict[str, float] = {}

    def change(options: Any) -> Any:
        if "temperature" in options:
            known["temperature"] = options["temperature"]
        return {**known, **options} if options.get("stream") else options

    change_options(adapter, change)


@miniature("response.events-do-not-change", around=("openai",))
def has_one_error_for_all(adapter: Any) -> None:
    """Every ERROR is the same object, with other contents."""
    one: dict[str, Any] = {}

    def same(event: dict[str, Any]) -> dict[str, Any]:
        if event["type"] != "ERROR":
            return event
        one.clear()
        one.update(event)
        return one

    change_events(adapter, lambda events: [same(event) for event in events])


@miniature("load.calls-at-once-do-not-mix")
def has_one_place_for_calls(adapter: Any) -> None:
    """While several calls run, each tool call is the one that came first."""
    running: list[int] = [0]
    first: list[Any] = []

    async def mixed(given: Any) -> Any:
        running[0] += 1
        async for event in given:
            read = event_data(event)
            if read["type"] == "TOOL_CALL" and running[0] > 1:
                first.append(read["call"])
                yield {**read, "call": first[0]}
            else:
                yield event
        running[0] -= 1

    retell(adapter, mixed)


@miniature("load.calls-are-isolated")
def keeps_the_model_of_a_call(adapter: Any) -> None:
    """A call without a model uses that of the call before it."""
    own, known = adapter.call, dict[str, str]()

    def call(prompt: Any, options: Any) -> Any:
        given = as_data(options)
        if "model" in given:
            known["model"] = given["model"]
        return own(prompt, {**given, **known})

    adapter.call = call


@miniature("load.calls-are-isolated")
def keeps_the_session_of_a_call(adapter: Any) -> None:
    """The events of a call without a session have that of the call before it."""
    known: list[str] = []

    def change(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        known.extend(str(event["session_id"]) for event in events if event.get("session_id"))
        return [{**event, "session_id": known[-1]} if known else event for event in events]

    change_events(adapter, change)


@miniature("load.calls-are-isolated")
def has_one_trace_for_all(adapter: Any) -> None:
    """Calls without a trace_id all have the same one."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        return own(prompt, {"trace_id": "trace", **as_data(options)})

    adapter.call = call


@miniature("load.closed-calls-free-their-resources")
def gives_no_place_back(adapter: Any) -> None:
    """Each call takes one of forty places, and gives it back only at its end."""
    free = [40]

    async def counted(given: Any) -> Any:
        if not free[0]:
            raise RuntimeError("no place is free")
        free[0] -= 1
        async for event in given:
            yield event
        free[0] += 1

    retell(adapter, counted)


@miniature("load.closed-calls-free-their-resources", around=("openai", "anthropic"))
def keeps_the_places_of_cancelled_calls(adapter: Any) -> None:
    """A call takes one of fifty places, and gives it back unless it is cancelled."""
    free = [50]

    async def counted(given: Any) -> Any:
        with _place(free):
            async for event in given:
                yield event

    retell(adapter, counted)


@contextmanager
def _place(free: list[int]) -> Generator[None]:
    """One of the free places, which is given back unless the call is cancelled."""
    if not free[0]:
        raise RuntimeError("no place is free")
    free[0] -= 1
    try:
        yield
    except asyncio.CancelledError:
        free[0] -= 1
        raise
    finally:
        free[0] += 1


@miniature("load.closed-calls-free-their-resources", around=("openai", "gemini"))
def keeps_the_places_of_cancelled_whole_answers(adapter: Any) -> None:
    """`complete` takes one of fifty places, and gives it back unless it is cancelled."""
    own, free = adapter.complete, [50]

    async def complete(prompt: Any, options: Any) -> Any:
        with _place(free):
            return await own(prompt, options)

    adapter.complete = complete


@miniature("load.closed-calls-free-their-resources", around=("openai", "mistral"))
def reads_on_a_thread_that_stays(adapter: Any) -> None:
    """Each synchronous call has a thread, which a caller who stops reading never ends."""
    own = adapter.call_sync

    def call_sync(prompt: Any, options: Any) -> Any:
        is_read = Event()
        Thread(target=is_read.wait, daemon=True).start()
        yield from own(prompt, options)
        is_read.set()

    adapter.call_sync = call_sync


@miniature("load.nothing-stays-behind", around=("openai", "gemini"))
def closes_in_an_event_loop_alone(adapter: Any) -> None:
    """`close` leaves the connections of synchronous calls open; `aclose` closes them."""
    _KEPT.append(adapter)
    adapter.close = lambda: None


@miniature("load.nothing-stays-behind", around=("openai", "gemini"))
def closes_without_an_event_loop_alone(adapter: Any) -> None:
    """`aclose` closes what `close` closes: the connections of asynchronous calls stay open."""

    async def aclose() -> None:
        adapter.close()

    _KEPT.append(adapter)
    adapter.aclose = aclose


_KEPT: Final = list[Any]()
"""Collected as garbage, open connections would only cause warnings."""


@miniature("load.nothing-stays-behind", around=("openai",))
def keeps_a_thread_when_closed(_: Any) -> None:
    """The adapter has a thread, which closing it does not end."""
    _wait_on_a_thread()


@miniature("load.nothing-stays-behind")
def forgets_its_threads(adapter: Any) -> None:
    """Each call leaves a thread that waits for ever."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        _wait_on_a_thread()
        return own(prompt, options)

    adapter.call = call


def _wait_on_a_thread() -> None:
    Thread(target=Event().wait, daemon=True).start()


@miniature("response.events-do-not-change")
def gives_one_object_again_and_again(adapter: Any) -> None:
    """Every event is the same object, with other contents."""
    retell(adapter, _in_one_object)


async def _in_one_object(given: Any) -> Any:
    one: dict[str, Any] = {}
    async for event in given:
        one.clear()
        one.update(event_data(event))
        yield one


@miniature("response.events-do-not-change")
def appends_to_the_callers_list(adapter: Any) -> None:
    """The answer is appended to the list of messages that the caller gave."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        return _appending(own(prompt, options), prompt)

    adapter.call = call


async def _appending(given: Any, prompt: Any) -> Any:
    kept = cast("list[object]", prompt)
    async for event in given:
        read = event_data(event)
        if read["type"] == "END" and isinstance(prompt, list):
            kept.append(read["message"])
        yield event


@miniature("response.events-do-not-change", around=("openai", "gemini"))
def appends_whole_answers_to_the_callers_list(adapter: Any) -> None:
    """An answer that is not streamed is appended to the list of messages that the caller gave."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        given = own(prompt, options)
        return given if as_data(options).get("stream") else _appending(given, prompt)

    adapter.call = call


@miniature("response.events-do-not-change", around=("openai", "anthropic"))
def takes_options_out_for_whole_answers(adapter: Any) -> None:
    """`complete` takes `trace_id` out of the options that the caller gave."""
    own = adapter.complete

    async def complete(prompt: Any, options: Any) -> Any:
        whole = own(prompt, as_data(options))
        if is_object(options):
            options.pop("trace_id", None)
        return await whole

    adapter.complete = complete


@miniature("response.events-do-not-change", around=("openai", "gemini"))
def gives_one_object_without_a_loop(adapter: Any) -> None:
    """Every event of `call_sync` is the same object, with other contents."""
    own = adapter.call_sync

    def call_sync(prompt: Any, options: Any) -> Any:
        one: dict[str, Any] = {}
        for event in own(prompt, options):
            one.clear()
            one.update(event_data(event))
            yield one

    adapter.call_sync = call_sync


@miniature("wire.request-goes-to-the-right-endpoint")
def doubles_the_version_of_the_path(adapter: Any) -> None:
    """The version is in the path twice."""
    change_url(adapter, lambda url: url.replace("/v1", "/v1/v1", 1))


def change_url(adapter: Any, change: Callable[[str], str]) -> None:
    """The adapter asks at another URL."""
    readdress(adapter, lambda request, _: {**request, "url": change(request["url"])})


@miniature("wire.request-goes-to-the-right-endpoint")
def sends_plain_text(adapter: Any) -> None:
    """The request says that its body is plain text."""
    readdress(adapter, lambda request, _: _with_header(request, "content-type", "text/plain"))


@miniature("wire.request-goes-to-the-right-endpoint", around=("gemini",))
def fetches_images(adapter: Any) -> None:
    """An image whose URL begins with `http:` is fetched, and sent as its bytes."""

    def change(payload: Any) -> Any:
        for content in payload["contents"]:
            content["parts"] = [_fetched(part) for part in content["parts"]]
        return payload

    change_payload(adapter, change)


def _fetched(part: dict[str, Any]) -> dict[str, Any]:
    file: dict[str, str] = part.get("fileData", {})
    url = file.get("fileUri", "")
    if not url.startswith("http:"):
        return part
    with suppress(OSError), urlopen(url) as found:  # noqa: S310 - as above
        return {"inlineData": {"mimeType": found.headers.get_content_type(), "data": b64encode(found.read()).decode()}}
    return part


@miniature("wire.request-goes-to-the-right-endpoint", around=("bedrock",))
def forgets_its_session_token(adapter: Any) -> None:
    """Of AWS keys with a session token, the first two parts are used."""
    signer = getattr(adapter, "_signer", None)
    if signer is not None:
        signer._credentials.token = None  # noqa: SLF001 - a miniature spoils what it is made of


@miniature("wire.request-goes-to-the-right-endpoint", around=("openai", "ollama"))
def sends_a_byte_order_mark(adapter: Any) -> None:
    """The body of the request begins with a byte order mark."""
    readdress(adapter, lambda request, _: {**request, "body": BOM_UTF8 + request["body"]})


@miniature("wire.internal-ids-are-not-sent")
def tells_who_is_asking(adapter: Any) -> None:
    """The user's id is sent in a header."""
    readdress(adapter, lambda request, options: _with_header(request, "x-user", as_data(options).get("user_id")))


@miniature("wire.internal-ids-are-not-sent", around=("openai", "anthropic"))
def tells_a_digest_of_who_is_asking(adapter: Any) -> None:
    """Streamed calls send a SHA-256 of the user's id in a header, for statistics."""

    def change(request: dict[str, Any], options: Any) -> dict[str, Any]:
        given = as_data(options)
        user = given.get("user_id") if given.get("stream") else None
        return request if user is None else _with_header(request, "x-client", sha256(user.encode()).hexdigest())

    readdress(adapter, change)


@miniature("wire.internal-ids-are-not-sent", around=("openai", "gemini"))
def tells_the_session_of_whole_answers(adapter: Any) -> None:
    """`complete_sync` sends the session's id in the query of the URL."""
    own, session = adapter.complete_sync, ContextVar[str | None]("session", default=None)

    def complete_sync(prompt: Any, options: Any) -> Any:
        session.set(as_data(options).get("session_id"))
        try:
            return own(prompt, options)
        finally:
            session.set(None)

    def change(request: dict[str, Any], _: Any) -> dict[str, Any]:
        mark = "&" if "?" in request["url"] else "?"
        return {**request, "url": f"{request['url']}{mark}session={session.get()}"} if session.get() else request

    readdress(adapter, change)
    adapter.complete_sync = complete_sync


@miniature("response.retry-after-is-read")
def knows_whole_seconds_alone(adapter: Any) -> None:
    """Retry-After is read where it is a number of whole seconds below 100."""
    change_events(adapter, lambda events: [_without_odd_wait(event) for event in events])


@miniature("response.retry-after-is-read", around=("openai",))
def waits_until_yesterday(adapter: Any) -> None:
    """A date that has passed makes retry_after negative."""
    change_events(adapter, lambda events: [_with_negative_wait(event) for event in events])


def _with_negative_wait(event: dict[str, Any]) -> dict[str, Any]:
    error: dict[str, Any] = event.get("error") or {}
    has_passed = error.get("retry_after") == 0
    return {**event, "error": {**error, "retry_after": -90.0}} if has_passed else event


def _without_odd_wait(event: dict[str, Any]) -> dict[str, Any]:
    error: dict[str, Any] = event.get("error") or {}
    wait = error.get("retry_after")
    is_plain = wait is None or (wait < 100 and wait == int(wait))
    return event if is_plain else {**event, "error": {**error, "retry_after": None}}


@miniature("response.call-methods-send-the-same")
def forgets_options_without_events(adapter: Any) -> None:
    """`complete` sends no sampling options."""
    own = adapter.complete

    async def complete(prompt: Any, options: Any) -> Any:
        return await own(prompt, {name: value for name, value in as_data(options).items() if name != "temperature"})

    adapter.complete = complete


@miniature("response.call-methods-fail-alike")
def is_silent_about_errors_without_a_loop(adapter: Any) -> None:
    """`call_sync` gives no ERROR, and its END looks good."""
    own = adapter.call_sync

    def call_sync(prompt: Any, options: Any) -> Any:
        for event in own(prompt, options):
            read = event_data(event)
            if read["type"] == "END" and read.get("finish") == "error":
                yield msgspec.structs.replace(event, finish="stop")
            elif read["type"] != "ERROR":
                yield event

    adapter.call_sync = call_sync


def _with_headers(request: dict[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    return {**request, "headers": {name: change(value) for name, value in request["headers"].items()}}


@miniature("load.calls-are-isolated", around=("groq", "cohere"))
def knows_the_tools_that_a_thread_began_with(adapter: Any) -> None:
    """Renamed tools get their names back from the tools of the thread's first call."""
    own, tools_of = adapter._call_info, dict[str, Any]()  # noqa: SLF001 - a miniature spoils what it is made of

    def call_info(prompt: Any, options: Any) -> Any:
        info = own(prompt, options)
        known = tools_of.setdefault(options.thread_id, options.tools) if options.tools else ()
        return msgspec.structs.replace(info, tools=known)

    adapter._call_info = call_info  # noqa: SLF001 - as above
