"""The plugin in somebody else's project, run as its author would run it.

A whole adapter is certified by it in test_wheel.py alone.
"""

from __future__ import annotations

import importlib
import json
import os
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from art_compliance import Selection
from art_compliance.cli import EXTRA
from art_compliance.run.selection import by_check

# A run in this process unloads what it was the first to import, so what every run needs is imported before.
for needed in ("cassettes.recording", "pytest_plugin.run", "pytest_plugin.summary", "run.runner", "strategies"):
    importlib.import_module(f"art_compliance.{needed}")

SUITE_FILE = """
import pytest
from art_compliance.suite import *
from art_sdk import OpenAIAdapter

@pytest.fixture(scope="{scope}")
def art_adapter():
    return OpenAIAdapter
"""

ONE_LINE_WRONG = """
from art_sdk import OpenAIAdapter

class MyAdapter(OpenAIAdapter):
    def translate(self, prompt, options):
        payload = super().translate(prompt, options)
        payload["messages"] = [m for m in payload["messages"] if m["role"] != "system"]
        return payload
"""

FEW = ("--art-scenario", "one-question", "--art-scenario", "parallel-calls")


@pytest.fixture
def run(pytester: pytest.Pytester):
    """Run pytest in this process. A run that stops with code 2 is not a Ctrl-C that should stop these tests, too."""
    return lambda *arguments: pytester.runpytest_inprocess(
        "-q", "-p", "no:cacheprovider", "--art-in-process", *arguments, no_reraise_ctrlc=True
    )


@pytest.fixture
def run_apart(pytester: pytest.Pytester):
    """As `run`, with the adapter in its own process, as it usually is."""
    return lambda *arguments: pytester.runpytest_inprocess(
        "-q", "-p", "no:cacheprovider", *arguments, no_reraise_ctrlc=True
    )


def test_an_adapter_is_judged_without_a_test_file(run, pytester):
    result = run("--art-adapter", "openai", "--art-report", "out", "--art-seed", "7", *FEW)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["*adapter conformance*", "openai  (white box, openai-chat)", "report: out/report.json"]
    )
    report = json.loads((pytester.path / "out" / "report.json").read_text(encoding="utf-8"))["reports"][0]
    assert (report["is_certified"], report["rerun"]["seed"]) == (False, 7)


@pytest.mark.once
@pytest.mark.unmeasured
def test_two_workers_find_what_one_finds_for_the_option_and_for_a_test_file(run, pytester):
    pytester.makepyfile(test_mine=SUITE_FILE.format(scope="session"), my_adapter=ONE_LINE_WRONG)
    given = ("--art-adapter", "my_adapter:MyAdapter", "--art-seed", "9", *FEW)
    alone = run(*given)
    together = pytester.runpytest_subprocess(
        "-q", "-p", "no:cacheprovider", "-n", "2", "--art-in-process", "--art-report", "out", *given, timeout=120
    )
    assert (alone.ret, together.ret) == (1, 1)
    assert together.parseoutcomes() == alone.parseoutcomes()
    assert {*_summary_of(together)} == {*_summary_of(alone), "report: out/report.json"}
    together.stdout.fnmatch_lines(
        ["FAIL translation.system-text-survives: 2 findings in 2 scenarios", "*adapter conformance*"]
    )
    reports = json.loads((pytester.path / "out" / "report.json").read_text(encoding="utf-8"))["reports"]
    names = {"my_adapter:MyAdapter", "art_sdk.adapters.chat_completions.openai:OpenAIAdapter"}
    assert {report["adapter"]["name"] for report in reports} == names
    for report in reports:
        assert {result["scenario"] for result in report["results"]} == {"greeting", "one-question", "parallel-calls"}
        assert report["rerun"]["seed"] == 9


def _summary_of(result: pytest.RunResult) -> list[str]:
    lines = result.outlines[next(n for n, line in enumerate(result.outlines) if "adapter conformance" in line) :]
    return lines[: next(n for n, line in enumerate(lines) if "short test summary" in line)]


@pytest.mark.once
@pytest.mark.unmeasured
def test_an_adapter_that_ends_its_process_has_failed(run_apart, pytester):
    pytester.makepyfile(m="import os; os._exit(0)")
    result = run_apart("--art-adapter", "m:X", *FEW)
    assert result.ret == 1
    assert (
        "m:X: the adapter could not be created: its process ended with exit code 0"
        in result.stdout.str() + result.stderr.str()
    )


@pytest.mark.once
@pytest.mark.unmeasured
def test_an_adapter_under_pytest_has_a_process_of_its_own(run_apart, pytester):
    pytester.makepyfile(
        m="import os\nfrom art_sdk import OpenAIAdapter\nclass X(OpenAIAdapter):\n"
        "    def __init__(self, **settings):\n        super().__init__(**settings)\n"
        f"        assert os.getpid() != {os.getpid()}"
    )
    result = run_apart("--art-adapter", "m:X", "--art-scenario", "one-question", "--art-report", "out")
    assert result.ret == 0
    report = json.loads((pytester.path / "out" / "report.json").read_text(encoding="utf-8"))["reports"][0]
    assert report["in_process"] is None


def test_a_failure_is_the_checks_and_shows_what_the_command_shows(run, pytester):
    pytester.makepyfile(my_adapter=ONE_LINE_WRONG)
    result = run("--art-adapter", "my_adapter:MyAdapter", "--junitxml", "junit.xml", *FEW)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "*= FAILURES =*",
            "*_ translation.system-text-survives on 2 scenarios _*",
            "FAIL translation.system-text-survives: 2 findings in 2 scenarios",
            "  law     Every system text is in the request once, character for character.",
            "  on      parallel-calls: *",
            '  wrong   the system turn is lost: "Use the tools."',
            "  where   prompt $[[]0]*",
            "  again   art certify my_adapter:MyAdapter --in-process --seed * --check translation.system-* --scen*",
            "  also    one-question",
            "*adapter conformance*",
            "  loss or corruption      2 findings of 1 check, in 2 trials",
            "*NOT certified*",
            "FAILED art::translation.system-text-survives - the system turn is lost: *",
        ]
    )
    junit = (pytester.path / "junit.xml").read_text(encoding="utf-8")
    assert len(junit) < 30_000
    assert 'failures="1" skipped="0"' in junit
    assert junit.count("<testcase") == sum(result.parseoutcomes().values())
    case = junit[junit.index('name="translation.system-text-survives"') :].partition("</testcase>")[0]
    assert '<property name="trials" value="2 failed" />' in case
    assert '<failure message="the system turn is lost: &quot;Use the tools.&quot; (and 1 more scenario)">' in case


def test_what_is_not_applicable_is_counted_apart_and_is_no_skip(run):
    check = ("--art-check", "translation.undeclared-use-is-refused", "--art-check", "translation.is-total")
    result = run("--art-adapter", "openai", *check, "--art-scenario", "parallel-calls", "-rs", "-vv")
    result.stdout.fnmatch_lines(
        ["art::translation.undeclared-use-is-refused NOT APPLICABLE *", "*3 passed, 1 not applicable*"]
    )
    assert "skipped" not in result.parseoutcomes()


NAIVE = """
class MyAdapter:
    dialect = "openai-chat"

    def __init__(self, **_):
        pass

    def translate(self, prompt, options):
        return {"model": "m", "messages": prompt, **options}
"""


@pytest.mark.parametrize("arguments", [(), ("-vv",)])
def test_of_many_causes_the_first_are_shown_and_all_with_verbose(run, pytester, arguments):
    pytester.makepyfile(my_adapter=NAIVE)
    images = ("one-image", "two-images", "gif-image", "jpeg-and-webp", "url-and-inline")
    selected = [part for name in images for part in ("--art-scenario", name)]
    check = ("--art-check", "translation.images-survive")
    result = run("--art-adapter", "my_adapter:MyAdapter", *check, *selected, *arguments)
    shown = sum(line.startswith("FAIL translation.images-survive") for line in result.outlines)
    left = [line for line in result.outlines if line.endswith("; -v shows all of them")]
    assert (shown, left) == ((5, []) if arguments else (3, ["  and 2 more causes; -v shows all of them"]))


def test_an_authors_own_failing_tests_are_shown_as_ever(run, pytester):
    pytester.makepyfile(my_adapter=ONE_LINE_WRONG, test_own="def test_own(): assert 1 == 2")
    result = run("--art-adapter", "my_adapter:MyAdapter", *FEW)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*= FAILURES =*", "*assert 1 == 2*", "FAILED test_own.py::test_own *"])


def test_a_failure_in_a_test_file_shows_the_finding_and_no_code_of_the_suite(run, pytester):
    adapter = ONE_LINE_WRONG + '\n@pytest.fixture(scope="session")\ndef art_adapter():\n    return MyAdapter\n'
    pytester.makepyfile(test_mine=f"import pytest\nfrom art_compliance.suite import *\n{adapter}")
    result = run("--art-check", "translation.system-text-survives", "--art-scenario", "one-question")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["FAIL translation.system-text-survives", "  where   prompt $[[]0]*"])
    result.stdout.no_fnmatch_line("*def *")
    command = next(line for line in result.outlines if line.startswith("  again "))
    assert "pytest test_mine.py::test_adapter --art-in-process --art-seed " in command
    again = run(*shlex.split(command)[2:])
    assert again.ret == 1
    again.stdout.fnmatch_lines(["FAIL translation.system-text-survives"])


@pytest.mark.once
@pytest.mark.unmeasured
def test_a_filtered_run_never_certifies(run):
    for arguments in (FEW, ("-k", "broken-answer"), ("--art-check", "response.broken-answer-is-an-error")):
        result = run("--art-adapter", "openai", *arguments)
        assert result.ret == 0
        result.stdout.fnmatch_lines(["*a filtered run never certifies*"])


def test_the_failures_alone_can_be_run_again(pytester):
    pytester.makepyfile(my_adapter=ONE_LINE_WRONG)
    arguments = ("-q", "--art-in-process", "--art-adapter", "my_adapter:MyAdapter", *FEW)
    first, again = (pytester.runpytest_inprocess(*arguments, *more) for more in ((), ("--lf",)))
    assert first.parseoutcomes()["failed"] == again.parseoutcomes()["failed"] > 0
    assert "passed" not in again.parseoutcomes()


def test_the_checks_run_beside_an_authors_own_tests(run, pytester):
    pytester.makepyfile(test_own="def test_own(): pass")
    result = run("--art-adapter", "openai", *FEW)
    assert result.ret == 0
    assert run().parseoutcomes() == {"passed": 1}


@pytest.mark.unmeasured
def test_an_authors_test_file_collects_every_check(run, pytester):
    pytester.makepyfile(test_mine=SUITE_FILE.format(scope="session"))
    result = run("--collect-only")
    assert result.ret == 0
    collected = [line for line in result.outlines if "::" in line]
    assert collected == [f"test_mine.py::test_adapter[{trials.check.id}]" for trials in by_check(Selection().plan())]


@pytest.mark.unmeasured
def test_several_adapters_have_items_of_their_own(run):
    result = run("--art-adapter", "openai", "--art-adapter", "gemini", "--collect-only", "-k", "is-total")
    assert [line for line in result.outlines if "::" in line] == [
        "art::openai::translation.is-total",
        "art::gemini::translation.is-total",
    ]


def test_the_option_names_the_adapter_of_a_test_file_and_the_checks_run_once(run, pytester):
    pytester.makepyfile(
        test_mine="from art_compliance.suite import *\n"
        "def test_mine(art_adapter): assert art_adapter(api_key='k').provider_name == 'gemini'"
    )
    result = run("--art-adapter", "gemini", "--art-check", "translation.is-total", "--art-scenario", "one-question")
    assert result.parseoutcomes() == {"passed": 4, "deselected": 3}
    result.stdout.fnmatch_lines(["gemini  (white box, gemini-generate)"])


def test_a_reference_adapter_has_the_cassettes_of_the_suite(run):
    result = run("--art-adapter", "openai", "--art-check", "replay.answer-is-read", "--art-scenario", "one-question")
    result.stdout.fnmatch_lines(["  replay *    1 passed     0 failed     0 not applicable"])


def test_a_keyword_that_is_a_scenario_gets_advice(run):
    result = run("--art-adapter", "openai", "-k", "one-question")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["-k selects checks by their ids; for scenarios, use --art-scenario one-question"])


def test_a_fixture_of_the_wrong_scope_is_reported(run, pytester):
    pytester.makepyfile(test_mine=SUITE_FILE.format(scope="function"))
    result = run()
    assert result.ret == 2
    output = result.stdout.str() + result.stderr.str()
    assert "the fixture art_adapter in test_mine.py has the scope 'function'; write @pytest.fixture(scope=" in output


@pytest.mark.unmeasured
def test_a_missing_fixture_is_reported(run, pytester):
    pytester.makepyfile(test_mine="from art_compliance.suite import *")
    result = run()
    assert result.ret == 2
    assert "define a session-scoped fixture art_adapter" in result.stdout.str() + result.stderr.str()


@pytest.mark.parametrize(
    ("files", "arguments", "message"),
    [
        ({}, ("--art-adapter", "nowhere:X"), "there is no module 'nowhere'"),
        ({}, ("--art-adapter", "openia"), "'openia' is neither module:attribute nor the name of an installed adapter"),
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
@pytest.mark.unmeasured
def test_a_missing_extra_is_one_sentence_of_the_command(without_yaml):
    result = without_yaml("art_compliance.cli", "certify", "openai")
    assert result.ret == 2
    result.stderr.fnmatch_lines([MISSING])
    assert "Traceback" not in result.stderr.str()


@pytest.mark.once
@pytest.mark.unmeasured
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


def test_the_plugin_imports_nothing_until_it_is_used(pytester):
    pytester.makepyfile(
        test_own="""
        import sys
        def test_own():
            loaded = [name for name in sys.modules if name.startswith(("art_sdk", "msgspec", "jsonschema", "httpx2"))]
            ours = [name for name in sys.modules if name.startswith("art_compliance")]
            assert loaded == [] and sorted(ours) == ["art_compliance", "art_compliance.plugin"]
        """
    )
    assert pytester.runpytest_subprocess("-q").parseoutcomes() == {"passed": 1}


def test_two_adapters_in_two_files_have_a_summary_each(run, pytester):
    other = SUITE_FILE.replace("OpenAIAdapter", "GeminiAdapter")
    pytester.makepyfile(test_one=SUITE_FILE.format(scope="session"), test_two=other.format(scope="session"))
    result = run(*FEW)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["art_sdk.adapters.chat_completions.openai:*", "art_sdk.adapters.gemini.adapter:*"])


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
@pytest.mark.unmeasured
def test_workers_pass_on_what_is_wrong_with_a_fixture(pytester):
    line, message = WRONG_FIXTURES[0]
    text = SUITE_FILE.format(scope="session").replace("return OpenAIAdapter", line)
    pytester.makepyfile(test_mine=text)
    result = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider", "-n", "2", *FEW, timeout=120)
    assert result.ret == 2
    assert message in result.stdout.str() + result.stderr.str()


def test_preflight_stops_the_run_of_a_test_file(run, pytester):
    text = SUITE_FILE.format(scope="session").replace("return OpenAIAdapter", "return Wrong")
    wrong = "class Wrong:\n  def __init__(self, **_): pass\n  def translate(self, p, o): return None\n"
    pytester.makepyfile(test_mine=wrong + text)
    result = run(*FEW)
    assert result.ret == 2
    assert "HARNESS preflight.greeting-translates" in result.stdout.str() + result.stderr.str()


SNAPSHOT_FILE = """
import pytest
from art_compliance.snapshots import *
from art_sdk import OpenAIAdapter

class Mine(OpenAIAdapter):
    default_model = "{model}"

@pytest.fixture(scope="session")
def art_adapter():
    return Mine
"""


def test_an_authors_payloads_are_snapshots_and_a_change_fails(run, pytester):
    pytester.makepyfile(test_mine=SNAPSHOT_FILE.format(model="first"))
    assert run(*FEW).ret == 1
    assert run(*FEW, "--snapshot-update").ret == 0
    kept = pytester.path / "payloads" / "test_mine" / "one-question.json"
    assert json.loads(kept.read_text(encoding="utf-8"))["model"] == "first"
    run(*FEW).assert_outcomes(passed=2)
    pytester.makepyfile(test_mine=SNAPSHOT_FILE.format(model="second"))
    result = run(*FEW)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*first*"])
