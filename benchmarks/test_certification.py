"""What certifying each member of the chat completions family takes, to OpenAI's adapter: CPU time of whole processes.

It takes minutes: `python -m pytest benchmarks/test_certification.py --override-ini testpaths=benchmarks`.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.conftest import Note
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
