"""What a run was judged by: the version of the suite, and a digest of its data."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from art_compliance.resources import data_folder


def suite_version() -> str:
    """The version of the installed distribution."""
    try:
        return version("art-adapter-sdk")
    except PackageNotFoundError:
        return "0+not-installed"


def fixtures_digest(folder: Path | None = None) -> str:
    """A digest of every file below `fixtures/` (or another folder): runs with equal digests were judged by equal data.

    It covers the files' names and bytes, and depends neither on where the folder is nor on the operating system.
    Hidden files are left out. That of `fixtures/` itself is computed once in a process.
    """
    return _digest_of_fixtures() if folder is None else _digest(folder)


@cache
def _digest_of_fixtures() -> str:
    return _digest(data_folder("fixtures"))


def _digest(root: Path) -> str:
    digests = {name: _digest_of_file(path) for name, path in _files(root)}
    return f"sha256:{hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest()}"


def _digest_of_file(path: str) -> str:
    """Without a buffer: for small files that takes half the time."""
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - nor a `Path` for each of thousands
        return hashlib.sha256(file.read()).hexdigest()


def _files(folder: str | Path, within: str = "") -> Iterator[tuple[str, str]]:
    """Name and path of each file that is not hidden. There are thousands: with `Path.rglob` it takes twice as long."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path, f"{within}{entry.name}/")
            elif entry.is_file():
                yield f"{within}{entry.name}", entry.path
