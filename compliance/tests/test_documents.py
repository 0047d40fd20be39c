"""The documents name what exists, and count nothing by hand."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from art_compliance.checks import CHECKS
from art_compliance.dialects import DIALECTS
from art_compliance.run.selection import GREETING_SCENARIO
from art_compliance.scenarios import load_scenarios
from art_compliance.subject.meanings import LOSS_MEANINGS, REPAIR_MEANINGS
from art_sdk import CAPABILITIES, LOSSES, REPAIRS

ROOT = Path(__file__).resolve().parents[2]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


WRITTEN_BY_HAND = sorted(
    str(path.relative_to(ROOT))
    for pattern in ("*.md", "docs/*.md", "compliance/*.md", "cassettes/*.md")
    for path in ROOT.glob(pattern)
    if path.name not in {"rules.md", "mutants.md", "libraries.md"}  # one is generated, the others report measurements
)


@pytest.mark.parametrize("name", WRITTEN_BY_HAND)
def test_no_document_counts_by_hand_what_a_command_lists(name):
    prose = re.sub(r"^```.*?^```", "", read(name), flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"\b\d[\d,]* (?:checks|scenarios|miniatures|rules|faults|cases)\b", prose) == []


def test_the_guide_names_every_capability_loss_repair_and_dialect():
    guide = read("compliance/README.md")
    missing = [name for name in (*CAPABILITIES, *REPAIRS, *DIALECTS) if f"`{name}`" not in guide]
    missing += [name for name in LOSSES if f"`{name.partition(':')[0]}" not in guide]
    assert missing == []


def test_every_loss_and_repair_has_a_law():
    assert {*LOSS_MEANINGS} == LOSSES
    assert {*REPAIR_MEANINGS} == REPAIRS


@pytest.mark.parametrize("name", [*LOSS_MEANINGS, *REPAIR_MEANINGS])
def test_the_law_of_a_declaration_is_checked_by_the_suite(name):
    meaning = {**LOSS_MEANINGS, **REPAIR_MEANINGS}[name]
    assert meaning.checks
    assert {*meaning.checks} <= CHECKS.keys()


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
    known = {*CHECKS, GREETING_SCENARIO.id, *(scenario.id for scenario in load_scenarios())}
    for name in ("README.md", "compliance/README.md"):
        named = re.findall(r"--(?:check|scenario) ([a-z.-]+)", read(name))
        assert set(named) - known == set()
