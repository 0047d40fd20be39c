"""`art map`: where each piece of a scenario's prompt is in the request of each dialect."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from art_compliance.commands.console import say
from art_compliance.findings import HarnessError
from art_compliance.publishing.slot_pages import describe_map, slot_maps_page
from art_compliance.publishing.slots import slot_map
from art_compliance.run.selection import Selection


def map_command(
    scenario: Annotated[str | None, typer.Argument(help="The scenario's id; art scenarios lists them.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    page: Annotated[bool, typer.Option("--page", help="Print the maps of some scenarios as Markdown.")] = False,
) -> None:
    """Show where each piece of a scenario's prompt is in the request of each dialect, as JSON pointers."""
    if page:
        say(slot_maps_page().rstrip())
        return
    if scenario is None:
        raise HarnessError("name a scenario (art scenarios lists them), or use --page")
    (found,) = map(slot_map, Selection(scenarios=(scenario,)).chosen())
    if as_json:
        say(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
        return
    for line in describe_map(found):
        say(line)
