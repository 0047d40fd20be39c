"""What an adapter changes of the process that it shares, and where else it goes."""

from __future__ import annotations

import gc
import logging
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from art_sdk import AnthropicAdapter, GeminiAdapter, OpenAIAdapter
from trials import assert_each_has, messages_of, reason_of, spoiled, translator

STATE = "load.process-state-is-unchanged"
CONNECTS = "load.calls-go-only-to-base-url"


def acting(act: Callable[[], object]) -> Any:
    """An adapter that does something before each call."""

    def spoil(adapter: Any) -> None:
        own = adapter.call

        def call(prompt: Any, options: Any) -> Any:
            act()
            return own(prompt, options)

        adapter.call = call

    return spoiled(spoil)


@pytest.fixture
def surroundings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Puts back what the adapters of this file change."""
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(time, "asctime", time.asctime)
    monkeypatch.setattr(time, "as_text", None, raising=False)
    monkeypatch.setenv("ART_TEST_SURROUNDINGS", "as it was")
    monkeypatch.delenv("ART_TEST_MORE", raising=False)
    root, folder, timeout = logging.getLogger(), Path.cwd(), socket.getdefaulttimeout()
    level, handlers = root.level, [*root.handlers]
    yield
    root.setLevel(level)
    root.handlers[:] = handlers
    os.chdir(folder)
    socket.setdefaulttimeout(timeout)
    gc.enable()
    os.environ.pop("ART_TEST_MORE", None)


@pytest.mark.usefixtures("surroundings")
@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: None, []),
        (lambda: random.shuffle([1, 2, 3]), []),
        (lambda: random.seed(3), ["seeds Python"]),
        (lambda: os.environ.update(ART_TEST_MORE="a key"), ["environment variable ART_TEST_MORE,"]),
        (lambda: os.environ.pop("ART_TEST_SURROUNDINGS", None), ["environment variable ART_TEST_SURROUNDINGS,"]),
        (lambda: os.chdir("/"), ["working directory"]),
        (lambda: logging.getLogger().setLevel(7), ["level of the root logger"]),
        (lambda: logging.getLogger().addHandler(logging.NullHandler()), ["handlers of the root logger"]),
        (lambda: socket.setdefaulttimeout(77), ["default timeout"]),
        (lambda: setattr(sys, "excepthook", print), ["sys.excepthook"]),
        (gc.disable, ["garbage collector"]),
        (lambda: setattr(time, "asctime", print), ["time.asctime, which"]),
        (lambda: setattr(time, "as_text", print), []),
    ],
)
def test_what_a_call_changes_for_all_code_is_found(act: Callable[[], object], words: list[str]):
    assert_each_has(messages_of(STATE, acting(act)), words)


def connect_to_another_host() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, closing(socket.socket()) as client:
        client.connect(server.getsockname())


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: None, []),
        (lambda: Path(__file__).read_bytes(), []),
        (lambda: Path(os.devnull).write_bytes(b"nothing"), []),
        (connect_to_another_host, ['connects to "127.0.0.1:'] * 3),
    ],
)
def test_where_else_a_call_goes_is_found(act: Callable[[], object], words: list[str]):
    assert_each_has(messages_of(CONNECTS, acting(act)), words)


@pytest.mark.parametrize("mode", ["w", "a", "r+", "x"])
def test_a_file_that_a_call_writes_is_found(tmp_path: Path, mode: str):
    names = iter(range(99))

    def write() -> None:
        path = tmp_path / f"calls-{next(names):02}.log"
        if mode == "r+":
            path.touch()
        with path.open(mode, encoding="utf-8") as file:
            file.write("called")

    found = messages_of(CONNECTS, acting(write))
    assert_each_has(found, ["calls-00.log", "calls-01.log", "calls-02.log"])


@pytest.mark.parametrize("check", [STATE, CONNECTS])
@pytest.mark.parametrize("make", [AnthropicAdapter, GeminiAdapter, OpenAIAdapter])
def test_the_adapters_stay_at_home(check: str, make: Any):
    assert messages_of(check, make) == []


def test_an_adapter_without_a_call_goes_nowhere():
    assert "no call" in reason_of(STATE, translator(lambda *_: {}, capabilities={"tools"}))


TRACING = """
import sys, threading
from art_compliance.subject.host.surroundings import deeds
deeds().watch()
deeds().stop()
sys.setswitchinterval(1e-6)
refused = []

def trace():
    for _ in range(20_000):
        try:
            sys.settrace(print)
            sys.settrace(None)
        except RuntimeError as error:
            refused.append(error)

threads = [threading.Thread(target=trace) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
sys.exit(str(refused[0]) if refused else 0)
"""


@pytest.mark.once
def test_threads_may_be_traced_while_nothing_is_watched():
    """CPython 3.11 refuses to trace a thread while an audit hook in Python runs for another one."""
    done = subprocess.run([sys.executable, "-c", TRACING], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
