"""The `art` command. It answers with 0 (good), 1 (the adapter fails) or 2 (the suite cannot do its work)."""

from __future__ import annotations

import sys
from typing import Final

EXTRA: Final = frozenset({"anyio", "h11", "jsonschema", "jsonschema_rs", "rich", "typer", "vcr", "yaml"})
"""What the extra `compliance` brings."""


def main() -> None:
    """The console script. Without the extra `compliance` it says so."""
    try:
        from art_compliance.commands import app  # noqa: PLC0415 - its imports are what may be missing
    except ModuleNotFoundError as error:
        print(explain_missing(error), file=sys.stderr)
        sys.exit(2)
    app()


def explain_missing(error: ModuleNotFoundError) -> str:
    """What to install; raises the error again where no extra would help."""
    if error.name not in EXTRA:
        raise error
    return f"harness: {error.name} is not installed; install the suite with: pip install 'art-adapter-sdk[compliance]'"
