"""What `make mutants` names exists: modules, tests, miniatures; and every check and dialect has tests to notice it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from art_compliance.dialects import DIALECTS
from art_compliance.miniatures import MINIATURES

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # they read files and start processes

ROOT = Path(__file__).resolve().parents[2]
SUITE = ROOT / "compliance" / "art_compliance"
MUTANTS = ROOT / "compliance" / "mutants"


@pytest.fixture(scope="module")
def targets() -> dict[str, Any]:
    return tomllib.loads((MUTANTS / "targets.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def noticed() -> dict[str, list[str]]:
    """What noticing.py prints: the arguments for pytest, by module."""
    paths = (path for folder in ("checks", "dialects") for path in sorted((SUITE / folder).rglob("*.py")))
    modules = [str(path.relative_to(ROOT)) for path in paths]
    done = subprocess.run(
        [sys.executable, MUTANTS / "noticing.py", *modules], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_how_long_the_kept_trials_take_is_known_for_the_changed_module_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(MUTANTS)
    forking, known = import_module("forking"), import_module("knowing").Known()
    kept, other = "compliance/tests/test_kept_trials.py::test[a]", "compliance/tests/test_streams.py::test[a]"
    unknown = known.limit(kept)
    known.module = "checks/one.py"
    known.learn(forking.Outcome("survived", times={kept: 1.0, other: 1.0}))
    assert known.limit(kept) == known.limit(other) < unknown
    known.module = "checks/trial.py"  # which all checks use: they are tried one and all
    assert known.limit(kept) == unknown
    assert known.limit(other) < unknown


def test_every_pattern_of_a_module_matches_one(targets):
    assert [pattern for pattern in targets["tests"] if not [*SUITE.glob(pattern)]] == []


def test_every_miniature_and_dialect_that_is_named_exists(targets):
    dialects = {name.replace("-", "_") for name in DIALECTS}
    named = {*targets["dialects"]["more"], *targets["dialects"]["concerns"]}
    assert named | {one for others in targets["dialects"]["concerns"].values() for one in others} <= dialects
    assert set(targets["slow"]) <= {miniature.id for miniature in MINIATURES}


def test_every_module_of_checks_and_dialects_is_noticed_by_tests_that_exist(noticed):
    named = {word for arguments in noticed.values() for word in arguments if word.startswith("compliance/")}
    files = {name.partition("::")[0] for name in named}
    assert [name for name in sorted(files) if not (ROOT / name).is_file()] == []
    tests = {tuple(name.partition("[")[0].split("::")) for name in named if "::" in name}
    assert [
        (file, test) for file, test in sorted(tests) if f"def {test}(" not in (ROOT / file).read_text("utf-8")
    ] == []


def test_every_word_of_an_expression_is_in_a_name_of_its_tests(targets):
    for tests in targets["tests"].values():
        files, _, expression = tests.partition("-k")
        names = "".join((ROOT / "compliance" / "tests" / file).read_text("utf-8") for file in files.split())
        words = set(re.findall(r"\w+", expression)) - {"or", "and", "not"}
        assert [word for word in sorted(words) if not re.search(rf"def test_\w*{word}|\[.*{word}", names)] == []


def test_the_tests_run_without_the_plugins_that_mutants_leave_out():
    switches = (
        "import forking, pytest; raise SystemExit(pytest.main([*forking.SWITCHES, 'compliance/tests/test_frozen.py']))"
    )
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(MUTANTS)}
    done = subprocess.run([sys.executable, "-c", switches], cwd=ROOT, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout
