"""What a process has open: threads, processes, sockets and files."""

from __future__ import annotations

import ctypes
import gc
import os
import threading
from contextlib import suppress
from typing import Final


def count_open(*, collected: bool = True) -> dict[str, int]:
    """How many of each this process has, by their names; those that the system tells.

    With `collected`, garbage is collected first, which takes most of the time.
    """
    if collected:
        gc.collect()
    counted = {"threads": threading.active_count()}
    with suppress(OSError):  # some systems cannot say
        counted["processes"] = sum(map(_is_ours, os.listdir("/proc")))  # noqa: PTH208 - names alone
    with suppress(OSError):  # likewise
        counted["open sockets and files"] = len(os.listdir("/dev/fd"))  # noqa: PTH208 - a count, no paths
    return counted


def adopt_orphans() -> None:
    """Makes this process the parent of each process whose own one ends, as those of daemons do: on Linux alone."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


_SET_CHILD_SUBREAPER: Final = 36
"""In `linux/prctl.h`."""


def count_open_in(process: int) -> dict[str, int]:
    """As `count_open`, of another process, whose threads the system must tell, too."""
    counted: dict[str, int] = {}
    with suppress(OSError):  # some systems cannot say, and it may have ended
        counted["threads"] = len(os.listdir(f"/proc/{process}/task"))  # noqa: PTH208 - a count, no paths
        counted["open sockets and files"] = len(os.listdir(f"/proc/{process}/fd"))  # noqa: PTH208 - likewise
        parents = (_stat_of(name)[1] for name in os.listdir("/proc"))  # noqa: PTH208 - names alone
        counted["processes"] = sum(parent == process for parent in parents)
    return counted


def lives_in_session(leader: int) -> bool:
    """Whether a process of the session of this leader still runs; yes where the system does not tell.

    One that has ended and was not waited for runs no more: in a container, nobody may wait for orphans.
    """
    return count_in_session(leader) != 0


def count_in_session(leader: int) -> int | None:
    """How many processes of the session of this leader run; None where the system does not tell."""
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - names alone
    except OSError:
        return None
    return sum(_session_of(name) == leader and runs(int(name)) for name in names)


def strays_of(leader: int) -> list[int]:
    """The children of this leader of a session that run in another one; none where the system does not tell."""
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - names alone
    except OSError:
        return []
    states = {name: _stat_of(name) for name in names}
    return [int(name) for name, (state, parent, its) in states.items() if parent == leader != its and state != "Z"]


def runs(process: int) -> bool:
    """Whether this process has not ended."""
    return _stat_of(str(process))[0] not in ("", "Z")


def _session_of(name: str) -> int:
    """The session of the process of that number, without reading what else there is to know of it."""
    try:
        return os.getsid(int(name)) if name.isdecimal() else -1
    except OSError:  # it has ended meanwhile
        return -1


def _is_ours(name: str) -> bool:
    """Whether this process started that one, or, where it leads its session, one of the session did."""
    _, parent, session = _stat_of(name)
    return name != str(os.getpid()) and os.getpid() in (parent, session)


def _stat_of(name: str) -> tuple[str, int, int]:
    """State, parent and session of the process of that number; of what is none, nothing that a process has."""
    if not name.isdecimal():
        return _NONE
    try:
        with open(f"/proc/{name}/stat", "rb", buffering=0) as stat:  # noqa: PTH123 - hundreds of them, again and again
            state, parent, _, session, *_ = stat.read().rpartition(b")")[2].decode("ascii").split(maxsplit=4)
    except OSError:  # it has ended meanwhile
        return _NONE
    return state, int(parent), int(session)


_NONE: Final = "", -1, -1
