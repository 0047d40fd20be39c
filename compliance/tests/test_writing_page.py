"""The page for authors of adapters: its code runs, and its tables leave nothing out."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import art_sdk
from art_compliance import Selection, certify
from art_compliance.checks import CHECKS
from art_sdk import (
    CAPABILITIES,
    LOSSES,
    REPAIRS,
    EndEvent,
    ErrorEvent,
    LLMMetadata,
    LLMProviderError,
    MetadataEvent,
    TokenEvent,
    ToolCallEvent,
)

PAGE = (Path(__file__).parents[2] / "docs" / "writing-an-adapter.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
CODE = {re.findall(r"^class (\w+)", block, re.MULTILINE)[-1]: block for block in BLOCKS}
FEW = Selection(
    checks=tuple(check for check in CHECKS if check.startswith(("translation.", "response.", "stream."))),
    scenarios=("greeting", "one-question", "parallel-calls", "results-reversed", "late-system"),
)
"""What these adapters write and read themselves: the rest is the base class's."""


def rows(heading: str) -> list[str]:
    """The first cells of the rows below the head of a table."""
    table = PAGE[PAGE.index(f"\n| {heading} |") :].partition("\n\n")[0]
    return [name for line in table.strip().splitlines()[2:] for name in re.findall(r"`([^`]+)`", line.split("|")[1])]


def made(name: str) -> Any:
    space: dict[str, Any] = {"__name__": "page"}
    exec(CODE[name], space)  # noqa: S102 - the code of the page
    return space[name]


@pytest.mark.parametrize(("heading", "known"), [("capability", CAPABILITIES), ("loss", LOSSES), ("repair", REPAIRS)])
def test_the_tables_have_every_declaration(heading, known):
    assert sorted(rows(heading)) == sorted(known)


def test_the_table_of_events_has_every_field():
    table = PAGE[PAGE.index("\n| type | fields |") :].partition("\n\n")[0]
    for event in (TokenEvent, ToolCallEvent, MetadataEvent, ErrorEvent, EndEvent):
        row = next(line for line in table.splitlines() if f"`{event.__struct_config__.tag}`" in line)
        own = set(event.__struct_fields__) - {"thread_id", "trace_id", "session_id"}
        assert own <= set(re.findall(r"`(\w+)`", row)), event
        assert set(event.__struct_fields__) - own <= set(re.findall(r"`(\w+)`", table))


def test_the_tables_have_every_field_of_metadata_and_errors():
    assert sorted(rows("field of `metadata`")) == sorted(LLMMetadata.__struct_fields__)
    arguments = [*inspect.signature(LLMProviderError).parameters]
    assert sorted(rows("field of `error`")) == sorted({*arguments, "code"} - {"cause"})


def test_the_code_imports_from_art_sdk_alone():
    modules = {
        match[1] for code in CODE.values() for match in re.finditer(r"^(?:from|import) (\w+)", code, re.MULTILINE)
    }
    assert modules == {"art_sdk", "json"}


@pytest.mark.parametrize("name", sorted(CODE))
def test_an_adapter_of_the_page_is_short_and_fails_nothing(name):
    assert len(CODE[name].splitlines()) < 100
    report = certify(made(name), selection=FEW, isolated=False)
    assert [result.check for result in report.results if result.verdict not in ("pass", "not applicable")] == []
    assert sum(result.verdict == "pass" for result in report.results) > 20


def test_every_name_of_the_page_is_exported():
    named = set(re.findall(r"`([A-Z]\w+)[`(]", PAGE))
    assert {name for name in named if not name.isupper()} <= {*art_sdk.__all__}
