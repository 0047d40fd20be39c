"""`art agent`: checks and explains the configuration of an agent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from art_compliance.commands.console import say
from art_compliance.findings import HarnessError
from art_sdk import ARTError
from art_sdk.agents.pes import create_agent, explain_agent


def agent_command(
    config: Annotated[Path | None, typer.Argument(help="A TOML or JSON file. Without it, all defaults.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show every setting, and what is missing for it.")] = False,
) -> None:
    """Check an agent's configuration: everything that is wrong in it, with its path. No provider is called."""
    source = {"llm": {"provider": "openai"}} if config is None else config
    try:
        lines = explain_agent(source) if explain else []
        if not explain:
            create_agent(source)
    except ARTError as error:
        raise HarnessError(error.message) from error
    for line in lines or ["The configuration can be used."]:
        say(line)
