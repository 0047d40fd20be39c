"""What goes back over a connection: a whole response, or a script of what the socket does, step by step."""

from __future__ import annotations

from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace


class Start(Struct, frozen=True, tag=True):
    """Sends the head, which the first `Send` would otherwise do. A script may end after it."""


class Send(Struct, frozen=True, tag=True):
    """Sends these bytes of the body by themselves: one chunk, one write to the socket."""

    data: bytes


class Announce(Struct, frozen=True, tag=True):
    """Sends the head of an answer that is not the last one: a status of 1xx."""

    status: int


class Raw(Struct, frozen=True, tag=True):
    """Sends these bytes in place of a head, or of a part of one: what no HTTP server sends."""

    data: bytes


class Crawl(Struct, frozen=True, tag=True):
    """Sends the head byte by byte, with so many seconds after each."""

    seconds: float


class Pause(Struct, frozen=True, tag=True):
    """Sends nothing for this many seconds."""

    seconds: float


class Reset(Struct, frozen=True, tag=True):
    """Resets the connection (RST); bytes that were not read yet may be lost."""


class Drop(Struct, frozen=True, tag=True):
    """Closes the connection in order (FIN), even inside the body."""


class Hang(Struct, frozen=True, tag=True):
    """Sends nothing more until the client leaves or the server stops."""


Step = Start | Announce | Raw | Crawl | Send | Pause | Reset | Drop | Hang


class Response(Struct, frozen=True):
    """An HTTP response; `headers` are additional ones, with lower-case names.

    With `steps`, these send the body instead of `body`: chunked, or of the length in a `content-length` of `headers`. A
    script that ends without `Drop`, `Reset` or `Hang` ends the body in order.
    """

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    steps: tuple[Step, ...] | None = None


def has_head(response: Response) -> bool:
    """Whether a head is sent: a script may end the connection before it, or send something else."""
    first = next((step for step in response.steps or () if not isinstance(step, Announce | Pause)), Start())
    return isinstance(first, Start | Send | Crawl)


def stream_of(events: tuple[bytes, ...], content_type: str = "text/event-stream") -> Response:
    """A good streamed answer, with one write per event."""
    return Response(200, content_type=content_type, steps=tuple(Send(event) for event in events))


def in_one_write(response: Response) -> Response:
    """The same answer with what follows each other in one write: networks join, too, and clients read it cheaper."""
    if response.steps is None:
        return response
    runs = ((is_sent, list(steps)) for is_sent, steps in groupby(response.steps, lambda step: isinstance(step, Send)))
    return replace(response, steps=tuple(step for is_sent, run in runs for step in (_joined(run) if is_sent else run)))


def delayed(response: Response, seconds: float) -> Response:
    """The same answer, whose first byte comes after a pause."""
    return replace(response, steps=(Pause(seconds), *(response.steps or (Send(response.body),))))


def _joined(steps: list[Step]) -> list[Step]:
    return [Send(b"".join(step.data for step in steps if isinstance(step, Send)))]
