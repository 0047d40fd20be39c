"""`art serve`: runs the strict provider for any client, and prints what is wrong with each request."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Annotated, Final

import typer

from art_compliance.commands.console import describe_findings, say
from art_compliance.dialects.endpoints import ENDPOINTS, Endpoint
from art_compliance.findings import HarnessError
from art_compliance.provider.composing import ANSWERS
from art_compliance.provider.faults import FAULTS
from art_compliance.provider.models import models_path
from art_compliance.provider.strict import Exchange, StrictProvider
from art_compliance.quoting import AT_LENGTH, escape, quote, shorten
from art_compliance.scenarios import WrittenAnswer

_SERVICES: Final = (
    "The service that speaks the format; the provider itself by default. "
    + ", ".join(f"{one.service} ({one.dialect})" for one in ENDPOINTS)
    + "."
)
_ANSWERS: Final = "How to answer valid requests: " + ", ".join(ANSWERS) + "."


_SHOWN: Final = 20
"""The most findings that are printed of one request."""


def serve_command(
    name: Annotated[str | None, typer.Argument(metavar="DIALECT", help="The wire format, as --dialect.")] = None,
    dialect: Annotated[str | None, typer.Option(help="The wire format; all of them by default.")] = None,
    service: Annotated[str | None, typer.Option(help=_SERVICES)] = None,
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
    if name is not None and dialect not in {None, name}:
        raise HarnessError(f"two dialects are named, {name} and {dialect}; name one")
    printing = _Printing()
    provider = StrictProvider(
        name or dialect,
        service=service,
        host=host,
        port=port,
        answer=answer,
        fault=fault,
        on_exchange=printing.show,
    )
    with _until_stopped(printing) as stop, provider, _closing_soon(printing):
        say("\n".join(_greeting(provider)))
        while not (stop.is_asked or printing.is_over.is_set()):
            time.sleep(_GLANCE)


_GLANCE: Final = 0.05
_TO_CLOSE: Final = 5.0
"""Seconds for closing; a request that is still being judged then is left."""


class _Stop:
    """Whether somebody asked to stop. A signal that raised in the middle of a line would have it printed twice."""

    is_asked = False

    def ask(self, *_: object) -> None:
        """Handles a signal."""
        self.is_asked = True


@contextmanager
def _until_stopped(printing: _Printing) -> Generator[_Stop]:
    """Ctrl-C and SIGTERM ask the work inside to stop, and nothing else is said of them."""
    stop = _Stop()
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, stop.ask)
    yield stop
    if printing.is_broken:
        raise HarnessError("standard output is closed")


@contextmanager
def _closing_soon(printing: _Printing) -> Generator[None]:
    """Once the work inside ends, the process ends soon, too, whatever the server is doing."""
    try:
        yield
    finally:
        for signum in (signal.SIGINT, signal.SIGTERM):
            signal.signal(signum, signal.SIG_IGN)
        printing.end()
        last_resort = threading.Timer(_TO_CLOSE, printing.leave)
        last_resort.daemon = True
        last_resort.start()


def _greeting(provider: StrictProvider) -> Iterator[str]:
    """What is served where, and the paths of requests."""
    first, *others = provider.endpoints
    what, where = ("every dialect", provider.url) if others else (_name(first), provider.base_url)
    yield f"{what} at {where}; any key works; press Ctrl-C to stop"
    for endpoint in provider.endpoints:
        names = f"  {_name(endpoint)}" if others else ""
        yield from (f"    POST {path}{names}" for path in endpoint.paths)
        listed = models_path(endpoint)
        yield from () if listed is None else (f"    GET {listed}{names}",)


def _name(endpoint: Endpoint) -> str:
    return endpoint.dialect if endpoint.service == endpoint.dialect else f"{endpoint.dialect} as {endpoint.service}"


class _Printing:
    """Prints exchanges, until the end or until nobody reads them any more."""

    def __init__(self) -> None:
        self.is_over = threading.Event()
        self.is_broken = False

    def show(self, exchange: Exchange) -> None:
        """Prints one exchange. It is called in the server's thread."""
        if not self.is_over.is_set():
            self._say("\n".join(map(escape, _lines(exchange))))

    def end(self) -> None:
        """Says that it is over. Nothing is printed after it."""
        if not self.is_over.is_set():
            self.is_over.set()
            self._say("stopped")

    def leave(self) -> None:
        """Ends the process at once."""
        os._exit(2 if self.is_broken else 0)

    def _say(self, text: str) -> None:
        try:
            say(text)
        except (OSError, SystemExit):  # rich exits where the reader of a pipe has gone
            self.is_broken = True
            self.is_over.set()


def _lines(exchange: Exchange) -> Iterator[str]:
    request = exchange.request
    asked = f"{request.method} {shorten(request.target.partition('?')[0])}" if request.method else "(no request line)"
    yield f"{asked}  {len(request.body):,} bytes"
    if exchange.findings:
        shown = islice(exchange.findings, _SHOWN)
        yield from (f"    {line}" for line in describe_findings(shown))
    if len(exchange.findings) > _SHOWN:
        yield f"    ... and {len(exchange.findings) - _SHOWN:,} more"
    said = "" if exchange.said is None else f": {_describe(exchange.said)}"
    fault = f", fault: {exchange.fault}" if exchange.fault else ""
    kind = " streamed" if exchange.is_streamed else ""
    yield f"    answered {exchange.response.status}{kind}{said}{fault}"


def _describe(said: WrittenAnswer) -> str:
    """The answer in one line."""
    parts = [f"reasoning of {len(said.thinking)} characters"] if said.thinking else []
    parts += [shorten(f"{call.function.name}({call.function.arguments})", AT_LENGTH) for call in said.tool_calls]
    if said.content:
        parts.append(quote(said.content))
    return f"{', '.join(parts) or 'nothing'} ({said.finish})"
