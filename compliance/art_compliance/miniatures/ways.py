"""Adapters that are right by `call` with a greeting, and wrong by another method, in another place, or with more."""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import tempfile
import warnings
from collections.abc import Callable
from contextlib import closing, suppress
from threading import Event, Lock, Thread
from typing import Any, Final

from msgspec.structs import replace

from art_compliance.miniatures.base import Options, Prompt, Translate, as_data, miniature, retell, retranslate
from art_compliance.miniatures.surroundings import before_each_call


@miniature("load.every-loop-and-thread-works", around=("openai", "gemini"))
def runs_a_loop_of_its_own(adapter: Any) -> None:
    """`complete_sync` uses `asyncio.run`, which fails where an event loop runs already."""

    def complete_sync(prompt: Any, options: Any) -> Any:
        completing = adapter.complete(prompt, options)
        try:
            return asyncio.run(completing)
        finally:
            completing.close()

    adapter.complete_sync = complete_sync


@miniature("load.every-loop-and-thread-works", around=("openai", "anthropic"))
def completes_in_its_first_loop_alone(adapter: Any) -> None:
    """`complete` fails in another event loop than that in which it was first called."""
    own, first = adapter.complete, list[asyncio.AbstractEventLoop]()

    async def complete(prompt: Any, options: Any) -> Any:
        first.append(asyncio.get_running_loop())
        if first[-1] is not first[0]:
            raise RuntimeError("attached to a different loop")
        return await own(prompt, options)

    adapter.complete = complete


@miniature("load.every-loop-and-thread-works", around=("openai", "anthropic"))
def waits_in_its_first_loop_alone(adapter: Any) -> None:
    """A lock belongs to the event loop in which a call first waited for it: those that wait in the next one fail."""
    own, lock = adapter.call, asyncio.Lock()

    async def call(prompt: Any, options: Any) -> Any:
        async with lock:
            await asyncio.sleep(0)  # such as for a token
        async for event in own(prompt, options):
            yield event

    adapter.call = call


@miniature("load.slow-calls-do-not-block-others", around=("openai", "gemini"))
def completes_one_after_the_other(adapter: Any) -> None:
    """`complete_sync` waits until that of another thread has ended."""
    own, lock = adapter.complete_sync, Lock()

    def complete_sync(prompt: Any, options: Any) -> Any:
        with lock:
            return own(prompt, options)

    adapter.complete_sync = complete_sync


@miniature("load.calls-at-once-do-not-mix", around=("openai", "anthropic", "gemini"))
def knows_the_tools_of_the_last_call(adapter: Any) -> None:
    """The names of renamed tools are kept in the adapter, where the next request replaces them."""
    own, known = adapter.prepare, dict[str, str]()

    def of_the_last(_: object) -> dict[str, str]:
        return known

    def prepare(prompt: Any, options: Any) -> Any:
        made = own(prompt, options)
        known.clear()
        known.update(adapter.map_tool_names(dict.fromkeys(tool.name for tool in made.info.tools)))
        return replace(made, info=replace(made.info, map_tool_names=of_the_last))

    adapter.prepare = prepare


@miniature("load.calls-at-once-do-not-mix", around=("openai", "gemini"))
def has_one_place_for_whole_answers(adapter: Any) -> None:
    """`complete_sync` keeps its answer in the adapter, where that of another thread replaces it."""
    own, place = adapter.complete_sync, dict[str, Any]()

    def complete_sync(prompt: Any, options: Any) -> Any:
        busy.append(None)
        place["last"] = own(prompt, options)
        given = place["first" if len(busy) > 1 and "first" in place else "last"]
        place.setdefault("first", given)
        busy.pop()
        return given

    busy: list[None] = []
    adapter.complete_sync = complete_sync


@miniature("load.calls-go-only-to-base-url", around=("openai", "gemini", "bedrock"))
def keeps_images_in_files(adapter: Any) -> None:
    """Each image is written to a file before it is sent."""

    def kept(translate: Translate, prompt: Prompt, options: Options) -> Any:
        if '"image"' in json.dumps(prompt):
            with tempfile.NamedTemporaryFile(prefix="image-") as file:
                file.write(b"an image")
        return translate(prompt, options)

    retranslate(adapter, kept)


@miniature("load.calls-go-only-to-base-url", around=("anthropic",))
def keeps_answers_in_a_database(adapter: Any) -> None:
    """`complete_sync` opens a database, which SQLite writes by itself."""
    own = adapter.complete_sync

    def complete_sync(prompt: Any, options: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder, closing(sqlite3.connect(f"{folder}/answers.db")):
            return own(prompt, options)

    adapter.complete_sync = complete_sync


@miniature("load.calls-go-only-to-base-url", around=("gemini",))
def counts_its_calls_elsewhere(adapter: Any) -> None:
    """Each call sends a packet to a server of statistics, without a connection."""

    def count() -> None:
        with closing(socket.socket(type=socket.SOCK_DGRAM)) as sender, suppress(OSError):
            sender.sendto(b"calls:1|c", ("127.0.0.1", 9))

    before_each_call(adapter, count)


@miniature("load.memory-stays-flat", around=("openai", "ollama", "gemini"))
def is_kept_to_be_closed_at_the_end(adapter: Any) -> None:
    """Every adapter is in a list of all that are to be closed when the process ends."""
    _TO_BE_CLOSED.append(adapter)


_TO_BE_CLOSED: Final[list[Any]] = []


@miniature("load.memory-stays-flat", around=("cohere", "anthropic"))
def keeps_a_place_for_each_loop(adapter: Any) -> None:
    """Each event loop has a buffer of its own, which stays when the loop has ended."""
    buffers: dict[Any, bytearray] = {}

    async def with_buffer(given: Any) -> Any:
        buffers.setdefault(asyncio.get_running_loop(), bytearray(8000))
        async for event in given:
            yield event

    retell(adapter, with_buffer)


@miniature("faults.print-nothing", around=("openai", "gemini"))
def warns_of_whole_answers_with_tools(adapter: Any) -> None:
    """`complete` warns at each call with tools."""
    own = adapter.complete

    async def complete(prompt: Any, options: Any) -> Any:
        if as_data(options).get("tools"):
            warnings.warn("tools are new here", UserWarning, stacklevel=2)
        return await own(prompt, options)

    adapter.complete = complete


@miniature("load.nothing-stays-behind", around=("anthropic", "openai"))
def forgets_threads_of_whole_answers(adapter: Any) -> None:
    """Each `complete_sync` leaves a thread that waits for ever."""
    own = adapter.complete_sync

    def complete_sync(prompt: Any, options: Any) -> Any:
        Thread(target=Event().wait, daemon=True).start()
        return own(prompt, options)

    adapter.complete_sync = complete_sync


@miniature("load.late-chunks-cost-no-more", around=("openai", "bedrock", "gemini"))
def reads_all_again_with_each_chunk(adapter: Any) -> None:
    """A stream's bytes are kept, and divided into events again with each chunk."""
    own = adapter.stream_frames

    def stream_frames() -> Any:
        return _FromTheStart(own)

    adapter.stream_frames = stream_frames


class _FromTheStart:
    """The frames of all bytes so far, but for those that were given before."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._frames = make()
        self._read = b""
        self._given = 0

    def feed(self, chunk: bytes) -> Any:
        """The frames that the chunk completes."""
        self._read += chunk
        self._frames = self._make()
        found = list(self._frames.feed(self._read))
        new, self._given = found[self._given :], len(found)
        return new

    def __getattr__(self, name: str) -> Any:
        return getattr(self._frames, name)


@miniature("load.equal-calls-are-each-made", around=("openai", "cohere"))
def asks_once_for_equal_calls(adapter: Any) -> None:
    """A call that is equal to one that is under way gets that one's events."""
    own, under_way = adapter.call, dict[str, Any]()

    async def call(prompt: Any, options: Any) -> Any:
        key = json.dumps([as_data(prompt), as_data(options)])
        if key not in under_way:
            under_way[key] = asyncio.ensure_future(_all_of(own(prompt, options)))
        try:
            for event in await asyncio.shield(under_way[key]):
                yield event
        finally:
            under_way.pop(key, None)

    adapter.call = call


async def _all_of(events: Any) -> list[Any]:
    return [event async for event in events]


@miniature("load.late-chunks-cost-no-more", around=("anthropic", "mistral", "openai-responses"))
def writes_all_again_with_each_token(adapter: Any) -> None:
    """The text so far is joined, and written as JSON for a log, at each token."""

    async def writing(given: Any) -> Any:
        said: list[str] = []
        async for event in given:
            said.append(getattr(event, "text", ""))
            adapter.logged = json.dumps({"text": "".join(said)})
            yield event

    retell(adapter, writing)


@miniature("load.late-chunks-cost-no-more", around=("openai", "anthropic"))
def follows_the_arguments_with_each_piece(adapter: Any) -> None:
    """How deep the arguments of a call are is counted from their beginning with each piece of them."""
    own = adapter.stream_frames
    adapter.stream_frames = lambda: _Counting(own())


class _Counting:
    """Frames, with the depth of what came of a call so far."""

    def __init__(self, frames: Any) -> None:
        self._frames = frames
        self._read = ""
        self.depth = 0

    def feed(self, chunk: bytes) -> Any:
        """The frames that the chunk completes."""
        if b"arguments" in chunk or b"input_json_delta" in chunk:
            self._read += chunk.decode(errors="replace")
            self.depth = sum((letter == "{") - (letter == "}") for letter in self._read)
        return self._frames.feed(chunk)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._frames, name)
