"""The process of a bridge: verbs go in, answers come out to those who wait for them, and its last words are kept."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count
from queue import SimpleQueue
from threading import Lock, Thread
from typing import IO, Any, Final

from art_compliance.bridges.exchanges import BridgeFailed, Exchange
from art_compliance.bridges.messages import NoMessage, Start, ToBridge, read_line, write_line
from art_compliance.quoting import escape, shorten

LONGEST_LINE: Final = 64 * 1024 * 1024
"""Bytes of the longest line that is read."""

_AT_A_TIME: Final = 2**18
_LAST_WORDS: Final = 2000
"""Bytes of standard error that are kept."""

_END: Final = 1.0
"""Seconds that the process may take to end, and to have its last words read."""


_BEHIND: Final = re.compile(r"\s|$|Node\.js v")
"""What Node writes behind the error that ends it: the stack, and its version."""


class BridgeProcess:
    """A bridge that runs. Threads of their own write its input, and read its output and its errors."""

    def __init__(self, command: Sequence[str]) -> None:
        """Raises OSError if the command cannot be started."""
        self._process = subprocess.Popen(  # noqa: S603 - the author's own command
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        self.pid = self._process.pid
        self.failed: str | None = None
        """What the bridge did that ended it."""
        self._why: str | None = None
        self._numbers = count(1)
        self._under_way: dict[int, Exchange] = {}
        self._lock = Lock()
        self._verbs: SimpleQueue[bytes | None] = SimpleQueue()
        self._said = b""
        self._keys: set[str] = set()
        self._is_ended = False
        self._threads = [Thread(target=work, daemon=True) for work in (self._write, self._read, self._listen)]
        for thread in self._threads:
            thread.start()

    def next_number(self) -> int:
        """The number of the next verb."""
        return next(self._numbers)

    def send(self, verb: ToBridge, exchange: Exchange | None = None) -> None:
        """Sends a verb, whose answers go to the exchange. Raises BridgeFailed."""
        with self._lock:
            if self.failed is not None:
                raise BridgeFailed(self.failed)
            if exchange is not None:
                self._under_way[verb.id] = exchange
            if isinstance(verb, Start):
                self._keys.add(verb.api_key)
        self._verbs.put(write_line(verb))

    @property
    def last_words(self) -> str:
        """The last line that it wrote to its standard error, after a colon; empty if there is none."""
        lines = self._said.decode("utf-8", "replace").strip().splitlines()
        said = [line for line in lines if not _BEHIND.match(line)] or lines
        return f"; its last output: {self._quoted(said[-1])}" if said else ""

    def _quoted(self, text: str) -> str:
        """What the bridge wrote, without the keys that it was given."""
        for key in self._keys:
            text = text.replace(key, "[the key]")
        return escape(shorten(text))

    def fail(self, why: str) -> None:
        """Ends the process, and whatever waits for it, for what it did."""
        with self._lock:
            self._why = why = self._why or why  # before it is killed, which is seen, too
        self._process.kill()
        self._threads[2].join(_END)  # what it said last is read
        with self._lock:
            self.failed = said = self.failed or why + self.last_words
            waiting, self._under_way = self._under_way, {}
        for exchange in waiting.values():
            exchange.fail(said)

    def end(self) -> None:
        """Ends the process: at first by the end of its input."""
        self._is_ended = True
        self._verbs.put(None)
        try:
            self._process.wait(_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _write(self) -> None:
        with _pipe(self._process.stdin) as stdin, suppress(OSError):  # whoever reads its output sees that it has ended
            while (line := self._verbs.get()) is not None:
                left = memoryview(line)
                while left:
                    left = left[stdin.write(left) :]

    def _read(self) -> None:
        with _pipe(self._process.stdout) as stdout:
            try:
                for line in _lines(stdout):
                    self._take(line)
                self.fail("it was ended" if self._is_ended else self._explain_end())
            except BridgeFailed as error:
                self.fail(str(error))

    def _take(self, line: bytes) -> None:
        """Gives an answer to whoever waits for it. Raises BridgeFailed."""
        try:
            answer = read_line(line)
        except NoMessage as error:
            shown = self._quoted(line[:_LAST_WORDS].decode("utf-8", "replace"))
            raise BridgeFailed(f"its standard output has a line that is not a message: {shown} ({error})") from None
        with self._lock:
            exchange = self._under_way.get(answer.id)
        if exchange is None:
            raise BridgeFailed(f"it answered {answer.id}, which is not the id of a request in progress")
        if exchange.put(answer):
            with self._lock:
                self._under_way.pop(answer.id, None)

    def _listen(self) -> None:
        """Reads its standard error, and writes it where this process writes its own."""
        with _pipe(self._process.stderr) as stderr:
            while chunk := stderr.read(_AT_A_TIME):
                self._said = (self._said + chunk)[-_LAST_WORDS:]
                with suppress(ValueError, OSError):  # it is closed
                    sys.stderr.write(chunk.decode("utf-8", "replace"))

    def _explain_end(self) -> str:
        try:
            code = self._process.wait(_END)
        except subprocess.TimeoutExpired:
            return "it closed its standard output"
        return f"it was ended by {signal.Signals(-code).name}" if code < 0 else f"it ended with exit code {code}"


def _lines(stdout: IO[bytes]) -> Iterator[bytes]:
    """Each line as soon as it is whole. Raises BridgeFailed for one that is too long, or that does not end."""
    unread = bytearray()
    while chunk := stdout.read(_AT_A_TIME):
        unread += chunk
        if b"\n" in chunk:
            *lines, unread = unread.split(b"\n")
            yield from map(bytes, lines)
        if len(unread) > LONGEST_LINE:
            raise BridgeFailed(f"it wrote a line of more than {LONGEST_LINE:,} bytes")
    if unread:
        raise BridgeFailed("its standard output ended in the middle of a line")


def _pipe(opened: IO[bytes] | None) -> Any:
    """A pipe to or from the process."""
    if opened is None:
        raise ValueError("Popen made no pipe")
    return opened
