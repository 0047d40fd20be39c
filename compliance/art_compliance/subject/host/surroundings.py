"""What a process has for all of its code, and what its code does outside of it: files, connections."""

from __future__ import annotations

import asyncio
import builtins
import gc
import json
import locale
import logging
import os
import random
import signal
import socket
import ssl
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from types import ModuleType
from typing import Any, Final

from art_sdk.json_data import is_array


def look_around() -> dict[str, str]:
    """What all code of the process shares, by its name; the values only serve to be compared."""
    root = logging.getLogger()
    found: dict[str, Any] = {
        "the working directory": _folder(),
        "the level of the root logger": root.level,
        "the handlers of the root logger": [id(one) for one in root.handlers],
        "logging.disable": root.manager.disable,
        "the signal handlers": {one: id(signal.getsignal(one)) for one in signal.valid_signals()},
        "socket's default timeout": socket.getdefaulttimeout(),
        "the recursion limit": sys.getrecursionlimit(),
        "sys.stdout": id(sys.stdout),
        "sys.stderr": id(sys.stderr),
        "sys.excepthook": id(sys.excepthook),
        "threading.excepthook": id(threading.excepthook),
        "the import path": sys.path,
        "the filters of all warnings": list(filter(_is_for_all, warnings.filters)),
        "the event loop policy": _loop_policy(),
        "the verification of certificates": id(getattr(ssl, "_create_default_https_context", None)),
        "json.JSONEncoder.default": id(json.JSONEncoder.default),
        "the locale": locale.setlocale(locale.LC_ALL),
        "the garbage collector": (gc.isenabled(), gc.get_threshold()),
        "the interval of thread switches": sys.getswitchinterval(),
    }
    functions = {f"{one.__name__}.{name}": id(value) for one in _LIBRARY for name, value in _functions_of(one)}
    environment = {f"the environment variable {name}": value for name, value in os.environ.items()}
    own = {name: value for name, value in environment.items() if not name.endswith(_OF_PYTEST)}
    return {name: repr(value) for name, value in (found | functions | own).items()}


def _folder() -> str | None:
    """The working directory; None where it was removed."""
    try:
        return os.getcwd()  # noqa: PTH109 - compared as it is
    except OSError:
        return None


_LIBRARY: Final = (asyncio, builtins, json, logging, os, random, socket, ssl, threading, time)
"""Modules of the standard library whose functions some code replaces, as `nest_asyncio` does asyncio's: an application
that it breaks cannot tell why (https://github.com/run-llama/llama_index/pull/11707)."""


def _functions_of(module: ModuleType) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name, value in vars(module).items() if callable(value) and not name.startswith("_"))


def _is_for_all(found: tuple[Any, ...]) -> bool:
    """Whether a filter of warnings is for no module, message or library: importing one may add filters for its own."""
    _, message, category, module, _ = found
    kinds: list[type] = [*category] if is_array(category) else [category]
    return message is None and module is None and all(one.__module__ == "builtins" for one in kinds)


def _loop_policy() -> str:
    """The policy's type. Python makes the usual one when it is first wanted, which changes nothing."""
    policy = getattr(asyncio.events, "_event_loop_policy", None)
    own = getattr(asyncio, "DefaultEventLoopPolicy", None)
    return "usual" if policy is None or type(policy) is own else type(policy).__name__


_OF_PYTEST: Final = ("PYTEST_CURRENT_TEST", "PYTEST_VERSION")


def changes_since(before: Mapping[str, str]) -> list[str]:
    """The names of what is not as it was. What a module of the standard library has besides, it made when needed."""
    now = look_around()
    changed = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    return [name for name in changed if name in before or name.startswith("the ")]


def set_time_zone(name: str | None) -> str | None:
    """Sets the time zone of this process, where the system can; None: that of the machine. Returns the one before."""
    before = os.environ.pop("TZ", None)
    if name is not None:
        os.environ["TZ"] = name
    if hasattr(time, "tzset"):
        time.tzset()
    return before


@contextmanager
def from_seed(seed: int) -> Generator[None]:
    """Starts Python's random numbers from this seed, and puts them back afterwards."""
    state = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(state)


class Deeds:
    """What code of this process does, from Python's audit events (PEP 578), between `watch` and `stop`.

    A hook cannot be removed, so there is one for the whole process. While nothing is watched it runs no Python code:
    CPython 3.11 would let another thread run in the middle of `sys.settrace` then, and refuse to trace that one
    ("Cannot install a trace function while another trace function is being installed").
    """

    def __init__(self) -> None:
        self.connected: set[str] = set()
        self.written: set[str] = set()
        self.hook: Final[Any] = partial(_IGNORE)

    def watch(self) -> None:
        """Begins anew."""
        self.connected.clear()
        self.written.clear()
        self._call(self._hear)

    def stop(self) -> None:
        """Ends what `watch` began."""
        self._call(_IGNORE)

    def _call(self, function: Callable[[str, tuple[Any, ...]], object]) -> None:
        """Makes the hook call this function from now on, as if it had been unpickled with it."""
        self.hook.__setstate__((function, (), {}, {}))

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """What the hook calls while something is watched."""
        if event in _TALKING:
            if arguments[1] is not None:  # a socket that is connected
                self.connected.add(_name_of(arguments[1]))
        elif event in _KEEPING:
            path = _path_of(arguments[0])
            if path is not None and path not in _IN_MEMORY:
                self.written.add(path)
        elif event == "open":
            path, flags = _path_of(arguments[0]), arguments[2]
            if path is not None and flags & _WRITING and not _is_harmless(path):
                self.written.add(path)


_IGNORE: Final[Callable[[str, tuple[Any, ...]], object]] = dict[str, object]().get
"""A function of two arguments that does nothing, and is not written in Python."""


def _name_of(address: Any) -> str:
    if not is_array(address) or len(address) < _HOST_AND_PORT:
        return str(address)
    return f"{address[0]}:{address[1]}"


def _path_of(opened: Any) -> str | None:
    """The path of a file that is opened by its name; None for one that is open already."""
    return os.fsdecode(opened) if isinstance(opened, str | bytes) else None


def _is_harmless(path: str) -> bool:
    """Devices, and what Python compiles as it imports."""
    return path.startswith("/dev/") or "__pycache__" in path


_TALKING: Final = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
"""Events of a socket and an address: statistics are sent without a connection."""

_KEEPING: Final = frozenset({"sqlite3.connect", "tempfile.mkdtemp"})
"""Events of a file or a folder that Python code does not open: `sqlite3` writes by itself."""

_IN_MEMORY: Final = frozenset({"", ":memory:"})
_HOST_AND_PORT: Final = 2
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT


@cache
def deeds() -> Deeds:
    """Those of this process."""
    found = Deeds()
    sys.addaudithook(found.hook)
    return found
