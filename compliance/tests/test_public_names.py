"""What users import and type, listed literally: a name that goes, or a new one that is not listed, fails here."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import distribution
from typing import Any

import pytest
import typer

import art_compliance
from art_compliance.commands import app

NAMES = {
    "art_compliance": """
        DecodeFailed Decoded Exchange Finding HarnessError PROFILES Profile Report Result Scenario Search Selection
        StrictProvider WrittenAnswer certify decode judge judge_rules judge_scenario load_scenarios
    """,
    "art_compliance.suite": "art_session test_adapter",
    "art_compliance.snapshots": "art_session test_payload",
    "art_compliance.strategies": """
        BREAKS FLAVORS RESULTS Request answers arguments_for blank_texts broken_prompts call_ids chunkings dialogues
        exchanges fault_schedules json_schemas json_values options plain_ids plain_tool_names prompts requests results
        texts tool_names tool_schemas tools turns
    """,
}

COMMANDS = {
    "certify": """
        adapters --built-in --dialect --in-process --jobs --time-limit --gateway --endpoint --speaks --to
        --provider-port --allow --without --header --check --skip --level --scenario --scenarios-from --cassettes --seed
        --profile --preview --fail-fast -x --shard --sensitivity --live --key-from --base-url --model --baseline
        --no-baseline --baseline-write --report --verbose -v --quiet -q
    """,
    "audit": """
        paths --out --fail-over --dialect --model --url --api-version --show-text --prices --jobs --scheduler
        --quiet -q
    """,
    "checks": "--dialect",
    "corpus": "",
    "doctor": "folder --days --report --scenarios-from",
    "agent": "config --explain",
    "browser-prompt": "page --step --previous --secrets",
    "exam": "folder --write",
    "explain": "rule --page",
    "diff": "old new",
    "map": "scenario --json --page",
    "merge": "reports --report",
    "verify": "certificate --in-process --quiet -q",
    "board": "reports --into --history",
    "new": "name --dialect --plain",
    "judge": "sources --dialect --model --url --api-version --json",
    "record": """
        adapters --built-in --scenarios --scenarios-from --into --key-from --base-url --model --dialect --local-engine
        --engine --from-strict-provider
    """,
    "replay": "adapters --built-in --scenarios --scenarios-from --cassettes --dialect --verbose -v",
    "requirements": "--write",
    "scenarios": "action name --scenarios-from",
    "schema": "what",
    "serve": "name --dialect --service --port --host --answer --fault --faults",
    "version": "",
    "wire rebuild": "name --check",
}

PYTEST_OPTIONS = """
    --art --art-adapter --art-base-url --art-baseline --art-baseline-write --art-cassettes --art-check --art-dialect
    --art-in-process --art-key-from --art-level --art-model --art-no-baseline --art-preview --art-profile
    --art-record --art-report --art-scenario --art-scenarios-from --art-seed --art-shard
    --art-skip --art-time-limit
"""

SIGNATURES = {
    "certify": "make *dialect *selection *seed *search *baseline *isolated *seconds *call_seconds *on_result",
    "judge": "dialect payload *model *url *version *is_sendable",
    "judge_scenario": "make path *check *seed *dialect",
    "load_scenarios": "folder",
}


@pytest.mark.parametrize("module", NAMES)
def test_these_names_are_exported(module: str):
    exported = import_module(module)
    assert sorted(exported.__all__) == sorted(NAMES[module].split())
    assert all(getattr(exported, name) is not None for name in exported.__all__)


def test_a_name_that_is_not_exported_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'art_compliance' has no attribute 'nothing'"):
        _ = art_compliance.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", SIGNATURES)
def test_these_functions_take_these_arguments(name: str):
    parameters = inspect.signature(getattr(art_compliance, name)).parameters.values()
    shown = [f"*{one.name}" if one.kind is one.KEYWORD_ONLY else one.name for one in parameters]
    assert shown == SIGNATURES[name].split()


def test_the_distribution_has_these_entry_points():
    found = {(point.group, point.name): point.value for point in distribution("art-adapter-sdk").entry_points}
    assert found == {
        ("console_scripts", "art"): "art_compliance.cli:main",
        ("pytest11", "art_compliance"): "art_compliance.plugin",
    }


def parameters_of(command: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    if hasattr(command, "commands"):
        for name, inner in command.commands.items():
            yield from parameters_of(inner, f"{path} {name}".strip())
        return
    words = [word for one in command.params for word in (one.opts if one.param_type_name == "option" else [one.name])]
    yield path, words


def test_the_art_command_has_these_commands_and_options():
    assert dict(parameters_of(typer.main.get_command(app))) == {name: text.split() for name, text in COMMANDS.items()}


def test_every_command_and_option_has_a_help_text():
    def silent(command: Any, path: str) -> Iterator[str]:
        if not command.help:
            yield path
        for one in command.params:
            if one.name != "help" and not one.help:
                yield f"{path} {one.name}"
        for name, inner in getattr(command, "commands", {}).items():
            yield from silent(inner, f"{path} {name}")

    assert list(silent(typer.main.get_command(app), "art")) == []


def test_the_pytest_plugin_has_these_options(pytester: pytest.Pytester):
    shown = pytester.runpytest_inprocess("--help").stdout.str()
    assert sorted(set(re.findall(r"^  (--art(?:-[a-z]+)*)(?![a-z-])", shown, re.MULTILINE))) == PYTEST_OPTIONS.split()
