"""`art audit` on a Dask cluster of processes: the same report, with a worker killed, and with the scheduler gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from art_compliance.auditing.cluster import on_cluster
from art_compliance.auditing.keeping import Keeper, Kept
from art_compliance.auditing.report import report_of
from art_compliance.auditing.running import Audit
from art_compliance.findings import HarnessError
from test_audit import write_lines
from test_audit_parts import plan_of, run, some_lines

distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
pytestmark = [
    pytest.mark.once,
    pytest.mark.filterwarnings("ignore"),  # of Dask's own, in threads of its own
]


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and workers, each a process: the address, and the processes with the scheduler first."""
    scheduler_file = folder / "scheduler.json"
    here = ["--scheduler-file", str(scheduler_file), "--no-dashboard"]
    started = [start("scheduler", *here, "--port", "0", "--host", "127.0.0.1")]
    try:
        wait_for(scheduler_file)
        options = ["--no-nanny", "--nthreads", "1", "--local-directory", str(folder)]
        started += [start("worker", *here, *options) for _ in range(workers)]
        yield msgspec.json.decode(scheduler_file.read_bytes())["address"], started
    finally:
        for process in started:
            process.kill()
            process.wait()


def start(role: str, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", f"distributed.cli.dask_{role}", *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_for(path: Path) -> None:
    ends = time.monotonic() + 60
    while not (path.is_file() and path.stat().st_size) and time.monotonic() < ends:
        time.sleep(0.1)


def ready(address: str, workers: int) -> None:
    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=60)


def test_the_report_of_a_cluster_is_the_same_with_a_worker_killed_and_a_scheduler_that_goes_is_said(tmp_path: Path):
    file = write_lines(tmp_path / "a.jsonl", *some_lines(400))
    whole = run(Audit(plan_of(file, 1)), tmp_path)
    with cluster(tmp_path, 2) as (address, (scheduler, victim, _)):
        ready(address, 2)
        audit = Audit(plan_of(file, 40))
        audit.run(on_cluster(address), Keeper(tmp_path, "1"), once_at(5, lambda: os.kill(victim.pid, signal.SIGKILL)))
        assert msgspec.json.encode(report_of(audit, "1")) == whole
        assert victim.wait(10) == -signal.SIGKILL
        stopped = Audit(plan_of(file, 40))
        with pytest.raises(HarnessError, match=f"the scheduler at {address} is gone"):
            stopped.run(on_cluster(address), Keeper(tmp_path, "1"), once_at(5, scheduler.kill))
        kept = Keeper(tmp_path, "1").load()
        assert isinstance(kept, Kept)
        assert len(kept.endings) >= 5
        assert run(Audit(kept.plan, kept), tmp_path) == whole


def once_at(number: int, act: Any) -> Any:
    """For each part that is read: at the one of this number, it acts."""

    def show(audit: Audit) -> None:
        if len(audit.endings) == number:
            act()

    return show


def test_a_scheduler_that_is_not_there_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("art_compliance.auditing.cluster.PATIENCE", 1)
    file = write_lines(tmp_path / "a.jsonl", *some_lines(1))
    with pytest.raises(HarnessError, match="there is no scheduler at tcp:"):
        run(Audit(plan_of(file, 1)), tmp_path, on_cluster("tcp://127.0.0.1:9"))
