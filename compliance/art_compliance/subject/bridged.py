"""An adapter behind a bridge, as an adapter in Python: the suite uses it as any other."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import weakref
from collections.abc import AsyncGenerator, Sequence
from threading import Lock
from typing import Any, Literal

import anyio
from msgspec import Struct

from art_compliance.bridges.exchanges import BridgeFailed, Events, OneAnswer
from art_compliance.bridges.messages import (
    Answer,
    Call,
    Cancel,
    Cancelled,
    Error,
    Event,
    Payload,
    Start,
    Started,
    Stop,
    Stopped,
    Translate,
    Verb,
)
from art_compliance.bridges.process import BridgeProcess
from art_compliance.findings import HarnessError
from art_compliance.subject.deadlines import TimedOut


class Patience(Struct, frozen=True, kw_only=True):
    """The seconds that a bridge may take to begin and to make an adapter, for a translation, and to end something.

    What ends is a call that was cancelled, or an adapter that was stopped. A call may take what the suite allows.
    """

    start: float = 30.0
    answer: float = 15.0
    end: float = 5.0


class RaisedThere(Exception):
    """An error of an adapter behind a bridge. Without a code, it is not an error that the suite expects."""

    def __init__(self, error: Error) -> None:
        super().__init__(error.message)
        self.message = error.message
        self.code = error.code
        self.status = error.status


class Bridge:
    """The factory of the adapters behind a bridge. Its process begins with the first adapter, and again if it ends."""

    def __init__(self, command: Sequence[str], patience: Patience = Patience()) -> None:  # noqa: B008 - frozen
        """Raises HarnessError if there is no such command."""
        self.command = tuple(command)
        if not self.command or shutil.which(self.command[0]) is None:
            first = self.command[0] if self.command else ""
            raise HarnessError(f"{self}: there is no command {first!r}; an adapter in Python is module:attribute")
        self.patience = patience
        self._lock = Lock()
        self._process: BridgeProcess | None = None

    def __str__(self) -> str:
        return shlex.join(self.command)

    __repr__ = __str__

    def __reduce__(self) -> tuple[type[Bridge], tuple[tuple[str, ...], Patience]]:
        return Bridge, (self.command, self.patience)  # for another process, which has its own bridge

    def __call__(self, *, api_key: str, base_url: str | None = None, model: str | None = None) -> BridgedAdapter:
        """Has the bridge make an adapter. Raises HarnessError and TimedOut."""
        process = self._running()
        number = process.next_number()
        verb = Start(id=number, api_key=api_key, base_url=base_url, model=model)
        answer = ask(process, verb, Started, self.patience.start)
        if isinstance(answer, Error):
            why = answer.message.replace(api_key, "[the key]")
            raise HarnessError(f"{self}: its bridge cannot make the adapter: {why}")
        return BridgedAdapter(self, process, answer)

    def _running(self) -> BridgeProcess:
        with self._lock:
            if self._process is None or self._process.failed is not None:
                try:
                    self._process = BridgeProcess(self.command)
                except OSError as error:
                    raise HarnessError(f"{self}: it cannot be started: {error.strerror}") from error
                weakref.finalize(self, self._process.end).atexit = False  # the end of this process is that of its input
            return self._process


class BridgedAdapter:
    """One adapter behind a bridge. It has the methods and the declarations that its bridge says."""

    def __init__(self, bridge: Bridge, process: BridgeProcess, started: Started) -> None:
        self._bridge = bridge  # which ends its process when nobody needs it
        self._process = process
        self._number = started.id
        self.title = f"{started.name} {started.version}".strip()
        self.dialect = started.dialect
        self.capabilities = started.capabilities
        self.losses = started.losses
        self.repairs = started.repairs
        self.provider_name = started.provider_name
        self.call = self._call if started.call else None
        self.translate = self._translate if started.translate else None

    @property
    def pid(self) -> int:
        """The process of the bridge."""
        return self._process.pid

    @property
    def last_words(self) -> str:
        """The last line that the bridge wrote to its standard error, after a colon; empty if there is none."""
        return self._process.last_words

    def _translate(self, prompt: Any, options: Any) -> Any:
        """The request's body. Raises RaisedThere and TimedOut."""
        number = self._process.next_number()
        verb = Translate(id=number, adapter=self._number, prompt=prompt, options=options)
        answer = ask(self._process, verb, Payload, self._bridge.patience.answer)
        if isinstance(answer, Error):
            raise RaisedThere(answer)
        return answer.payload

    async def _call(self, prompt: Any, options: Any) -> AsyncGenerator[dict[str, Any]]:
        """The events of a call. Raises RaisedThere and TimedOut. It is cancelled if the caller goes away."""
        number, events = self._process.next_number(), Events()
        verb = Call(id=number, adapter=self._number, prompt=prompt, options=options)
        try:
            self._process.send(verb, events)
            while True:
                for answer in await events.take():
                    match answer:
                        case Event():
                            yield answer.event
                        case Error():
                            raise RaisedThere(answer)
                        case _:
                            return
        except BridgeFailed as error:
            raise _failure(error) from error
        except asyncio.CancelledError:
            if await self._cancel(number, events) == "cancelled":
                raise
        except GeneratorExit:
            if await self._cancel(number, events) == "went on":
                raise _failure(f"it did not end a call within {self._bridge.patience.end:g} s of cancel") from None
            raise
        finally:
            events.leave()

    async def _cancel(self, number: int, events: Events) -> Literal["cancelled", "ended", "went on"]:
        """Has the bridge end the call, and says what came of it. Raises TimedOut if the bridge fails."""
        events.is_cancelled = True
        with anyio.move_on_after(self._bridge.patience.end, shield=True):
            try:
                if not events.is_over:
                    self._process.send(Cancel(id=number))
                while not events.is_over:
                    last = (await events.take())[-1]
                    if isinstance(last, Cancelled):
                        return "cancelled"
            except BridgeFailed as error:
                raise _failure(error) from error
            return "ended"
        return "went on"

    async def aclose(self) -> None:
        """Has the bridge close the adapter. Raises RaisedThere and TimedOut."""
        verb = Stop(id=self._process.next_number(), adapter=self._number)
        answer = await anyio.to_thread.run_sync(ask, self._process, verb, Stopped, self._bridge.patience.end)
        if isinstance(answer, Error):
            raise RaisedThere(answer)


def ask(process: BridgeProcess, verb: Any, kind: type[Answer], seconds: float) -> Any:
    """The one answer to a verb, of that kind or an Error. Raises TimedOut."""
    exchange = OneAnswer(kind)
    try:
        process.send(verb, exchange)
        return exchange.wait(seconds)
    except BridgeFailed as error:
        raise _failure(error) from error
    except TimeoutError:
        process.fail(f"it did not answer {_verb(verb)} within {seconds:g} s")
        raise _failure(process.failed) from None


def _failure(why: object) -> TimedOut:
    """The error for what a bridge did: its adapter is made again, as one that has ended its process."""
    return TimedOut(f"its bridge failed: {why}")


def _verb(verb: Verb) -> str:
    return str(verb.__struct_config__.tag)
