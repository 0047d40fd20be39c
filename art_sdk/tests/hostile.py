"""What is done with a hostile input, how it must end, and what it takes. Nothing here needs pytest."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from art_sdk import ARTError

_STATUS = Path("/proc/self/status")

MOST_SECONDS = 6
MOST_MEGABYTES = 200


class Fault(NamedTuple):
    """`given` makes the input of `work`. `error` is a part of the message that must come; empty if it must work."""

    name: str
    work: Callable[[Any], object]
    given: Callable[[], Any]
    error: str


class Measured(NamedTuple):
    """What became of a fault: CPU seconds, megabytes beyond those of the input, and the error, empty if it worked."""

    name: str
    seconds: float
    megabytes: float
    error: str
    is_ours: bool


def measure(fault: Fault) -> Measured:
    """Runs the fault in this process."""
    given = fault.given()
    before = _reset_peak()
    start = time.process_time()
    error, is_ours = "", True
    try:
        fault.work(given)
    except Exception as found:  # noqa: BLE001 - the table says which error it must be
        error, is_ours = str(found), isinstance(found, ARTError)
    seconds = time.process_time() - start
    return Measured(fault.name, round(seconds, 2), round(_peak() - before, 1), error, is_ours)


def _peak() -> float:
    """The most megabytes that this process had in memory since `_reset_peak`."""
    return _status("VmHWM")


def _reset_peak() -> float:
    """Forgets the peak so far and returns the megabytes in memory. Only Linux can; elsewhere they are 0."""
    if _STATUS.exists():
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _status("VmRSS")


def _status(name: str) -> float:
    lines = _STATUS.read_text(encoding="utf-8").splitlines() if _STATUS.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(name)), 0.0)


def doubling(levels: int) -> Any:
    """A list of 2 to the power of `levels` values, made of as many lists as it has levels."""
    value: Any = "x"
    for _ in range(levels):
        value = [value, value]
    return value


def cycle() -> Any:
    """An object that contains itself."""
    value: dict[str, Any] = {}
    value["a"] = [value]
    return value
