"""Several adapters are certified at once, each report as if it were alone."""

from __future__ import annotations

import os
import signal
import time
from contextlib import closing
from functools import partial
from multiprocessing import active_children
from typing import Any

import pytest

from art_compliance.commands.processes import Send, Task, run_all
from art_compliance.findings import HarnessError


def work(name: str, send: Send, *, seconds: float = 0.0) -> tuple[str, int]:
    send(f"{name} has begun")
    time.sleep(seconds)  # so that a later task is done first
    return name, os.getpid()


def fail(send: Send) -> None:
    raise HarnessError(f"cannot work: {send.__class__.__name__}")


def die(send: Send) -> None:
    del send
    os._exit(7)


def hang(send: Send) -> None:
    send("hangs")
    signal.pause()


@pytest.mark.once
def test_results_come_in_the_order_of_the_tasks_from_several_processes():
    progress: list[tuple[str, Any]] = []
    names = ["slow", "b", "c"]
    tasks = [Task(name, partial(work, name, seconds=0.5 if name == "slow" else 0.0)) for name in names]
    found = list(run_all(tasks, 2, lambda name, what: progress.append((name, what))))
    assert [name for name, _ in found] == names
    assert os.getpid() not in {process for _, process in found}
    assert sorted(progress) == [("b", "b has begun"), ("c", "c has begun"), ("slow", "slow has begun")]
    assert active_children() == []


@pytest.mark.once
@pytest.mark.parametrize(
    ("task", "problem"),
    [(fail, "cannot work: partial"), (die, "bad: its process ended with exit code 7")],
)
def test_an_error_and_a_dead_process_end_the_run(task, problem):
    with pytest.raises(HarnessError, match=f"^{problem}$"):
        list(run_all([Task("bad", task), Task("long", hang)], 2, lambda *_: None))
    assert active_children() == []


@pytest.mark.once
def test_whoever_stops_waiting_leaves_no_process():
    def interrupt(name: str, what: Any) -> None:
        raise KeyboardInterrupt(name, what)

    with closing(run_all([Task("long", hang)], 1, interrupt)) as results, pytest.raises(KeyboardInterrupt):
        next(results)
    assert active_children() == []


def work_until_interrupted(send: Send) -> str:
    try:
        send("works")
        signal.pause()
    except KeyboardInterrupt:
        return "a part"
    return "everything"


@pytest.mark.once
def test_what_is_done_when_somebody_interrupts_is_given():
    progress: list[str] = []

    def interrupt(name: str, what: Any) -> None:
        progress.append(name)
        if len(progress) == 2:
            raise KeyboardInterrupt(what)

    tasks = [Task(name, work_until_interrupted) for name in ("one", "two", "waiting")]
    with closing(run_all(tasks, 2, interrupt)) as results:
        assert [next(results), next(results)] == ["a part", "a part"]
        with pytest.raises(KeyboardInterrupt):
            next(results)
    assert active_children() == []
