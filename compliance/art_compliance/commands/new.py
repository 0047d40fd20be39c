"""`art new`: a project with an adapter to start from, its test, its settings and its CI."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from art_compliance.commands.console import say
from art_compliance.commands.starting.project import class_name, files_of, require_new, write
from art_compliance.dialects import find_dialect


def new_command(
    name: Annotated[str, typer.Argument(help="The name of the module, such as my_provider.")],
    dialect: Annotated[str, typer.Option(help="The wire format that the provider speaks.")] = "openai-compatible",
    plain: Annotated[bool, typer.Option("--plain", help="Write a class that does not use art_sdk.")] = False,
) -> None:
    """Create a project in the folder <name>: a working adapter, its test, its settings and its CI."""
    folder = Path(name)
    require_new(name, folder)
    files = files_of(name, find_dialect(dialect), plain=plain)
    write(files, folder)
    for path in files:
        say(f"written  {folder / path}")
    say("")
    say("To do:")
    say(f"  edit the lines marked CHANGE in {folder / name}.py")
    if plain:
        say("  add what it still refuses: system messages, tools, options, images, streaming")
    say(f"  cd {name} && art certify --profile quick")
    say(f"  fix what it reports about {class_name(name)}")
