"""Finds `fixtures/` and `cassettes/`: in the installed package, or next to `pyproject.toml` in a checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from art_compliance.findings import HarnessError

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parents[1]


@cache
def data_folder(name: str) -> Path:
    """The folder `fixtures` or `cassettes`. Raises HarnessError, which names both places, if it is missing."""
    installed = PACKAGE / "_data" / name
    if installed.is_dir():
        return installed
    beside = CHECKOUT / name
    if (CHECKOUT / "pyproject.toml").is_file() and beside.is_dir():
        return beside
    raise HarnessError(
        f"the folder {name!r} is missing: neither {installed} nor {beside} exists; reinstall art-adapter-sdk"
    )


def folder_to_write(name: str) -> Path:
    """The folder of a checkout, for commands that write into it. Raises HarnessError in an installed package."""
    found = data_folder(name)
    if found.is_relative_to(PACKAGE):
        raise HarnessError(f"this writes into {name}/ of a checkout, but art_compliance is installed at {PACKAGE}")
    return found
