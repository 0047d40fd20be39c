"""What an adapter's process logs, prints, allocates and changes, and where it goes, while it is watched."""

from __future__ import annotations

import gc
import logging
import os
import time
import tracemalloc
import warnings
from collections.abc import Mapping
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, Final

from art_compliance.subject.host.surroundings import changes_since, deeds, set_time_zone


class Watch:
    """Captures what this process logs and prints, counts what it allocates, and sees what it changes.

    `surroundings` are as they were before the adapter was made.
    """

    def __init__(self, surroundings: Mapping[str, str]) -> None:
        self._surroundings = surroundings
        self._capturing = ExitStack()
        self._logged, self._printed = StringIO(), StringIO()
        self._warned: list[warnings.WarningMessage] = []

    def trace_memory(self) -> bool:
        """Has Python count what is allocated. Returns whether it did so already.

        What was there before is not counted, so no collection need look at it until `stop_tracing`.
        """
        was_on = tracemalloc.is_tracing()
        if not was_on:
            gc.collect()
            gc.freeze()
            tracemalloc.start()
        return was_on

    def stop_tracing(self) -> None:
        """Ends what `trace_memory` began."""
        tracemalloc.stop()
        gc.unfreeze()

    def traced(self) -> int:
        """The bytes that are allocated and were counted, once they fall no more.

        A connection that is closed keeps its buffers for a moment.
        """
        left = _allocated()
        for _ in range(_LOOKS_AGAIN):
            time.sleep(_BETWEEN_LOOKS)
            before, left = left, _allocated()
            if left > before - _FALLS:
                break
        return left

    def resident(self) -> int | None:
        """The bytes of memory that this process has; None where the system does not tell."""
        try:
            pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        except OSError:
            return None
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def capture(self) -> None:
        """Captures what is logged at any level, what is printed and every warning, until `captured`."""
        written, printed = StringIO(), StringIO()
        root, handler = logging.getLogger(), logging.StreamHandler(written)
        self._capturing.callback(root.setLevel, root.level)
        self._capturing.callback(root.removeHandler, handler)
        for own in root.handlers:  # of a library that shows its log: it goes on showing what it showed
            self._capturing.callback(own.setLevel, own.level)
            own.setLevel(max(own.level, root.level))
        root.addHandler(handler)
        root.setLevel(logging.DEBUG)
        self._capturing.enter_context(redirect_stdout(printed))
        self._capturing.enter_context(redirect_stderr(written))
        self._logged, self._printed = written, printed
        self._warned = self._capturing.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")

    def captured(self) -> dict[str, Any]:
        """What was captured, `printed`, `logged` (or written to stderr) and `warned`, and the end of capturing."""
        self._capturing.close()
        warned = [f"{one.category.__name__}: {one.message}" for one in self._warned if _is_shown(one.category)]
        return {"printed": self._printed.getvalue(), "logged": self._logged.getvalue(), "warned": warned}

    def changed_surroundings(self) -> list[str]:
        """What all code of the process shares and was changed since the adapter was made, by its name."""
        return changes_since(self._surroundings)

    def set_time_zone(self, name: str | None) -> str | None:
        """Sets the time zone of this process; None: that of the machine. Returns the one before."""
        return set_time_zone(name)

    def watch(self) -> None:
        """Notes what the process connects to and writes, until `watched`."""
        deeds().watch()

    def watched(self) -> dict[str, list[str]]:
        """The addresses that were connected to, and the files that were opened for writing."""
        seen = deeds()
        seen.stop()
        return {"connected": sorted(seen.connected), "written": sorted(seen.written)}


_HIDDEN: Final = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


def _is_shown(category: type[Warning]) -> bool:
    """Whether Python shows such warnings by default: docs.python.org/3/library/warnings.html#default-warning-filter."""
    return not issubclass(category, _HIDDEN)


_BETWEEN_LOOKS: Final = 0.01
_LOOKS_AGAIN: Final = 10
_FALLS: Final = 500
"""Bytes: what is freed at the end of a connection is some thousands."""


def _allocated() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]
