"""What waits for the answers to a verb: for one answer on a thread, or for the events of a call in an event loop."""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from threading import Condition
from typing import Any, Final, Protocol

from art_compliance.bridges.messages import Answer, Cancelled, Done, Error, Event

_MOST_UNREAD: Final = 10_000
"""Events of a call that wait to be read. Then the bridge waits, too: its output is not read."""


class BridgeFailed(Exception):
    """The bridge has ended, does not answer, or broke the protocol: the text says what it did."""


class Exchange(Protocol):
    """A verb that is under way. The thread that reads the bridge's output calls both methods."""

    def put(self, answer: Any) -> bool:
        """Takes an answer; returns whether it is the last one. Raises BridgeFailed for one of a wrong kind."""
        ...

    def fail(self, why: str) -> None:
        """No more answers will come."""
        ...


class OneAnswer:
    """Waits for one answer, of this kind or an error."""

    def __init__(self, kind: type[Answer]) -> None:
        self._kind = kind
        self._future: Future[Any] = Future()

    def put(self, answer: Any) -> bool:
        """As `Exchange.put`."""
        if not isinstance(answer, (self._kind, Error)):
            raise BridgeFailed(_unexpected(answer, self._kind, Error))
        self._future.set_result(answer)
        return True

    def fail(self, why: str) -> None:
        """As `Exchange.fail`."""
        self._future.set_exception(BridgeFailed(why))

    def wait(self, seconds: float) -> Any:
        """The answer. Raises BridgeFailed and TimeoutError."""
        return self._future.result(seconds)


class Events:
    """Waits, in the event loop that runs, for the events of a call and for its end."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._room = Condition()
        self._unread: deque[Any] = deque()
        self._waiting: asyncio.Future[None] | None = None
        self._is_left = False
        self.is_cancelled = False
        """Whether the call is cancelled."""
        self.is_over = False
        """Whether the last answer has come."""

    def put(self, answer: Any) -> bool:
        """As `Exchange.put`."""
        if not isinstance(answer, (Event, Done, Error, *([Cancelled] if self.is_cancelled else []))):
            raise BridgeFailed(_unexpected(answer, Event, Done, Error))
        self.is_over = not isinstance(answer, Event)
        self._put(answer)
        return self.is_over

    def fail(self, why: str) -> None:
        """As `Exchange.fail`."""
        self._put(BridgeFailed(why))

    async def take(self) -> list[Any]:
        """The answers that have come, at least one. Raises BridgeFailed."""
        while True:
            with self._room:
                if self._unread:
                    taken = list(self._unread)
                    self._unread.clear()
                    self._room.notify()
                    break
                self._waiting = self._loop.create_future()
            await self._waiting
        for one in taken:
            if isinstance(one, BridgeFailed):
                raise one
        return taken

    def leave(self) -> None:
        """Nobody will take any more."""
        with self._room:
            self._is_left = True
            self._room.notify()

    def _put(self, item: Any) -> None:
        with self._room:
            self._room.wait_for(lambda: self._is_left or len(self._unread) < _MOST_UNREAD)
            if self._is_left:
                return
            self._unread.append(item)
            waiting, self._waiting = self._waiting, None
        if waiting is not None:
            with suppress(RuntimeError):  # its loop has ended: nobody waits
                self._loop.call_soon_threadsafe(_wake, waiting)


def _wake(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)


def _unexpected(answer: Any, *kinds: type[Answer]) -> str:
    expected = " or ".join(str(kind.__struct_config__.tag) for kind in kinds)
    return f"it answered {_tag(answer)} to {answer.id}, where {expected} was expected"


def _tag(answer: Answer) -> str:
    return str(answer.__struct_config__.tag)
