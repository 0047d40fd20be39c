"""What the documents say of the suite's size and words is true."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from art_compliance.checks import CHECKS
from art_compliance.dialects import DIALECTS
from art_compliance.miniatures import MINIATURES
from art_compliance.provider.faults import FAULTS
from art_compliance.scenarios import load_scenarios
from art_sdk import CAPABILITIES, LOSSES, REPAIRS

ROOT = Path(__file__).resolve().parents[2]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_changelog_counts_right():
    told = read("CHANGELOG.md")
    assert f"{len(CHECKS)} checks" in told
    assert f"{len(load_scenarios())} scenarios" in told
    assert f"{len(MINIATURES)} miniatures" in told
    assert f"{len(FAULTS)} faults" in told


def test_the_guide_names_every_capability_loss_repair_and_dialect():
    told = read("compliance/README.md")
    missing = [name for name in (*CAPABILITIES, *REPAIRS, *DIALECTS) if f"`{name}`" not in told]
    missing += [name for name in LOSSES if f"`{name.partition(':')[0]}" not in told]
    assert missing == []


def test_every_link_leads_somewhere():
    documents = ["README.md", "compliance/README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
    for name in documents:
        links = re.findall(r"\]\(([\w./:-]+)\)", read(name))
        inside = [link for link in links if "://" not in link]
        assert [link for link in inside if not (ROOT / name).parent.joinpath(link).exists()] == []


INDEX_HOSTS = tuple(".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "com")))
"""The hosts of package indexes, put together here so that this file names none."""


def tracked_texts() -> Iterator[tuple[str, str]]:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("needs git and a checkout")
    listing = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in filter(None, listing.split("\0")):
        if (ROOT / name).is_file():
            yield name, (ROOT / name).read_bytes().decode("utf-8", errors="replace")


def test_a_package_is_named_and_never_linked_to_its_index():
    assert [name for name, text in tracked_texts() if any(host in text for host in INDEX_HOSTS)] == []


def test_every_check_and_scenario_that_a_document_names_exists():
    known = {*CHECKS, *(scenario.id for scenario in load_scenarios())}
    for name in ("README.md", "compliance/README.md"):
        told = re.findall(r"--(?:check|scenario) ([a-z.-]+)", read(name))
        assert set(told) - known == set()
