from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from typer.testing import CliRunner

from art_compliance.commands import app
from art_compliance.commands.html_file import SIZE_LIMIT

PAGE = (
    "<title>Log in</title><p>pin 4711x</p><button id=go>Sign in</button><p hidden>unseen</p>"
    "<input type=password value=unseen>"
)


def run(folder: Path, *options: str, page: str = PAGE):
    (folder / "page.html").write_text(page, "utf-8")
    return CliRunner().invoke(app, ["browser-prompt", str(folder / "page.html"), "--step", "Sign in", *options])


def test_the_prompt_of_a_page_is_printed_with_its_facts(tmp_path: Path):
    (tmp_path / "secrets.json").write_text('{"pin": "4711x"}', "utf-8")
    result = run(tmp_path, "--secrets", str(tmp_path / "secrets.json"))
    assert result.exit_code == 0
    assert '> <button id="go">Sign in' in result.output
    assert "pin <secret>pin</secret>" in result.output
    assert "redacted: 1\nmasked fields: 1\n" in result.output
    assert f"page: {len(PAGE)} characters of HTML" in result.output
    assert "tokens, estimated at four characters each:" in result.output
    assert "4711x" not in result.output
    assert "unseen" not in result.output


def test_with_the_previous_page_it_is_a_reflection(tmp_path: Path):
    (tmp_path / "old.html").write_text("<h1>Welcome</h1>", "utf-8")
    result = run(tmp_path, "--previous", str(tmp_path / "old.html"))
    assert "removed: body>h1" in result.output
    assert "PROCEED, RETRY or ABORT" in result.output or "PROCEED: " in result.output


SECRETS = {
    "[": "is not JSON (line 1, column 2)",
    '{"pin": "hunter22"': "is not JSON (line 1, column 19)",
    "": "is not JSON (line 1, column 1)",
    "[" * 100_000: "is not JSON",
    "[]": "must be an object: secrets by name",
    '{"pin": "1"}': "a secret of 'pin' has fewer than 4 characters",
    '{"pin": 12345}': "the secret 'pin' must be text, or a list of texts",
    '{"pin": "hunter22", "pin": "hunter23"}': "the name 'pin' is there twice; give its values as a list",
    "\udcff{": "it is not in UTF-8 (byte 0)",
}


@pytest.mark.parametrize("secrets", SECRETS, ids=range(len(SECRETS)))
def test_secrets_that_cannot_be_read_are_an_error_of_one_line_that_shows_none(tmp_path: Path, secrets: str):
    path = tmp_path / "secrets.json"
    path.write_text(secrets, "utf-8", "surrogateescape")
    result = run(tmp_path, "--secrets", str(path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"art: {path}")
    assert result.stderr.endswith(f"{SECRETS[secrets]}\n")
    assert (result.stderr.count("\n"), "hunter" in result.stderr, "12345" in result.stderr) == (1, False, False)


FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"),
    "blank": (b" \n", "is empty"),
    "binary": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is not HTML: there is a zero byte in it, as in binary files"),
}


@pytest.mark.parametrize("which", ["page", "previous"])
@pytest.mark.parametrize("kind", [*FILES, "missing", "folder", "large"])
def test_a_page_that_cannot_be_read_is_an_error_of_one_line(tmp_path: Path, kind: str, which: str):
    bad, good = tmp_path / "bad.html", tmp_path / "good.html"
    good.write_text(PAGE, "utf-8")
    if kind in FILES:
        bad.write_bytes(FILES[kind][0])
    elif kind == "folder":
        bad.mkdir()
    elif kind == "large":
        with bad.open("wb") as file:
            file.truncate(SIZE_LIMIT + 1)
    pages = [bad] if which == "page" else [good, "--previous", bad]
    result = CliRunner().invoke(app, ["browser-prompt", *map(str, pages), "--step", "x"])
    said = {name: f"{bad} {words}" for name, (_, words) in FILES.items()} | {
        "missing": f"cannot read {bad}: No such file or directory",
        "folder": f"cannot read {bad}: Is a directory",
        "large": f"{bad} is larger than 64 MiB",
    }
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"art: {said[kind]}\n")


UMLAUTS = "<title>Käse</title><button>Für 5 €</button>"
ENCODED: dict[str, tuple[bytes, str]] = {
    "none": (UMLAUTS.encode(), "utf-8"),
    "mark of UTF-8": (UMLAUTS.encode("utf-8-sig"), "utf-8"),
    "mark of UTF-16": (UMLAUTS.encode("utf-16"), "utf-16-le"),
    "declared": (b"<meta charset=windows-1252>" + UMLAUTS.encode("cp1252"), "cp1252"),
    "declared as browsers read it": (b'<meta charset="iso-8859-1">' + UMLAUTS.encode("cp1252"), "cp1252"),
    "declared in the old way": (
        b'<meta http-equiv=Content-Type content="text/html; charset=ISO-8859-15">' + UMLAUTS.encode("iso8859-15"),
        "iso8859-15",
    ),
    "unknown": (b"<meta charset=klingon>" + UMLAUTS.encode(), "utf-8"),
    "not of text": (b"<meta charset=base64>" + UMLAUTS.encode(), "utf-8"),
}


@pytest.mark.parametrize("kind", ENCODED)
def test_a_page_is_read_in_its_encoding(tmp_path: Path, kind: str):
    data, encoding = ENCODED[kind]
    (tmp_path / "page.html").write_bytes(data)
    result = CliRunner().invoke(app, ["browser-prompt", str(tmp_path / "page.html"), "--step", "x"])
    assert "<button>Für 5 €" in result.output
    assert f"\nencoding: {encoding}\n" in result.output


def test_what_cannot_be_read_of_a_page_is_counted(tmp_path: Path):
    (tmp_path / "page.html").write_bytes(b"<p>a\xff\xfeb")
    result = CliRunner().invoke(app, ["browser-prompt", str(tmp_path / "page.html"), "--step", "x"])
    assert "encoding: utf-8; characters that cannot be read: 2" in result.output


def test_a_page_of_10_mb_is_cut_and_said_to_be(tmp_path: Path):
    result = run(tmp_path, page=f"<p>{'word ' * 199}" * 10_040)
    assert result.exit_code == 0
    assert "page: 10,019,920 characters of HTML" in result.output
    assert "fallbacks: cut_current_page" in result.output


def test_a_step_that_says_nothing_is_an_error(tmp_path: Path):
    (tmp_path / "page.html").write_text(PAGE, "utf-8")
    result = CliRunner().invoke(app, ["browser-prompt", str(tmp_path / "page.html"), "--step", " "])
    assert (result.exit_code, result.stderr) == (2, "art: --step must say what the agent should do\n")


def test_on_a_terminal_no_line_is_longer_than_it_is_wide(tmp_path: Path):
    (tmp_path / "page.html").write_text(PAGE + "<ul><li>" + "word " * 60, "utf-8")
    command = [sys.executable, "-c", MAIN, "browser-prompt", str(tmp_path / "page.html"), "--step", "x"]
    lines = on_a_terminal(command, columns=80)
    assert max(map(len, lines)) <= 80
    assert {"    word word word"} <= {one[:18] for one in lines}
    assert sum(one.count("word") for one in lines) >= 60


MAIN = "from art_compliance.cli import main; main()"


def on_a_terminal(command: list[str], *, columns: int) -> list[str]:
    """What the command writes to a terminal of this width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"NO_COLOR": "1"}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        written = b""
        with contextlib.suppress(OSError):  # how a terminal ends on Linux
            while piece := os.read(ours, 65_536):
                written += piece
        os.close(ours)
    assert process.returncode == 0
    text = re.sub(r"\x1b\[[\d;]*m", "", written.decode())
    return text.replace("\r\n", "\n").split("\n")


def test_without_its_extra_the_command_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "art_sdk.agents.browser", None)
    result = run(tmp_path)
    assert (result.exit_code, "pip install 'art-adapter-sdk[browser]'" in result.output) == (2, True)
