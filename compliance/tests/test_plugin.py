"""The plugin in somebody else's project, run as its author would run it.

A whole adapter is certified by it in test_wheel.py alone.
"""

from __future__ import annotations

import json
import os
import shlex

import pytest

from art_compliance import Selection
from art_compliance.run.selection import by_check
from plugin_projects import FEW, ONE_LINE_WRONG, SUITE_FILE


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


@pytest.mark.once
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


@pytest.mark.unmeasured
@pytest.mark.once
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


@pytest.mark.once
def test_two_adapters_in_two_files_have_a_summary_each(run, pytester):
    other = SUITE_FILE.replace("OpenAIAdapter", "GeminiAdapter")
    pytester.makepyfile(test_one=SUITE_FILE.format(scope="session"), test_two=other.format(scope="session"))
    result = run(*FEW)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["art_sdk.adapters.chat_completions.openai:*", "art_sdk.adapters.gemini.adapter:*"])


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


@pytest.mark.once
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
