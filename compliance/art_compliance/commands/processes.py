"""Runs several tasks at once: in as many processes as there are cores, their results in the order of the tasks."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Final, Generic, NamedTuple, TypeVar

from msgspec import Struct

from art_compliance.findings import HarnessError

R = TypeVar("R")
Send = Callable[[Any], None]
"""Tells the caller how far a task is: it takes whatever can be pickled."""

_PATIENCE: Final = 10.0
"""Seconds for a process to end after it was asked to."""


class Task(NamedTuple, Generic[R]):
    """Something to do: `work` is a function of a module, or a `partial` of one; it is given what sends its progress."""

    name: str
    work: Callable[[Send], R]


class _Worker(Struct, frozen=True, eq=False):
    process: SpawnProcess
    tasks: deque[int]
    """The number of the task that it works on."""


class _Message(NamedTuple):
    what: Any


class _Done(NamedTuple):
    result: Any


def count_cores() -> int:
    """The cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return (os.cpu_count() or 1) if affinity is None else len(affinity(0))


def run_all(tasks: Iterable[Task[R]], workers: int, on_message: Callable[[str, Any], None]) -> Generator[R]:
    """The result of each task, in their order, each as soon as it and all before it are there.

    `on_message` gets a task's name and what it sends. When the generator ends, however it ends, no process is left.
    Raises the error of a task, and HarnessError for a process that died. Ctrl-C interrupts the tasks that are under
    way: the results that they have by then are given, and then KeyboardInterrupt is raised.
    """
    pool = _Pool(list(tasks), on_message)
    try:
        pool.start(workers)
        try:
            yield from pool.results()
        except KeyboardInterrupt:
            yield from pool.interrupted_results()
            raise
    finally:
        pool.end()


class _Pool(Generic[R]):
    def __init__(self, tasks: list[Task[R]], on_message: Callable[[str, Any], None]) -> None:
        self._tasks = tasks
        self._waiting = deque(range(len(tasks)))
        self._on_message = on_message
        self._workers: dict[Connection, _Worker] = {}
        self._done: dict[int, R] = {}

    def start(self, workers: int) -> None:
        context = multiprocessing.get_context("spawn")
        for _ in range(min(workers, len(self._tasks))):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs,), daemon=True)
            process.start()
            theirs.close()  # so that ours ends with the process
            self._workers[ours] = _Worker(process, deque())
            self._next(ours)

    def results(self) -> Generator[R]:
        for number in range(len(self._tasks)):
            while number not in self._done:
                for one in wait(list(self._workers)):
                    self._hear(one)  # type: ignore[arg-type]  # `wait` returns what it was given
            yield self._done.pop(number)

    def interrupted_results(self) -> Generator[R]:
        """The results that are not given yet, of the tasks that are done and of those that are under way."""
        self._waiting.clear()
        ends = time.monotonic() + _PATIENCE
        busy = {one: worker for one, worker in self._workers.items() if worker.tasks}
        for worker in busy.values():
            if worker.process.pid is not None:
                os.kill(worker.process.pid, signal.SIGINT)
        while busy and time.monotonic() < ends:
            for one in wait(list(busy), max(ends - time.monotonic(), 0)):
                with suppress(HarnessError):  # it has no result
                    self._hear(one)  # type: ignore[arg-type]  # as above
                    if busy[one].tasks:  # type: ignore[index]  # as above
                        continue
                del busy[one]  # type: ignore[arg-type]  # as above
        yield from (self._done.pop(number) for number in sorted(self._done))

    def end(self) -> None:
        for one, worker in self._workers.items():
            worker.process.terminate()
            one.close()
        for worker in self._workers.values():
            worker.process.join(_PATIENCE)
            worker.process.kill()
            worker.process.join()

    def _next(self, connection: Connection) -> None:
        tasks = self._workers[connection].tasks
        if self._waiting:
            tasks.append(self._waiting.popleft())
            connection.send(self._tasks[tasks[0]].work)

    def _hear(self, connection: Connection) -> None:
        worker = self._workers[connection]
        name = self._tasks[worker.tasks[0]].name if worker.tasks else "a process without a task"
        try:
            message = connection.recv()
        except (EOFError, OSError) as error:
            worker.process.join(_PATIENCE)
            code = worker.process.exitcode
            raise HarnessError(f"{name}: its process ended with exit code {code}") from error
        match message:
            case _Message(what):
                self._on_message(name, what)
            case _Done(result):
                self._done[worker.tasks.popleft()] = result
                self._next(connection)
            case error:
                raise error


def _work(connection: Connection) -> None:
    """A process: does the tasks that come, until it is stopped."""
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _interrupt)
    while True:
        try:
            work = connection.recv()
        except EOFError:  # the caller is gone
            return
        try:
            message: object = _Done(work(partial(_tell, connection)))
        except Exception as error:  # noqa: BLE001 - the caller's, whatever it is
            message = error
        except KeyboardInterrupt:  # before the work had anything to give
            return
        connection.send(message)


def _tell(connection: Connection, what: Any) -> None:
    connection.send(_Message(what))


def _stop(*_: object) -> None:
    """Ends the process without a word; what it has opened is closed on the way."""
    raise SystemExit(1)


def _interrupt(*_: object) -> None:
    """Interrupts the work once: a terminal and the caller both send the signal."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt
