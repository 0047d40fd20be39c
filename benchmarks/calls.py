"""Whole calls over HTTP, from a prompt as JSON data to the text of the answer: the floor and ours, whole and streamed.

The floor is the bare loop, `json`, and httpx2 with its own time limits: it checks nothing, reads no token counts, and
an error is an answer like any other.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import httpx2

from art_sdk import EndEvent, StreamEvent
from art_sdk.options import CallOptions
from benchmarks.conversation import MODEL, Message, make_options
from benchmarks.floors import CONTESTS

MESSAGES: Final = 100
_HEADERS: Final = {"content-type": "application/json", "authorization": "Bearer key"}

Call = Callable[[], str]
"""Makes a call and returns the text of its answer."""


class Path(NamedTuple):
    """Where the requests of a format go: what tells its URLs from those of others, and the paths behind that."""

    base: str
    whole: str
    streamed: str
    asked: Mapping[str, Any] = {}
    """What asks for a stream in the body."""


_STREAM: Final = {"stream": True}
_CONVERSE: Final = f"/model/{MODEL}/converse"
_GENERATE: Final = f"/models/{MODEL}"

PATHS: Final[Mapping[str, Path]] = {
    "openai": Path("/v1", "/chat/completions", "/chat/completions", _STREAM),
    "openai-responses": Path("/v1", "/responses", "/responses", _STREAM),
    "anthropic": Path("/v1", "/messages", "/messages", _STREAM),
    "bedrock": Path("", _CONVERSE, f"{_CONVERSE}-stream"),
    "cohere": Path("/v2", "/chat", "/chat", _STREAM),
    "gemini": Path("/v1beta", f"{_GENERATE}:generateContent", f"{_GENERATE}:streamGenerateContent?alt=sse"),
    "ollama-chat": Path("/api", "/chat", "/chat", _STREAM),
}


class Calls(NamedTuple):
    """The same call, whole and streamed; `in_asyncio` is the whole one in an event loop that stays the same."""

    whole: Call
    streamed: Call
    in_asyncio: Call | None = None


@contextmanager
def floor_calls(provider: str, url: str, prompt: list[Message]) -> Generator[Calls]:
    """The floor's. It reads the answer of a stream, event by event, and joins no texts."""
    contest, path = CONTESTS[provider], PATHS[provider]
    whole_url = url + path.base + path.whole
    client_in_asyncio = httpx2.AsyncClient()
    with httpx2.Client() as client, asyncio.Runner() as runner:

        def whole() -> str:
            answer = client.post(whole_url, content=contest.floor(prompt), headers=_HEADERS)
            return str(json.loads(answer.content))

        async def ask() -> str:
            answer = await client_in_asyncio.post(whole_url, content=contest.floor(prompt), headers=_HEADERS)
            return str(json.loads(answer.content))

        def streamed() -> str:
            body = json.dumps({**contest.payload(prompt), **path.asked}).encode()
            target = url + path.base + path.streamed
            with client.stream("POST", target, content=body, headers=_HEADERS) as answer:
                return str([json.loads(data) for data in map(_data_of, answer.iter_lines()) if data])

        yield Calls(whole, streamed, lambda: runner.run(ask()))
        runner.run(client_in_asyncio.aclose())


def _data_of(line: str) -> str:
    """The JSON of a line of an event stream, or of a line that is JSON."""
    return line if line.startswith("{") else line.removeprefix("data: ") if line.startswith("data: {") else ""


@contextmanager
def our_calls(provider: str, url: str, prompt: list[Message]) -> Generator[Calls]:
    """Ours, with all checks, time limits, token counts and events."""
    adapter = type(CONTESTS[provider].adapter)(api_key="key", base_url=url + PATHS[provider].base)
    options = make_options()

    def call(options: CallOptions) -> Call:
        return lambda: _text_of(list(adapter.call_sync(prompt, options)))

    async def ask() -> str:
        return _text_of([event async for event in adapter.call(prompt, options)])

    with asyncio.Runner() as runner:
        yield Calls(call(options), call(make_options(stream=True)), lambda: runner.run(ask()))
        runner.run(adapter.aclose())


def _text_of(events: list[StreamEvent]) -> str:
    last = events[-1]
    assert isinstance(last, EndEvent)
    assert last.message is not None
    return last.message.content or ""
