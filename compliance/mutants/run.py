"""Mutation testing of one module, by cosmic-ray: `python compliance/mutants/run.py MODULE [TEST ARGUMENTS]`.

Every mutant is a small change of the module; one that no test notices survives, and is printed with its
change. The tests are those of `targets.toml` unless others are named. On demand, and in no CI: a module
takes minutes. All happens in a temporary copy of the files that git knows: the working tree is not touched.
What stands in annotations is not changed: they are never evaluated.
"""

from __future__ import annotations

import ast
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import WorkerOutcome, WorkResult

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TIMEOUT = 60.0


def main() -> int:
    """Runs all mutants of the module, and tells what survived. Ends with 1 where less than nine of ten are killed."""
    module, *tests = sys.argv[1:] or [""]
    known = tomllib.loads((HERE / "targets.toml").read_text(encoding="utf-8"))["tests"]
    if not tests and module not in known:
        sys.exit(f"give MODULE and its tests, or one of these modules:\n{chr(10).join(known)}")
    with tempfile.TemporaryDirectory() as folder:
        told = _run(Path(folder), module, tests or shlex.split(known[module]))
    for outcome, where, change in told:
        if outcome not in ("killed", "incompetent"):
            print(f"{outcome} {where}\n{change}\n")
    killed = sum(outcome in ("killed", "incompetent") for outcome, _, _ in told)
    print(f"{module}: {killed} of {len(told)} mutants killed ({100 * killed / max(len(told), 1):.0f} %)")
    return 0 if killed >= 0.9 * len(told) else 1


def _run(folder: Path, module: str, tests: list[str]) -> list[tuple[str, str, str]]:
    tree, config, session = folder / "tree", folder / "config.toml", folder / "session.sqlite"
    _copy(tree)
    config.write_text(_config(module, tests), encoding="utf-8")
    _cosmic_ray(tree, "init", str(config), str(session))
    _leave_out_annotations(tree / module, session)
    _cosmic_ray(tree, "baseline", str(config))
    _cosmic_ray(tree, "exec", str(config), str(session))
    return list(_outcomes(_cosmic_ray(tree, "dump", str(session))))


def _copy(tree: Path) -> None:
    listed = subprocess.run(
        [shutil.which("git") or "git", "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tree / name)


def _config(module: str, tests: list[str]) -> str:
    switches = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "no:randomly"]
    command = shlex.join([sys.executable, "-m", "pytest", *switches, *tests])
    lines = [f"module-path = {json.dumps(module)}", f"timeout = {TIMEOUT}", "excluded-modules = []"]
    lines.append(f"test-command = {json.dumps(command)}")
    return "\n".join(["[cosmic-ray]", *lines, "[cosmic-ray.distributor]", 'name = "local"', ""])


def _cosmic_ray(tree: Path, *arguments: str) -> str:
    command = [str(Path(sys.executable).with_name("cosmic-ray")), *arguments]
    path = os.pathsep.join([str(tree), str(tree / "compliance")])
    settings = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=tree, env=settings).stdout


def _leave_out_annotations(module: Path, session: Path) -> None:
    spans = list(_annotations(ast.parse(module.read_text(encoding="utf-8"))))
    with use_db(str(session), WorkDB.Mode.open) as database:
        for item in list(database.pending_work_items):
            at = tuple(item.mutations[0].start_pos)
            if any(start <= at < end for start, end in spans):
                database.set_result(item.job_id, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))


def _annotations(tree: ast.Module) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Where annotations begin and end, and what is defined for type checkers alone."""
    for node in ast.walk(tree):
        found = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            found.append(node)
        for one in filter(None, found):
            yield (one.lineno, one.col_offset), (one.end_lineno or one.lineno, one.end_col_offset or 0)


def _outcomes(dump: str) -> Iterator[tuple[str, str, str]]:
    """Per mutant that was run: what became of it, where it stands, and its change."""
    for line in dump.splitlines():
        item, result = json.loads(line)
        mutation: dict[str, Any] = item["mutations"][0]
        where = f"{mutation['module_path']}:{mutation['start_pos'][0]} {mutation['operator_name'].partition('/')[2]}"
        if result is None or str(result["worker_outcome"]).endswith("skipped"):
            continue
        outcome = str(result["test_outcome"]).rpartition(".")[2].lower()
        yield outcome, where, _changed(result.get("diff") or "")


def _changed(diff: str) -> str:
    lines = [line for line in diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    return "\n".join(f"    {line}" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
