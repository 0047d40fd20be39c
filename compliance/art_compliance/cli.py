"""The `art` command. It exits with 0 (passed), 1 (the adapter fails) or 2 (the suite cannot do its work)."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, NoReturn

EXTRA: Final = frozenset(
    {
        "h11",
        "hypothesis",
        "jinja2",
        "jsonschema",
        "jsonschema_rs",
        "pytest",
        "rich",
        "syrupy",
        "tomlkit",
        "typer",
        "vcr",
        "yaml",
    }
)
"""The modules that the extra `compliance` installs: vcrpy brings yaml."""


_RARELY: Final = (50_000, 20, 20)
"""The thresholds of garbage collection: a run makes many objects, and little of it is garbage in cycles."""


def main() -> None:
    """The console script. If the extra `compliance` is not installed, it says so."""
    gc.set_threshold(*_RARELY)
    with explaining_missing(_leave):
        from art_compliance.commands import app  # noqa: PLC0415 - its imports are what may be missing
    try:
        app()
    finally:
        gc.freeze()  # the process ends: nobody need look at its objects twice more


@contextmanager
def explaining_missing(leave: Callable[[str], NoReturn]) -> Generator[None]:
    """For imports of the suite: if a module of the extra `compliance` is missing, leaves with what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in EXTRA:
            raise
        leave(
            f"art: the suite needs {error.name}, which is not installed; "
            "install the suite with: pip install 'art-adapter-sdk[compliance]'"
        )


def _leave(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
