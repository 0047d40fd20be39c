"""Adapters that fare well until something goes wrong on the way, or many call them."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable
from typing import Any, Final
from zlib import crc32

import httpx2
import msgspec

from art_compliance.miniatures.base import Events, as_data, change_events, failed, miniature, retell
from art_compliance.miniatures.errors import change_errors
from art_compliance.miniatures.streams import EventData, change_streams, each_event, of_kind, refeed, with_error
from art_compliance.subject.events import Answered


@miniature("faults.become-errors")
def lets_the_networks_errors_through(adapter: Any) -> None:
    """Failures raise exceptions out of the events."""
    retell(adapter, _raising)


async def _raising(given: Any) -> Any:
    failure: EventData | None = None
    async for event in given:  # to its end: a generator that is left midway closes its connection when it likes
        failure = failure or Answered.of([event]).error
        if failure is None:
            yield event
    if failure is not None:
        raise ConnectionError(failure.get("message"))


@miniature("faults.benign-faults-change-nothing")
def knows_one_line_end(adapter: Any) -> None:
    """Only streams whose lines end with a single line feed are read."""
    refeed(adapter, lambda chunk: chunk.replace(b"\r", b""))


@miniature("faults.benign-faults-change-nothing", around=("openai", "ollama-chat"))
def reads_short_lines_alone(adapter: Any) -> None:
    """A line of more than 128 kB in a stream is an error."""
    line = bytearray()

    def measured(chunk: bytes) -> bytes:
        *ended, rest = chunk.split(b"\n")
        if ended:
            line.clear()
        line.extend(rest)
        if len(line) > 131_072:
            raise ValueError("the line is too long")
        return chunk

    refeed(adapter, measured)


@miniature("faults.benign-faults-change-nothing", around=("openai", "gemini"))
def wants_a_bare_content_type(adapter: Any) -> None:
    """An answer whose content type has parameters is an error."""
    own = adapter.parse_answer

    def parse_answer(head: Any, body: bytes, info: Any) -> Any:
        if ";" in head.headers["content-type"]:
            raise ValueError("this is not JSON")
        return own(head, body, info)

    adapter.parse_answer = parse_answer


@miniature("faults.become-errors", around=("bedrock",))
def trusts_every_checksum(adapter: Any) -> None:
    """The checksums of messages are not looked at."""
    refeed(adapter, lambda chunk: chunk if len(chunk) < _LEAST else chunk[:-4] + crc32(chunk[:-4]).to_bytes(4, "big"))


_LEAST: Final = 16
"""Bytes of the smallest message."""


@miniature("faults.end-in-time", around=("openai",))
def waits_for_ever(adapter: Any) -> None:
    """Time limits are ignored."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        limits = {"timeouts": None}
        known = msgspec.structs.replace(options, **limits) if isinstance(options, msgspec.Struct) else options | limits
        return own(prompt, known)

    adapter.call = call


@miniature("faults.end-in-time", around=("anthropic", "openai"))
def keeps_the_time_limits_of_a_call(adapter: Any) -> None:
    """The time limits of one call hold for those that give none, until another call gives some."""
    own, transport = adapter.prepare, adapter._transport  # noqa: SLF001 - where it keeps its own

    def prepare(prompt: Any, options: Any) -> Any:
        prepared = own(prompt, options)
        if prepared.timeouts is not None:
            transport._timeouts = prepared.timeouts  # noqa: SLF001
        return prepared

    adapter.prepare = prepare


@miniature("faults.become-errors")
def forgets_the_status_of_a_cut_refusal(adapter: Any) -> None:
    """A refusal whose body is cut off becomes an error of the network."""
    change_events(adapter, lambda events: _lost(events) if _is_cut_refusal(events) else events)


def _is_cut_refusal(events: Events) -> bool:
    error = Answered.of(events).error or {}
    return error.get("status") == 401 and "cut off" in str(error.get("message"))


def _lost(events: Events) -> Events:
    return of_kind("ERROR", error={"code": "LLM_PROVIDER_ERROR", "message": "the network failed"})(events)


@miniature("faults.retries-are-careful")
def asks_again_after_a_cut_refusal(adapter: Any) -> None:
    """A refusal whose body is cut off is tried again."""
    own = adapter.call

    async def call(prompt: Any, options: Any) -> Any:
        events = list(Answered.of([event async for event in own(prompt, options)]).events)
        if _is_cut_refusal(events):
            events = [event async for event in own(prompt, options)]
        for event in events:
            yield event

    adapter.call = call


def ask_again(adapter: Any, after: Callable[[Any], bool], change: Callable[[Any, Any], tuple[Any, Any]]) -> None:
    """The adapter makes a second call, with another prompt and other options, after an error of that kind."""
    own = adapter.call

    async def call(prompt: Any, options: Any) -> Any:
        events = [event async for event in own(prompt, options)]
        if after(Answered.of(events).error or {}):
            events = [event async for event in own(*change(as_data(prompt), as_data(options)))]
        for event in events:
            yield event

    adapter.call = call


@miniature("faults.retries-are-careful", around=("openai", "anthropic"))
def asks_another_model(adapter: Any) -> None:
    """A call that fails for want of capacity is made again with another model, which nobody asked for."""
    smaller = {"model": "a-smaller-model"}
    ask_again(adapter, lambda error: error.get("status") == 503, lambda prompt, options: (prompt, options | smaller))


@miniature("faults.retries-are-careful", around=("openai", "gemini"))
def forgets_the_beginning_of_long_prompts(adapter: Any) -> None:
    """A prompt that is refused as too long is sent again without its older messages."""
    too_long = "maximum context length"
    ask_again(
        adapter,
        lambda error: too_long in str(error.get("provider_message")),
        lambda prompt, options: (prompt[-1:], options),
    )


@miniature("faults.retries-are-careful", around=("openai",))
def does_without_refused_options(adapter: Any) -> None:
    """A call whose option is refused is made again without sampling options."""
    sampling = {"temperature", "top_p"}
    ask_again(
        adapter,
        lambda error: "Unsupported parameter" in str(error.get("provider_message")),
        lambda prompt, options: (prompt, {name: value for name, value in options.items() if name not in sampling}),
    )


@miniature("faults.retries-are-careful", around=("openai", "gemini"))
def hurries_after_long_delays(adapter: Any) -> None:
    """A call that is to wait for more than a minute is made again at once."""
    ask_again(
        adapter, lambda error: (error.get("retry_after") or 0) > _MINUTE, lambda prompt, options: (prompt, options)
    )


_MINUTE: Final = 60


@miniature("faults.retries-are-careful", around=("openai",))
def hurries_after_dates(adapter: Any) -> None:
    """Retries do not wait for a Retry-After that is a date."""
    change_errors(
        adapter, lambda _, head: {"retry_after": None} if "GMT" in head.headers.get("retry-after", "") else {}
    )


@miniature("faults.retries-are-careful", around=("openai", "anthropic"))
def hammers_at_bad_gateways(adapter: Any) -> None:
    """A call that is answered 502 is made again, twenty times without a pause."""
    own = adapter.call

    async def call(prompt: Any, options: Any) -> Any:
        events: list[Any] = []
        for _ in range(20):
            events = [event async for event in own(prompt, options)]
            if (Answered.of(events).error or {}).get("status") != _BAD_GATEWAY:
                break
        for event in events:
            yield event

    adapter.call = call


_BAD_GATEWAY: Final = 502


@miniature("load.settings-hold-for-every-call", around=("openai",))
def takes_null_for_its_own_limit(adapter: Any) -> None:
    """A limit of a call that is null leaves the adapter's own in force."""
    own = adapter.prepare

    def prepare(prompt: Any, options: Any) -> Any:
        prepared = own(prompt, options)
        if prepared.timeouts is None:
            return prepared
        given = msgspec.structs.asdict(prepared.timeouts)
        usual = msgspec.structs.asdict(adapter._transport._timeouts)  # noqa: SLF001 - where it keeps them
        limits = {name: usual[name] if value is None else value for name, value in given.items()}
        return msgspec.structs.replace(prepared, timeouts=msgspec.structs.replace(prepared.timeouts, **limits))

    adapter.prepare = prepare


@miniature("faults.errors-in-answers-agree")
def takes_errors_in_streams_for_final(adapter: Any) -> None:
    """No error in a stream may be tried again."""
    change_streams(adapter, each_event(lambda event: with_error(event, is_retryable=False)))


@miniature("faults.key-stays-at-its-host")
def follows_redirects(adapter: Any) -> None:
    """A redirect is followed with all headers, to whatever host."""
    _follow(adapter, lambda _: True)


def _follow(adapter: Any, follows: Callable[[httpx2.Response], bool], *, streams_alone: bool = False) -> None:
    """Redirects are followed with all headers, where this says so of the answer."""
    own = adapter.call

    async def call(prompt: Any, options: Any) -> Any:
        if not streams_alone or as_data(options).get("stream"):
            request = adapter.prepare(prompt, options).request
            async with httpx2.AsyncClient() as client:
                answer = await client.post(request.url, content=request.body, headers=request.headers)
                if "location" in answer.headers and follows(answer):
                    await client.post(answer.headers["location"], headers=request.headers)
        async for event in own(prompt, options):
            yield event

    adapter.call = call


@miniature("faults.key-stays-at-its-host", around=("openai", "anthropic"))
def follows_streams_for_good(adapter: Any) -> None:
    """A stream that has moved for good, to another port of the same host, is followed with all headers."""

    def follows(answer: httpx2.Response) -> bool:
        return answer.status_code == _MOVED and "127.0.0.1" in answer.headers["location"]

    _follow(adapter, follows, streams_alone=True)


_MOVED: Final = 308


@miniature("faults.end-in-time", around=("openai",))
def limits_the_whole_of_asynchronous_calls_alone(adapter: Any) -> None:
    """`call_sync` and `complete_sync` ignore the time limit `whole_call`."""
    own = adapter.call_sync

    def call_sync(prompt: Any, options: Any) -> Any:
        known = as_data(options)
        limits: dict[str, Any] = known.get("timeouts") or {}
        return own(prompt, {**known, "timeouts": {**limits, "whole_call": None}} if limits else options)

    adapter.call_sync = call_sync


@miniature("faults.end-in-time", around=("openai", "openrouter"))
def waits_for_events_alone(adapter: Any) -> None:
    """A stream is given up if no event comes within the time limit between bytes, whatever else arrives."""
    own = adapter.call

    async def call(prompt: Any, options: Any) -> Any:
        limits: dict[str, Any] = as_data(options).get("timeouts") or {}
        limit: float | None = limits.get("between_bytes")
        events, last = own(prompt, options), time.monotonic()
        async for event in events:
            if limit is not None and time.monotonic() - last > limit:
                for one in failed("no event came in time"):
                    yield one
                return
            last = time.monotonic()
            yield event

    adapter.call = call


@miniature("faults.end-in-time", around=("openai",))
def limits_the_body_alone(adapter: Any) -> None:
    """The time until the head has come does not count."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        return _past_heads(own, prompt, options)

    adapter.call = call


async def _past_heads(own: Any, prompt: Any, options: Any) -> Any:
    names = ("endless-announcements", "slow-head")
    known = as_data(options)
    if any(name in str(as_data(prompt)) for name in names):
        known = {**known, "timeouts": None}
    async for event in own(prompt, known):
        yield event


@miniature("load.every-loop-and-thread-works")
def is_bound_to_its_first_loop(adapter: Any) -> None:
    """Only the event loop of the first call is served."""
    own, loops = adapter.call, list[Any]()

    async def call(prompt: Any, options: Any) -> Any:
        loops.append(asyncio.get_running_loop())
        if loops[-1] is not loops[0]:
            raise RuntimeError("Event loop is closed")
        async for event in own(prompt, options):
            yield event

    adapter.call = call


@miniature("load.every-loop-and-thread-works")
def is_made_twice_by_two_threads(adapter: Any) -> None:
    """What the first call sets up is not ready for a second thread that calls meanwhile."""
    own, state = adapter.call, dict[str, bool]()

    def call(prompt: Any, options: Any) -> Any:
        if "ready" not in state:
            if state.setdefault("begun", False):
                raise AttributeError("client")
            state["begun"] = True
            time.sleep(0.05)
            state["ready"] = True
        return own(prompt, options)

    adapter.call = call


@miniature("faults.leave-nothing-behind")
def forgets_its_sockets(adapter: Any) -> None:
    """Each call leaves a socket open."""
    own, close_own, forgotten = adapter.call, adapter.aclose, list[socket.socket]()

    def call(prompt: Any, options: Any) -> Any:
        forgotten.extend(socket.socketpair())
        return own(prompt, options)

    async def aclose() -> None:
        await close_own()
        for one in forgotten:
            one.close()

    adapter.call, adapter.aclose = call, aclose


_log: Final = logging.getLogger(__name__)


@miniature("faults.show-no-key")
def logs_its_headers(adapter: Any) -> None:
    """Each request is logged with all its headers."""
    own = adapter.request

    def request(payload: Any, options: Any) -> Any:
        made = own(payload, options)
        _log.debug("sending %s", {name: str(value) for name, value in made.headers.items()})
        return made

    adapter.request = request


@miniature("load.calls-at-once-do-not-mix")
def keeps_the_call_on_itself(adapter: Any) -> None:
    """The events of every call have the ids of the last call."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        adapter.last = as_data(options)
        return _stamped(own(prompt, options), adapter)

    adapter.call = call


async def _stamped(given: Any, adapter: Any) -> Any:
    async for event in given:
        for data in Answered.of([event]).events:
            yield {**data, "thread_id": adapter.last["thread_id"]}


@miniature("load.memory-stays-flat")
def keeps_a_history(adapter: Any) -> None:
    """The adapter keeps every event of every call."""
    history = list[Any]()
    retell(adapter, lambda given: _kept(given, history))


@miniature("load.memory-stays-flat", around=("mistral", "openai"))
def keeps_every_request(adapter: Any) -> None:
    """The bodies of all requests are kept, for the case that one is sent again."""
    own, bodies = adapter.request, dict[Any, Any]()

    def request(payload: Any, options: Any) -> Any:
        made = own(payload, options)
        bodies.setdefault(made.body, made.body)
        return made

    adapter.request = request


@miniature("load.memory-stays-flat", around=("openai", "gemini"))
def keeps_what_failed(adapter: Any) -> None:
    """Each error answer of a provider that is not available is kept with much beside it."""
    own, reports = adapter.read_error, list[bytes]()

    def read_error(head: Any, body: bytes) -> Any:
        if head.status >= 500:
            reports.append(bytes(20_000))
        return own(head, body)

    adapter.read_error = read_error


async def _kept(given: Any, history: list[Any]) -> Any:
    async for event in given:
        history.append(event)
        yield event


@miniature("faults.end-in-time", around=("openai", "anthropic", "ollama-chat"))
def limits_each_read_as_its_connection(adapter: Any) -> None:
    """No read takes longer than the connection may, however far the answer has come."""
    own = adapter.call

    def call(prompt: Any, options: Any) -> Any:
        limits: dict[str, Any] = as_data(options).get("timeouts") or {}
        short = {"between_bytes": limits["connect"]} if limits.get("connect") else {}
        return own(prompt, {**as_data(options), "timeouts": {**limits, **short}} if limits else options)

    adapter.call = call
