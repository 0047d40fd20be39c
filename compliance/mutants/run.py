"""Mutation testing, by cosmic-ray's operators: `python compliance/mutants/run.py MODULE_OR_FOLDER... [--sample N]`.

A mutant is one small change of a module. Mutants that no test notices survive, and are printed with their change. This
runs on demand, not in CI, in a temporary copy of the files that git tracks: the working tree is not touched. Results
are kept in a file, so that a run can be stopped and continued.
"""

from __future__ import annotations

import argparse
import compileall
import py_compile
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from math import sqrt
from pathlib import Path
from typing import Final

import forking
import msgspec
from msgspec import Struct
from mutating import Mutant, describe, mutants_of, mutate

ROOT: Final = Path(__file__).parents[2]
KILLED: Final = ("killed", "timeout")
LIMIT: Final = (20.0, 3.0)
"""The time limit of a mutant: seconds, plus a multiple of the time that its tests take without a change."""


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
        tree = Path(folder)
        _copy(tree)
        known = [one for module in _modules(tree, options.modules) for one in mutants_of(tree, module)]
        chosen = random.Random(options.seed).sample(known, min(options.sample, len(known))) or known
        print(f"{len(chosen)} of {len(known)} mutants, seed {options.seed}; results are kept in {options.session}")
        forking.warm_up(tree)
        results = _run(tree, chosen, options.session, again=options.again)
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
    return parser.parse_args()


def _copy(tree: Path) -> None:
    """Copies the files that git tracks, compiled so that a changed source is never mistaken for the compiled one."""
    git = shutil.which("git") or "git"
    listed = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tree / name)
    compileall.compile_dir(tree, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)


def _modules(tree: Path, names: list[str]) -> Iterator[str]:
    for name in names:
        path = tree / name
        found = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        if not found or not found[0].is_file():
            sys.exit(f"git tracks no module or folder {name!r}")
        yield from (str(one.relative_to(tree)) for one in found)


def _run(tree: Path, chosen: list[Mutant], session: Path, *, again: bool) -> list[Result]:
    session.parent.mkdir(parents=True, exist_ok=True)
    kept = {one.mutant: one for one in _read(session)}
    tests = _tests(tree, sorted({mutant.module for mutant in chosen}))
    try:
        for number, mutant in enumerate(chosen, 1):
            before = kept.get(mutant.id)
            if before is None or (again and before.verdict == "survived"):
                kept[mutant.id] = one = _try(tree, mutant, tests)
                with session.open("ab") as file:
                    file.write(msgspec.json.encode(one) + b"\n")
                print(f"{number}/{len(chosen)} {one.verdict} {one.seconds:.1f} s {one.mutant} by {one.by}", flush=True)
    except KeyboardInterrupt:
        print("stopped; the same command continues")
    return [kept[mutant.id] for mutant in chosen if mutant.id in kept]


def _tests(tree: Path, modules: list[str]) -> dict[str, Tests]:
    """The tests by module; modules with the same tests share them."""
    script = str(tree / "compliance" / "mutants" / "noticing.py")
    output = subprocess.run([sys.executable, script, *modules], check=True, stdout=subprocess.PIPE, cwd=tree).stdout
    named = msgspec.json.decode(output, type=dict[str, tuple[str, ...]])
    shared = {arguments: Tests(list(arguments)) for arguments in named.values()}
    return {module: shared[arguments] for module, arguments in named.items()}


def _read(session: Path) -> list[Result]:
    lines = session.read_bytes().splitlines() if session.exists() else []
    return [msgspec.json.decode(line, type=Result) for line in lines]


def _try(tree: Path, mutant: Mutant, tests: dict[str, Tests]) -> Result:
    """Runs the tests while the module is changed."""
    path = tree / mutant.module
    source = path.read_text(encoding="utf-8")
    changed = mutate(source, mutant)
    noticing = tests[mutant.module]
    noticing.measure(tree)
    path.write_text(changed, encoding="utf-8")
    try:
        outcome = noticing.run(tree)
    finally:
        path.write_text(source, encoding="utf-8")
    change = describe(source, changed)
    return Result(mutant.id, mutant.module, outcome.verdict, outcome.by, round(outcome.seconds, 2), change)


class Tests:
    """The tests of one or several modules: how long each takes, and how many mutants it killed."""

    def __init__(self, arguments: list[str]) -> None:
        self.arguments = arguments
        self.times: dict[str, float] = {}
        self.kills: Counter[str] = Counter()

    def measure(self, tree: Path) -> None:
        """Runs them once without a change, and leaves out those that fail. Exits if none is left."""
        if self.times:
            return
        outcome = forking.run(tree, self.arguments, order=None, limit=900.0)
        self.times = {name: seconds for name, seconds in outcome.times.items() if name not in outcome.failed}
        if not self.times:
            sys.exit(f"no test passes without a change ({outcome.by}): {' '.join(self.arguments)}")
        left_out = f"; left out because they fail without a change: {outcome.failed}" if outcome.failed else ""
        print(f"{len(self.times)} tests in {outcome.seconds:.1f} s{left_out}", flush=True)

    def run(self, tree: Path) -> forking.Outcome:
        """Runs the tests that killed most first, then the rest of the files that kill most for their time."""
        files = dict.fromkeys(map(_file, (*self.times, *self.kills)), 0.0)
        for name, seconds in self.times.items():
            files[_file(name)] += seconds
        for name, count in self.kills.items():
            files[_file(name)] /= 1 + count
        order = sorted(self.times, key=lambda one: (-self.kills[one], files[_file(one)], self.times[one]))
        limit = LIMIT[0] + LIMIT[1] * sum(self.times.values())
        outcome = forking.run(tree, self.arguments, order=order, limit=limit)
        self.kills[outcome.by] += outcome.verdict == "killed"
        return outcome


def _file(test: str) -> str:
    return test.partition("::")[0]


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
