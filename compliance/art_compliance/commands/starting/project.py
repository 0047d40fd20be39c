"""The files of a new project, by their paths in it."""

from __future__ import annotations

import keyword
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Final

from art_compliance.commands.starting.adapters import derived_adapter, plain_adapter
from art_compliance.dialects import Dialect
from art_compliance.findings import HarnessError
from art_sdk import BUILT_IN


def require_new(name: str, folder: Path) -> None:
    """Raises HarnessError for a name that no module should have, and for a folder that is there already."""
    if not name.isidentifier() or not name.isascii():
        raise HarnessError(f"{name!r} cannot be the name of a module: use letters, digits and _, such as my_provider")
    if keyword.iskeyword(name):
        raise HarnessError(f"{name!r} is a keyword of Python; choose another name, such as {name}_provider")
    if folder.exists() or folder.is_symlink():
        raise HarnessError(f"{folder} already exists; choose another name, or remove it")
    if name in sys.stdlib_module_names or name in {*BUILT_IN, "art_sdk", "art_compliance"} or _is_importable(name):
        raise HarnessError(f"{name!r} is the name of another module or adapter; choose another name, such as my_{name}")


def _is_importable(name: str) -> bool:
    """Whether a module of this environment has the name: the new one would hide it from whatever imports it."""
    return name in sys.modules or find_spec(name) is not None


def class_name(name: str) -> str:
    """The adapter's class: `MyProvider` for `my_provider`."""
    found = "".join(word[:1].upper() + word[1:] for word in name.split("_"))
    return found if found and not found[0].isdigit() else f"Provider{found}"


def files_of(name: str, dialect: Dialect, *, plain: bool) -> dict[str, str]:
    """What each file of the project says, by its path. Raises HarnessError if there is no adapter of this kind."""
    names = {
        "name": name,
        "cls": class_name(name),
        "title": name.replace("_", " ").strip().title() or name,
        "dialect": dialect.name,
        "base_path": dialect.service.base_path,
        "project": name.replace("_", "-").strip("-").lower() or "provider",
    }
    adapter = (plain_adapter if plain else derived_adapter)(names, dialect)
    return {f"{name}.py": adapter} | {
        path.format(name=name): text.safe_substitute(names) for path, text in _FILES.items()
    }


def write(files: Mapping[str, str], folder: Path) -> None:
    """Writes the files into a new folder. Raises HarnessError."""
    try:
        folder.mkdir(parents=True)
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            with (folder / path).open("x", encoding="utf-8") as file:
                file.write(text)
    except OSError as error:
        raise HarnessError(f"cannot write {error.filename or folder}: {error.strerror}") from error


_FILES: Final[Mapping[str, Template]] = {
    "test_{name}.py": Template('''\
"""Run pytest: each check is a test. [tool.art] in pyproject.toml names the adapter."""

from art_compliance.suite import *  # noqa: F403
'''),
    "pyproject.toml": Template("""\
[project]
name = "$project"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = ["art-adapter-sdk"]

[project.optional-dependencies]
test = ["art-adapter-sdk[compliance]"]

[project.entry-points."art_sdk.adapters"]
$name = "$name:$cls"

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel]
include = ["$name.py"]

[tool.art]
adapters = ["$name:$cls"]
baseline = "art-baseline.toml"
"""),
    "art-baseline.toml": Template("""\
# Known failures, which do not fail a run: art certify --baseline-write adds those of a run.
# Give each a reason. An entry whose check passes fails the run, so remove it when you fix the failure.
"""),
    ".github/workflows/conformance.yml": Template("""\
name: conformance
on: [push, pull_request]
permissions:
  contents: read
jobs:
  certify:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v6
      - uses: actions/setup-python@v6
        with:
          python-version: "3.13"
      - run: pip install '.[test]'
      - run: art certify
      - uses: actions/upload-artifact@v5
        if: always()
        with:
          name: art-report
          path: art-report
"""),
}
