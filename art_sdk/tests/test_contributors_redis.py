"""The memory on a real Redis server, which goes away, hangs and comes back."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest

from art_sdk import InvalidConfig, PromptAssemblyFailed
from art_sdk.contributors import (
    BuildOptions,
    DynamicContributorContext,
    Memory,
    MemoryConfig,
    MemoryUnavailable,
    StaticContributor,
    build_system_prompt,
    load_contributors,
    open_memory,
    validate_agent_config,
)

T = TypeVar("T")
PROGRAM = shutil.which("redis-server")
PASSWORD = "geheim"  # noqa: S105 - of a server that only this test knows

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(PROGRAM is None, reason="redis-server is not installed (Debian's package of the same name)"),
]


class Server:
    """A Redis server on its own socket. What it has acknowledged is on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"unix://:{PASSWORD}@{folder}/socket"
        self.start()

    def start(self) -> None:
        options = {
            "port": "0",
            "unixsocket": f"{self.folder}/socket",
            "dir": str(self.folder),
            "requirepass": PASSWORD,
            "appendonly": "yes",
            "appendfsync": "always",
            "save": "",
        }
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        self.process = subprocess.Popen([str(PROGRAM), *words], stdout=subprocess.DEVNULL)
        memory = self.open()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with contextlib.suppress(MemoryUnavailable):
                run(lambda: memory.recall("nobody"))
                return
        pytest.fail("the Redis server does not start")

    def open(self, *, limit: float = 10.0, **options: Any) -> Memory:
        options = {"timeLimit": limit, **options}
        return open_memory(MemoryConfig(provider="redis", connection_string=self.url, options=options))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(60)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="art") as folder:
        started = Server(Path(folder))
        yield started
        started.kill()


def run(wanted: Callable[[], Awaitable[T]], backend: str = "asyncio") -> T:
    async def main() -> T:
        with anyio.fail_after(60):
            return await wanted()

    return anyio.run(main, backend=backend)


async def remember(memory: Memory, thread: str | None, *texts: str) -> None:
    for text in texts:
        await memory.remember(thread, text)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_texts_are_kept_in_their_order_by_thread(server: Server, backend: str):
    memory = server.open(keyPrefix=f"{backend}:")
    run(lambda: remember(memory, "a", "tea", 'mi"lk\n', "\ud83d ☕"), backend)
    run(lambda: remember(memory, None, "nobody's"), backend)
    assert run(lambda: memory.recall("a"), backend) == 'tea\nmi"lk\n\n\ud83d ☕'
    assert run(lambda: memory.recall(None), backend) == "nobody's"
    assert run(lambda: memory.recall("none"), backend) == ""
    run(lambda: memory.forget("a"), backend)
    assert run(lambda: memory.recall("a"), backend) == ""
    run(memory.aclose, backend)


def test_another_memory_sees_the_same_entries_unless_its_keys_differ(server: Server):
    run(lambda: remember(server.open(keyPrefix="shared:"), "t", "tea"))
    assert run(lambda: server.open(keyPrefix="shared:").recall("t")) == "tea"
    assert run(lambda: server.open(keyPrefix="other:").recall("t")) == ""


def test_many_at_once_lose_nothing(server: Server):
    memory = server.open(keyPrefix="many:")

    async def main() -> set[str]:
        async with anyio.create_task_group() as group:
            for number in range(60):
                group.start_soon(memory.remember, "t", str(number))
        return set((await memory.recall("t")).split("\n"))

    assert run(main) == {str(number) for number in range(60)}


def test_the_newest_entries_are_kept(server: Server):
    memory = server.open(keyPrefix="few:", maxEntries=2)
    run(lambda: remember(memory, "t", "tea", "milk", "sugar"))
    assert run(lambda: memory.recall("t")) == "milk\nsugar"


def test_a_thread_expires(server: Server):
    memory = server.open(keyPrefix="soon:", expiresAfter=1)
    run(lambda: remember(memory, "t", "tea"))
    deadline = time.monotonic() + 60
    while run(lambda: memory.recall("t")):
        assert time.monotonic() < deadline


def test_an_entry_that_was_sent_twice_is_there_once(server: Server):
    import redis  # noqa: PLC0415 - an extra

    memory = server.open(keyPrefix="twice:")
    run(lambda: remember(memory, "t", "tea", "milk", "tea"))
    with redis.Redis.from_url(server.url) as client:
        client.rpush("twice:thread:t", *client.lrange("twice:thread:t", 0, -1))
    assert run(lambda: memory.recall("t")) == "tea\nmilk\ntea"


@pytest.mark.parametrize("foreign", ["not JSON", "3", "[1]"])
def test_entries_of_others_are_an_error(server: Server, foreign: str):
    import redis  # noqa: PLC0415 - an extra

    with redis.Redis.from_url(server.url) as client:
        client.delete("foreign:thread:t")
        client.rpush("foreign:thread:t", foreign)
    with pytest.raises(MemoryUnavailable, match="has an entry that it did not write"):
        run(lambda: server.open(keyPrefix="foreign:").recall("t"))


def test_a_killed_server_loses_nothing_that_it_acknowledged(server: Server):
    memory = server.open(keyPrefix="killed:")
    run(lambda: remember(memory, "t", *map(str, range(20))))
    server.kill()
    with pytest.raises(MemoryUnavailable):
        run(lambda: memory.remember("t", "lost"))
    server.start()
    assert run(lambda: memory.recall("t")).split("\n")[:20] == [*map(str, range(20))]
    run(lambda: memory.remember("t", "20"))
    assert run(lambda: memory.recall("t")).endswith("\n20")


def test_a_prompt_without_its_memory_fails_or_is_built_without_it(server: Server):
    prompt = {"contributors": [{"id": "memory", "type": "dynamic", "priority": 1, "source": "memorySummary"}]}
    sections = {"llm": {"systemPrompt": prompt}, "memory": {"provider": "redis", "connectionString": server.url}}
    config = validate_agent_config(sections)
    made = [*load_contributors(prompt, defaults=()), StaticContributor("tone", 0, "Be kind.")]
    memory = server.open(keyPrefix="prompt:")
    context = DynamicContributorContext(agent_config=config, memory=memory, thread_id="t")
    patient = BuildOptions(on_error="skip", time_limit=120)
    run(lambda: remember(memory, "t", "tea"))
    text = run(lambda: build_system_prompt(made, context, options=patient)).text
    assert text == "Be kind.\n\nMemory Summary (Provider: redis): tea"
    server.kill()
    built = run(lambda: build_system_prompt(made, context, options=patient))
    assert (built.text, [*built.errors]) == ("Be kind.", ["memory"])
    with pytest.raises(PromptAssemblyFailed, match="'memory' failed: MemoryUnavailable: the memory provider 'redis'"):
        run(lambda: build_system_prompt(made, context, options=BuildOptions(time_limit=120)))
    server.start()
    assert run(lambda: build_system_prompt(made, context, options=patient)).text == text


def test_a_server_that_hangs_fails_within_the_time_limit(server: Server):
    memory = server.open(limit=0.2)
    server.process.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(MemoryUnavailable, match=r"the memory provider 'redis' failed \(TimeoutError\)"):
            run(lambda: memory.recall("t"))
    finally:
        server.process.send_signal(signal.SIGCONT)
    assert run(lambda: server.open().recall("t")) == ""


def test_a_hanging_server_keeps_no_cancelled_caller_waiting(server: Server):
    memory = server.open(limit=300.0)

    async def main() -> bool:
        with anyio.move_on_after(0.1) as scope:
            await memory.recall("t")
        return scope.cancelled_caught

    server.process.send_signal(signal.SIGSTOP)
    try:
        assert run(main)
    finally:
        server.process.send_signal(signal.SIGCONT)


def test_neither_errors_nor_reprs_show_the_connection_string(server: Server):
    wrong = MemoryConfig(provider="redis", connection_string=server.url.replace(PASSWORD, "verkehrt"))
    memory = open_memory(wrong)
    with pytest.raises(MemoryUnavailable) as caught:
        run(lambda: memory.recall("t"))
    assert str(caught.value) == "the memory provider 'redis' failed (AuthenticationError)"
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    frames = [entry.frame.f_locals for entry in caught.traceback if "contributors" in str(entry.path.parent)]
    assert len(frames) >= 2
    shown = f"{memory!r}{wrong!r}{caught.value!r}{frames!r}"
    assert not [word for word in ("verkehrt", str(server.folder)) if word in shown]


def test_without_the_client_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(InvalidConfig, match=r"needs Redis's client: pip install 'art-adapter-sdk\[redis\]'"):
        open_memory(MemoryConfig(provider="redis", connection_string="redis://h"))
