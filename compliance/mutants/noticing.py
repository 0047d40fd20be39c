"""Which tests are meant to notice a change of a module: the fewest.

Those that `targets.toml` names, for every module and for one; and of a module with checks, the miniatures that these
must fail and the reference adapters that must pass them. A module of `checks` that has none and is not named is
noticed by the checks that are made of it. Run as a script it prints the tests as JSON, by module.
"""

from __future__ import annotations

import ast
import importlib
import json
import shlex
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

CHECKS = Path("compliance/art_compliance/checks")
MINIATURE = "compliance/tests/test_miniatures.py::test_a_miniature_is_caught_by_the_checks_that_it_names"
REFERENCE = "compliance/tests/test_reference_adapters.py::test_a_reference_adapter_holds_the_laws"
TESTED_ELSEWHERE = {"load", "properties", "live"}
"""Modules that test_reference_adapters leaves out."""


def tests_for(module: str) -> list[str]:
    """The arguments for pytest. Raises LookupError where no test is known."""
    path, named = Path(module), _named(module)
    found = [*(_of_checks(_concerned(path.stem, alone=bool(named))) if path.parent == CHECKS else ()), *named]
    if not found:
        message = f"no test is known that should notice a change of {module}: name it in targets.toml"
        raise LookupError(message)
    return _with_what_is_for_all(found)


def _with_what_is_for_all(arguments: list[str]) -> list[str]:
    """An expression chooses among all files, so it must choose the tests for every module, too."""
    file = Path(_table()["always"])
    name = file.stem.removeprefix("test_")
    pairs = pairwise(("", *arguments))
    return [str(file), *(f"({word}) or {name}" if before == "-k" else word for before, word in pairs)]


def _concerned(name: str, *, alone: bool) -> set[str]:
    """The modules of checks that a change of one of them concerns."""
    has_checks = name in _homes().values()
    return {name} if alone or has_checks else {one for one in _imports() if name in _closure(one) or name == "__init__"}


def _of_checks(modules: set[str]) -> Iterator[str]:
    """A miniature is put around openai's adapter, and around anthropic's where openai's has no place for reasoning."""
    here = {check for check, home in _homes().items() if home in modules}
    for miniature in importlib.import_module("art_compliance.miniatures").MINIATURES:
        if miniature.id not in _table()["slow"] and here & miniature.fails:
            yield f"{MINIATURE}[{miniature.id}-openai]"
            if any("thinking" in check or "signatures" in check for check in here & miniature.fails):
                yield f"{MINIATURE}[{miniature.id}-anthropic]"
    for home in sorted({_homes()[check] for check in here} - TESTED_ELSEWHERE):
        yield from (f"{REFERENCE}[{home}-{adapter}]" for adapter in ("openai", "anthropic"))


@cache
def _homes() -> dict[str, str]:
    """By check, the module that declares it."""
    checks = importlib.import_module("art_compliance.checks").CHECKS
    return {one.id: one.run.__module__.rpartition(".")[2] for one in checks.values()}


@cache
def _imports() -> dict[str, set[str]]:
    """Which modules of checks a module of checks imports itself."""
    found: dict[str, set[str]] = {}
    for path in CHECKS.glob("[a-z]*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        names = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        found[path.stem] = {name.rpartition(".")[2] for name in names if name.startswith("art_compliance.checks.")}
    return found


def _closure(name: str) -> set[str]:
    imported = _imports().get(name, set())
    return imported.union(*map(_closure, imported))


def _named(module: str) -> list[str]:
    named = _table()["tests"].items()
    return next((shlex.split(tests) for pattern, tests in named if fnmatch(module, pattern)), [])


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("targets.toml").read_text(encoding="utf-8"))


if __name__ == "__main__":
    print(json.dumps({module: tests_for(module) for module in sys.argv[1:]}))
