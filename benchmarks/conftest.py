"""The table of ratios that is printed after the benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

_RATIOS: Final = pytest.StashKey[list[tuple[str, str]]]()

Note = Callable[[str, str], None]


@pytest.fixture
def note(request: pytest.FixtureRequest) -> Note:
    """Adds a line to the table: what was measured, and the number as text."""
    lines = request.config.stash.setdefault(_RATIOS, [])

    def keep(what: str, value: str) -> None:
        lines.append((what, value))

    return keep


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    lines = config.stash.get(_RATIOS, list[tuple[str, str]]())
    if lines:
        terminalreporter.section("ours to the floor")
    for what, value in lines:
        terminalreporter.write_line(f"{what:<58} {value:>12}")
