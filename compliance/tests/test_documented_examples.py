"""Examples in the documents: data parses, imported names exist, and commands have the options that they are given.

Whole programs of the pages are run by tests of their own, such as test_writing_page.py and test_assembly_laws.py.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from art_compliance.commands import app
from row_tables import table

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "compliance" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OURS = ("art_sdk", "art_compliance")
COMMAND = re.compile(r"^(?:\$ )?(?: *again +)?(art [a-z].*)$", re.MULTILINE)


def check_python(text: str) -> None:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in OURS:
            module = importlib.import_module(node.module)
            missing = [one.name for one in node.names if one.name != "*" and not hasattr(module, one.name)]
            assert missing == []


CHECKS: dict[str, Callable[[str], object]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
    "python": check_python,
}


def blocks() -> Iterator[pytest.ParameterSet]:
    for page in PAGES:
        found = re.findall(r"^```(\w+)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        for number, (language, text) in enumerate(found, start=1):
            if language in CHECKS:
                yield pytest.param(language, text, id=f"{page.relative_to(ROOT)}-{number}-{language}")


@table(("language", "text"), list(blocks()))
def test_an_example_can_be_read(language: str, text: str):
    CHECKS[language](text)


def commands() -> Iterator[pytest.ParameterSet]:
    for page in PAGES:
        for text in re.findall(r"^```\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            for line in COMMAND.findall(text):
                yield pytest.param(line, id=f"{page.relative_to(ROOT)}: {line[:60]}")


def unknown_words(line: str) -> list[str]:
    """The command, or the options, that do not exist."""
    _, *words = shlex.split(re.split(r"\s{2,}|[|>]|\s#", line)[0].replace("…", ""))
    command: Any = typer.main.get_command(app)
    while words and (below := getattr(command, "commands", None)) is not None:
        if words[0] not in below:
            return [words[0]]
        command, words = below[words[0]], words[1:]
    known = {"--help", *(name for one in command.params for name in (*one.opts, *one.secondary_opts))}
    given = takewhile(lambda word: word != "--", words)
    return [word for word in given if word.startswith("-") and word.partition("=")[0] not in known]


@pytest.mark.parametrize("line", list(commands()))
def test_a_command_has_the_options_of_the_example(line: str):
    assert unknown_words(line) == []


@pytest.mark.parametrize(
    ("line", "unknown"),
    [
        ("art nothing", ["nothing"]),
        ("art certify --no-such-option x -- node --bridge", ["--no-such-option"]),
        ("art explain --page --also", ["--also"]),
    ],
)
def test_a_wrong_example_would_be_found(line: str, unknown: list[str]):
    assert unknown_words(line) == unknown
