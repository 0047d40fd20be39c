"""The options that several commands share, and the values that they become."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from art_compliance.findings import HarnessError
from art_compliance.run.settings import Settings
from art_compliance.subject.access import Access, require_key
from art_sdk import BUILT_IN

Adapters = Annotated[list[str] | None, typer.Argument(help="module:Class, or the name of an installed adapter.")]
DialectOfAdapter = Annotated[str | None, typer.Option(help="The wire format, if the adapter does not declare one.")]
ScenariosFrom = Annotated[Path | None, typer.Option(help="A folder with scenarios of your own.")]


def find_names(adapters: list[str] | None, settings: Settings, *, built_in: bool) -> list[str]:
    """The adapters to work on, also from the working directory: those of the settings if none is named.

    Raises HarnessError if there is none.
    """
    names = list(dict.fromkeys([*(adapters or ()), *(BUILT_IN if built_in else ())] or settings.adapters))
    if not names:
        raise HarnessError(
            f"name an adapter (module:Class, or one of {', '.join(BUILT_IN)}), use --built-in, "
            'or list yours in pyproject.toml: [tool.art] adapters = ["module:Class"]'
        )
    sys.path.insert(0, "")  # a console script does not see the working directory
    return names


def find_access(key_from: str, base_url: str | None, model: str | None, *, advice: str = "") -> Access:
    """Access to a real provider, with the key from the environment.

    Raises HarnessError, which ends with the command's own `advice`, if no variable is named; and if it has no key.
    """
    if not key_from:
        wanted = "name the environment variable that holds it with --key-from"
        raise HarnessError(f"a real provider needs a key: {wanted}{advice}")
    key = require_key(os.environ.get(key_from), key_from)
    return Access(key=key, base_url=base_url, model=model, variable=key_from)
