"""What goes back over a connection: a whole response, or a script that says what the socket does, step by step."""

from __future__ import annotations

from msgspec import Struct


class Start(Struct, frozen=True, tag=True):
    """The head goes out. The first `Send` does it, too; said alone, nothing need follow."""


class Send(Struct, frozen=True, tag=True):
    """These bytes of the body go out, alone: one chunk, one write to the socket."""

    data: bytes


class Pause(Struct, frozen=True, tag=True):
    """Nothing is sent for that many seconds."""

    seconds: float


class Reset(Struct, frozen=True, tag=True):
    """The connection is reset (RST); what was sent and not yet read may be lost."""


class Drop(Struct, frozen=True, tag=True):
    """The connection is closed in order (FIN), wherever the body stands."""


class Hang(Struct, frozen=True, tag=True):
    """Nothing more is sent, until the client goes or the server stops."""


Step = Start | Send | Pause | Reset | Drop | Hang


class Response(Struct, frozen=True):
    """What goes back; `headers` are further ones, of lower-case names.

    With `steps` the body is what these send, chunked, or of the length that a `content-length` in `headers`
    promises; `body` is not sent. A script that ends without `Drop`, `Reset` or `Hang` ends the body in order.
    """

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    steps: tuple[Step, ...] | None = None


def stream_of(events: tuple[bytes, ...], content_type: str = "text/event-stream") -> Response:
    """A good streamed answer: every event sent by itself."""
    return Response(200, content_type=content_type, steps=tuple(Send(event) for event in events))
