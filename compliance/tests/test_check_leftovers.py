"""What calls and closed adapters leave behind, and what is not a leftover: pools, and what cannot be closed."""

from __future__ import annotations

import os
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import pytest

from art_compliance.findings import HarnessError
from art_compliance.subject.host.counting import count_open
from art_compliance.subject.subject import Subject
from trials import answer_events, messages_of, scripted

pytestmark = pytest.mark.once

CHECK = "load.nothing-stays-behind"
SLEEPS = (sys.executable, "-S", "-c", "import time; time.sleep(600)")

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc")


def calling(do: Callable[[], object]) -> type[Any]:
    """An adapter that does something in each call, and answers."""

    def call(*_: Any) -> list[Any]:
        do()
        return answer_events()

    return scripted(call)  # type: ignore[return-value]  # it is a class


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[], TextIO]]:
    """Opens a file that stays open until the test ends."""
    files: list[TextIO] = []

    def open_one() -> TextIO:
        files.append((tmp_path / "left").open("w"))
        return files[-1]

    yield open_one
    for file in files:
        file.close()


def test_files_that_calls_leave_open_are_counted(opened):
    assert messages_of(CHECK, calling(opened)) == ["after 6 calls there are 6 more open sockets and files than before"]


def test_threads_that_calls_leave_are_counted(resting):
    assert messages_of(CHECK, calling(resting)) == ["after 6 calls there are 6 more threads than before"]


@contextmanager
def sleeping() -> Iterator[Callable[[], None]]:
    """Starts processes, which end with the block."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        yield lambda: started.append(subprocess.Popen(SLEEPS))
    finally:
        for one in started:
            one.kill()
            one.wait()


@needs_proc
def test_a_process_that_this_one_started_is_counted_until_it_ends():
    before = count_open()["processes"]
    with sleeping() as start:
        start()
        assert count_open()["processes"] == before + 1
    assert count_open()["processes"] == before


def closing(do: Callable[[], object]) -> type[Any]:
    """An adapter that can be closed, and does something when it is made."""

    class Closing(calling(lambda: None)):  # type: ignore[misc]  # made by a function
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self.kept = do()

        async def aclose(self) -> None:
            """Closes nothing."""

    return Closing


def test_what_each_adapter_keeps_after_it_was_closed_is_counted(resting):
    expected = "after 6 adapters were made, called and closed there are 6 more threads than before"
    assert messages_of(CHECK, closing(resting)) == [expected]


def test_what_only_garbage_collection_closes_is_counted():
    class Collected(closing(lambda: None)):  # type: ignore[misc]  # made by a function
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            weakref.finalize(self, os.close, os.open(os.devnull, os.O_RDONLY))

    expected = "after 6 adapters were made, called and closed there are 6 more open sockets and files than before"
    before = count_open()["open sockets and files"]
    assert messages_of(CHECK, Collected) == [expected]
    assert count_open()["open sockets and files"] == before


def test_an_adapter_that_cannot_be_closed_may_keep_what_it_has(resting):
    make = closing(resting)
    del make.aclose
    assert messages_of(CHECK, make) == []


def test_an_adapter_whose_closing_fails_gets_a_finding():
    class Busy(calling(lambda: None)):  # type: ignore[misc]  # made by a function
        closed = 0

        async def aclose(self) -> None:
            type(self).closed += 1
            if type(self).closed == 3:
                raise OSError("busy")

    assert messages_of(CHECK, Busy) == ["closing an adapter failed: aclose raised OSError: busy"]


def closed_by_close(close: Callable[[Any], None]) -> type[Any]:
    """An adapter with synchronous calls, and a `close` that does this."""

    class Synchronous(calling(lambda: None)):  # type: ignore[misc]  # made by a function
        def call_sync(self, prompt: Any, options: Any) -> Iterator[Any]:
            return iter([*self.call(prompt, options)])

    Synchronous.close = close  # type: ignore[attr-defined]  # it is what is tested
    return Synchronous


def test_what_stays_after_a_synchronous_close_is_counted(resting):
    expected = (
        "after 6 adapters were made, called by call_sync and closed with close there are 6 more threads than before"
    )
    assert messages_of(CHECK, closed_by_close(lambda _: resting())) == [expected]


def test_a_synchronous_close_that_fails_gets_a_finding():
    def close(_: Any) -> None:
        raise OSError("busy")

    assert messages_of(CHECK, closed_by_close(close)) == ["closing an adapter failed: close raised OSError: busy"]


def test_an_asynchronous_close_is_left_alone(resting):
    async def close(_: Any) -> None:
        resting()

    assert messages_of(CHECK, closed_by_close(close)) == []  # type: ignore[arg-type]  # as it is meant


def test_an_adapter_that_cannot_be_closed_at_the_end_gets_a_finding(monkeypatch: pytest.MonkeyPatch):
    def leave(_: Subject) -> list[str]:
        raise HarnessError("closing it: the device is busy")

    monkeypatch.setattr(Subject, "leave", leave)
    expected = "when the adapter is closed, closing it: the device is busy"
    assert messages_of(CHECK, calling(lambda: None)) == [expected]


def test_an_adapter_that_closes_what_it_opened_leaves_nothing(tmp_path: Path):
    class Tidy(calling(lambda: None)):  # type: ignore[misc]  # made by a function
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self._file = (tmp_path / "kept").open("w")

        async def aclose(self) -> None:
            self._file.close()

    assert messages_of(CHECK, Tidy) == []


def test_a_pool_that_fills_once_is_no_leftover(opened):
    pool: list[TextIO] = []

    def fill() -> None:
        if len(pool) < 9:
            pool.append(opened())

    assert messages_of(CHECK, calling(fill)) == []
