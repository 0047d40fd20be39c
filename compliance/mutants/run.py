"""Mutation testing, by cosmic-ray's operators: `python compliance/mutants/run.py MODULE_OR_FOLDER... [--sample N]`.

A mutant is one small change of a module. Mutants that no test notices survive, and are printed with their change. This
runs on demand, not in CI, in a temporary copy of the files that git tracks: the working tree is not touched. Results
are kept in a file, so that a run can be stopped and continued.
"""

from __future__ import annotations

import argparse
import compileall
import multiprocessing
import os
import py_compile
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from math import sqrt
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Final

import forking
import msgspec
from knowing import Known
from msgspec import Struct
from mutating import Mutant, describe, mutants_of, mutate

ROOT: Final = Path(__file__).parents[2]
KILLED: Final = ("killed", "timeout")


class Result(Struct, frozen=True):
    """The result of one mutant."""

    mutant: str
    module: str
    verdict: str
    by: str
    seconds: float
    change: str


def main() -> int:
    """Runs the mutants and prints the survivors. Exits with 1 if fewer than nine in ten are killed."""
    options = _parse_options()
    with tempfile.TemporaryDirectory() as folder:
        trees = [Path(folder, str(number), ROOT.name) for number in range(options.jobs)]
        for tree in trees:
            _copy(tree)
        tree = trees[0]
        known = [one for module in _modules(tree, options.modules) for one in mutants_of(tree, module)]
        chosen = random.Random(options.seed).sample(known, min(options.sample, len(known))) or known
        print(
            f"{len(chosen)} of {len(known)} mutants, seed {options.seed}; results are kept in {options.session}",
            flush=True,
        )
        _run_at_once(trees, chosen, options)
    results = _results(chosen, options.session)
    print("\n".join(report(results, len(known))))
    return 0 if sum(one.verdict in KILLED for one in results) >= 0.9 * len(results) else 1


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="+", help="modules or folders that git tracks")
    parser.add_argument("--sample", type=int, default=0, help="how many mutants to draw at random; default: all")
    parser.add_argument("--seed", type=int, default=random.randrange(10_000), help="the seed of the draw")
    parser.add_argument(
        "--session", type=Path, default=ROOT / ".mutants" / "results.jsonl", help="the file that keeps results"
    )
    parser.add_argument("--again", action="store_true", help="run earlier survivors again")
    parser.add_argument("--jobs", type=int, default=1, help="how many mutants to run at once; default: 1")
    return parser.parse_args()


def _copy(tree: Path) -> None:
    """Copies the files that git tracks, compiled so that a changed source is never mistaken for the compiled one.

    Recorded traffic that lies beside the checkout lies beside the copy, too.
    """
    git = shutil.which("git") or "git"
    listed = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tree / name)
    if (beside := ROOT.parent / "shared").is_dir():
        (tree.parent / beside.name).symlink_to(beside.resolve())
    compileall.compile_dir(tree, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)


def _modules(tree: Path, names: list[str]) -> Iterator[str]:
    for name in names:
        path = tree / name
        found = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        if not found or not found[0].is_file():
            sys.exit(f"git tracks no module or folder {name!r}")
        yield from (str(one.relative_to(tree)) for one in found)


def _run_at_once(trees: list[Path], chosen: list[Mutant], options: argparse.Namespace) -> None:
    """Each process has its own copy of the files, and takes the next mutant when it is done with one."""
    options.session.parent.mkdir(parents=True, exist_ok=True)
    tests = _tests(trees[0], sorted({mutant.module for mutant in chosen}))
    forked = multiprocessing.get_context("fork")
    taken = forked.Value("i", 0)
    workers = [forked.Process(target=_run, args=(tree, _untaken(chosen, taken), tests, options)) for tree in trees]
    for worker in workers:
        worker.start()
    for worker in workers:
        with suppress(KeyboardInterrupt):  # they get it, too, and end
            worker.join()
        worker.join()
    if any(worker.exitcode for worker in workers):
        sys.exit("stopped by the error above; the same command continues")


def _untaken(chosen: list[Mutant], taken: Synchronized[int]) -> Iterator[tuple[str, Mutant]]:
    """The mutants that no other process has taken, each with its number among all."""
    while True:
        with taken.get_lock():
            number = taken.value
            taken.value += 1
        if number >= len(chosen):
            return
        yield f"{number + 1}/{len(chosen)}", chosen[number]


def _run(
    tree: Path, chosen: Iterator[tuple[str, Mutant]], tests: dict[str, list[str]], options: argparse.Namespace
) -> None:
    forking.warm_up(tree)
    kept = {one.mutant: one for one in _read(options.session)}
    known = Known(one.by for one in kept.values() if one.verdict == "killed")
    try:
        for number, mutant in chosen:
            before = kept.get(mutant.id)
            if before is None or (options.again and before.verdict == "survived"):
                kept[mutant.id] = one = _try(tree, mutant, tests[mutant.module], known)
                with options.session.open("ab") as file:
                    file.write(msgspec.json.encode(one) + b"\n")
                print(f"{number} {one.verdict} {one.seconds:.1f} s {one.mutant} by {one.by}", flush=True)
    except KeyboardInterrupt:
        print("stopped; the same command continues", flush=True)


def _results(chosen: list[Mutant], session: Path) -> list[Result]:
    kept = {one.mutant: one for one in _read(session)}
    return [kept[mutant.id] for mutant in chosen if mutant.id in kept]


def _tests(tree: Path, modules: list[str]) -> dict[str, list[str]]:
    """The tests by module: arguments for pytest."""
    script = str(tree / "compliance" / "mutants" / "noticing.py")
    output = subprocess.run([sys.executable, script, *modules], check=True, stdout=subprocess.PIPE, cwd=tree).stdout
    return msgspec.json.decode(output, type=dict[str, list[str]])


def _read(session: Path) -> list[Result]:
    lines = session.read_bytes().splitlines() if session.exists() else []
    return [msgspec.json.decode(line, type=Result) for line in lines]


def _try(tree: Path, mutant: Mutant, arguments: list[str], known: Known) -> Result:
    """Runs the tests while the module is changed; what fails counts if it passes without the change."""
    path = tree / mutant.module
    known.module = mutant.module
    os.environ["KEPT_TRIALS_OF"] = ".".join(Path(mutant.module).with_suffix("").parts[1:])  # see test_kept_trials.py
    source = path.read_text(encoding="utf-8")
    changed = mutate(source, mutant)
    passed: set[str] = set()
    seconds = 0.0
    while True:
        path.write_text(changed, encoding="utf-8")
        try:
            outcome = forking.run(tree, arguments, known.plan(passed))
        finally:
            path.write_text(source, encoding="utf-8")
        seconds += outcome.seconds
        passed |= outcome.times.keys() - {outcome.test}
        if outcome.verdict == "survived" or known.counts(tree, arguments, outcome):
            break
    known.learn(outcome)
    change = describe(source, changed)
    return Result(mutant.id, mutant.module, outcome.verdict, outcome.by, round(seconds, 2), change)


def report(results: list[Result], of: int) -> Iterator[str]:
    """Each survivor with its change, then the share of killed mutants by folder."""
    for one in results:
        if one.verdict not in KILLED:
            yield f"{one.verdict} {one.mutant}\n{one.change}\n"
    folders = sorted({str(Path(one.module).parent) for one in results})
    for folder in [*folders, ""]:
        here = [one for one in results if folder in {"", str(Path(one.module).parent)}]
        killed = sum(one.verdict in KILLED for one in here)
        low, high = wilson(killed, len(here))
        sure = "" if len(results) == of else f", with 95 % certainty {100 * low:.0f} to {100 * high:.0f} %"
        rate = f"{killed} of {len(here)} killed ({100 * killed / max(len(here), 1):.1f} %{sure})"
        yield f"{folder or f'all, {len(results)} of {of} mutants'}: {rate}"
    yield f"by a time limit: {sum(one.verdict == 'timeout' for one in results)}"


def wilson(killed: int, count: int) -> tuple[float, float]:
    """The 95 % confidence interval of a rate in a sample (Wilson's score interval)."""
    if not count:
        return 0.0, 1.0
    z = 1.96
    rate, root = killed / count, z * z / count
    middle = (rate + root / 2) / (1 + root)
    half = z / (1 + root) * sqrt(rate * (1 - rate) / count + root / (4 * count))
    return max(0.0, middle - half), min(1.0, middle + half)


if __name__ == "__main__":
    sys.exit(main())
