"""Adapters that misbehave: each would stop, fool or hang a suite that they share a process with."""

from __future__ import annotations

import asyncio
import atexit
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import to_builtins

from art_compliance.checks import CHECKS
from art_compliance.checks.base import Outcome
from art_compliance.checks.trial import Trial
from art_compliance.run.session import Session
from art_sdk import OpenAIAdapter


class GoodToGreet(OpenAIAdapter):
    """Right at the first call, so that preflight passes; afterwards `misbehave` takes the place of a call."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._calls = 0

    def call(self, prompt: Any, options: Any) -> Any:
        self._calls += 1
        return super().call(prompt, options) if self._calls == 1 else self.misbehave()

    def misbehave(self) -> Any:
        raise NotImplementedError


class Ends(GoodToGreet):
    def misbehave(self) -> Any:
        os._exit(0)


class EndsInTheLoop(GoodToGreet):
    async def misbehave(self) -> Any:
        yield {"type": "TOKEN", "text": "a"}
        os._exit(0)


class Killed(GoodToGreet):
    def misbehave(self) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


class Hangs(GoodToGreet):
    def misbehave(self) -> Any:
        threading.Event().wait()


class BlocksTheLoop(GoodToGreet):
    async def misbehave(self) -> Any:
        time.sleep(3600)  # noqa: ASYNC251 - that is what is wrong
        yield {}


class BlocksTheInterpreter(GoodToGreet):
    """No other thread of its process runs meanwhile."""

    def misbehave(self) -> Any:
        return ctypes.PyDLL(None).sleep(3600)


class TakesItsTime(OpenAIAdapter):
    """Each translation takes a fifth of a second: no call is late, but a check that needs many takes long."""

    def translate(self, prompt: Any, options: Any) -> Any:
        time.sleep(0.2)
        return super().translate(prompt, options)


class SaysSomethingElse:
    """Its answers have one text, whatever the provider says."""

    dialect = "openai-chat"
    capabilities = frozenset({"system"})

    def __init__(self, **settings: Any) -> None:
        self._adapter = OpenAIAdapter(**settings)

    async def call(self, prompt: Any, options: Any) -> Any:
        async for event in self._adapter.call(prompt, options):
            said = to_builtins(event)
            if said.get("message") is not None:
                said["message"]["content"] = "something else"
            yield said


class Endless(GoodToGreet):
    async def misbehave(self) -> Any:
        while True:
            yield {"type": "TOKEN", "text": "a", "token_type": "LLM_RESPONSE"}


class ClosesFiles(GoodToGreet):
    def misbehave(self) -> Any:
        os.closerange(0, 256)
        return super().misbehave()


class StopsTheLoop(GoodToGreet):
    """Its own event loop, in which it is closed, too."""

    async def misbehave(self) -> Any:
        asyncio.get_running_loop().stop()
        yield {"type": "TOKEN", "text": "a"}
        await asyncio.sleep(0)


class WritesWithoutEnd(GoodToGreet):
    """To the file descriptor, past Python's `sys.stdout`."""

    def misbehave(self) -> Any:
        for _ in range(120):
            os.write(1, b"x" * 1_000_000)
        return OpenAIAdapter.call(self, [{"role": "user", "content": "?"}], {"thread_id": "t"})


class Forks(OpenAIAdapter):
    """From the first translation on, two processes answer the suite."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._has_forked = False

    def translate(self, prompt: Any, options: Any) -> Any:
        if not self._has_forked:
            self._has_forked = True
            os.fork()
        return super().translate(prompt, options)


class LeavesTheRest(GoodToGreet):
    """Forks, and ends the process that the suite started: the other one keeps its connection."""

    def misbehave(self) -> Any:
        if os.fork():
            os._exit(0)
        time.sleep(60)


class TranslatesForEver(OpenAIAdapter):
    def translate(self, prompt: Any, options: Any) -> Any:
        if len(prompt) > 1:
            threading.Event().wait()
        return super().translate(prompt, options)


class RaisesWhatIsNoException(GoodToGreet):
    async def misbehave(self) -> Any:
        raise asyncio.exceptions.CancelledError.__base__("no Exception")  # type: ignore[misc]
        yield {}


class AlwaysRaisesWhatIsNoException(OpenAIAdapter):
    def translate(self, prompt: Any, options: Any) -> Any:
        raise KeyboardInterrupt("stop, all of you")


class Nests(OpenAIAdapter):
    def translate(self, prompt: Any, options: Any) -> Any:
        value: Any = {}
        for _ in range(100_000):
            value = {"a": value}
        return value


class Patches(OpenAIAdapter):
    """Wrong, and has every check find nothing."""

    def __init__(self, **settings: Any) -> None:
        Trial.once = lambda self, look: Outcome(())  # type: ignore[assignment, method-assign, return-value]
        Session.run = lambda *_: None  # type: ignore[assignment, method-assign]
        CHECKS.clear()  # type: ignore[attr-defined]
        super().__init__(**settings)

    def translate(self, prompt: Any, options: Any) -> Any:
        return {**super().translate(prompt, options), "messages": []}


class LeavesAProcess(OpenAIAdapter):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])


class LeavesAtImport(OpenAIAdapter):
    """Once in a process, whatever is made there later."""

    has_started = False

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        if not LeavesAtImport.has_started:
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        LeavesAtImport.has_started = True


class LeavesADaemon(OpenAIAdapter):
    """Starts a process in a session of its own, and ends the one between them, as daemons do."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        if (child := os.fork()) == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(60)
            os._exit(0)
        os.waitpid(child, 0)


class LeavesAThread(OpenAIAdapter):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        threading.Thread(target=threading.Event().wait, daemon=False).start()


class ForksManyTimes(GoodToGreet):
    def misbehave(self) -> Any:
        for _ in range(101):
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
        time.sleep(60)


class HangsAtExit(OpenAIAdapter):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        atexit.register(time.sleep, 600)


STOPPING: Final[Mapping[Callable[..., Any], str]] = MappingProxyType(
    {
        Ends: "its process ended with exit code 0",
        EndsInTheLoop: "its process ended with exit code 0",
        Killed: "its process was ended by SIGKILL",
        Hangs: "it did not return in time, and its process did not answer",
        BlocksTheLoop: "it did not return within 2 s",
        BlocksTheInterpreter: "it did not return in time, and its process did not answer",
        Endless: "did not",
        ClosesFiles: "its process",
        LeavesTheRest: "its process ended with exit code 0",
        TranslatesForEver: "it did not return in time, and its process did not answer",
        ForksManyTimes: "it has more than 100 processes at a time",
    }
)
"""What stops the run, and the words that the report has of it."""
