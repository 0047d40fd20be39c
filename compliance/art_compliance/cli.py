"""The `art` command. It exits with 0 (passed), 1 (the adapter fails) or 2 (the suite cannot do its work)."""

from __future__ import annotations

import sys
from typing import Final

EXTRA: Final = frozenset(
    {"anyio", "h11", "jinja2", "jsonschema", "jsonschema_rs", "rich", "tomlkit", "typer", "vcr", "yaml"}
)
"""The modules that the extra `compliance` installs."""


def main() -> None:
    """The console script. If the extra `compliance` is not installed, it says so."""
    try:
        from art_compliance.commands import app  # noqa: PLC0415 - its imports are what may be missing
    except ModuleNotFoundError as error:
        print(explain_missing(error), file=sys.stderr)
        sys.exit(2)
    app()


def explain_missing(error: ModuleNotFoundError) -> str:
    """What to install. Raises the error again if no extra would help."""
    if error.name not in EXTRA:
        raise error
    return f"harness: {error.name} is not installed; install the suite with: pip install 'art-adapter-sdk[compliance]'"
