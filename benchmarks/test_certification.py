"""What certifying takes, in CPU time of whole processes: each member of the chat completions family, to OpenAI's
adapter; and more scenarios.

It takes minutes: `python -m pytest benchmarks/test_certification.py --override-ini testpaths=benchmarks`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from shutil import copyfile
from typing import Final

from art_compliance.resources import data_folder
from benchmarks.conftest import Cell, Note
from benchmarks.floors import FAMILY
from benchmarks.measure import run_child

ROUNDS = 2
CERTIFY = "from art_compliance.cli import main; main()"


def test_certifying_a_member(note: Note, tmp_path: Path):
    """All take turns, so that a busy machine slows all of them down alike; the least time of each counts."""
    times: dict[str, list[float]] = {name: [] for name in ("openai", *FAMILY)}
    for _ in range(ROUNDS):
        for name, seconds in times.items():
            seconds.append(run_child(["-c", CERTIFY, "certify", name, "--seed", "1", "--report", str(tmp_path / name)]))
    usual = min(times["openai"])
    for name, seconds in times.items():
        note(f"art certify {name}, to openai's: CPU", f"{min(seconds) / usual:.2f} ({min(seconds):.1f} s)")


SIZES: Final = (1, 2, 4)
"""How many times the suite's own scenarios there are."""


def test_growth_with_the_scenarios(note: Note, tmp_path: Path):
    """Twice and four times as many scenarios, as an author's own: what does not depend on them is done once."""
    own = sorted((data_folder("fixtures") / "scenarios").rglob("*.json"))
    for size in SIZES:
        extra = tmp_path / f"times-{size}"
        for copy in range(1, size):
            (extra / f"copy-{copy}").mkdir(parents=True)
            for path in own:
                copyfile(path, extra / f"copy-{copy}" / f"{path.stem}-{copy}.json")
        seconds, megabytes = _certify(tmp_path, *(["--scenarios-from", str(extra)] if size > 1 else []))
        row = f"{len(own) * size:,}"
        note(f"art certify openai, {row} scenarios: CPU", f"{seconds:.1f} s", Cell("certificate", row, "CPU"))
        note(f"art certify openai, {row} scenarios: peak", f"{megabytes} MB", Cell("certificate", row, "peak memory"))


def _certify(folder: Path, *options: str) -> tuple[float, int]:
    """The CPU seconds of all processes of a certification, and the megabytes of the largest one at its peak."""
    command = [sys.executable, "-c", _MEASURED, "-c", CERTIFY, "certify", "openai", "--seed", "5", "--quiet", *options]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603 - our own
    seconds, kilobytes = done.stdout.splitlines()[-1].split()
    return float(seconds), int(kilobytes) // 1024


_MEASURED: Final = """
import resource, subprocess, sys
subprocess.run([sys.executable, *sys.argv[1:]], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
"""
"""A small process that starts the large one: to the kernel, the peak of a process is at least that of its parent."""
