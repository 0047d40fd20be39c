"""`art certify -- node my-bridge.mjs`: what follows two dashes is the command of a bridge, options included."""

from __future__ import annotations

import shlex
import shutil
from typing import Any

from typer.core import TyperCommand


class TakesBridge(TyperCommand):
    """A command that takes the names of adapters, and, after two dashes, the command of a bridge."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Makes one name of the words of a bridge's command."""
        return super().parse_args(ctx, join_command(args))


def join_command(words: list[str]) -> list[str]:
    """The words, with those after `--` as the name of one adapter. One word alone may be a name already."""
    if "--" not in words:
        return words
    from art_compliance.subject.factories import is_command  # noqa: PLC0415 - `art` starts twice as fast without it

    at = words.index("--")
    before, command = words[:at], words[at + 1 :]
    match command:
        case []:
            return before
        case [name]:
            found = None if ":" in name or is_command(name) else shutil.which(name)
            return [*before, found or name]
        case _:
            return [*before, shlex.join(command)]
