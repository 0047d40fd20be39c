"""docs/browser-prompts-design.md: what its rows name exists, and no option or step of the design is missing."""

from __future__ import annotations

import ast
import asyncio
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from art_sdk.agents import browser
from art_sdk.agents.browser import GeneratedPrompt
from browser_agent import HOME, LOGIN, Contexts, Executor, action, manager, reflection, step
from row_tables import table

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "browser-prompts-design.md").read_text("utf-8")
CODE = ROOT / "art_sdk" / "agents" / "browser"
TESTS = (ROOT / "art_sdk" / "tests", ROOT / "compliance" / "tests")
OPTIONS = (
    browser.PromptOptions,
    browser.AIPromptManagerConfig,
    browser.TemplateConfig,
    browser.ContextConfig,
    browser.ValidationConfig,
    browser.PerformanceConfig,
    browser.LoggingConfig,
    browser.TimeoutConfig,
    browser.SchemaOptions,
)
INTERFACES = [
    "ActionPromptRequest",
    "ReflectionPromptRequest",
    "GeneratedPrompt",
    "PromptContent",
    "ContextSection",
    "StepContext",
    "ExecutionHistorySection",
    "StepExecutionSummary",
    "ExecutionEventSummary",
    "PageStateSection",
    "DomComparisonResult",
    "ElementContext",
    "ValidationSection",
    "ActionValidationPrompt",
    "ValidationCriteria",
    "ResultAnalysisPrompt",
    "DecisionFrameworkPrompt",
    "DecisionOption",
    "PromptTemplateCollection",
    "PromptTemplate",
    "TemplateVariable",
    "PromptValidationResult",
    "PromptValidationError",
    "QualityAssessment",
    "PromptManagerError",
]
WITH_MEMBERS = [
    "AIPromptManager",
    "PromptType",
    "SchemaManagerIntegration",
    "ContextManagerIntegration",
    "IPromptValidator",
    "PromptManagerErrorType",
]
"""Of these, each method or value of the design is a row."""
HELPERS = {"AIPromptManager.iter_prompt_sections", "AIPromptManager.clear"}


class Row(NamedTuple):
    """What the row is about, the stages of a step, the files and the tests."""

    subject: str
    stages: list[str]
    files: list[str]
    tests: list[str]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def read_rows(text: str) -> list[Row]:
    rows: list[Row] = []
    for line in re.findall(r"^\| (?!in the design|step|---)(.+) \|$", text, re.MULTILINE):
        number, *cells = f"- | {line}".split(" | ") if not line[0].isdigit() else line.split(" | ")
        subject, *stages, files, tests = cells
        assert len(stages) == (number != "-")
        rows.append(Row(subject, names("".join(stages)), names(files), names(tests)))
    return rows


ROWS = read_rows(PAGE)
NAMED = {name: row for row in ROWS if (name := row.subject.strip("`")) in names(row.subject)}


@cache
def names_in(path: Path) -> set[str]:
    """What a module defines at its top."""
    found: set[str] = set()
    for one in ast.parse(path.read_text("utf-8")).body:
        match one:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                found.add(one.name)
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case ast.Assign(targets=targets):
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
            case _:
                pass
    return found


@cache
def known_tests() -> set[str]:
    modules = [path for folder in TESTS for path in folder.glob("test_*.py")]
    return {name for path in modules for name in names_in(path) if name.startswith("test_")}


def test_every_row_names_files_and_tests_that_exist():
    assert len(ROWS) > 150
    assert {name for row in ROWS for name in row.files if not (CODE / name).is_file()} == set()
    assert {name for row in ROWS for name in row.tests} - known_tests() == set()
    assert [row.subject for row in ROWS if not (row.files and row.tests)] == []


@table("name", NAMED)
def test_a_name_of_the_design_is_in_the_file_that_the_row_says(name: str):
    root, *members = name.split(".")
    assert root in names_in(CODE / NAMED[name].files[0])
    value: Any = getattr(browser, root)
    for member in members:
        fields = {one.name for one in msgspec.structs.fields(value)} if issubclass(value, msgspec.Struct) else set()
        assert member in fields or hasattr(value, member)


def test_every_option_is_a_row():
    options = {f"{kind.__name__}.{one.name}" for kind in OPTIONS for one in msgspec.structs.fields(kind)}
    assert options - NAMED.keys() == set()


def test_every_interface_with_its_members_and_every_constant_is_a_row():
    members = {
        f"{name}.{member}"
        for name in WITH_MEMBERS
        for member in vars(getattr(browser, name))
        if not member.startswith("_") and f"{name}.{member}" not in HELPERS
    }
    constants = {name for name in browser.__all__ if name.isupper()} - {"INDICATORS", "DEFAULT_PROMPT_OPTIONS"}
    assert ({*INTERFACES} | members | constants) - NAMED.keys() == set()


FLOWS = {
    "An initial action": (9, "", False),
    "A reflection and the next action": (11, "", True),
    "The context": (7, "context.", True),
    "The schema": (6, "schema.", True),
}


@pytest.mark.parametrize("flow", FLOWS)
def test_each_step_of_a_flow_is_a_row_whose_stages_are_those_of_a_prompt_in_order(flow: str):
    steps, prefix, reflects = FLOWS[flow]
    text = PAGE.split(f"### {flow}\n")[1].split("\n#")[0]
    rows = read_rows(text)
    assert [line.split(" ")[1] for line in text.split("\n") if re.match(r"\| \d", line)] == [
        str(number) for number in range(1, steps + 1)
    ]
    expected = [stage for row in rows for stage in row.stages]
    assert expected == stages_of(generate(reflects=reflects), prefix)


def generate(*, reflects: bool) -> GeneratedPrompt:
    contexts = Contexts(HOME, LOGIN)
    contexts.steps = [step(0)]
    made = manager(contexts, executor=Executor())
    return asyncio.run(
        made.generate_reflection_prompt(reflection()) if reflects else made.generate_action_prompt(action())
    )


def stages_of(prompt: GeneratedPrompt, prefix: str) -> list[str]:
    found = [one["name"] for one in (prompt.metadata or {})["stages"]]
    return [one for one in found if one.startswith(prefix) and ("." in one) == bool(prefix)]
