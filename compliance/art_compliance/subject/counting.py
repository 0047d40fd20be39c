"""What a process has open: threads, processes, sockets and files."""

from __future__ import annotations

import gc
import os
import threading
from contextlib import suppress
from pathlib import Path


def count_open() -> dict[str, int]:
    """How many of each this process has, by their names; those that the system tells."""
    gc.collect()
    counted = {"threads": threading.active_count()}
    with suppress(OSError):  # some systems cannot say
        counted["processes"] = sum(map(_is_ours, os.listdir("/proc")))  # noqa: PTH208 - names alone
    with suppress(OSError):  # likewise
        counted["open sockets and files"] = len(os.listdir("/dev/fd"))  # noqa: PTH208 - a count, no paths
    return counted


def _is_ours(name: str) -> bool:
    """Whether this process started that one, or, where it leads its session, one of the session did."""
    if not name.isdecimal() or int(name) == os.getpid():
        return False
    try:
        stat = Path("/proc", name, "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:  # it has ended meanwhile
        return False
    _, parent, _, session, *_ = stat.rpartition(")")[2].split()
    return os.getpid() in (int(parent), int(session))
