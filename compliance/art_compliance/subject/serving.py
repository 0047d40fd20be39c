"""The process of an adapter: makes it, and uses it as the suite says. `python -m art_compliance.subject.serving FD`."""

from __future__ import annotations

import gc
import io
import os
import select
import socket
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import partial
from itertools import count
from threading import Thread
from typing import Any, Final

import anyio.from_thread
import msgspec

from art_compliance.findings import HarnessError, NotMade
from art_compliance.subject.access import Access, Keys
from art_compliance.subject.deadlines import run_here
from art_compliance.subject.factories import imported
from art_compliance.subject.formats import Format
from art_compliance.subject.host.counting import adopt_orphans
from art_compliance.subject.host.host import Host, make_host
from art_compliance.subject.host.interrupting import CannotDo
from art_compliance.subject.making import Order
from art_compliance.subject.messages import Channel, Closed, pack
from art_compliance.subject.packing import unpack_factory
from art_compliance.subject.places import describe_error

_MOST_PRINTED: Final = 1_000_000
"""Characters of what an adapter prints in one use; the rest is dropped."""


class Printed(io.TextIOBase):
    """Keeps what is printed until it is sent."""

    def __init__(self) -> None:
        self._text = io.StringIO()

    def writable(self) -> bool:
        """It is there to be written to."""
        return True

    def write(self, text: str, /) -> int:
        """Keeps the text, as far as there is room."""
        return self._text.write(text) if self._text.tell() < _MOST_PRINTED else len(text)

    def take(self) -> str:
        """What was printed since the last time."""
        text, self._text = self._text.getvalue(), io.StringIO()
        return text


def serve(channel: Channel) -> None:
    """Makes the adapter of the first message, and answers every other one, until the connection is closed."""
    printed = Printed()
    with redirect_stdout(printed), redirect_stderr(printed), anyio.from_thread.start_blocking_portal() as portal:
        host = _open(channel, portal, printed)
        if host is None:
            return
        with suppress(Closed):
            for number in count(1):
                verb, arguments = channel.receive()
                use = partial(_use, host, verb, arguments)
                _answer(channel, number, printed, use)
                if verb == "close":
                    return


def _open(channel: Channel, portal: anyio.from_thread.BlockingPortal, printed: Printed) -> Host | None:
    job = channel.receive()
    made: list[Host] = []

    def make() -> Any:
        try:
            packed = unpack_factory(job)
        except Exception as error:
            raise CannotDo(f"its factory cannot be imported by another process: {describe_error(error)}") from error
        factory = imported(packed)
        freeze_modules()
        access = None if job["access"] is None else Access(**job["access"])
        known = {name: job[name] for name in ("name", "requested", "url", "limit")}
        formats = {one["name"]: Format(**one) for one in job["formats"]}
        order = Order(make=factory, access=access, keys=Keys(**job["keys"]), formats=formats, **known)
        made.append(make_host(order, portal, run_here))
        return msgspec.to_builtins(made[0].facts)

    _answer(channel, 0, printed, make)
    return made[0] if made else None


def freeze_modules() -> None:
    """Leaves what was imported out of every later collection: it lives as long as the process."""
    gc.collect()
    gc.freeze()


def _use(host: Host, verb: str, arguments: dict[str, Any]) -> Any:
    return getattr(host, verb)(**arguments)


def _answer(channel: Channel, number: int, printed: Printed, work: Callable[[], Any]) -> None:
    """Sends what the work gives, or why it gives nothing, as the answer to the message of that number."""
    try:
        answer = {"is": "given", "given": pack(work())}
    except CannotDo as error:
        answer = {"is": "cannot", "why": str(error)}
    except NotMade as error:
        answer = {"is": "not made", "why": str(error)}
    except HarnessError as error:
        answer = {"is": "harness", "why": str(error)}
    except Exception as error:  # noqa: BLE001 - whatever it is, the suite reports it
        answer = {"is": "raised", "why": describe_error(error)}
    try:
        channel.send({**answer, "number": number, "printed": printed.take()})
    except (TypeError, ValueError, RecursionError) as error:
        why = f"its result cannot be sent: {describe_error(error)}"
        channel.send({"is": "raised", "why": why, "number": number})


def end_without(number: int, seconds: float) -> None:
    """Ends this process so many seconds after the other side of the socket is gone, whatever the adapter does."""
    watch = select.poll()
    watch.register(number, 0)
    watch.poll()
    time.sleep(seconds)
    os._exit(1)


_ALONE: Final = 20.0
"""Seconds that the process may go on without the suite, which waits for less to see what is left in it."""


def main() -> None:
    """Serves the socket whose number is the argument."""
    Thread(target=end_without, args=(int(sys.argv[1]), _ALONE), daemon=True).start()
    connected = socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(connected.fileno(), False)  # noqa: FBT003 - it takes no keyword
    adopt_orphans()  # so that they are counted among what stays behind
    serve(Channel(connected))


if __name__ == "__main__":
    main()
