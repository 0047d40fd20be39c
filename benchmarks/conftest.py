"""What the benchmarks measured: a table that is printed at the end, and cells of the page docs/performance.md."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import pytest

_RATIOS: Final = pytest.StashKey[list[tuple[str, str]]]()
_CELLS: Final = pytest.StashKey[list[tuple["Cell", str]]]()


class Cell(NamedTuple):
    """Where a number is on the page."""

    table: str
    row: str
    column: str


class Note(Protocol):
    """Keeps what was measured, the number as text, and its cell if it has one on the page."""

    def __call__(self, what: str, value: str, cell: Cell | None = None) -> None: ...


@pytest.fixture
def note(request: pytest.FixtureRequest) -> Note:
    """Adds a line to the table."""
    lines = request.config.stash.setdefault(_RATIOS, [])
    cells = request.config.stash.setdefault(_CELLS, [])

    def keep(what: str, value: str, cell: Cell | None = None) -> None:
        lines.append((what, value))
        if cell is not None:
            cells.append((cell, value))

    return keep


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cells", type=Path, help="write the cells of docs/performance.md into this file")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    lines = config.stash.get(_RATIOS, list[tuple[str, str]]())
    if lines:
        terminalreporter.section("ours to the floor")
    for what, value in lines:
        terminalreporter.write_line(f"{what:<58} {value:>12}")
    path: Path | None = config.getoption("--cells")
    if path is not None:
        found = config.stash.get(_CELLS, list[tuple[Cell, str]]())
        cells = [[*cell, value] for cell, value in found]
        path.write_text(json.dumps({"python": platform.python_version(), "cells": cells}, indent=1))
