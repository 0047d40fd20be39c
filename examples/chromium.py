"""Pages in a headless Chromium, driven over the DevTools protocol: as little of it as the example of a loop needs."""

from __future__ import annotations

import asyncio
import json
import shutil
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
from websockets.asyncio.client import ClientConnection, connect

PROGRAM = shutil.which("chromium")
FLAGS = (
    "--headless",
    "--no-sandbox",  # root, in a container, cannot have it; its only pages are those of this folder
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
)
TIME_LIMIT = 120.0
"""Seconds for Chromium to start, and for each of its answers."""

# HTML has a field's first value, not the one that was typed: `fill` sets both, so that the page's HTML shows it.
SCRIPTS = {
    "click": "one.click()",
    "fill": "one.value = given.text; one.setAttribute('value', given.text); one.dispatchEvent(new Event('input'))",
}
COMMANDS = (
    {"name": "click", "description": "Clicks an element."},
    {"name": "fill", "description": "Types a text into a field, in place of what is there."},
    {"name": "finish", "description": "Ends the session: every step is done."},
)
PARAMETERS = {"click": ("selector",), "fill": ("selector", "text"), "finish": ("answer",)}


class Browser:
    """A page, and the commands that an answer may use on it: the executor of the prompt manager."""

    def __init__(self, page: ClientConnection) -> None:
        self._page = page
        self._calls = 0
        self._events: list[str] = []
        self._error: str | None = None

    async def open(self, url: str) -> None:
        """Opens a page, and waits until it is loaded."""
        await self._call("Page.enable")
        await self._call("Page.navigate", url=url)
        await self._loaded()

    async def html(self) -> str:
        """The page as it is now."""
        return str((await self._evaluate("document.documentElement.outerHTML"))["value"])

    async def execute(self, command: str, parameters: Mapping[str, Any]) -> str | None:
        """Executes a command, and waits for the page that it leads to. What went wrong, if anything did."""
        given = json.dumps(parameters)
        self._events.clear()
        done = await self._evaluate(
            f"(given => {{ const one = document.querySelector(given.selector);"
            f" if (!one) return `there is no element ${{given.selector}}`; {SCRIPTS[command]} }})({given})"
        )
        if "Page.frameRequestedNavigation" in self._events:  # comes before the answer to the click that asks for it
            await self._loaded()
        self._error = done.get("value") or done.get("description")
        return self._error

    async def get_command_definitions(self) -> Sequence[dict[str, Any]]:
        """The commands."""
        return COMMANDS

    async def get_parameter_schema(self, command: str) -> dict[str, Any]:
        """The JSON Schema of a command's parameters, all of them texts."""
        names = PARAMETERS[command]
        return {
            "type": "object",
            "properties": {name: {"type": "string"} for name in names},
            "required": list(names),
            "additionalProperties": False,
        }

    async def get_last_error(self, session_id: str) -> str | None:
        """What went wrong with the last command, if anything did."""
        del session_id  # a browser has one
        return self._error

    async def _evaluate(self, script: str) -> dict[str, Any]:
        return (await self._call("Runtime.evaluate", expression=script, userGesture=True))["result"]

    async def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._calls += 1
        await self._page.send(json.dumps({"id": self._calls, "method": method, "params": parameters}))
        while (message := await self._receive()).get("id") != self._calls:
            pass
        if "error" in message:
            raise RuntimeError(f"Chromium refuses {method}: {message['error']['message']}")
        return message["result"]

    async def _loaded(self) -> None:
        while "Page.loadEventFired" not in self._events:
            await self._receive()

    async def _receive(self) -> dict[str, Any]:
        async with asyncio.timeout(TIME_LIMIT):
            message = json.loads(await self._page.recv())
        self._events.append(message.get("method", ""))
        return message


@asynccontextmanager
async def open_browser() -> AsyncGenerator[Browser]:
    """A browser with an empty page. Raises RuntimeError if Chromium is not installed or does not start."""
    if PROGRAM is None:
        raise RuntimeError("chromium is not installed (Debian's package of the same name)")
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            PROGRAM, *FLAGS, f"--user-data-dir={profile}", stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL
        )
        try:
            port = await _port(process, Path(profile, "DevToolsActivePort"))
            async with connect(await _new_page(port), proxy=None, max_size=None, open_timeout=TIME_LIMIT) as page:
                yield Browser(page)
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


async def _port(process: Process, file: Path) -> str:
    """The port that Chromium chose: it writes it into a file of its profile when it listens."""
    async with asyncio.timeout(TIME_LIMIT):
        while "\n" not in (text := _text_of(file)):
            if process.returncode is not None:
                raise RuntimeError(f"Chromium ended with status {process.returncode} before it listened")
            await asyncio.sleep(0.05)
    return text.split()[0]


def _text_of(file: Path) -> str:
    return file.read_text("utf-8") if file.exists() else ""


async def _new_page(port: str) -> str:
    """The address of a new page's connection."""
    async with httpx2.AsyncClient(trust_env=False, timeout=TIME_LIMIT) as client:
        answer = await client.put(f"http://127.0.0.1:{port}/json/new")
    return str(answer.raise_for_status().json()["webSocketDebuggerUrl"])
