"""docs/architecture.md names every room, and the packages stay as small at the top as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"art_sdk": ROOT / "art_sdk", "art_compliance": ROOT / "compliance" / "art_compliance"}
WIRE_FORMATS = PACKAGES["art_compliance"] / "dialects"
"""Described once, not folder by folder."""


def folders_of(package: Path) -> set[str]:
    """The folders with code, as they are written on the page."""
    inner = {place.parent.relative_to(package) for place in package.rglob("*.py") if WIRE_FORMATS not in place.parents}
    inner |= {WIRE_FORMATS.relative_to(package)} if package in WIRE_FORMATS.parents else set()
    return {f"{folder.as_posix()}/" for folder in inner if folder.parts and folder.parts[0] != "tests"}


def rooms_of(name: str) -> set[str]:
    """The folders that the page lists for a package."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition(f"### `{name}`")[2].partition("\n#")[0]
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return {room for cell in cells for room in re.findall(r"`([\w/]+/)`", cell)}


@pytest.mark.parametrize("name", PACKAGES)
def test_every_room_on_the_page_exists(name: str):
    assert rooms_of(name) - folders_of(PACKAGES[name]) == set()


@pytest.mark.parametrize("name", PACKAGES)
def test_every_top_level_folder_is_a_room_on_the_page(name: str):
    assert {folder for folder in folders_of(PACKAGES[name]) if folder.count("/") == 1} - rooms_of(name) == set()


@pytest.mark.parametrize("name", PACKAGES)
def test_at_most_twelve_modules_lie_loose_at_the_top_of_a_package(name: str):
    loose = [place.name for place in PACKAGES[name].glob("*.py") if place.name != "__init__.py"]
    assert len(loose) <= 12, sorted(loose)


@pytest.mark.parametrize("name", PACKAGES)
def test_every_folder_says_its_idea_in_one_sentence(name: str):
    for place in PACKAGES[name].rglob("__init__.py"):
        if "tests" not in place.parts:
            first = place.read_text(encoding="utf-8").split("\n", 1)[0]
            assert first.startswith('"""'), f"{place} has no docstring"
            assert len(first.strip('"').strip()) > 10, f"{place} says nothing"
