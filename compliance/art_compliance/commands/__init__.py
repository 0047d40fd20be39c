"""The subcommands of `art`: thin views over the suite, one module per group of commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Annotated, Any, Final, cast

import typer
from typer.core import TyperGroup

from art_compliance.commands.bridge import TakesBridge
from art_compliance.commands.console import reports_errors

COMMANDS: Final[Mapping[str, str]] = {
    "new": "new:new_command",
    "certify": "certify:certify_command",
    "verify": "certificates:verify_command",
    "merge": "merging:merge_command",
    "diff": "reports:diff_command",
    "board": "board:board_command",
    "record": "cassettes:record_command",
    "replay": "cassettes:replay_command",
    "doctor": "cassettes:doctor_command",
    "corpus": "cassettes:corpus_command",
    "judge": "judges:judge_command",
    "audit": "audits:audit_command",
    "serve": "serve:serve_command",
    "browser-prompt": "browser:browser_prompt_command",
    "exam": "judges:exam_command",
    "checks": "catalogue:checks_command",
    "scenarios": "catalogue:scenarios_command",
    "requirements": "lists:requirements_command",
    "map": "slot_maps:map_command",
    "schema": "lists:schema_command",
    "explain": "lists:explain_command",
    "agent": "agents:agent_command",
    "version": "lists:version_command",
    "wire": "judges:wire",
}
"""For each command, in the order of `art --help`, its place: module in this folder, and name there."""

_OF_ADAPTERS: Final = frozenset({"certify", "record", "replay"})
"""Those that take the names of adapters."""


class LazyCommands(Mapping[str, Any]):
    """The commands by name. A module is imported when its command is asked for: all of them take most of a second."""

    def __getitem__(self, name: str) -> Any:
        return _load(name, COMMANDS[name])

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class LazyGroup(TyperGroup):
    """`art` itself."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = cast("Any", LazyCommands())  # nobody adds to it


@cache
def _load(name: str, place: str) -> Any:
    """The command that a function of this folder is, or the group of them that a Typer application is."""
    module, _, attribute = place.partition(":")
    found = getattr(import_module(f"{__name__}.{module}"), attribute)
    art = typer.Typer()
    if isinstance(found, typer.Typer):
        art.add_typer(found, name=name)
    else:
        art.command(name, cls=TakesBridge if name in _OF_ADAPTERS else None)(reports_errors(found))
    return typer.main.get_group(art).commands[name]


app: Final = typer.Typer(
    cls=LazyGroup, no_args_is_help=True, add_completion=False, help="Certify LLM provider adapters, offline."
)


def _print_version(asked: bool) -> None:  # noqa: FBT001 - as Typer calls it
    if asked:
        _load("version", COMMANDS["version"]).main([])


@app.callback()
def art(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the suite's version.")
    ] = False,
) -> None:
    """The options of `art` itself."""


__all__ = ["COMMANDS", "app"]
