"""A page in a headless Chromium for tests: what it shows, what it reports, and what it asks the network for."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from websockets.sync.client import ClientConnection, connect

PROGRAM = shutil.which("chromium")
MISSING = "chromium is not installed (Debian's package of the same name)"
FLAGS = (
    "--headless",
    "--no-sandbox",  # root, in a container, cannot have it; its only pages are those of these tests
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
)
TIME_LIMIT = 60.0
"""Seconds for Chromium to start, and for each of its answers."""
KEYS = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowDown": 40}


class Page:
    """One page. `problems` are its errors, warnings and violations; `asked` are the addresses that it asked for."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._calls = 0
        self._loads = 0
        self._opened = 0
        self.problems: list[str] = []
        self.asked: list[str] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Performance.enable", timeDomain="threadTicks")  # processor time: other processes do not count

    def open(self, url: str, *, dark: bool = False) -> None:
        """Opens an address, and waits until it is loaded."""
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[feature])
        self.problems.clear()
        self.asked.clear()
        self._opened += 1
        address, mark, target = url.partition("#")
        before = self._loads
        self.call("Page.navigate", url=f"{address}?{self._opened}{mark}{target}")  # another target loads nothing
        while self._loads == before:
            self._receive()

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page. Raises AssertionError if it throws."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def busy(self) -> float:
        """Seconds of processor time that the page's main thread has worked since it was opened."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        return next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")

    def press(self, key: str) -> None:
        """Presses a key."""
        code = KEYS.get(key, ord(key[0].upper()))
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **text)

    def type(self, text: str) -> None:
        """Types into the element that has the focus."""
        self.call("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """Clicks in the middle of the first element."""
        box = self.evaluate(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)});"
            " one.scrollIntoView({block: 'center'});"
            " const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def resize(self, width: int, height: int) -> None:
        """Gives the page a size in pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def picture(self) -> bytes:
        """What is seen of the page, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def run_scripts(self, *, allowed: bool) -> None:
        """Whether pages that are opened from now on may run scripts."""
        self.call("Emulation.setScriptExecutionDisabled", value=not allowed)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Calls a method of the DevTools protocol."""
        self._calls += 1
        self._connection.send(json.dumps({"id": self._calls, "method": method, "params": parameters}))
        while (message := self._receive()).get("id") != self._calls:
            pass
        assert "error" not in message, message
        return dict(message["result"])

    def _receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._connection.recv(timeout=TIME_LIMIT))
        facts = message.get("params", {})
        match message.get("method"):
            case "Page.loadEventFired":
                self._loads += 1
            case "Runtime.exceptionThrown":
                self.problems.append(facts["exceptionDetails"]["text"])
            case "Runtime.consoleAPICalled":
                self.problems.append(str(facts["args"]))
            case "Log.entryAdded":
                self.problems.append(facts["entry"]["text"])
            case "Network.requestWillBeSent":
                self.asked.append(facts["request"]["url"])
        return message


@contextmanager
def open_page() -> Iterator[Page]:
    """A new browser with one page."""
    assert PROGRAM is not None, MISSING
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile, _started(profile) as process:
        try:
            with connect(_address(process, Path(profile, "DevToolsActivePort")), proxy=None, max_size=None) as one:
                yield Page(one)
        finally:
            process.terminate()


def _started(profile: str) -> subprocess.Popen[bytes]:
    command = [str(PROGRAM), *FLAGS, f"--user-data-dir={profile}"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _address(process: subprocess.Popen[bytes], file: Path) -> str:
    ends = time.monotonic() + TIME_LIMIT
    while not (file.exists() and "\n" in file.read_text("utf-8")):
        assert process.poll() is None, "Chromium ended before it listened"
        assert time.monotonic() < ends, "Chromium does not start"
        time.sleep(0.02)
    port = file.read_text("utf-8").split()[0]
    request = urllib.request.Request(f"http://127.0.0.1:{port}/json/new", method="PUT")
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=TIME_LIMIT) as answer:
        return str(json.load(answer)["webSocketDebuggerUrl"])
