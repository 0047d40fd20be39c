from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from art_compliance import resources
from art_compliance.cli import explaining_missing
from art_compliance.commands import app
from art_compliance.resources import data_folder
from art_sdk import BUILT_IN

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

FEW = ("--scenario", "one-question", "--scenario", "parallel-calls")
"""Whole certifications are those of test_reference_adapters.py."""


@pytest.fixture
def art(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, arguments)


def test_every_reference_adapter_is_judged_and_reported(art, tmp_path: Path):
    result = art("certify", "--built-in", "--in-process", "--seed", "3", *FEW)
    assert result.exit_code == 0
    assert result.output.count("a filtered run never certifies") == len(BUILT_IN)
    assert "report: art-report/report.json" in result.output
    assert all(name in (tmp_path / "art-report" / "index.html").read_text(encoding="utf-8") for name in BUILT_IN)
    reports = json.loads((tmp_path / "art-report" / "report.json").read_text(encoding="utf-8"))["reports"]
    judged = [(one["adapter"]["name"], one["is_certified"], one["seed"]) for one in reports]
    assert judged == [(name, False, 3) for name in BUILT_IN]
    levels = reports[0]["levels"]
    assert levels["core"]["passed"] > 30
    assert levels["tools"]["passed"] > 30


def test_a_failing_adapter_ends_with_1_and_a_suite_that_cannot_work_with_2(art, tmp_path: Path):
    (tmp_path / "wrong_adapter.py").write_text(
        "from art_compliance.miniatures.content import trims_user_text\n"
        "from art_sdk import GeminiAdapter\n"
        "Wrong = trims_user_text.of(GeminiAdapter)\n"
    )
    result = art("certify", "wrong_adapter:Wrong", "--in-process", "--scenario", "outer-blanks", "--verbose")
    assert result.exit_code == 1
    assert "FAIL translation.user-text-survives" in result.output
    assert "payload /contents/0/parts/0" in result.output
    assert art("certify", "wrong_adapter:Gone").exit_code == 2


LOUD_ADAPTER = """
import logging, sys

class Loud:
    dialect = "openai-chat"

    def __init__(self, **_):
        print("printed")
        logger = logging.getLogger("loud")
        logger.addHandler(logging.StreamHandler())
        logger.warning("logged")

    def translate(self, prompt, options):
        print("to standard error", file=sys.stderr)
        raise ValueError("broken")
"""


def test_what_an_adapter_prints_in_a_whole_run_is_kept_in_a_file(art, tmp_path: Path):
    (tmp_path / "loud.py").write_text(LOUD_ADAPTER)
    result = art("certify", "loud:Loud", "--in-process")
    assert result.exit_code == 2
    written = (tmp_path / "art-report" / "output.txt").read_text(encoding="utf-8")
    assert {"printed", "logged", "to standard error"} <= set(written.splitlines())
    assert f"output of the adapter: {len(written.splitlines())} lines, in art-report/output.txt" in result.output
    assert "logged" not in result.output


def test_what_an_adapter_prints_in_a_filtered_run_is_shown(art, tmp_path: Path):
    (tmp_path / "loud.py").write_text(LOUD_ADAPTER)
    result = art("certify", "loud:Loud", "--in-process", "--check", "translation.is-total")
    assert "printed" in result.output
    assert not (tmp_path / "art-report" / "output.txt").exists()


def test_a_silent_adapter_leaves_no_file_not_even_an_older_one(art, tmp_path: Path):
    (tmp_path / "art-report").mkdir()
    (tmp_path / "art-report" / "output.txt").write_text("older")
    quiet = "".join(line for line in LOUD_ADAPTER.splitlines(keepends=True) if "print" not in line)
    (tmp_path / "silent.py").write_text(quiet.replace(".warning(", ".debug("))
    result = art("certify", "silent:Loud", "--in-process")
    assert "printed meanwhile" not in result.output
    assert not (tmp_path / "art-report" / "output.txt").exists()


def test_an_authors_own_scenarios_run_as_well(art, tmp_path: Path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "my-prompt.json").write_text(
        json.dumps(
            {
                "purpose": "What my agent really builds.",
                "prompt": [{"role": "user", "content": "hi"}],
                "outcomes": {"default": ["refused:PROMPT_TRANSLATION_FAILED"]},
            }
        )
    )
    result = art("certify", "openai", "--in-process", "--scenarios-from", "mine", "--scenario", "my-prompt")
    assert result.exit_code == 1
    assert "the outcome is exact; expected refused:PROMPT_TRANSLATION_FAILED" in result.output
    assert "on      my-prompt: What my agent really builds." in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("certify",), "name an adapter"),
        (("certify", "openai", "--check", "x"), "there is no check 'x'; art checks lists them all"),
        (("certify", "openai", "--scenario", "x"), "there is no scenario 'x'; art scenarios lists them all"),
        (
            ("certify", "openai", "--in-process", "--scenario", "one-question", "--report", "/dev/null/x"),
            "cannot write into the folder /dev/null/x",
        ),
        (("certify", "openai", "--shard", "4/3"), "'4/3' is not a shard; write the second of three as 2/3"),
        (("certify", "openai", "--time-limit", "-1"), "Invalid value for '--time-limit'"),
        (
            ("schema", "poem"),
            "there is no schema 'poem'; known: prompt, options, scenario, agent, contributors, bridge, report",
        ),
    ],
)
def test_what_cannot_be_done_ends_with_a_message_and_code_2(art, arguments, message):
    result = art(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_a_live_certification_without_a_key_names_only_options_of_its_own(art):
    result = art("certify", "openai", "--live")
    assert result.exit_code == 2
    assert "a real provider needs a key: name the environment variable that holds it with --key-from" in result.output
    assert "strict-provider" not in result.output


def test_checks_and_scenarios_are_listed_with_their_purpose(art):
    assert "translation.is-total\n    For every well-formed prompt" in art("checks").output
    assert "simple-chat/one-question\n    The smallest useful prompt" in art("scenarios").output


def test_a_schema_is_printed_as_it_is_in_its_file(art):
    kept = data_folder("fixtures") / "schemas" / "scenario.schema.json"
    assert art("schema", "scenario").output == kept.read_text(encoding="utf-8")


def test_a_rule_is_explained_with_a_request_that_breaks_it(art):
    result = art("explain", "openai.tools-nonempty")
    assert result.exit_code == 0
    for part in ("empty array. Expected", "vllm/pull/39780", "observed", "reject: the provider", '"tools": []'):
        assert part in result.output


def test_rules_are_listed_and_an_unknown_one_gets_suggestions(art):
    assert "openai.tools-nonempty" in art("explain").output.splitlines()
    result = art("explain", "openai.tools-empty")
    assert result.exit_code == 2
    assert "unknown rule 'openai.tools-empty'; did you mean openai.tools-nonempty" in result.output
    assert art("explain", "?").exit_code == 2


def test_a_check_is_explained_with_its_law(art):
    result = art("explain", "translation.user-text-survives")
    assert result.exit_code == 0
    for part in (
        "Every user text is in the request once",
        "loss or corruption",
        "--check translation.user-text-survives",
    ):
        assert part in result.output


def test_an_installed_package_is_not_written_into(art, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(resources, "PACKAGE", resources.CHECKOUT)
    for command in (("requirements", "--write"), ("wire", "rebuild")):
        result = art(*command)
        assert (result.exit_code, "writes into fixtures/ of a checkout, but" in result.stderr) == (2, True), command


def test_the_page_of_rules_is_printed(art):
    assert "### openai.tools-nonempty" in art("explain", "--page").output


def test_the_version_is_printed(art):
    assert art("version").output.strip()[0].isdigit()
    assert art("--version").output == art("version").output


def test_a_missing_module_of_the_authors_own_is_not_explained_as_a_missing_extra():
    with pytest.raises(ModuleNotFoundError), explaining_missing(pytest.fail):
        raise ModuleNotFoundError("No module named 'my_own'", name="my_own")


def test_an_agents_configuration_is_checked_and_explained(art, tmp_path: Path):
    (tmp_path / "agent.json").write_text('{"llm": {"provider": "openai"}, "pes": {"maxRounds": 2}}')
    assert art("agent", str(tmp_path / "agent.json")).stdout == "The configuration can be used.\n"
    assert "pes.maxRounds = 2  (given)\n" in art("agent", str(tmp_path / "agent.json"), "--explain").stdout
    assert "pes.maxRounds = 1  (default)\n" in art("agent", "--explain").stdout
    (tmp_path / "agent.json").write_text('{"llm": {"provider": "openai"}, "pes": {"maxRounds": 0}}')
    wrong = art("agent", str(tmp_path / "agent.json"))
    assert (wrong.exit_code, "$.pes.maxRounds: " in wrong.stderr) == (2, True)


@pytest.mark.parametrize(
    ("command", "folder"),
    [("certify openai --report", "file"), ("record openai --from-strict-provider --into", "file/below")],
)
def test_a_folder_that_cannot_be_written_into_is_found_before_the_run(art, tmp_path: Path, command: str, folder: str):
    (tmp_path / "file").write_text("mine")
    result = art(*command.split(), folder)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"art: cannot write into the folder {folder}: " in result.stderr or "it is a file" in result.stderr
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.once
def test_the_last_of_several_adapters_is_looked_for_before_the_first_one_is_judged(art, tmp_path: Path):
    (tmp_path / "mine.py").write_text("from art_sdk import OpenAIAdapter\nclass Mine(OpenAIAdapter): pass\n")
    result = art("certify", "openai", "mine:Mine", "mine:Mime", *FEW)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "art: mine:Mime: 'mine' has no attribute 'Mime'; did you mean Mine?" in result.stderr
