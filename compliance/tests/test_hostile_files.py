"""`art replay`, `doctor` and `exam` on files that are made to break them: one plain line each, and soon."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from art_compliance.commands import app
from hostile_cassettes import HOSTILE, Hostile, cassette

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]

SECONDS = 20.0
"""CPU seconds that a command may take, its own work on good files included."""

RECORDING = b'{"shape": "chat_completions", "request": %s, "response": {"status": 200}}'

FILES: dict[str, Hostile] = {
    "empty": Hostile(bytes, "the file is empty"),
    "truncated": Hostile(lambda: cassette()[:-60], "invalid YAML"),
    "binary": Hostile(lambda: bytes(range(256)) * 400, "the file is not UTF-8 text"),
    "UTF-16": Hostile(lambda: cassette().decode().encode("utf-16"), "the file is not UTF-8 text"),
    "Latin-1": Hostile(lambda: cassette(body="'Grüße'").decode().encode("latin-1"), "the file is not UTF-8 text"),
    "with a NUL": Hostile(lambda: cassette() + b"\0", "it contains a NUL"),
    **{name: HOSTILE[name] for name in ("50,000 brackets", "aliases in a header", "nested merges", "64 MiB", "brotli")},
}
RECORDINGS: dict[str, bytes] = {
    "empty": b"",
    "truncated": (RECORDING % b"{}")[:-20],
    "binary": bytes(range(256)) * 400,
    "UTF-16": (RECORDING % b"{}").decode().encode("utf-16"),
    "a lone surrogate": b'"\xed\xa0\x80"',
    "100,000 brackets": b"[" * 100_000,
    "a request of 100,000 levels": RECORDING % (b"[" * 100_000 + b"]" * 100_000),
    "a request of half an object": RECORDING % b"[}",
}


def run(*arguments: str | Path) -> tuple[Any, float]:
    """What the command did, and its CPU seconds."""
    start = time.process_time()
    result = CliRunner().invoke(app, list(map(str, arguments)))
    return result, time.process_time() - start


def written(path: Path, data: bytes) -> Path:
    """The file, in a folder that it makes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_doctor_names_every_hostile_file_and_what_is_wrong_with_it(tmp_path: Path):
    for name, file in FILES.items():
        written(tmp_path / "openai" / f"{name}.yaml", file.make())
    result, seconds = run("doctor", tmp_path)
    assert result.exit_code == 1, result.exception
    said = result.output.replace("\n", " ")
    for name, file in FILES.items():
        assert f"{name}.yaml" in said, name
        assert file.message.rpartition(": ")[2] in said, name
    assert seconds < SECONDS


@pytest.mark.parametrize("name", ["truncated", "binary", "50,000 brackets", "nested merges", "64 MiB", "brotli"])
def test_a_hostile_cassette_fails_its_replay(name: str, tmp_path: Path):
    written(tmp_path / "openai" / "one-question.yaml", FILES[name].make())
    result, seconds = run("replay", "openai", "--cassettes", tmp_path)
    assert result.exit_code == 1, result.exception
    assert "FAIL replay.cassette-is-sound" in result.output
    assert FILES[name].message[:30] in " ".join(result.output.split())
    assert seconds < SECONDS


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_hostile_recording_is_named_in_one_line(name: str, tmp_path: Path):
    path = written(tmp_path / "openai" / "hostile.json", RECORDINGS[name])
    result, seconds = run("exam", tmp_path)
    assert result.exit_code == 2, result.exception
    assert result.output.startswith(f"art: {path}: ")
    assert len(result.output.splitlines()) == 1
    assert len(result.output) < 300 + len(str(path))
    assert seconds < SECONDS


@pytest.mark.parametrize(("depth", "code"), [(150, 1), (700, 0)])  # what is deeper than 200 levels is not judged
def test_a_deep_recording_is_graded(depth: int, code: int, tmp_path: Path):
    written(tmp_path / "openai" / "deep.json", RECORDING % (b'{"a":' * depth + b"1" + b"}" * depth))
    result, _ = run("exam", tmp_path, "--write", tmp_path / "grades.json")
    assert result.exit_code == code, result.exception
    assert '"id": "openai/deep"' in (tmp_path / "grades.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", [b"", b"[" * 100_000, b"\xff\xfe", b'{"exceptions": {}, "grades": [{}]}'])
def test_a_list_of_grades_that_cannot_be_read_is_named(text: bytes, tmp_path: Path):
    written(tmp_path / "traffic" / "openai" / "one.json", RECORDING % b"{}")
    grades = written(tmp_path / "grades.json", text)
    result, _ = run("exam", tmp_path / "traffic", "--write", grades)
    assert result.exit_code == 2, result.exception
    assert result.output.startswith(f"art: {grades}: ")
    assert grades.read_bytes() == text
