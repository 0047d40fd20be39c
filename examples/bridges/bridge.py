"""A bridge over any adapter of art_sdk, to show docs/bridges.md: python bridge.py art_sdk:OpenAIAdapter."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from typing import Any

import msgspec

import art_sdk


def say(number: int, what: str, **fields: Any) -> None:
    """Writes an answer."""
    sys.stdout.write(json.dumps({"id": number, "is": what, **fields}) + "\n")
    sys.stdout.flush()


def as_data(value: Any) -> Any:
    """An error in an event as JSON data."""
    return {"code": value.code, "message": value.message, **value.details}


class Bridge:
    """The adapters by the numbers of their starts, and the calls that are under way by theirs."""

    def __init__(self, make: Any) -> None:
        self._make, self._adapters, self._calls = make, dict[int, Any](), dict[int, asyncio.Task[None]]()

    def take(self, message: dict[str, Any]) -> None:
        """Begins what a verb asks for."""
        verb, number = message.pop("verb"), message.pop("id")
        if verb != "cancel":
            task = self._calls[number] = asyncio.create_task(self._answer(number, verb, message))
            task.add_done_callback(lambda _: self._calls.pop(number))
        elif number in self._calls:
            self._calls[number].cancel()

    async def _answer(self, number: int, verb: str, message: dict[str, Any]) -> None:
        try:
            await getattr(self, f"_{verb}")(number, **message)
        except asyncio.CancelledError:
            say(number, "cancelled")
        except art_sdk.ARTError as error:
            say(number, "error", message=error.message, code=error.code)
        except Exception as error:  # noqa: BLE001 - whatever it is, the suite must see it
            say(number, "error", message=f"{type(error).__name__}: {error}")

    async def _start(self, number: int, **settings: Any) -> None:
        adapter = self._adapters[number] = self._make(**settings)
        facts = {name: sorted(getattr(adapter, name)) for name in ("capabilities", "losses", "repairs")}
        facts |= {"name": type(adapter).__name__, "version": art_sdk.ART_STANDARD_VERSION, "dialect": adapter.dialect}
        say(number, "started", call=True, translate=True, **facts)

    async def _translate(self, number: int, adapter: int, prompt: Any, options: Any) -> None:
        payload = self._adapters[adapter].translate(art_sdk.parse_prompt(prompt), art_sdk.parse_options(options))
        say(number, "payload", payload=payload)

    async def _call(self, number: int, adapter: int, prompt: Any, options: Any) -> None:
        async for event in self._adapters[adapter].call(prompt, options):
            say(number, "event", event=msgspec.to_builtins(event, enc_hook=as_data))
        say(number, "done")

    async def _stop(self, number: int, adapter: int) -> None:
        await self._adapters.pop(adapter).aclose()
        say(number, "stopped")


async def main(module: str, _: str, name: str) -> None:
    """Takes verbs until there are no more."""
    bridge, lines = Bridge(getattr(importlib.import_module(module), name)), asyncio.StreamReader(limit=2**30)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        bridge.take(json.loads(line))


asyncio.run(main(*sys.argv[1].partition(":")))
