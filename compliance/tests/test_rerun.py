"""The commands that a report prints to run a check again: they are accepted, and find what was found."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from art_compliance import Selection
from art_compliance.checks import Check
from art_compliance.commands import app
from art_compliance.resources import data_folder
from art_compliance.run.rerun import Rerun
from art_compliance.run.selection import GREETING_SCENARIO, Plan
from art_compliance.scenarios import Scenario
from art_compliance.subject.access import Access

OWN = {
    "purpose": "A scenario of the author's own.",
    "prompt": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
    "outcomes": {"default": ["exact"]},
}

WRONG = """
import zlib
from art_sdk import OpenAIAdapter

class Wrong(OpenAIAdapter):
    def __init__(self, *, api_key, **settings):
        super().__init__(api_key=api_key, **settings)
        self.mark = f"{zlib.crc32(api_key.encode()):x}"

    def translate(self, prompt, options):
        payload = super().translate(prompt, options)
        messages = [m for m in payload["messages"] if m["role"] != "system"]
        return {**payload, "messages": (messages or payload["messages"])[:2], "user": self.mark}
"""
"""Marks the account, and loses system turns, which scenarios show, and the third turn, which generated prompts have.

No seed may hide one of them: a failure whose cause is reported already is not reported again.
"""

CHECKS = (
    "translation.same-for-every-account",
    "translation.system-text-survives",
    "properties.nothing-is-lost",
    "replay.request-is-the-recorded-one",
)
SCENARIOS = ("greeting", "one-question", "my-prompt", "generated-conversations")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project") / "my own"
    folder.mkdir()
    (folder / "my-prompt.json").write_text(json.dumps(OWN))
    return folder


@pytest.fixture(scope="module")
def plan(own: Path) -> Plan:
    return selection(own).plan()


def selection(own: Path, *names: str) -> Selection:
    """Everything that can be run, or one check on one scenario."""
    checks, scenarios = (names[:1], names[1:])
    return Selection(
        checks=checks, scenarios=scenarios, extra=own, cassettes=data_folder("cassettes"), live=Access(key="k")
    )


def kind_of(check: Check, scenario: Scenario) -> str:
    """Checks of one stage on scenarios of one group are selected in one way. The group of own scenarios is a dot."""
    return f"{check.stage.name} {'once' if check.once else scenario.group}"


@pytest.mark.unmeasured
def test_every_kind_of_trial_is_run_again_by_its_names(own: Path, plan: Plan):
    kinds = {kind_of(*trial): trial for trial in plan}
    assert {"faults once", "agent once", "properties generated", "live simple-chat", "translation ."} <= set(kinds)
    for kind, (check, scenario) in kinds.items():
        again = selection(own, check.id, scenario.id).plan()
        assert [trial for trial in again if kind == kind_of(*trial)][-1] == (check, scenario), kind
        assert all(other.stage.stops_the_run for other, _ in again if other is not check), kind


def test_the_greeting_alone_selects_the_checks_that_need_no_scenario():
    chosen = Selection(scenarios=(GREETING_SCENARIO.id,)).plan()
    assert all(scenario is GREETING_SCENARIO for _, scenario in chosen)
    assert {check.stage.name for check, _ in chosen} >= {"preflight", "faults", "load", "translation"}


@pytest.mark.once
def test_the_commands_of_a_report_find_what_it_found(own: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(own.parent)
    monkeypatch.syspath_prepend(own.parent)
    Path("wrong.py").write_text(WRONG)
    where = ("--scenarios-from", "my own", "--cassettes", str(data_folder("cassettes")), "--in-process")
    names = [word for check in CHECKS for word in ("--check", check)]
    names += [word for scenario in SCENARIOS for word in ("--scenario", scenario)]
    first = CliRunner().invoke(app, ["certify", "wrong:Wrong", "--profile", "quick", *where, *names, "-v"])
    assert first.exit_code == 1, first.output
    commands = [line.removeprefix("  again   ") for line in first.output.splitlines() if "  again  " in line]
    assert {shlex.split(command)[-1] for command in commands} == {*SCENARIOS}
    assert {shlex.split(command)[-3] for command in commands} == {*CHECKS}
    for command in commands:
        art, *arguments = shlex.split(command)
        again = CliRunner().invoke(app, arguments)
        assert (art, again.exit_code) == ("art", 1), command
        assert f"FAIL {arguments[-3]}" in again.output, command
        assert {line for line in again.output.splitlines() if line.startswith("  wrong ")} <= {
            *first.output.splitlines()
        }


def test_the_options_of_a_run_are_those_of_its_commands():
    rerun = Rerun(adapter="a:B", seed=1, in_process=True, preview=True, live=("--live", "--key-from", "KEY"))
    assert rerun.command("wire.x", "s") == "art certify a:B --in-process --preview --seed 1 --check wire.x --scenario s"
    assert rerun.command("live.x", "s").startswith("art certify a:B --live --key-from KEY --in-process --preview")
