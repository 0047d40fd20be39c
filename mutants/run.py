"""Mutation testing of one module, by cosmic-ray: `python mutants/run.py MODULE [TEST ARGUMENTS]`.

Every mutant is a small change of the module; one that no test notices survives, and is printed with its
change. The tests are those of `targets.toml` unless others are named. On demand, and in no CI: a module
takes minutes. The module is changed in place while it runs: do it in a checkout that nobody else uses.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TIMEOUT = 120.0


def main() -> int:
    """Runs all mutants of the module, and tells what survived."""
    module, *tests = sys.argv[1:]
    tests = tests or tomllib.loads((HERE / "targets.toml").read_text(encoding="utf-8"))["tests"][module].split()
    with tempfile.TemporaryDirectory() as folder:
        config, session = Path(folder) / "config.toml", Path(folder) / "session.sqlite"
        config.write_text(_config(module, tests), encoding="utf-8")
        _cosmic_ray("init", str(config), str(session))
        _cosmic_ray("baseline", str(config))
        _cosmic_ray("exec", str(config), str(session))
        told = list(_outcomes(_cosmic_ray("dump", str(session))))
    for outcome, where, change in told:
        if outcome == "survived":
            print(f"{where}\n{change}\n")
    killed = sum(outcome != "survived" for outcome, _, _ in told)
    print(f"{module}: {killed} of {len(told)} mutants killed ({100 * killed / max(len(told), 1):.0f} %)")
    return 0


def _config(module: str, tests: list[str]) -> str:
    command = " ".join([sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests])
    lines = [f"module-path = {json.dumps(module)}", f"timeout = {TIMEOUT}", "excluded-modules = []"]
    lines.append(f"test-command = {json.dumps(command)}")
    return "\n".join(["[cosmic-ray]", *lines, "[cosmic-ray.distributor]", 'name = "local"', ""])


def _cosmic_ray(*arguments: str) -> str:
    command = [str(Path(sys.executable).with_name("cosmic-ray")), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _outcomes(dump: str) -> Iterator[tuple[str, str, str]]:
    """Per mutant: what became of it, where it stands, and its change."""
    for line in dump.splitlines():
        item, result = json.loads(line)
        mutation: dict[str, Any] = item["mutations"][0]
        where = f"{mutation['module_path']}:{mutation['start_pos'][0]} {mutation['operator_name'].partition('/')[2]}"
        outcome = "not run" if result is None else str(result["test_outcome"]).rpartition(".")[2].lower()
        yield outcome, where, _changed((result or {}).get("diff") or "")


def _changed(diff: str) -> str:
    lines = [line for line in diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    return "\n".join(f"    {line}" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
