"""Which tests should notice a change of a module: as few as possible.

`targets.toml` names tests for every module, for the dialects, and for single modules. For a module of checks, the
miniatures that its checks must catch, the reference adapters that must pass them and the test files that name them most
are added. A module that declares no check and is not named there gets the tests of the modules that import it. As a
script, this prints the tests by module, as JSON.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

SUITE = Path("compliance/art_compliance")
CHECKS, DIALECTS = SUITE / "checks", SUITE / "dialects"
TESTS = Path("compliance/tests")
MINIATURE = f"{TESTS}/test_miniatures.py::test_a_miniature_is_caught_by_the_checks_that_it_names"
REFERENCE = f"{TESTS}/test_reference_adapters.py::test_a_reference_adapter_is_certified"
SERVER = f"{TESTS}/test_services_certified.py::test_an_adapter_to_a_server_fails_no_check"
_WITH_MOST = frozenset({"openai", "anthropic", "gemini"})
"""Adapters with too many miniatures to try for each change of their dialects."""
_MOST = 12
"""Of the test files that name a check, those that name it most test it; others name it by the way."""


def tests_for(module: str) -> list[str]:
    """The arguments for pytest. Raises LookupError if no test is known."""
    path = Path(module)
    named = _named(path)
    found = [*(_of_checks(_concerned(path, alone=bool(named))) if CHECKS in path.parents else ()), *named]
    found += _mentioning(path) if CHECKS in path.parents and "-k" not in named else ()
    if DIALECTS in path.parents and not named:
        found = _of_dialects(path)
    if not found:
        raise LookupError(f"no test is known to notice a change of {module}; name one in targets.toml")
    always = [_table()["always"], *([_table()["kept"]] if CHECKS in path.parents else ())]
    return _with_those_for_all(list(dict.fromkeys(found)), [TESTS / name for name in always])


def _with_those_for_all(arguments: list[str], files: list[Path]) -> list[str]:
    """Adds the tests for every module. A `-k` expression filters all files, so it must let them through."""
    names = " or ".join(file.stem.removeprefix("test_") for file in files)
    pairs = pairwise(("", *arguments))
    return [*map(str, files), *(f"({word}) or {names}" if before == "-k" else word for before, word in pairs)]


def _of_dialects(path: Path) -> list[str]:
    """The tests of dialects, without the dialects that the module does not affect."""
    table = _table()["dialects"]
    every = {one.name for one in DIALECTS.iterdir() if (one / "__init__.py").is_file()}
    own = path.relative_to(DIALECTS).parts[0]
    concerned = {own, *table["concerns"].get(own, ())} if own in every else every
    others = sorted(name.replace("_", "-") for name in every - concerned)
    files = [str(TESTS / name) for name in (*table["tests"], *table["more"].get(own, ()))]
    adapters = [one for dialect in ((own,) if own in every else table["shown_by"]) for one in _of_adapters(dialect)]
    return [*files, *adapters, "-k", f"not ({' or '.join((*others, *table['skip']))})"]


def _of_adapters(dialect: str) -> Iterator[str]:
    """The miniatures that are made for adapters of the dialect alone, and the certifications of its adapters."""
    whole, partly = _table()["dialects"]["whole"].get(dialect, ()), _table()["dialects"]["partly"].get(dialect, ())
    for miniature in importlib.import_module("art_compliance.miniatures").MINIATURES:
        if len(miniature.around) == 1 and miniature.around[0] in {*whole, *partly} - _WITH_MOST:
            yield f"{MINIATURE}[{miniature.id}-{miniature.around[0]}]"
    yield from (f"{REFERENCE}[{name}]" for name in whole)
    yield from (f"{SERVER}[{name}]" for name in partly)


def _concerned(path: Path, *, alone: bool) -> set[str]:
    """The modules of checks that a change of this one affects."""
    name = _name(path)
    if alone or name in _homes().values():
        return {name}
    if path.name == "__init__.py":
        return {one for one in _homes().values() if one.startswith(name.removesuffix("__init__"))}
    return {one for one in _imports() if name in _closure(one)}


def _of_checks(modules: set[str]) -> Iterator[str]:
    """Each miniature around the adapter with which what is said of it is kept."""
    here = {check for check, home in _homes().items() if home in modules}
    for miniature, adapter, first in importlib.import_module("test_miniatures").miniatures_around_adapters():
        if first and here & miniature.fails and miniature.id not in _table()["slow"]:
            yield f"{MINIATURE}[{miniature.id}-{adapter}]"
    if here:
        yield from (f"{REFERENCE}[{adapter}]" for adapter in ("openai", "anthropic"))


def _mentioning(path: Path) -> list[str]:
    """The test files that import the module of checks, or name its checks, most often."""
    dotted = f"art_compliance.checks.{_name(path)}"
    package, _, name = dotted.rpartition(".")
    imports = rf"(from|import) {re.escape(dotted)} |from {re.escape(package)} import [^\n]*\b{name}\b"
    checks = [check for check, home in _homes().items() if home == _name(path)]
    pattern = re.compile("|".join((imports, *map(re.escape, checks))))
    apart = set(_table()["apart"])
    counts = {file: len(pattern.findall(text)) for file, text in _texts().items() if file.name not in apart}
    found = [file for file in counts if counts[file]]
    return list(map(str, sorted(found, key=lambda file: -counts[file])[:_MOST]))


@cache
def _texts() -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for path in sorted(TESTS.glob("test_*.py"))}


def _name(path: Path) -> str:
    """The dotted name of a module of checks: `translation.laws`."""
    return ".".join(path.relative_to(CHECKS).with_suffix("").parts)


@cache
def _homes() -> dict[str, str]:
    """The module that declares each check."""
    checks = importlib.import_module("art_compliance.checks").CHECKS
    return {one.id: one.run.__module__.removeprefix("art_compliance.checks.") for one in checks.values()}


@cache
def _imports() -> dict[str, set[str]]:
    """The modules of checks that each module of checks imports directly."""
    found: dict[str, set[str]] = {}
    for path in CHECKS.rglob("[a-z]*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
        names = {f"{node.module}.{alias.name}" for node in imports for alias in node.names}
        names |= {str(node.module) for node in imports}
        found[_name(path)] = {name.partition("art_compliance.checks.")[2] for name in names} - {""}
    return found


def _closure(name: str) -> set[str]:
    imported: set[str] = _imports().get(name, set())
    return imported.union(*map(_closure, imported))


def _named(path: Path) -> list[str]:
    """The tests that `targets.toml` names for this module."""
    name = str(path.relative_to(SUITE))
    named = (tests for pattern, tests in _table()["tests"].items() if fnmatch(name, pattern))
    words = shlex.split(next(named, ""))
    return [str(TESTS / word) if word.startswith("test_") and word.endswith(".py") else word for word in words]


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("targets.toml").read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.path.insert(0, str(TESTS))
    print(json.dumps({module: tests_for(module) for module in sys.argv[1:]}))
