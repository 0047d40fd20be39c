"""`art serve`: runs the strict provider for any client, and prints what is wrong with each request."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Annotated, Final

import typer

from art_compliance.commands.console import describe_findings, say
from art_compliance.provider.composing import ANSWERS
from art_compliance.provider.faults import FAULTS, find_fault
from art_compliance.provider.strict import Exchange, StrictProvider
from art_compliance.quoting import quote
from art_compliance.scenarios import WrittenAnswer

_ANSWERS: Final = "How to answer valid requests: " + ", ".join(ANSWERS) + "."


def serve_command(
    dialect: Annotated[str | None, typer.Option(help="The wire format; all of them by default.")] = None,
    port: Annotated[int, typer.Option(help="The port. 0 takes any free port.", min=0, max=65535)] = 0,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    answer: Annotated[str, typer.Option(help=_ANSWERS)] = "asked",
    fault: Annotated[str | None, typer.Option(help="A fault for every answer. --faults lists them.")] = None,
    list_faults: Annotated[bool, typer.Option("--faults", help="List the faults and exit.")] = False,
) -> None:
    """Serve a provider that judges each request, answers the valid ones, and reports what is wrong with the others."""
    if list_faults:
        for known in FAULTS.values():
            say(f"{known.id}\n    {known.words}")
        return
    spoiled = None if fault is None else find_fault(fault)
    provider = StrictProvider(dialect, host=host, port=port, answer=answer, fault=spoiled, on_exchange=_print_exchange)
    try:
        with provider:
            say(_greeting(provider, dialect))
            threading.Event().wait()
    except KeyboardInterrupt:
        say("stopped")


def _greeting(provider: StrictProvider, dialect: str | None) -> str:
    where = provider.url if dialect is None else provider.base_url
    return f"{dialect or 'every dialect'} at {where}; any key will do; Ctrl-C ends it"


def _print_exchange(exchange: Exchange) -> None:
    say("\n".join(_lines(exchange)))


def _lines(exchange: Exchange) -> Iterator[str]:
    request = exchange.request
    yield f"{request.method} {request.target.partition('?')[0]}  {len(request.body):,} bytes"
    if exchange.findings:
        yield from (f"    {line}" for line in describe_findings(exchange.findings))
    said = "" if exchange.said is None else f": {_describe(exchange.said)}"
    fault = f", fault: {exchange.fault}" if exchange.fault else ""
    kind = " streamed" if exchange.is_streamed else ""
    yield f"    answered {exchange.response.status}{kind}{said}{fault}"


def _describe(said: WrittenAnswer) -> str:
    """The answer in one line."""
    parts = [f"reasoning of {len(said.thinking)} characters"] if said.thinking else []
    parts += [f"{call.function.name}({call.function.arguments})" for call in said.tool_calls]
    if said.content:
        parts.append(quote(said.content))
    return f"{', '.join(parts) or 'nothing'} ({said.finish})"
