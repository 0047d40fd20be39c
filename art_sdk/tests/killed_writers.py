"""Kills processes that write into one SQLite store, and prints what was acknowledged and is not there.

    python killed_writers.py FILE KILLS

Two writers run at a time. Each says the number of every message that the store has acknowledged; after a few it is
killed (SIGKILL), wherever it is, and the next one begins.
"""

from __future__ import annotations

import os
import signal
import sys
from itertools import count

import anyio

from art_sdk import UserMessage
from art_sdk.agents.history import ConversationMessage
from art_sdk.agents.stores.sqlite import SQLiteStore


def write(store: SQLiteStore, writer: int, out: int) -> None:
    """Appends pairs of messages until it is killed."""

    async def run() -> None:
        for number in count():
            pair = [UserMessage(f"{writer}/{number}/{half}") for half in "ab"]
            stored = [ConversationMessage(message=one, timestamp=0.0) for one in pair]
            await store.append_messages(f"thread {writer % 3}", stored)
            os.write(out, f"{number}\n".encode())
            await anyio.sleep(0.005)  # so that the other one writes, too: SQLite is not fair

    anyio.run(run)


def start(store: SQLiteStore, writer: int) -> tuple[int, int]:
    answers, out = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            write(store, writer, out)
        finally:
            os._exit(1)
    os.close(out)
    return child, answers


def kill(child: int, answers: int, acknowledged: int) -> int:
    """Kills the writer after so many acknowledgements, and returns how many it gave."""
    answered = b""
    while answered.count(b"\n") < acknowledged:
        answered += os.read(answers, 100)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(answers, 10_000):
        answered += more
    os.close(answers)
    return answered.count(b"\n")


def main(path: str, kills: int) -> None:
    store = SQLiteStore(path)
    store.close()  # a connection is not for a child
    anyio.run(store.get_messages, "")  # imports what the children need
    store.close()
    given: dict[int, int] = {}
    running: list[tuple[int, int, int]] = []
    for writer in range(kills):
        running.append((writer, *start(store, writer)))
        if len(running) == 2 or writer == kills - 1:
            oldest, child, answers = running.pop(0)
            given[oldest] = kill(child, answers, 1 + oldest % 3)
    for writer, child, answers in running:
        given[writer] = kill(child, answers, 1)
    check(store, given)


def check(store: SQLiteStore, given: dict[int, int]) -> None:
    async def read(thread: int) -> list[str]:
        return [str(stored.message.content) for stored in await store.get_messages(f"thread {thread}")]

    kept = {text for thread in range(3) for text in anyio.run(read, thread)}
    for writer, messages in given.items():
        lost = [number for number in range(messages) for half in "ab" if f"{writer}/{number}/{half}" not in kept]
        if lost:
            print(f"writer {writer}: lost {lost}")  # noqa: T201 - for the test that runs it
    halves = {text.rpartition("/")[0] for text in kept}
    if len(kept) != 2 * len(halves):
        print("half of a pair was kept")  # noqa: T201 - likewise
    print(f"{len(given)} kills, {sum(given.values())} acknowledged")  # noqa: T201 - likewise


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
