"""`art serve` in a process of its own, and what it must survive: a client's attack, and a signal to stop."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from rows import Ended, Failed

COMMAND = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from art_compliance.cli import main
main()
"""
HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer any\r\n"
BODY = b'{"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]}'
MIB = 2**20
MOST_MEGABYTES = 600
TO_STOP = 5.0
"""Wall seconds in which the command must end after the signal."""


class Served:
    """The command, its address, and what it printed."""

    def __init__(self, process: subprocess.Popen[bytes], address: tuple[str, int], output: Path) -> None:
        self.process = process
        self.address = address
        self.output = output

    def connect(self) -> socket.socket:
        """A new connection."""
        return socket.create_connection(self.address, timeout=40)

    def converse(self, *pieces: bytes) -> bytes:
        """What comes back for these bytes, until the server closes or is silent for long."""
        received = b""
        with self.connect() as client, suppress(OSError):
            with suppress(OSError):
                for piece in pieces:
                    client.sendall(piece)
                client.shutdown(socket.SHUT_WR)
            while data := client.recv(65536):
                received += data
        return received

    def peak(self) -> float:
        """Megabytes in memory at the peak."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+)", status)
        return int(found[1]) / 1024 if found else 0.0

    def seconds(self) -> float:
        """Seconds of CPU so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def threads(self) -> int:
        """How many threads it has."""
        return len(list(Path(f"/proc/{self.process.pid}/task").iterdir()))


@contextmanager
def serving(*arguments: str) -> Generator[Served]:
    """The command, until it is stopped."""
    output = Path(os.environ["ART_TORTURE_FOLDER"]) / f"serve-{os.getpid()}.txt"
    with output.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-u", "-c", COMMAND, "serve", *arguments], stdout=file, stderr=subprocess.STDOUT
        )
    try:
        yield Served(process, address_in(output), output)
    finally:
        process.kill()
        process.wait()
        output.unlink()


def address_in(output: Path) -> tuple[str, int]:
    """The address that it prints."""
    for _ in range(600):
        found = re.search(r"http://([\d.]+):(\d+)", output.read_text(errors="replace"))
        if found:
            return found[1], int(found[2])
        time.sleep(0.1)
    raise Failed("it did not start")


def statuses(received: bytes) -> list[int]:
    """The statuses of the answers."""
    return [int(one) for one in re.findall(rb"HTTP/1\.1 (\d{3}) ", received)]


def good() -> bytes:
    """A good request."""
    return HEAD + b"content-length: %d\r\n\r\n" % len(BODY) + BODY


def attack(work: Callable[[Served], str], *arguments: str, stop: signal.Signals = signal.SIGINT) -> Ended:
    """Does the work; after it, a good request is answered, and the command ends soon after the signal."""
    with serving("--dialect", "openai-chat", *arguments) as served:
        before = served.seconds()
        said = work(served)
        if not arguments and statuses(served.converse(good()))[-1:] != [200]:
            raise Failed(f"{said}; then a good request is not answered")
        seconds, peak = served.seconds() - before, served.peak()
        began = time.monotonic()
        served.process.send_signal(stop)
        with suppress(subprocess.TimeoutExpired):
            served.process.wait(TO_STOP)
        printed = served.output.read_bytes()
        for is_so, words in (
            (served.process.returncode is None, f"it did not end within {TO_STOP:g} s of {stop.name}"),
            (served.process.returncode, f"it ended with {served.process.returncode} after {stop.name}"),
            (b"Traceback" in printed, "it printed a traceback"),
            (re.search(rb"[^\x20-\x7e\n\x80-\xff]", printed), "it printed control characters"),
            (peak > MOST_MEGABYTES, f"it took {peak:.0f} MB"),
        ):
            if is_so:
                raise Failed(f"{said}; {words}")
        return Ended(f"{said}; stopped in {time.monotonic() - began:.1f} s", seconds, peak)


def send(*pieces: bytes) -> Callable[[Served], str]:
    """Sends the bytes on one connection."""

    def work(served: Served) -> str:
        return f"answered {', '.join(map(str, statuses(served.converse(*pieces)))) or 'nothing'}"

    return work


def send_each(requests: dict[str, bytes]) -> Callable[[Served], str]:
    """Sends each request on its own connection; each gets an answer."""

    def work(served: Served) -> str:
        given = {name: statuses(served.converse(request)) for name, request in requests.items()}
        silent = [name for name, answered in given.items() if not answered]
        if silent:
            raise Failed(f"not answered: {', '.join(silent)}")
        return "; ".join(f"{name}: {answered[0]}" for name, answered in given.items())

    return work


def with_body(body: bytes, length: object = None) -> bytes:
    """A request with this body, or with another length than it has."""
    return HEAD + b"content-length: %s\r\n\r\n" % str(len(body) if length is None else length).encode() + body


def chunked(*chunks: bytes) -> bytes:
    """A request with these bytes for its chunks."""
    return HEAD + b"transfer-encoding: chunked\r\n\r\n" + b"".join(chunks)
