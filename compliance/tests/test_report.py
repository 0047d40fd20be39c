"""What a report says about the data that it was made with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from art_compliance.resources import data_folder
from art_compliance.run.identity import fixtures_digest
from art_compliance.run.live_scenarios import live_scenarios
from art_compliance.scenarios import load_scenarios

pytestmark = pytest.mark.unmeasured  # other tests run the same lines


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(data_folder("fixtures"), tmp_path_factory.mktemp("copy") / "elsewhere"))


@pytest.fixture(scope="module")
def digest(fixtures: Path) -> str:
    return fixtures_digest(fixtures)


def test_the_digest_does_not_depend_on_the_folder(digest: str):
    assert digest == fixtures_digest()


@pytest.mark.parametrize(
    "name",
    [
        "rules/openai-chat.toml",
        "wire/allowances.toml",
        "wire/openai-chat.schema.json",
        "schemas/scenario.schema.json",
        "scenarios/simple-chat/one-question.json",
        "payloads/openai-chat/one-question.json",
        "live-scenarios.toml",
    ],
)
def test_one_changed_byte_changes_the_digest(fixtures: Path, digest: str, name: str):
    path = fixtures / name
    content = path.read_bytes()
    path.write_bytes(content[:-1] + b" ")
    changed = fixtures_digest(fixtures)
    path.write_bytes(content)
    assert changed != digest


def test_a_renamed_file_changes_the_digest(fixtures: Path, digest: str):
    path = fixtures / "rules" / "openai-chat.toml"
    path.rename(path.with_name("renamed.toml"))
    changed = fixtures_digest(fixtures)
    path.with_name("renamed.toml").rename(path)
    assert changed != digest


def test_hidden_files_do_not_change_the_digest(fixtures: Path, digest: str):
    (fixtures / "rules" / ".editor").write_text("backup")
    assert fixtures_digest(fixtures) == digest


def test_the_order_in_which_files_are_made_does_not_change_the_digest(tmp_path: Path):
    for folder, names in (("one", ("b", "a/c", "a-b")), ("other", ("a-b", "a/c", "b"))):
        for name in names:
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
    assert fixtures_digest(tmp_path / "one") == fixtures_digest(tmp_path / "other")


def test_every_live_scenario_exists():
    assert set(live_scenarios()) <= {scenario.id for scenario in load_scenarios()}
