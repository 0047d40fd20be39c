"""Reads parts in processes of its own, as many as there are cores. A process that dies is replaced."""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Final, NamedTuple, cast

import msgspec

from art_compliance.auditing.plan import Part, Plan
from art_compliance.auditing.reading import Read, read_part
from art_compliance.auditing.running import Engine

TRIES: Final = 2
"""How often a part is read whose process dies: it may have been killed, or the part may kill it."""

_RARELY: Final = 100_000
"""Objects between two collections: JSON has no circles, so that most find nothing and cost a twentieth of the time."""

_PATIENCE: Final = 10.0
"""Seconds for a process to end after it was asked to."""


def in_processes(jobs: int) -> Engine:
    """Reads in so many processes at once."""

    def read(plan: Plan, parts: Iterable[Part]) -> Iterator[Read]:
        pool = _Pool(plan, parts)
        try:
            pool.start(jobs)
            yield from pool.results()
        finally:
            pool.end()

    return read


class _Worker(NamedTuple):
    process: SpawnProcess
    part: Part | None


class _Pool:
    def __init__(self, plan: Plan, parts: Iterable[Part]) -> None:
        self._plan = plan
        self._waiting = deque(parts)
        self._workers: dict[Connection, _Worker] = {}
        self._deaths = Counter[Part]()

    def start(self, jobs: int) -> None:
        for _ in range(min(jobs, len(self._waiting))):
            self._add()

    def _add(self) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs, self._plan), daemon=True)
        process.start()
        theirs.close()  # so that ours ends with the process
        self._workers[ours] = _Worker(process, None)
        self._next(ours)

    def _next(self, connection: Connection) -> None:
        """Gives the process its next part, or ends it."""
        process = self._workers[connection].process
        part = self._waiting.popleft() if self._waiting else None
        self._workers[connection] = _Worker(process, part)
        if part is None:
            del self._workers[connection]
            connection.close()
            process.join(_PATIENCE)
        else:
            with suppress(OSError):  # it has died: `results` finds that out, and gives the part to another one
                connection.send_bytes(msgspec.msgpack.encode(part))

    def results(self) -> Iterator[Read]:
        while self._workers:
            for one in wait(list(self._workers)):
                connection = cast("Connection", one)  # `wait` returns what it was given
                try:
                    read = msgspec.msgpack.decode(connection.recv_bytes(), type=Read)
                except (EOFError, OSError):
                    yield from self._bury(connection)
                else:
                    self._next(connection)
                    yield read

    def _bury(self, connection: Connection) -> Iterator[Read]:
        """Another process in the place of one that died; its part is read again, or given up."""
        worker = self._workers.pop(connection)
        connection.close()
        worker.process.join(_PATIENCE)
        part = worker.part
        if part is not None:
            self._deaths[part] += 1
            if self._deaths[part] < TRIES:
                self._waiting.appendleft(part)
            else:
                yield Read(part, problem=_died(part, worker.process.exitcode))
        if self._waiting:
            self._add()

    def end(self) -> None:
        for connection, worker in self._workers.items():
            worker.process.terminate()
            connection.close()
        for worker in self._workers.values():
            worker.process.join(_PATIENCE)
            worker.process.kill()
            worker.process.join()
        self._workers.clear()


def _died(part: Part, code: int | None) -> str:
    return f"reading the bytes from {part.start:,} to {part.end:,} ended its process, {TRIES} times (exit code {code})"


def work(connection: Connection, plan: Plan) -> None:
    """What each process does: reads the parts that come, until there are no more or the caller is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all: the caller ends this process
    gc.freeze()
    gc.set_threshold(_RARELY)
    while True:
        try:
            part = msgspec.msgpack.decode(connection.recv_bytes(), type=Part)
            connection.send_bytes(msgspec.msgpack.encode(read_part(plan, part)))
        except (EOFError, OSError):
            return
