"""Certifies real libraries, each in an environment of its own: `python compliance/libraries/run.py [LIBRARY...]`.

A library is installed with this project into `.venv/libraries/<library>`, in the versions of `<library>.txt`, and each
of its subjects is certified as a black box. Nothing here needs a key: calls go to the loopback provider. This runs on
demand, not in CI. It always exits with 0 if the reports could be written: the failures are the libraries'.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
LIBRARIES: Final = sorted(path.stem for path in HERE.glob("*.txt"))
PROVIDERS: Final = ("OpenAI", "Anthropic", "Gemini")
CLASSES: Final = ("loss", "refused", "contract")


def main() -> int:
    """Certifies the libraries, and prints a table. Exits with 2 if the suite could not do its work."""
    options = _parse_options()
    rows: list[str] = []
    for library in options.libraries or LIBRARIES:
        python = install(library)
        for provider in options.providers or PROVIDERS:
            folder = options.reports / f"{library}-{provider.lower()}"
            if certify(python, library, provider, folder, [*options.art]) > 1:
                print((folder / "warnings.txt").read_text(), file=sys.stderr)
                return 2
            rows.extend(describe(folder))
            print(rows[-1], flush=True)
    print("\n".join(["| " + " | ".join(HEADINGS) + " |", "| --- " * len(HEADINGS) + "|", *rows]))
    return 0


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help="default: all")
    parser.add_argument("--provider", action="append", choices=PROVIDERS, dest="providers", help="repeatable")
    parser.add_argument("--reports", type=Path, default=ROOT / "art-report" / "libraries")
    parser.add_argument(
        "--art", action="append", default=[], help="an option for art certify, like --art=--profile=default"
    )
    return parser.parse_args()


def install(library: str) -> Path:
    """The Python of the library's environment, which is made if it does not exist or if its versions changed."""
    folder = ROOT / ".venv" / "libraries" / library
    python, wanted = folder / "bin" / "python", HERE / f"{library}.txt"
    done = folder / "installed.txt"
    if not done.exists() or done.read_text() != wanted.read_text():
        print(f"installing {library} ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--editable", f"{ROOT}[compliance]", "--requirement", wanted], check=True)
        done.write_text(wanted.read_text())
    return python


def certify(python: Path, library: str, provider: str, folder: Path, more: list[str]) -> int:
    """The exit code of `art certify`, whose output goes to `terminal.txt` and `warnings.txt` beside the report."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [python.with_name("art"), "certify", f"over_{library}:{provider}", "--profile", "quick", "--seed", "7"]
    environment = {**os.environ, "PYTHONPATH": str(HERE), "COLUMNS": "120"}
    with (folder / "terminal.txt").open("w") as output, (folder / "warnings.txt").open("w") as warnings:
        whole = [*command, "--report", folder, *more]
        return subprocess.run(
            whole, cwd=folder, env=environment, stdout=output, stderr=warnings, check=False
        ).returncode


HEADINGS: Final = ("subject", "passed", "failed", "not applicable", *CLASSES, "checks failed", "lines", "seconds")


def describe(folder: Path) -> Iterator[str]:
    """A row per report: trials by verdict, and failed trials by the worst class of their findings."""
    lines = len((folder / "terminal.txt").read_text().splitlines())
    for report in json.loads((folder / "report.json").read_text())["reports"]:
        verdicts = Counter(result["verdict"] for result in report["results"])
        failed = [result for result in report["results"] if result["verdict"] == "fail"]
        classes = Counter(worst_class(result) for result in failed)
        cells = [report["adapter"]["name"], verdicts["pass"], verdicts["fail"], verdicts["not applicable"]]
        cells += [classes[name] for name in CLASSES]
        cells += [len({result["check"] for result in failed}), lines, round(report["seconds"])]
        yield f"| {' | '.join(map(str, cells))} |"


def worst_class(result: dict[str, Any]) -> str:
    """The worst class of a failed trial's findings."""
    found = {finding["class"] for finding in result["findings"]}
    return next(name for name in CLASSES if name in found)


if __name__ == "__main__":
    sys.exit(main())
