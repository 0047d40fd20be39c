"""The page of the reference adapters has what they declare, to the letter."""

from __future__ import annotations

from pathlib import Path

import pytest

from art_compliance.subject.factories import find_factory
from art_sdk import BUILT_IN, BaseAdapter
from art_sdk.adapters.capabilities import CAPABILITIES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "adapters.md"


def row(name: str) -> str:
    """The adapter's row: what it is called, where it goes, what it cannot do, drops and mends."""
    make = find_factory(name)
    assert isinstance(make, type)
    assert issubclass(make, BaseAdapter)
    lacks = sorted(CAPABILITIES - make.capabilities)
    url, model = make.default_base_url or "yours", f"`{make.default_model}`" if make.default_model else "none"
    cells = (f"`{name}`", f"`{make.dialect}`", url, model)
    lists = (_listed(lacks), _listed(sorted(make.losses)), _listed(sorted(make.repairs)))
    return f"| {' | '.join((*cells, *lists))} |"


def _listed(words: list[str]) -> str:
    return ", ".join(f"`{word}`" for word in words) or "-"


@pytest.mark.once
@pytest.mark.parametrize("name", BUILT_IN)
def test_the_page_has_the_row_of_a_reference_adapter(name: str):
    assert row(name) in PAGE.read_text(encoding="utf-8").splitlines()
