"""`art new`: what it writes for each dialect passes preflight as it stands, and its mistakes are one sentence."""

from __future__ import annotations

import ast
import importlib
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from art_compliance import Selection, certify
from art_compliance.commands import app
from art_compliance.dialects import DIALECTS
from art_compliance.run.baseline import read_baseline
from art_compliance.run.settings import read_settings

CHAT = {name for name, dialect in DIALECTS.items() if dialect.service.endings == ("/chat/completions",)}
PLAIN = sorted(CHAT | {"anthropic-messages", "cohere-chat-v2", "ollama-chat", "openai-responses"})
FILES = {
    "provider_x.py",
    "test_provider_x.py",
    "pyproject.toml",
    "art-baseline.toml",
    ".github/workflows/conformance.yml",
}


@pytest.fixture
def art(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path / "provider_x"))
    yield lambda *arguments: CliRunner().invoke(app, ("new", *arguments))
    sys.modules.pop("provider_x", None)


def assert_passes_preflight(dialect: str) -> None:
    importlib.invalidate_caches()  # the folder is new
    selection = Selection(checks=("wire.request-goes-to-the-right-endpoint",), scenarios=("one-question",))
    report = certify("provider_x:ProviderX", selection=selection, isolated=False)
    assert {result.check: result.verdict for result in report.results} == {
        "preflight.greeting-translates": "pass",
        "preflight.answer-is-read": "pass",
        "wire.request-goes-to-the-right-endpoint": "pass",
    }
    assert report.adapter.dialect == dialect


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_a_derived_adapter_passes_preflight(art, tmp_path: Path, dialect: str):
    result = art("provider_x", "--dialect", dialect)
    assert result.exit_code == 0, result.output
    source = (tmp_path / "provider_x" / "provider_x.py").read_text()
    assert "import art_compliance" not in source
    assert source.count("CHANGE") >= 2
    assert_passes_preflight(dialect)


@pytest.mark.parametrize("dialect", PLAIN)
def test_a_plain_adapter_passes_preflight(art, tmp_path: Path, dialect: str):
    result = art("provider_x", "--plain", "--dialect", dialect)
    assert result.exit_code == 0, result.output
    imported = ast.walk(ast.parse((tmp_path / "provider_x" / "provider_x.py").read_text()))
    modules = {
        alias.name.partition(".")[0] for node in imported if isinstance(node, ast.Import) for alias in node.names
    }
    assert modules <= sys.stdlib_module_names
    assert_passes_preflight(dialect)


def test_the_project_has_settings_a_baseline_a_test_and_ci(art, tmp_path: Path):
    result = art("provider_x")
    folder = tmp_path / "provider_x"
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == FILES
    assert read_settings(folder).adapters == ("provider_x:ProviderX",)
    assert read_baseline(folder / "art-baseline.toml", Selection()).entries == {}
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["art_sdk.adapters"] == {"provider_x": "provider_x:ProviderX"}
    assert "cd provider_x && art certify --profile quick" in result.output
    assert "edit the lines marked CHANGE in provider_x/provider_x.py" in result.output


def test_the_written_test_runs_the_checks(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    assert CliRunner().invoke(app, ("new", "provider_x")).exit_code == 0
    monkeypatch.chdir("provider_x")
    arguments = ("--art-in-process", "--art-check", "wire.request-matches-the-schema", "--art-scenario", "one-question")
    result = pytester.runpytest_inprocess("-q", "-p", "no:cacheprovider", *arguments, no_reraise_ctrlc=True)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["provider_x:ProviderX  (white box, openai-compatible)"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("my-provider",), "'my-provider' cannot be the name of a module: use letters, digits and _"),
        (("1st",), "'1st' cannot be the name of a module"),
        (("../up",), "'../up' cannot be the name of a module"),
        (("",), "'' cannot be the name of a module"),
        (("prövider",), "'prövider' cannot be the name of a module"),
        (("class",), "'class' is a keyword of Python; choose another name, such as class_provider"),
        (("json",), "'json' is the name of another module or adapter; choose another name, such as my_json"),
        (("openai",), "'openai' is the name of another module or adapter"),
        (("msgspec",), "'msgspec' is the name of another module or adapter; choose another name, such as my_msgspec"),
        (("there",), "there already exists; choose another name, or remove it"),
        (("a_file",), "a_file already exists"),
        (("provider_x", "--dialect", "klingon"), "unknown dialect 'klingon'; known: anthropic-messages"),
        (
            ("provider_x", "--dialect", "gemini-generate", "--plain"),
            "--plain has no example for gemini-generate, only for anthropic-",
        ),
    ],
)
def test_a_mistake_is_one_sentence_and_writes_nothing(art, tmp_path: Path, arguments, message):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "mine.txt").write_text("mine")
    (tmp_path / "a_file").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    result = art(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_that_cannot_be_made_is_one_sentence(art, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "closed").write_text("")
    monkeypatch.chdir("/proc")
    result = art("provider_x")
    assert result.exit_code == 2
    assert "art: cannot write provider_x: " in result.stderr
