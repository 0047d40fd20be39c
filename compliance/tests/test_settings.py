"""`[tool.art]` in an author's pyproject.toml: what it sets, what wins over it, and what its mistakes say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from art_compliance import HarnessError
from art_compliance.commands import app
from art_compliance.run.settings import Settings, read_settings

ADAPTER = """
from art_sdk import OpenAIAdapter

class Mine(OpenAIAdapter):
    dialect = None

class Other(OpenAIAdapter):
    pass
"""
WHOLE = """
[tool.art]
adapters = ["settled:Mine"]
dialect = "openai-chat"
cassettes = "recorded"
baseline = "known.toml"
profile = "quick"
"""
FEW = ("--in-process", "--seed", "1", "--check", "wire.request-matches-the-schema", "--scenario", "one-question")


def settings_in(folder: Path, text: str) -> Settings:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return read_settings(folder)


@pytest.fixture
def art(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "settled.py").write_text(ADAPTER)
    return lambda *arguments: CliRunner().invoke(app, arguments)


def test_every_setting_is_read(tmp_path: Path):
    found = settings_in(tmp_path, WHOLE)
    assert found == Settings(
        adapters=("settled:Mine",),
        dialect="openai-chat",
        cassettes=Path("recorded"),
        baseline=Path("known.toml"),
        profile="quick",
    )
    assert found.dialect_for("settled:Mine") == "openai-chat"
    assert found.dialect_for("anthropic") is None


@pytest.mark.parametrize("text", ["", "[project]\nname = 'x'\n", "[tool.ruff]\nline-length = 120\n", "tool = 5\n"])
def test_without_a_table_the_defaults_apply(tmp_path: Path, text: str):
    assert settings_in(tmp_path, text) == Settings()
    assert Settings().baseline == Path("art-baseline.toml")


def test_without_a_file_the_defaults_apply(tmp_path: Path):
    assert read_settings(tmp_path) == Settings()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.art]\nadaptors = []", "tool.art.adaptors: there is no such setting; did you mean adapters?"),
        ("[tool.art]\nx = 1", "tool.art.x: there is no such setting; settings: adapters, dialect, cassettes, baseline"),
        ("[tool.art]\nadapters = 'm:X'", 'tool.art.adapters: expected a list of strings, got "m:X"'),
        ("[tool.art]\nadapters = ['m:X', 3]", "tool.art.adapters[1]: expected a non-empty string, got 3"),
        ("[tool.art]\ndialect = ['openai-chat']", "tool.art.dialect: expected a non-empty string, got ["),
        ("[tool.art]\ndialect = 'klingon'", "tool.art.dialect: unknown dialect 'klingon'; known: anthropic-messages"),
        ("[tool.art]\nprofile = 'fast'", "tool.art.profile: there is no profile 'fast'; profiles: quick, default"),
        ("[tool.art]\ncassettes = true", "tool.art.cassettes: expected a non-empty string, got true"),
        ("[tool.art]\nbaseline = ' '", 'tool.art.baseline: expected a non-empty string, got " "'),
        ("[tool]\nart = 5", "tool.art: expected a table, [tool.art], got 5"),
        ("[[tool.art]]\nadapters = []", "tool.art: expected a table, [tool.art], got ["),
        ("[tool.art", "is not valid TOML: "),
    ],
)
def test_a_mistake_is_one_sentence_with_the_path_of_its_key(tmp_path: Path, text: str, message: str):
    with pytest.raises(HarnessError) as caught:
        settings_in(tmp_path, text)
    assert str(caught.value).startswith("pyproject.toml")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_text_is_one_sentence(tmp_path: Path):
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(HarnessError, match=r"pyproject\.toml is not valid TOML: "):
        read_settings(tmp_path)


def test_certify_needs_no_argument(art, tmp_path: Path):
    (tmp_path / "recorded").mkdir()
    (tmp_path / "pyproject.toml").write_text(WHOLE)
    result = art("certify", *FEW)
    assert result.exit_code == 0, result.output
    assert "settled:Mine  (white box, openai-chat)" in result.output


def test_the_command_line_wins(art, tmp_path: Path):
    (tmp_path / "pyproject.toml").write_text(WHOLE.replace("recorded", "gone"))
    result = art("certify", "settled:Other", "--dialect", "groq-chat", "--cassettes", ".", *FEW)
    assert result.exit_code in {0, 1}, result.output
    report = json.loads((tmp_path / "art-report" / "report.json").read_text(encoding="utf-8"))["reports"][0]
    assert (report["adapter"]["name"], report["adapter"]["dialect"]) == ("settled:Other", "groq-chat")


def test_a_reference_adapter_keeps_its_own_dialect(art, tmp_path: Path):
    (tmp_path / "pyproject.toml").write_text('[tool.art]\ndialect = "openai-chat"')
    assert "anthropic  (white box, anthropic-messages)" in art("certify", "anthropic", *FEW).output


@pytest.mark.parametrize("command", ["certify", "replay"])
def test_a_folder_of_cassettes_that_is_set_must_exist(art, tmp_path: Path, command: str):
    (tmp_path / "pyproject.toml").write_text(WHOLE)
    result = art(command)
    assert result.exit_code == 2
    assert "there is no cassette folder recorded" in result.output


@pytest.mark.parametrize("command", ["certify", "replay", "record"])
def test_nothing_to_certify_says_where_adapters_are_named(art, command: str):
    result = art(command)
    assert result.exit_code == 2
    assert 'list yours in pyproject.toml: [tool.art] adapters = ["module:Class"]' in result.output


@pytest.fixture
def run(pytester: pytest.Pytester):
    pytester.makepyfile(settled=ADAPTER)
    return lambda *arguments: pytester.runpytest_inprocess(
        "-q", "-p", "no:cacheprovider", "--art-in-process", *arguments, no_reraise_ctrlc=True
    )


ONE = ("--art-check", "wire.request-matches-the-schema", "--art-scenario", "one-question")


def test_pytest_certifies_what_the_settings_name(run, pytester):
    pytester.makepyprojecttoml(WHOLE.replace('cassettes = "recorded"', ""))
    result = run("--art", *ONE)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["settled:Mine  (white box, openai-chat)"])


@pytest.mark.parametrize(
    ("adapters", "message"),
    [
        ([], "--art certifies the adapters that pyproject.toml names, but it names none"),
        (["settled:Gone"], "'settled' has no attribute 'Gone'"),
    ],
)
def test_pytest_says_what_the_settings_lack(run, pytester, adapters, message):
    pytester.makepyprojecttoml(f"[tool.art]\nadapters = {adapters}")
    result = run("--art")
    assert result.ret == 2
    assert message in result.stdout.str() + result.stderr.str()


def test_pytest_certifies_each_of_several_adapters(run, pytester):
    pytester.makepyprojecttoml('[tool.art]\nadapters = ["settled:Mine", "gemini"]\ndialect = "openai-chat"')
    result = run("--art", *ONE)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["settled:Mine  (white box, openai-chat)", "gemini  (white box, gemini-generate)"])


def test_a_fixture_is_one_adapter(run, pytester):
    pytester.makepyprojecttoml('[tool.art]\nadapters = ["settled:Mine", "gemini"]')
    pytester.makepyfile(test_mine="def test_mine(art_adapter): pass")
    result = run()
    assert result.ret == 2
    wanted = (
        "the fixture art_adapter returns one adapter, but 2 are named: "
        "choose one with --art-adapter, such as settled:Mine"
    )
    assert wanted in result.stdout.str() + result.stderr.str()


def test_a_test_file_without_a_fixture_checks_what_the_settings_name(run, pytester):
    pytester.makepyprojecttoml(WHOLE.replace('cassettes = "recorded"', ""))
    pytester.makepyfile(test_mine="from art_compliance.suite import *")
    result = run(*ONE)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["settled:Mine  (white box, openai-chat)"])


def test_a_fixture_in_a_conftest_is_used(run, pytester):
    pytester.makeconftest(
        "import pytest\nfrom settled import Other\n@pytest.fixture(scope='session')\ndef art_adapter(): return Other\n"
    )
    pytester.makepyfile(test_mine="from art_compliance.suite import *\nfrom art_compliance.snapshots import *")
    result = run(*ONE, "-k", "test_adapter")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["settled:Other  (white box, openai-chat)"])
