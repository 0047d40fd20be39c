"""An adapter in its own process: what it does there cannot stop or change the suite.

The suite sends what to do, waits for as long as that may take, and ends the process if nothing comes. The verdicts are
made here, of what the process sent and of what the loopback provider saw.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec

from art_compliance.findings import HarnessError, NotMade, not_made
from art_compliance.quoting import shorten
from art_compliance.subject.deadlines import Stopped, TimedOut
from art_compliance.subject.facts import Facts
from art_compliance.subject.host.counting import count_in_session, lives_in_session, runs, strays_of
from art_compliance.subject.host.interrupting import CannotDo
from art_compliance.subject.making import Order
from art_compliance.subject.messages import Channel, Closed, unpack
from art_compliance.subject.packing import NoProcess, pack_factory
from art_compliance.subject.reaching import require_used, why_stopped
from art_sdk.json_data import is_object

START: Final = 40.0
"""Seconds that the process may take to start and to make the adapter: one that never does ends within a minute."""

GRACE: Final = 3.0
"""Seconds after its own limit within which the process must answer."""

_END: Final = 10.0
"""Seconds that it may take to end after its adapter was closed, where that is checked."""

_CLOSED: Final = 1.0
"""Seconds that it gets to end where nobody asks what is left: a run closes some twenty adapters."""

_LINGER: Final = 2.0
"""Seconds after its end within which helpers of its own, such as Python's resource tracker, may end, too."""


class Far:
    """An adapter in its own process, which is started again if it ends: see `Reach`."""

    def __init__(self, order: Order) -> None:
        """Raises NoProcess, NotMade, and HarnessError if the adapter cannot be made."""
        self._job = _job_of(order)
        self._lock = threading.Lock()
        self._order = order
        self.stops: list[str] = []
        self._process = self._start()
        try:
            self.facts = self._opened()
        except (Stopped, Closed) as error:
            raise not_made(order.name, self._lost(error)) from error

    def use(self, verb: str, /, **arguments: Any) -> Any:
        """As `Reach.use`."""
        with self._lock:
            return self._use(verb, arguments)

    def _use(self, verb: str, arguments: dict[str, Any]) -> Any:
        require_used(self.stops)
        try:
            self._start_again()
            found = self._process.ask([verb, arguments], self._limit(arguments))
        except (CannotDo, HarnessError):
            raise
        except (Stopped, Closed) as error:
            raise self._lost(error) from error
        except BaseException:  # such as Ctrl-C: its answer would be taken for that to the next use
            self._process.end()
            raise
        if (why := why_stopped(found)) is not None:  # its thread still runs
            self._process.end()
            self.stops.append(why)
        return found

    def _start(self) -> _Process:
        seed = self._order.hash_seed
        return _Process(self._job, {} if seed is None else {"PYTHONHASHSEED": seed})

    def _start_again(self) -> None:
        """Makes the adapter in a new process if its own has ended. Raises Stopped and Closed if that fails."""
        if self._process.is_alive:
            return
        self._process = self._start()
        try:
            self._opened()
        except HarnessError as error:
            raise Stopped(f"it cannot be made again: {error}") from error

    def close(self) -> None:
        """As `Reach.close`; also ends the process, and whatever it started."""
        try:
            self._ask_to_close()
        except (Stopped, Closed) as error:
            is_first = not self.stops
            why = self._lost(error)
            if is_first:  # no check has failed for it
                raise self._order.error(f"closing it: {why}") from error
        finally:
            self._process.leave(_CLOSED)

    def leave(self) -> list[str]:
        """As `Reach.leave`."""
        with self._lock:
            try:
                self._ask_to_close()
            except (Stopped, Closed) as error:
                raise self._lost(error) from error
            finally:
                left = self._process.leave()
            return left

    def _ask_to_close(self) -> None:
        if self._process.is_alive:
            self._process.ask(["close", {}], self._order.limit + GRACE)

    def _opened(self) -> Facts:
        try:
            found = self._process.ask(None, START)
        except CannotDo as error:
            self._process.end()
            raise NoProcess(str(error)) from error
        except HarnessError:
            self._process.end()
            raise
        return msgspec.convert(found, Facts)

    def _limit(self, arguments: dict[str, Any]) -> float:
        """The seconds that a use may take: concurrent calls say it, and of others one may take its whole limit."""
        together = self._order.limit + 1 + len(arguments.get("calls", ())) / 4
        return float(arguments.get("seconds") or together) + GRACE

    def _lost(self, error: Stopped | Closed) -> Stopped:
        why = str(error) if isinstance(error, Stopped) else self._process.explain(error)
        self._process.end()
        self.stops.append(why)
        return TimedOut(why)


def _job_of(order: Order) -> dict[str, Any]:
    access = None if order.access is None else msgspec.structs.asdict(order.access)
    return {
        **pack_factory(order.make),
        "name": order.name,
        "requested": order.requested,
        "access": access,
        "keys": msgspec.structs.asdict(order.keys),
        "url": order.url,
        "formats": [msgspec.structs.asdict(one) for one in order.formats.values()],
        "limit": order.limit,
    }


_MOST_SAID: Final = 100_000_000
"""Bytes that a process may write past Python's `sys.stdout`: they are kept in a file until it ends."""

_MOST_PROCESSES: Final = 100
"""Processes that an adapter may have at a time: each takes memory, and thousands of them the machine."""

_COUNTED_EVERY: Final = 1.0
"""Seconds between two counts of the processes."""


class _Process:
    """One process. It leads its own group, so that what it starts can be ended with it."""

    def __init__(self, job: dict[str, Any], settings: Mapping[str, str]) -> None:
        """`settings` are added to the environment."""
        own, other = socket.socketpair()
        self._socket = own
        self._deadline = time.monotonic() + START
        self._counted = time.monotonic()
        self._number = 0
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        with other:
            number = other.fileno()
            self._process = subprocess.Popen(  # noqa: S603 - our own
                [sys.executable, "-m", "art_compliance.subject.serving", str(number)],
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=self._said,
                pass_fds=(number,),
                start_new_session=True,
                env={**os.environ, **settings},
            )
        self._channel = Channel(own, self._look)
        self.is_alive = True
        with suppress(Closed, TimedOut):  # what it has to say is read
            self._channel.send(job)

    def ask(self, message: Any, seconds: float) -> Any:
        """The answer to a message. Raises Closed, TimedOut, CannotDo, HarnessError, and Stopped for anything else."""
        self._deadline = time.monotonic() + seconds
        self._look()
        if message is not None:
            self._channel.send(message)
        answer = self._answer()
        if answer.get("printed"):
            sys.stdout.write(str(answer["printed"]))
        why = str(answer.get("why", ""))
        match answer.get("is"):
            case "given":
                return unpack(answer["given"])
            case "cannot":
                raise CannotDo(why)
            case "harness":
                raise HarnessError(why)
            case "not made":
                raise NotMade(why)
            case _:
                raise Stopped(why)

    def _answer(self) -> dict[str, Any]:
        """The next answer. Raises Closed for one to an earlier message: a process that forks gives two to each."""
        answer = self._channel.receive()
        number, self._number = self._number, self._number + 1
        if not is_object(answer) or answer.get("number") != number:
            raise Closed("an answer to a message other than the last one")
        return answer

    def _look(self) -> None:
        """Raises TimedOut when the time or the room is up, and Closed if the process ended and left nothing to read."""
        if self._process.poll() is not None and not select.select([self._socket], [], [], 0)[0]:
            raise Closed("the end of its process")
        if time.monotonic() > self._deadline:
            raise TimedOut("it did not return in time, and its process did not answer")
        if os.fstat(self._said.fileno()).st_size > _MOST_SAID:
            raise TimedOut(f"its process wrote more than {_MOST_SAID // 10**6} MB to its standard output or error")
        if time.monotonic() - self._counted > _COUNTED_EVERY:
            self._counted = time.monotonic()
            if (count_in_session(self._process.pid) or 0) > _MOST_PROCESSES:
                raise TimedOut(f"it has more than {_MOST_PROCESSES} processes at a time")

    def explain(self, error: Exception) -> str:
        """What became of the process."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        code = self._process.poll()
        if code is None:
            return f"its process is running, but its connection to the suite is gone ({error})"
        if code < 0:
            return f"its process was ended by {signal.Signals(-code).name}"
        return f"its process ended with exit code {code}{self._last_words()}"

    def _last_words(self) -> str:
        self._said.seek(max(0, self._said.seek(0, os.SEEK_END) - 2000))
        lines = self._said.read().decode("utf-8", "replace").strip().splitlines()
        return f": {shorten(lines[-1])}" if lines else ""

    def end(self) -> None:
        """Ends the process and whatever it started."""
        self.is_alive = False
        self._signal_group(signal.SIGKILL)
        self._process.wait()
        self._socket.close()
        self._said.close()

    def leave(self, seconds: float = _END) -> list[str]:
        """As `end`, for a process that was asked to end within these seconds: what it left behind."""
        left: list[str] = []
        if self.is_alive:
            strays = strays_of(self._process.pid)
            self._socket.close()
            try:
                self._process.wait(seconds)
            except subprocess.TimeoutExpired:
                left.append("its process does not end after the adapter was closed")
            else:
                left += ["processes that it started are still there"] if self._lingers(strays) else []
        self.end()
        return left

    def _lingers(self, strays: list[int]) -> bool:
        """Whether anything of the process's group, or one of these, is there when its time is up. Ends the latter."""
        ends = time.monotonic() + _LINGER
        while is_there := any(map(runs, strays)) or (self._signal_group(0) and lives_in_session(self._process.pid)):
            if time.monotonic() > ends:
                break
            time.sleep(0.02)
        for one in filter(runs, strays):
            with suppress(OSError):
                os.kill(one, signal.SIGKILL)
        return is_there

    def _signal_group(self, number: int) -> bool:
        """Sends a signal to everything in the process's group. Returns whether there was anything."""
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True
