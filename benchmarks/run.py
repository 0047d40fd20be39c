"""Measures ours, the floors and other libraries, and writes docs/performance.md: `make bench`.

Each library is measured in its own environment, the one that `make subjects` makes for it; there, the library,
ours and the floor take turns. What was measured stays in build/performance, so that one part can be measured again:

    python -m benchmarks.run --install           the environments alone, before a measurement on a quiet machine
    python -m benchmarks.run --missing           what was not measured yet: goes on with a run that was stopped
    python -m benchmarks.run --rounds 5          fewer rounds: faster, with a larger spread
    python -m benchmarks.run --only haystack     one library, or `ours`; then the page
    python -m benchmarks.run --only page         the page alone
    python -m benchmarks.run --also PYTHON       the translation on another Python, which has the extra dev
"""

# ruff: noqa: S603, T201 - our own programs are run, and progress is printed

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from benchmarks.page import write_page
from benchmarks.peer_costs import MARK
from benchmarks.peers import PEERS
from examples.subjects.run import ENVIRONMENTS, Failed, install

ROOT: Final = Path(__file__).resolve().parents[1]
RESULTS: Final = ROOT / "build" / "performance"
MEASURED: Final = [
    f"benchmarks/test_{name}.py" for name in ("translation", "call", "memory", "start", "streams", "certification")
]
OURS: Final = "not request_body and not a_member"
"""The tests in them: those of all members of a family take too long, and are not on the page."""
PYTEST: Final = ("-m", "pytest", "--override-ini", "testpaths=benchmarks", "--numprocesses", "0", "-q")


def main() -> int:
    """Measures what is asked for, and writes the page. Returns 1 if something could not be measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", action="append", choices=["ours", "page", *PEERS], help="repeatable; default: all")
    parser.add_argument("--also", type=Path, metavar="PYTHON", help="measure the translation on this Python, too")
    parser.add_argument("--install", action="store_true", help="install the libraries, and measure nothing")
    parser.add_argument("--missing", action="store_true", help="measure what has no result yet")
    parser.add_argument("--rounds", type=int, help="rounds of each measurement; default: 21 for ours, 9 for libraries")
    parser.add_argument("--environments", type=Path, default=ENVIRONMENTS, help="where the libraries are installed")
    options = parser.parse_args()
    if options.rounds:
        os.environ["BENCH_ROUNDS"] = str(options.rounds)
    wanted = options.only or ["ours", *PEERS]
    if options.missing:
        wanted = [name for name in wanted if not (RESULTS / f"{name}.json").exists()]
    RESULTS.mkdir(parents=True, exist_ok=True)
    if options.install:
        return _report([failure for library in PEERS for failure in install_only(library, options.environments)])
    failures = [] if "ours" not in wanted else measure_ours(Path(sys.executable), "ours", MEASURED, OURS)
    if options.also:
        failures += measure_ours(options.also, "also", MEASURED[:1], "ratio")
    for library in PEERS:
        failures += measure_peer(library, options.environments) if library in wanted else []
    print(f"wrote {write_page(RESULTS, ROOT / 'docs')}")
    return _report(failures)


def _report(failures: list[str]) -> int:
    print("\n".join(failures), file=sys.stderr)
    return 1 if failures else 0


def install_only(library: str, environments: Path) -> list[str]:
    """Installs a library. Returns what failed."""
    try:
        print(install(library, environments))
    except Failed as failed:
        return [str(failed)]
    return []


def measure_ours(python: Path, name: str, files: list[str], tests: str) -> list[str]:
    """Runs the tests in the files that pytest's option -k chooses. Returns what failed."""
    done = subprocess.run(
        [python, *PYTEST, "--cells", RESULTS / f"{name}.json", *files, "-k", tests], cwd=ROOT, check=False
    )
    return [f"the benchmarks of {python} failed"] if done.returncode else []


def measure_peer(library: str, environments: Path) -> list[str]:
    """Measures a library in its environment. Returns what failed."""
    try:
        python = install(library, environments)
    except Failed as failed:
        return [str(failed)]
    print(f"measuring {library} ...", file=sys.stderr, flush=True)
    ours = {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "compliance")])
    }  # whichever checkout is installed there
    done = subprocess.run(
        [python, "-m", "benchmarks.peer_costs", library],
        cwd=ROOT,
        env=os.environ | ours,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return [f"{library} could not be measured: {done.stderr.strip().splitlines()[-1]}"]
    found = json.loads(done.stdout.rpartition(MARK)[2])
    (RESULTS / f"{library}.json").write_text(json.dumps(found, indent=1))
    return []


if __name__ == "__main__":
    sys.exit(main())
