"""One thread rings all alarms of a process, in time, and ends when there are none."""

from __future__ import annotations

import os
import threading
import time

import pytest

from art_sdk.http.alarms import Alarms, alarms


class Bell:
    def __init__(self) -> None:
        self.rang = threading.Event()

    def ring(self) -> None:
        self.rang.set()


def test_an_alarm_rings_at_its_time_and_an_earlier_one_before_it():
    late, early, cleared = Bell(), Bell(), Bell()
    ours, now = Alarms(), time.monotonic()
    ours.set(late, now + 600)
    ours.set(cleared, now + 0.1)
    ours.set(early, now + 0.1)
    ours.clear(cleared)
    assert early.rang.wait(10)
    assert time.monotonic() >= now + 0.1
    ours.set(late, time.monotonic())
    assert late.rang.wait(10)
    assert not cleared.rang.is_set()


def test_an_alarm_that_is_set_again_rings_at_the_new_time_alone():
    bell, last, ours = Bell(), Bell(), Alarms()
    ours.set(bell, time.monotonic() + 0.05)
    ours.set(bell, time.monotonic() + 600)
    ours.set(last, time.monotonic() + 0.1)
    assert last.rang.wait(10)
    assert not bell.rang.is_set()


def test_there_is_one_thread_and_it_ends_when_there_is_nothing_to_wait_for():
    ours, before = Alarms(idle=0.02), threading.active_count()
    bells = [Bell() for _ in range(50)]
    for bell in bells:
        ours.set(bell, time.monotonic() + 600)
    assert threading.active_count() == before + 1
    for bell in bells:
        ours.clear(bell)
    ends = time.monotonic() + 20
    while threading.active_count() > before and time.monotonic() < ends:
        time.sleep(0.01)
    assert threading.active_count() == before
    ours.set(bells[0], time.monotonic())
    assert bells[0].rang.wait(10)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_a_thread_of_its_own():
    alarms().set(Bell(), time.monotonic() + 600)  # the parent's thread runs
    child = os.fork()
    if child == 0:
        bell = Bell()
        alarms().set(bell, time.monotonic())
        os._exit(0 if bell.rang.wait(10) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
