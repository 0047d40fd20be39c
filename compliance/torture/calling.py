"""Faults around a call: loops, threads, forks, cancellation, many calls at once, redirects, and what callers give."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any

import anyio
import httpx2
from answers import FINISH, TOKEN, USER, Server, head_of, sends, serving
from rows import Failed, Row

from art_compliance.provider import StrictProvider
from art_sdk import (
    AnthropicAdapter,
    ARTError,
    GeminiAdapter,
    OpenAIAdapter,
    TokenEvent,
    parse_prompt,
    parse_prompt_json,
)

GOOD = sends(TOKEN + FINISH)
OPTIONS: dict[str, Any] = {"thread_id": "t", "stream": True}


def must(is_so: object, words: str) -> None:
    """Raises Failed unless it is so."""
    if not is_so:
        raise Failed(words)


def must_be_closed(server: Server) -> None:
    """Every connection must be closed, which the server may notice a little later."""
    ends = time.monotonic() + _PATIENCE
    while server.open and time.monotonic() < ends:
        time.sleep(0.02)
    must(server.open == 0, f"{server.open} connections are still open after {_PATIENCE} s")


_PATIENCE = 5.0


def text_of(events: list[Any]) -> str:
    """The text of an answer."""
    return "".join(event.text for event in events if isinstance(event, TokenEvent))


async def ask(adapter: OpenAIAdapter) -> str:
    """The text of an answer."""
    return text_of([event async for event in adapter.call(USER, OPTIONS)])


def ask_sync(adapter: OpenAIAdapter) -> str:
    """As `ask`."""
    return text_of(list(adapter.call_sync(USER, OPTIONS)))


def loops() -> str:
    """One adapter in several event loops, one after the other."""
    with serving(GOOD) as server:
        adapter = OpenAIAdapter(api_key="key", base_url=server.url)
        texts = [asyncio.run(ask(adapter)), asyncio.run(ask(adapter)), anyio.run(ask, adapter, backend="trio")]
        must(texts == ["a"] * 3, f"answers: {texts}")
        must_be_closed(server)
    return "3 answers, no connection left open"


def threads() -> str:
    """Fifty threads make the first calls of one adapter at once."""
    made: list[object] = []
    before = httpx2.Client.__init__

    def counted(self: httpx2.Client, *args: Any, **kwargs: Any) -> None:
        made.append(self)
        before(self, *args, **kwargs)

    httpx2.Client.__init__ = counted  # type: ignore[method-assign]
    threading.stack_size(512 * 1024)
    barrier, texts = threading.Barrier(50), list[str]()
    with (
        StrictProvider("openai-chat") as provider,
        closing(OpenAIAdapter(api_key="key", base_url=provider.base_url)) as adapter,
    ):

        def one() -> None:
            barrier.wait()
            texts.append(ask_sync(adapter))

        working = [threading.Thread(target=one) for _ in range(50)]
        for thread in working:
            thread.start()
        for thread in working:
            thread.join(60)
    must(len(texts) == 50 and all(texts), f"{len(texts)} answers")
    must(len(made) == 1, f"{len(made)} clients were made")
    return "50 answers, 1 client"


def forks() -> str:
    """A forked process goes on with an adapter whose connection is in use in its parent."""
    with serving(GOOD) as server, closing(OpenAIAdapter(api_key="key", base_url=server.url)) as adapter:
        must(ask_sync(adapter) == "a", "the first call failed")
        before = server.connections
        child = os.fork()
        if not child:
            os._exit(0 if ask_sync(adapter) == asyncio.run(ask(adapter)) == "a" else 1)
        must(os.waitpid(child, 0)[1] == 0, "the child's calls failed")
        own = server.connections - before
        must(own == 2, f"the child opened {own} connections of its own for 2 kinds of calls")
        must(ask_sync(adapter) == "a", "the parent's next call failed")
    return "the child opens connections of its own"


def cancel(way: str, after: float) -> str:
    """A call that is cancelled after so many seconds of an endless answer."""

    def drip(connection: Any) -> None:
        connection.sendall(head_of("200 OK", "text/event-stream"))
        while True:
            connection.sendall(TOKEN)
            time.sleep(0.02)

    async def run(url: str) -> None:
        adapter = OpenAIAdapter(api_key="key", base_url=url)
        for _ in range(20):
            with anyio.move_on_after(after) as scope:
                await ask(adapter)
            must(scope.cancelled_caught, "the call was not cancelled")
        await adapter.aclose()

    with serving(drip) as server:
        anyio.run(run, server.url, backend=way)
        must_be_closed(server)
    return "20 calls end at once, no connection left open"


def leave(way: str) -> str:
    """A caller that stops reading after the first event and closes the generator."""

    async def run(url: str) -> None:
        adapter = OpenAIAdapter(api_key="key", base_url=url)
        for _ in range(20):
            events = adapter.call(USER, OPTIONS)
            await anext(events)
            await events.aclose()
        await adapter.aclose()

    with serving(sends(TOKEN * 10_000 + FINISH)) as server:
        if way == "sync":
            with closing(OpenAIAdapter(api_key="key", base_url=server.url)) as adapter:
                for _ in range(20):
                    with closing(adapter.call_sync(USER, OPTIONS)) as events:
                        next(events)
        else:
            anyio.run(run, server.url, backend=way)
        must_be_closed(server)
    return "20 calls closed, no connection left open"


def many(way: str) -> str:
    """Five hundred calls at once."""

    async def run(url: str) -> None:
        adapter = OpenAIAdapter(api_key="key", base_url=url)
        texts: list[str] = []

        async def one() -> None:
            texts.append(await ask(adapter))

        async with anyio.create_task_group() as group:
            for _ in range(500):
                group.start_soon(one)
        await adapter.aclose()
        must(len(texts) == 500 and all(texts), f"{len(texts)} answers")

    with StrictProvider("openai-chat") as provider:
        anyio.run(run, provider.base_url, backend=way)
    return "500 answers"


def redirect(make: Callable[..., Any], header: str, status: int) -> str:
    """A redirect to another host, with a client of the caller's own that follows redirects."""
    with serving(sends(b"{}", kind="application/json")) as other:
        location = f"location: {other.url.replace('127.0.0.1', 'localhost')}/elsewhere"
        with serving(sends(b"", f"{status} X", "text/plain", location)) as first:
            client = httpx2.Client(follow_redirects=True)
            with closing(client), closing(make(api_key="k3y-one", base_url=first.url, http_client=client)) as adapter:
                list(adapter.call_sync(USER, OPTIONS | {"model": "m"}))
    leaked = [request for request in other.requests if b"k3y-one" in request]
    must(not leaked, f"the key went to another host in the header {header}")
    return "the key stays" if not other.requests else "the redirect is followed without the key"


def redirects(make: Callable[..., Any], header: str) -> str:
    """Each status of a redirect."""
    return "; ".join({redirect(make, header, status) for status in (301, 302, 307, 308)})


REDIRECTS = [
    Row("redirects", f"301, 302, 307, 308 to another host, key in {header}", partial(redirects, make, header))
    for make, header in (
        (OpenAIAdapter, "authorization"),
        (AnthropicAdapter, "x-api-key"),
        (GeminiAdapter, "x-goog-api-key"),
    )
]

# What callers give.


class Text(str):
    """A text whose methods raise."""

    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError("hostile")

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:  # noqa: D102 - as in str
        del encoding, errors
        raise RuntimeError("hostile")


class Items(list[Any]):
    """A list that cannot be read."""

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("hostile")


def endless_list() -> list[Any]:
    """A list that contains itself."""
    value: list[Any] = []
    value.append(value)
    return value


def doubling(levels: int) -> Any:
    """Lists of 2 to the power of `levels` values, in as many lists as it has levels."""
    value: Any = "x"
    for _ in range(levels):
        value = [value, value]
    return value


def settle(work: Callable[[], Any]) -> str:
    """The work is done, or ends in an error of the SDK."""
    try:
        work()
    except ARTError as error:
        return f"{type(error).__name__}: {error}"
    return "taken"


def call_with(settings: dict[str, Any], options: dict[str, Any], prompt: Any = None) -> str:
    """A call with these settings, options and prompt: events, or an error of the SDK."""
    with serving(GOOD) as server:
        given: dict[str, Any] = {"api_key": "key", "base_url": server.url, **settings}

        def work() -> None:
            with closing(OpenAIAdapter(**given)) as adapter:
                list(adapter.call_sync(USER if prompt is None else prompt, OPTIONS | options))

        return settle(work)


def call_with_each(cases: dict[str, dict[str, Any]]) -> str:
    """As `call_with`, for each of the settings."""
    refused = 0
    for name, settings in cases.items():
        try:
            refused += call_with(settings, {}) != "taken"
        except Exception as error:
            raise Failed(f"{name}: {type(error).__name__}: {error}") from error
    return f"{refused} refused with an error of the SDK, {len(cases) - refused} taken"


HOST = "http://127.0.0.1:1"
URLS = {
    f"base_url {url!r:.60}": {"base_url": url}
    for url in (
        "http://a..b",
        "http://user:pass@127.0.0.1:1",
        f"{HOST}/v1?x=1",
        f"{HOST}/v1#f",
        "http://",
        "http://[::1",
        "ftp://x",
        "//x",
        "",
        " ",
        "http://x:99999",
        "http://x:-1",
        "http://\0",
        "http://a\r\nb",
        "http://\u0661.\u0662",
        "http://xn--a",
        "http://" + "a" * 300,
        "http://" + "a." * 200,
        "http://\ud800",
        "http://%zz",
        "javascript:1",
    )
}
HEADERS = {
    f"header {name!r:.40}: {value!r:.20}": {"headers": {name: value}}
    for name, value in (
        ("content-length", "1"),
        ("Transfer-Encoding", "chunked"),
        ("Host", "x"),
        ("x", "a\r\nb: c"),
        ("x\r\ny", "z"),
        ("", "x"),
        ("x y", "z"),
        ("x", "\0"),
        ("\u00e9", "z"),
        ("x", "\ud800"),
        ("x", 1),
        (1, "x"),
        ("AUTHORIZATION", "Bearer other"),
        ("x", "a" * 10**6),
    )
}
SETTINGS: dict[str, dict[str, Any]] = {
    "key with a line end": {"api_key": "a\r\nb: c"},
    "key with a lone surrogate": {"api_key": "\ud800"},
    "key that is empty": {"api_key": ""},
    "key that is None": {"api_key": None},
    "model of a str subclass that raises": {"model": Text("m")},
    "timeouts of 10^400": {"timeouts": {"whole_call": 10**400}},
    "timeouts that are NaN": {"timeouts": {"whole_call": float("nan")}},
    "retries of 10^400": {"retries": 10**400},
}  # fmt: skip
OPTION_CASES: dict[str, dict[str, Any]] = {
    "max_tokens of 5,000 digits": {"max_tokens": 10**4999},
    "max_tokens of 1,000,000 digits": {"max_tokens": 10**1_000_000},
    "temperature that is infinite": {"temperature": float("inf")},
    "temperature that is NaN": {"temperature": float("nan")},
    "stop that contains itself": {"stop": endless_list()},
    "stop that cannot be read": {"stop": Items(["x"])},
    "a model of a str subclass that raises": {"model": Text("m")},
    "a schema that contains itself": {"response_schema": {"type": "object", "x": endless_list()}},
    "a schema with 10^60 paths": {"response_schema": {"type": "object", "x": doubling(199)}},
    "tools that cannot be read": {"tools": Items([1])},
    "a tool named \\ud800": {"tools": [{"name": "\ud800", "description": "d", "inputSchema": {"type": "object"}}]},
    "provider fields that contain themselves": {"provider": {"x": endless_list()}},
    "a thread id of a megabyte": {"thread_id": "t" * 2**20},
    "a key that is not text": {1: 2},  # type: ignore[dict-item]
}
PROMPTS: dict[str, Any] = {
    "a prompt that cannot be read": Items([1]),
    "a prompt that contains itself": endless_list(),
    "a text with a lone surrogate": [{"role": "user", "content": "\ud800"}],
    "an integer of 5,000 digits": [{"role": "assistant", "content": "x", "extensions": {"d": {"v": 10**4999}}}],
    "a text whose methods raise": [{"role": "user", "content": Text("x")}],
    "10^60 paths": [{"role": "assistant", "content": "x", "extensions": {"d": {"v": doubling(199)}}}],
}
TEXTS: dict[str, str] = {
    "doubled keys": '[{"role": "user", "role": "assistant", "content": "x"}]',
    "JSON 1,000,000 deep": "[" * 1_000_000,
    "an integer of 1,000,000 digits": "[" + "9" * 1_000_000 + "]",
    "3,000,000 numbers": "[" + "0," * 3_000_000 + "0]",
    "NaN": '[{"role": "user", "content": NaN}]',
    "a lone surrogate": '[{"role": "user", "content": "\\ud800"}]',
}


def refuse_doubled(text: str) -> str:
    """The text must be refused."""
    said = settle(lambda: parse_prompt_json(text))
    must(said != "taken", "it was taken")
    return said


GIVEN = [
    Row("settings", f"{len(URLS)} hostile base URLs", partial(call_with_each, URLS)),
    Row("settings", f"{len(HEADERS)} hostile headers", partial(call_with_each, HEADERS)),
    *(Row("settings", what, partial(call_with, settings, {})) for what, settings in SETTINGS.items()),
    *(Row("options", what, partial(call_with, {}, options)) for what, options in OPTION_CASES.items()),
    *(Row("prompts", f"{what}, sent", partial(call_with, {}, {}, prompt)) for what, prompt in PROMPTS.items()),
    *(
        Row("prompts", f"{what}, parsed", partial(settle, partial(parse_prompt, prompt)))
        for what, prompt in PROMPTS.items()
    ),
    *(Row("JSON texts", what, partial(refuse_doubled, text)) for what, text in TEXTS.items()),
]

ROWS = [
    Row("loops, threads, processes", "asyncio.run twice, then trio", loops),
    Row("loops, threads, processes", "first calls from 50 threads", threads),
    Row("loops, threads, processes", "a fork between two calls", forks),
    *(
        Row("cancellation", f"cancelled after {after} s, {way}", partial(cancel, way, after))
        for way in ("asyncio", "trio")
        for after in (0.001, 0.1)
    ),
    *(
        Row("cancellation", f"closed after the first event, {way}", partial(leave, way))
        for way in ("sync", "asyncio", "trio")
    ),
    *(Row("many calls", f"500 calls at once, {way}", partial(many, way), 30) for way in ("asyncio", "trio")),
    *REDIRECTS,
    *GIVEN,
]
