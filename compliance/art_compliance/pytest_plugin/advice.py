"""Advice at the end of pytest, for those whose `-k` selected nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from art_compliance.pytest_plugin.options import option, selection_of

if TYPE_CHECKING:
    import pytest

_WORD: Final = re.compile(r"[\w.-]+")


def advise_on_keyword(reporter: Any, config: pytest.Config) -> None:
    """Says how scenarios are selected, if `-k` named one and so selected nothing."""
    words = set(_WORD.findall(option(config, "keyword")))
    named = [scenario.id for scenario in selection_of(config).chosen() if scenario.id in words]
    if named:
        options = " ".join(f"--art-scenario {name}" for name in named)
        reporter.write_line(f"-k selects checks by their ids; for scenarios, use {options}", yellow=True)
