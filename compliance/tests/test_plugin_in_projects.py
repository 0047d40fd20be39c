"""The plugin in projects with settings, hooks, plugins and a pytest of their own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

OTHERS = Path(sys.prefix) / "others"
"""Where `make others` installs what these tests want next to this environment, or in place of a part of it."""

ADAPTER = """
from art_sdk import GeminiAdapter

class Theirs(GeminiAdapter):
    pass
"""

CONFTEST = """
import pytest
from theirs import Theirs

@pytest.fixture(scope="session")
def art_adapter():
    return Theirs

@pytest.fixture(autouse=True)
def quiet(request, monkeypatch):
    monkeypatch.setenv("QUIET", request.node.name)

def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: (item.path.name, item.name))
    for item in items:
        item.add_marker(pytest.mark.slow if item.get_closest_marker("fast") is None else pytest.mark.usual)

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    report.sections.append(("theirs", str(item.location)))
    return report
"""

SETTINGS = """
[pytest]
addopts = --strict-markers --strict-config
markers =
    slow
    usual
filterwarnings = error
"""

ASYNC_TESTS = """
import asyncio
from art_compliance.suite import *

async def test_their_own():
    await asyncio.sleep(0)
"""

FEW = ("--art-scenario", "one-question", "--art-scenario", "parallel-calls")


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(theirs=ADAPTER)
    return pytester


def run_beside(project: pytest.Pytester, name: str, *arguments: str) -> pytest.RunResult:
    """Run pytest with what `make others` has installed under this name. Skips without it."""
    if not (OTHERS / name).is_dir():
        pytest.skip(f"{OTHERS / name} is not there: make others installs it")
    path = os.pathsep.join([str(OTHERS / name), str(project.path)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", path)
        return project.runpytest_subprocess("-p", "no:cacheprovider", "--art-in-process", *arguments, timeout=120)


def test_strict_settings_and_hooks_of_an_authors_own_change_nothing(project: pytest.Pytester):
    project.makeconftest(CONFTEST)
    project.makeini(SETTINGS)
    project.makepyfile(test_theirs="from art_compliance.suite import *")
    result = project.runpytest_inprocess(
        "-q", "-p", "no:cacheprovider", "--art-in-process", "--art-adapter", "theirs:Theirs", *FEW
    )
    assert result.ret == 0
    assert set(result.parseoutcomes()) == {"passed", "not"}  # applicable
    assert result.stdout.str().count("theirs:Theirs  (white box, gemini-generate)") == 2


@pytest.mark.once
@pytest.mark.unmeasured
def test_the_oldest_pytest_that_is_supported_runs_the_checks(project: pytest.Pytester):
    given = ("--art-adapter", "theirs:Theirs", "--junitxml", "junit.xml", *FEW)
    result = run_beside(project, "pytest-9.0", *given)
    result.stdout.fnmatch_lines(["*pytest-9.0.*", "theirs:Theirs  (white box, gemini-generate)"])
    assert result.ret == 0
    assert 'skipped="0"' in (project.path / "junit.xml").read_text(encoding="utf-8")


@pytest.mark.once
@pytest.mark.unmeasured
def test_pytest_asyncio_may_take_every_coroutine(project: pytest.Pytester):
    project.makeini(SETTINGS + "asyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")
    project.makepyfile(test_theirs=ASYNC_TESTS)
    result = run_beside(project, "pytest-asyncio", "--art-adapter", "theirs:Theirs", *FEW)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*asyncio: mode=*.AUTO*", "test_theirs.py .*", "theirs:Theirs  (white box, *"])
