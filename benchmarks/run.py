"""Measures ours, the floors and other libraries, and writes docs/performance.md: `make bench`.

Each library is measured in its own environment, the one that `make subjects` makes for it; there, the library,
ours and the floor take turns. What was measured stays in build/performance, so that one part can be measured again:

    python -m benchmarks.run --only haystack     one library, or `ours`; then the page
    python -m benchmarks.run --only page         the page alone
    python -m benchmarks.run --also PYTHON       the translation on another Python, which has the extra dev
"""

# ruff: noqa: S603, T201 - our own programs are run, and progress is printed

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Final

from benchmarks.page import write_page
from benchmarks.peers import PEERS
from examples.subjects.run import Failed, install

ROOT: Final = Path(__file__).resolve().parents[1]
RESULTS: Final = ROOT / "build" / "performance"
MEASURED: Final = [f"benchmarks/test_{name}.py" for name in ("translation", "call", "memory", "start", "streams")]
PYTEST: Final = ("-m", "pytest", "--override-ini", "testpaths=benchmarks", "--numprocesses", "0", "-q")


def main() -> int:
    """Measures what is asked for, and writes the page. Returns 1 if something could not be measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", action="append", choices=["ours", "page", *PEERS], help="repeatable; default: all")
    parser.add_argument("--also", type=Path, metavar="PYTHON", help="measure the translation on this Python, too")
    options = parser.parse_args()
    wanted = options.only or ["ours", *PEERS]
    RESULTS.mkdir(parents=True, exist_ok=True)
    failures = [] if "ours" not in wanted else measure_ours(Path(sys.executable), "ours", MEASURED, "not request_body")
    if options.also:
        failures += measure_ours(options.also, "also", MEASURED[:1], "ratio")
    for library in PEERS:
        failures += measure_peer(library) if library in wanted else []
    print(f"wrote {write_page(RESULTS, ROOT / 'docs')}")
    print("\n".join(failures), file=sys.stderr)
    return 1 if failures else 0


def measure_ours(python: Path, name: str, files: list[str], tests: str) -> list[str]:
    """Runs the tests in the files that pytest's option -k chooses. Returns what failed."""
    done = subprocess.run(
        [python, *PYTEST, "--cells", RESULTS / f"{name}.json", *files, "-k", tests], cwd=ROOT, check=False
    )
    return [f"the benchmarks of {python} failed"] if done.returncode else []


def measure_peer(library: str) -> list[str]:
    """Measures a library in its environment. Returns what failed."""
    try:
        python = install(library)
    except Failed as failed:
        return [str(failed)]
    print(f"measuring {library} ...", file=sys.stderr, flush=True)
    done = subprocess.run(
        [python, "-m", "benchmarks.peers", library], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        return [f"{library} could not be measured: {done.stderr.strip().splitlines()[-1]}"]
    found = json.loads(done.stdout[done.stdout.index("{") :])
    (RESULTS / f"{library}.json").write_text(json.dumps(found, indent=1))
    return []


if __name__ == "__main__":
    sys.exit(main())
