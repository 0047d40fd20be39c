"""Generated prompts: reference adapters hold every law, defects are found, shrunk, kept, replayed and reproduced."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from art_compliance import HarnessError, Search, Selection, certify, judge_scenario
from art_compliance.checks import CHECKS
from art_compliance.checks.limits import NAME_LENGTH
from art_compliance.checks.properties.kept import folder_of, keep, kept_for
from art_compliance.checks.trial import drawn_id
from art_compliance.commands import app
from art_compliance.generating.profiles import PROFILES, Profile, find_profile
from art_compliance.generating.requests import FAMILIES, Request, needs_of
from art_compliance.generating.searching import make_requests
from art_compliance.miniatures import MINIATURES
from art_compliance.miniatures.content import drops_system_messages, trims_user_text
from art_compliance.run.report import Report
from art_compliance.run.rerun import Rerun
from art_compliance.run.sensitivity import describe_outcomes, measure_sensitivity
from art_sdk import AnthropicAdapter, GeminiAdapter, OpenAIAdapter
from right_adapters import OnlyCalls

PROPERTIES = Selection(checks=tuple(name for name in CHECKS if name.startswith("properties.")))
QUICK = Search(profile=PROFILES["quick"])
WHOLE = "generated-conversations"


def failures(report: Report) -> dict[str, Any]:
    return {result.check: result.findings[0] for result in (*report.failures, *report.harness_errors)}


@pytest.mark.once
@pytest.mark.unmeasured
@pytest.mark.parametrize(
    "name",
    [
        "drops-system-messages",
        "trims-user-text",
        "escapes-html",
        "normalizes-unicode",
        "drops-text-beside-calls",
        "adds-an-instruction",
        "drops-tool-descriptions",
        "drops-temperature",
        "stumbles-over-nameless-results",
        "swaps-results",
        "calls-failures-successes",
    ],
)
def test_a_known_defect_shrinks_to_at_most_three_messages(name: str):
    miniature = next(one for one in MINIATURES if one.id == name)
    profile = Profile(name="exam", examples=100, seconds=10.0, shrink_seconds=1.5)
    judged = ("nothing-is-lost", "every-prompt-has-an-outcome", "nothing-is-invented")
    laws = Selection(checks=tuple(f"properties.{law}" for law in judged), scenarios=(WHOLE,))
    found = failures(
        certify(miniature.of(OpenAIAdapter), selection=laws, seed=7, search=Search(profile=profile), isolated=False)
    )
    assert found
    least = min(len(finding.example.prompt) for finding in found.values())
    assert least <= 3


def test_the_same_seed_makes_the_same_prompts_and_another_seed_others():
    first = make_requests.__wrapped__(WHOLE, 5, 10)
    assert first == make_requests.__wrapped__(WHOLE, 5, 10)
    assert first != make_requests.__wrapped__(WHOLE, 6, 10)


def test_a_failing_prompt_is_kept_and_tried_first(tmp_path: Path):
    wrong, search = trims_user_text.of(GeminiAdapter), Search(profile=PROFILES["quick"], kept=tmp_path)
    lost = Selection(checks=("properties.nothing-is-lost",))
    first = failures(certify(wrong, selection=lost, seed=2, search=search, isolated=False))[
        "properties.nothing-is-lost"
    ]
    (path,) = tmp_path.rglob("properties.nothing-is-lost-*.json")
    assert json.loads(path.read_text(encoding="utf-8"))["prompt"] == first.example.prompt
    nothing_made = Search(profile=Profile(name="none", examples=1, seconds=0.0, shrink_seconds=0.0), kept=tmp_path)
    again = failures(certify(wrong, selection=lost, seed=99, search=nothing_made, isolated=False))[
        "properties.nothing-is-lost"
    ]
    assert again.example.prompt == first.example.prompt


def test_what_is_kept_for_one_law_and_family_is_not_replayed_for_another(tmp_path: Path):
    folder = folder_of(tmp_path, "my pkg:Adapter")
    assert folder.name == "my-pkg-Adapter"
    kept = keep(folder, "law.one", WHOLE, Request([{"role": "user", "content": "a"}], {}))
    assert re.fullmatch(r"law\.one-[0-9a-f]{8}\.json", kept.name)
    assert len(list(kept_for(folder, "law.one", WHOLE))) == 1
    assert list(kept_for(folder, "law.two", WHOLE)) == []
    turns = [{"answer": {"content": "b"}, "is_streamed": True}]
    keep(folder, "law.two", WHOLE, Request([{"role": "user", "content": "a"}], {"seed": 1}, turns))
    assert list(kept_for(folder, "law.two", WHOLE)) == [([{"role": "user", "content": "a"}], {"seed": 1}, turns)]
    for other in ("generated-broken-conversations", "generated-dialogues", "a", "z"):
        assert list(kept_for(folder, "law.one", other)) == []


def test_only_a_name_over_the_limit_is_shortened_where_prompts_are_kept(tmp_path: Path):
    longest = "a" * NAME_LENGTH
    assert folder_of(tmp_path, longest).name == longest
    shortened = {folder_of(tmp_path, longest + end).name for end in "bc"}
    assert len(shortened) == 2
    assert all(re.fullmatch(rf"{longest}-[0-9a-f]{{8}}", name) for name in shortened)


def test_a_broken_kept_file_is_an_error(tmp_path: Path):
    (tmp_path / "law-1.json").write_text("{}")
    with pytest.raises(
        HarnessError, match=r"law-1\.json is not a kept prompt \(KeyError: 'family'\); repair or delete"
    ):
        list(kept_for(tmp_path, "law", WHOLE))


@pytest.mark.once
def test_a_failure_is_reproduced_by_its_script_and_by_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "trimming_adapter.py").write_text(
        "from art_compliance.miniatures.content import trims_user_text\n"
        "from art_sdk import OpenAIAdapter\n"
        "class Plain(OpenAIAdapter):\n    dialect = None\n"
        "Wrong = trims_user_text.of(Plain)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    asked = ["trimming_adapter:Wrong", "--dialect", "openai-chat", "--seed", "11", "--profile", "quick"]
    result = CliRunner().invoke(app, ["certify", *asked, "--check", "properties.nothing-is-lost"])
    assert result.exit_code == 1, result.output
    printed = {
        line.split()[0]: line.split(maxsplit=1)[1] for line in result.output.splitlines() if line.startswith("  ")
    }
    (message,) = json.loads(printed["prompt"])
    assert message["role"] == "user"
    assert printed["gave"].startswith('{"model"')
    script = tmp_path / printed["repro"] / "reproduce.py"
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 10
    shown = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (shown.returncode, "the user text changed" in shown.stdout) == (1, True), shown.stderr
    assert "--dialect openai-chat --profile quick --seed 11" in printed["again"]
    again = CliRunner().invoke(app, shlex.split(printed["again"])[1:])
    assert again.exit_code == 1
    assert printed["prompt"] in again.output
    payload = json.loads((script.parent / "payload.json").read_text(encoding="utf-8"))
    prompt = json.loads((script.parent / "prompt.json").read_text(encoding="utf-8"))["prompt"]
    assert payload["messages"][0]["content"] == prompt[0]["content"].strip()


@pytest.mark.unmeasured
@pytest.mark.once
def test_a_failure_on_a_scenario_of_ones_own_is_run_again_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my own").mkdir()
    body = {"purpose": "What cannot be right.", "prompt": [{"role": "user", "content": "hi"}]}
    outcomes = {"default": ["refused:PROMPT_TRANSLATION_FAILED"]}
    (tmp_path / "my own" / "mine.json").write_text(json.dumps({**body, "outcomes": outcomes}))
    asked = ["openai", "--scenarios-from", "my own", "--scenario", "mine", "--check", "translation.outcome-is-right"]
    result = CliRunner().invoke(app, ["certify", *asked])
    (line,) = [line for line in result.output.splitlines() if line.startswith("  again")]
    assert "--scenarios-from 'my own'" in line
    again = CliRunner().invoke(app, shlex.split(line)[2:])
    assert (again.exit_code, line in again.output) == (1, True)
    (kept,) = tmp_path.rglob("repro/*/prompt.json")
    (finding,) = judge_scenario("openai", kept, check="translation.outcome-is-right")
    assert "the outcome is exact" in finding.message


def test_a_rerun_says_what_differs_from_the_defaults_alone():
    assert Rerun(adapter="a", seed=1).command("c", "s") == "art certify a --seed 1 --check c --scenario s"


def test_an_unknown_check_or_profile_is_an_error(tmp_path: Path):
    with pytest.raises(HarnessError, match=r"there is no check 'poetry\.rhymes'"):
        judge_scenario("openai", tmp_path / "x.json", check="poetry.rhymes")
    with pytest.raises(HarnessError, match="there is no profile 'slow'; profiles: quick, default, thorough"):
        find_profile("slow")


@pytest.mark.parametrize(
    ("prompt", "options", "needs"),
    [
        ([{"role": "user", "content": "a"}], {}, set()),
        ([{"role": "system", "content": "a"}], {}, {"system"}),
        ([{"role": "user", "content": "a"}, {"role": "system", "content": "a"}], {}, {"system", "late_system"}),
        ([{"role": "user", "content": "a"}, {"role": "system", "content": "a"}], {"late_system": "hoist"}, {"system"}),
        ([{"role": "assistant", "content": "a"}], {"stop": ["x"]}, {"prefill", "stop"}),
        ([{"role": "user", "content": "a"}], {"stream": True, "tool_choice": "auto"}, {"streaming", "tool_choice"}),
    ],
)
def test_a_generated_prompt_says_what_it_needs(prompt: list[dict[str, Any]], options: dict[str, Any], needs: set[str]):
    assert set(needs_of(prompt, options)) == needs


@pytest.mark.once
@pytest.mark.unmeasured
def test_an_adapter_that_refuses_all_prompts_has_shown_nothing():
    selection = Selection(checks=PROPERTIES.checks, scenarios=(WHOLE,))
    report = certify(Refuser, selection=selection, search=QUICK, seed=1, isolated=False)
    shown = {result.check: result.verdict for result in report.results if result.check.startswith("properties.")}
    assert shown.pop("properties.other-processes-agree") == "pass"
    assert set(shown.values()) == {"not applicable"}


class Refusal(Exception):
    code = "PROMPT_TRANSLATION_FAILED"


class Refuser(OpenAIAdapter):
    def translate(self, prompt: Any, options: Any) -> Any:
        if options.thread_id != drawn_id(1, "greeting"):
            raise Refusal
        return super().translate(prompt, options)


@pytest.mark.unmeasured
def test_a_factory_that_another_process_cannot_import_is_not_judged_there():
    class Local(OpenAIAdapter):
        pass

    found = certify(
        Local, selection=Selection(checks=("properties.other-processes-agree",)), search=QUICK, seed=1, isolated=False
    )
    (result,) = [one for one in found.results if one.check.startswith("properties")]
    assert result.verdict == "not applicable"
    assert "cannot be pickled for another process" in (result.reason or "")


@pytest.mark.unmeasured
@pytest.mark.once
def test_sensitivity_tells_what_is_caught_missed_and_does_not_apply():
    few = Selection(checks=("translation.system-text-survives", "translation.canary-texts-are-whole"))
    found = {one.miniature: one for one in measure_sensitivity(OpenAIAdapter, name="openai", selection=few)}
    assert len(found) == len(MINIATURES)
    assert found["drops-system-messages"].outcome == "caught"
    assert found["drops-system-messages"].by.startswith("translation.system-text-survives on ")
    assert found["takes-thinking-for-text"].outcome == "not applicable"
    lines = list(describe_outcomes(list(found.values())))
    assert lines[-1].startswith("sensitivity: ")


@pytest.mark.once
@pytest.mark.unmeasured
def test_a_fault_that_is_the_adapters_own_is_not_caught():
    few = Selection(checks=("translation.system-text-survives",))
    found = {
        one.miniature: one.outcome
        for one in measure_sensitivity(drops_system_messages.of(OpenAIAdapter), name="wrong", selection=few)
    }
    assert found["drops-system-messages"] == "not applicable"


def test_a_fault_that_the_run_cannot_see_is_missed():
    found = {one.miniature: one for one in measure_sensitivity(AnthropicAdapter, name="anthropic", selection=BLIND)}
    assert found["sends-an-empty-tools-list"].outcome == "missed"  # no rule against it is known at Anthropic
    assert "  missed          sends-an-empty-tools-list: " in "\n".join(describe_outcomes([*found.values()]))


BLIND = Selection(checks=("wire.no-rule-is-broken",), scenarios=("one-question",))


@pytest.mark.once
@pytest.mark.unmeasured
def test_what_nothing_of_is_kept_cannot_be_forgotten():
    later = Selection(checks=("properties.conversations-go-on",), scenarios=("generated-dialogues",))
    found = {one.miniature: one for one in measure_sensitivity(OpenAIAdapter, name="openai", selection=later)}
    assert found["forgets-signatures-later"].by == "it changes nothing on this adapter"


@pytest.mark.once
@pytest.mark.unmeasured
def test_what_a_wrong_adapter_prints_is_not_shown(capfd: pytest.CaptureFixture[str]):
    found = {one.miniature: one for one in measure_sensitivity(Unstreamed, name="openai", selection=SECRETIVE)}
    assert (found["prints-its-headers"].outcome, found["logs-its-headers"].outcome) == ("caught", "caught")
    assert capfd.readouterr() == ("", "")


class Unstreamed(OpenAIAdapter):
    capabilities = frozenset(OpenAIAdapter.capabilities - {"streaming"})


SECRETIVE = Selection(checks=("faults.show-no-key",), scenarios=("one-question",))


def test_faults_of_prompt_and_options_are_put_around_a_black_box():
    few = Selection(checks=("translation.system-text-survives", "wire.request-matches-the-schema"))
    found = {one.miniature: one for one in measure_sensitivity(OnlyCalls, name="black", selection=few)}
    assert found["drops-system-messages"].outcome == "caught"
    assert found["sends-an-unknown-field"].outcome == "not applicable"
    assert "the adapter has no translate" in found["sends-an-unknown-field"].by


def test_generated_families_have_no_scenario_of_their_name():
    others = {"generated-broken-conversations", "generated-answers", "generated-dialogues"}
    assert set(FAMILIES) == {WHOLE, *others}
    with pytest.raises(HarnessError, match="there is no scenario 'generated'"):
        Selection(scenarios=("generated",)).plan()
