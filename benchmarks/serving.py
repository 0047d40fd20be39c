"""The loopback provider in a process of its own, so that its work is not measured: `python -m benchmarks.serving`."""

# ruff: noqa: S603, T201 - our own program is run, and its URL is printed

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

from art_compliance.provider import LoopbackProvider


@contextmanager
def provider_process() -> Generator[str]:
    """The URL of a provider that answers every request with the same text, streamed or not."""
    program = [sys.executable, "-m", "benchmarks.serving"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


if __name__ == "__main__":
    with LoopbackProvider() as server:
        print(server.url, flush=True)
        sys.stdin.read()
