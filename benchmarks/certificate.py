"""The CPU time of a certification by check: of the suite's own process, and of the adapter's."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from art_compliance.run.results import Result
from art_compliance.run.runner import certify


class Clocks:
    """What this process and its children have used since the last look, in CPU seconds. It needs Linux's /proc."""

    def __init__(self) -> None:
        self._children: dict[int, float] = {}
        self._last = (0.0, 0.0)
        self.look()

    def look(self) -> tuple[float, float]:
        """Of this process, and of its children, those that have ended included."""
        for file in Path("/proc/self/task").glob("*/children"):
            for pid in map(int, file.read_text().split()):
                with suppress(OSError):  # it has ended meanwhile
                    self._children[pid] = time.clock_gettime(~pid << 3 | 2)  # its CPU clock: man 3 clock_getcpuclockid
        before, self._last = self._last, (time.process_time(), sum(self._children.values()))
        return self._last[0] - before[0], self._last[1] - before[1]


def certificate_by_check(rows: int) -> str:
    """The checks that take most, over all their scenarios, and all others together."""
    clocks = Clocks()
    times: dict[str, tuple[float, float]] = {}

    def note(result: Result, _number: int, _total: int) -> None:
        own, adapters = clocks.look()
        before = times.get(result.check, (0.0, 0.0))
        times[result.check] = (before[0] + own, before[1] + adapters)

    certify("openai", seed=5, on_result=note)
    found = sorted(times.items(), key=lambda one: -sum(one[1]))
    others = tuple(sum(of) for of in zip(*(one for _, one in found[rows:]), strict=True))
    lines = [(name, *one) for name, one in found[:rows]] + [(f"{len(found) - rows} other checks", *others)]
    head = f"{'suite':>7} {'adapter':>8}  milliseconds of CPU time\n"
    return head + "".join(f"{own * 1000:7.0f} {adapter * 1000:8.0f}  {name}\n" for name, own, adapter in lines)
