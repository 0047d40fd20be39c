"""How late the machine is: what a call may be late for."""

from __future__ import annotations

import time

from art_compliance.checks.faults.lateness import Lateness


def test_the_longest_delay_counts():
    delays = iter([0.0, 0.2, 0.0])

    def sleep(seconds: float) -> None:
        time.sleep(seconds + next(delays, 0.0))

    ends = time.monotonic() + 60
    with Lateness(sleep) as late:
        while late.seconds < 0.2 and time.monotonic() < ends:
            time.sleep(0.01)
    assert 0.2 <= late.seconds < 60  # not since the machine's start


def test_nothing_is_measured_before_or_after():
    late = Lateness()
    assert late.seconds == 0.0
    with late:
        pass
    measured = late.seconds
    time.sleep(0.05)
    assert late.seconds == measured
