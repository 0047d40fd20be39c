"""What is wrong with a project before a check runs: one message, and code 2."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from art_compliance.cli import EXTRA
from plugin_projects import FEW, SUITE_FILE

pytestmark = pytest.mark.unmeasured  # other tests run the same lines


def test_a_fixture_of_the_wrong_scope_is_reported(run, pytester):
    pytester.makepyfile(test_mine=SUITE_FILE.format(scope="function"))
    result = run()
    assert result.ret == 2
    output = result.stdout.str() + result.stderr.str()
    assert "the fixture art_adapter in test_mine.py has the scope 'function'; write @pytest.fixture(scope=" in output


def test_a_missing_fixture_is_reported(run, pytester):
    pytester.makepyfile(test_mine="from art_compliance.suite import *")
    result = run()
    assert result.ret == 2
    assert "define a session-scoped fixture art_adapter" in result.stdout.str() + result.stderr.str()


@pytest.mark.parametrize(
    ("files", "arguments", "message"),
    [
        ({}, ("--art-adapter", "nowhere:X"), "there is no module 'nowhere'"),
        ({}, ("--art-adapter", "openia"), "there is no adapter 'openia'"),
        ({"m": "1/0"}, ("--art-adapter", "m:X"), "importing 'm' failed: ZeroDivisionError: division by zero"),
        ({"m": "X = 5"}, ("--art-adapter", "m:Y"), "'m' has no attribute 'Y'"),
        ({"m": "X = 5"}, ("--art-adapter", "m:X"), "'X' is an int, not a factory"),
        ({"m": "def X(**_): raise OSError('no')"}, ("--art-adapter", "m:X"), "the factory raised OSError: no"),
        ({"m": "def X(): pass"}, ("--art-adapter", "m:X"), "it is called with api_key, base_url and model"),
        ({"m": "def X(**_): return 5"}, ("--art-adapter", "m:X"), "made an int, which has neither translate nor call"),
        (
            {},
            ("--art-adapter", "openai", "--art-dialect", "klingon"),
            "unknown dialect 'klingon'; known: anthropic-messages, bedrock-converse",
        ),
        ({}, ("--art-adapter", "openai", "--art-check", "translation.is-totl"), "did you mean translation.is-total"),
        ({}, ("--art-adapter", "openai", "--art-scenario", "one-qestion"), "did you mean one-question"),
        ({}, ("--art-adapter", "openai", "--art-scenarios-from", "gone"), "there are no scenario files in gone"),
        (
            {"m": "class X:\n  def __init__(self, **_): pass\n  def translate(self, p, o): return 1/0"},
            ("--art-adapter", "m:X"),
            "HARNESS preflight.greeting-translates",
        ),
    ],
)
def test_a_setup_error_ends_with_one_message_and_code_2(run, pytester, files, arguments, message):
    if files:
        pytester.makepyfile(**files)
    result = run(*arguments)
    output = result.stdout.str() + result.stderr.str()
    assert result.ret == 2
    assert message in output
    assert "Traceback" not in output


MISSING = "art: the suite needs yaml, which is not installed; install the suite with: pip install 'art-adapter-sdk*"


@pytest.fixture
def without_yaml(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Runs a command where `yaml` is not installed, as without the extra `compliance`."""
    pytester.makepyfile(yaml="raise ModuleNotFoundError(\"No module named 'yaml'\", name='yaml')")
    monkeypatch.setenv("PYTHONPATH", str(pytester.path))
    return lambda *command: pytester.run(sys.executable, "-m", *command)


@pytest.mark.once
def test_a_missing_extra_is_one_sentence_of_the_command(without_yaml):
    result = without_yaml("art_compliance.cli", "certify", "openai")
    assert result.ret == 2
    result.stderr.fnmatch_lines([MISSING])
    assert "Traceback" not in result.stderr.str()


@pytest.mark.once
@pytest.mark.parametrize(
    ("arguments", "test"), [(["--art-adapter", "openai"], ""), ([], "from art_compliance.suite import *")]
)
def test_a_missing_extra_is_one_sentence_under_pytest(without_yaml, pytester, arguments, test):
    pytester.makepyfile(test_mine=test)
    result = without_yaml("pytest", "-q", "-p", "no:cacheprovider", *arguments)
    assert result.ret == 2
    output = result.stdout.str() + result.stderr.str()
    assert MISSING.strip("*") in output
    assert "Traceback" not in output


def test_the_modules_of_the_extra_are_known():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {Requirement(one).name for one in project["optional-dependencies"]["compliance"]}
    modules = {"jsonschema-rs": "jsonschema_rs", "vcrpy": "vcr"}
    assert {modules.get(name, name) for name in wanted} == EXTRA - {"yaml"}  # vcrpy brings yaml


@pytest.mark.parametrize("arguments", [("--art-adapter", "openai"), ()])
def test_a_report_that_cannot_be_written_is_reported_before_the_run(run, pytester, arguments):
    pytester.makepyfile(test_mine=SUITE_FILE.format(scope="session"))
    result = run("--art-report", "/dev/null/x", *arguments, *FEW)
    assert result.ret == 2
    output = result.stdout.str() + result.stderr.str()
    assert "art: cannot write into the folder /dev/null/x: " in output
    assert "passed" not in output


WRONG_FIXTURES = [
    ("1 / 0", "the fixture art_adapter raised ZeroDivisionError: division by zero, at test_mine.py:7 in art_adapter"),
    ("return OpenAIAdapter(api_key='k')", "an OpenAIAdapter is not a factory; give the adapter's class or a function"),
    ("OpenAIAdapter", "nothing (None) is not a factory; give the adapter's class or a function"),
    ("return lambda **_: 5", "the factory made an int, which has neither translate nor call"),
]


@pytest.mark.parametrize(("line", "message"), WRONG_FIXTURES)
def test_a_wrong_fixture_is_one_message(run, pytester, line, message):
    text = SUITE_FILE.format(scope="session").replace("return OpenAIAdapter", line)
    pytester.makepyfile(test_mine=text)
    result = run(*FEW)
    assert result.ret == 2
    output = result.stdout.str() + result.stderr.str()
    assert output.count(message) == 1
    assert "Traceback" not in output


@pytest.mark.once
def test_workers_pass_on_what_is_wrong_with_a_fixture(pytester):
    line, message = WRONG_FIXTURES[0]
    text = SUITE_FILE.format(scope="session").replace("return OpenAIAdapter", line)
    pytester.makepyfile(test_mine=text)
    result = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider", "-n", "1", *FEW, timeout=120)
    assert result.ret == 2
    assert message in result.stdout.str() + result.stderr.str()


def test_preflight_stops_the_run_of_a_test_file(run, pytester):
    text = SUITE_FILE.format(scope="session").replace("return OpenAIAdapter", "return Wrong")
    wrong = "class Wrong:\n  def __init__(self, **_): pass\n  def translate(self, p, o): return None\n"
    pytester.makepyfile(test_mine=wrong + text)
    result = run(*FEW)
    assert result.ret == 2
    assert "HARNESS preflight.greeting-translates" in result.stdout.str() + result.stderr.str()
