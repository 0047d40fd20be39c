"""Streamed answers, read: what the stream readers of all providers have in common. No I/O.

    bytes ─ framing ─► frames ─ an AnswerStream ─► pieces ─ Telling ─► events

A provider's own part is its `AnswerStream`: which frame may follow which, and what a frame says. It
raises ValueError for whatever breaks its grammar; the reader makes ERROR and END of that, after
the events of what did arrive. METADATA and END of a good answer come when the body has ended: only then
is it sure that nothing follows.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Protocol

from art_sdk.adapters.answers import CallInfo, Ending, Piece, Telling
from art_sdk.errors import LLMProviderError
from art_sdk.http.framing import BadFrame, Frame, ServerSentEvents
from art_sdk.http.transport import ResponseHead
from art_sdk.stream import StreamEvent


class ErrorInStream(ValueError):
    """The provider tells an error where a part of the answer was to come."""


class StoppedEarly(ValueError):
    """The stream ended before the answer did."""


class AnswerStream(Protocol):
    """What an adapter writes of a streamed answer. It is fed frames until the body ends."""

    def take(self, frame: Frame) -> Iterable[Piece]:
        """What the frame says. Raises ErrorInStream, or ValueError for a frame that may not stand here."""
        ...

    def end(self) -> Ending:
        """What is known at the end. Raises StoppedEarly before it, ValueError for an answer that lacks something."""
        ...

    def extensions(self) -> dict[str, dict[str, Any]] | None:
        """What of the answer, as far as it is complete, goes back with the next turn."""
        ...


class StreamReader(abc.ABC):
    """Bytes in, events out, however the bytes are cut. No method raises.

    `close` is called when the body has ended; `fail` in its place when it was cut off, with what cut
    it off. After the event END there are no more events, and `is_over` says so.
    """

    is_over: bool = False

    @abc.abstractmethod
    def feed(self, chunk: bytes) -> list[StreamEvent]:
        """The events that these bytes complete."""

    @abc.abstractmethod
    def close(self) -> list[StreamEvent]:
        """The last events: METADATA and END, or ERROR and END."""

    @abc.abstractmethod
    def fail(self, error: LLMProviderError) -> list[StreamEvent]:
        """The last events of a body that the network cut off. An answer that was whole by then is a good one."""


class WholeReader(StreamReader):
    """Reads a body as a whole when it has ended: an unstreamed answer, or an error's."""

    def __init__(self, read: Callable[[bytes], Iterable[StreamEvent]], info: CallInfo) -> None:
        self._read = read
        self._info = info
        self._chunks: list[bytes] = []

    def feed(self, chunk: bytes) -> list[StreamEvent]:
        self._chunks.append(chunk)
        return []

    def close(self) -> list[StreamEvent]:
        if self.is_over:
            return []
        self.is_over = True
        return list(self._read(b"".join(self._chunks)))

    def fail(self, error: LLMProviderError) -> list[StreamEvent]:
        if self.is_over:
            return []
        self.is_over = True
        return list(Telling(self._info).fail(error))


class FrameReader(StreamReader):
    """Reads server-sent events. `describe` makes the error of the bytes at fault and of what is wrong with them."""

    def __init__(
        self, answer: AnswerStream, info: CallInfo, describe: Callable[[bytes, Exception], LLMProviderError]
    ) -> None:
        self._answer = answer
        self._describe = describe
        self._frames = ServerSentEvents()
        self._telling = Telling(info)

    def feed(self, chunk: bytes) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        if self.is_over:
            return events
        for frame in self._frames.feed(chunk):
            try:
                events.extend(map(self._telling.tell, self._pieces(frame)))  # what comes before a fault is kept
            except Exception as error:  # noqa: BLE001 - whatever a parser stumbles over, the frame was not readable
                return events + self._stop(self._describe(_bytes_of(frame), error))
        return events

    def close(self) -> list[StreamEvent]:
        if self.is_over:
            return []
        rest = self._frames.close()
        try:
            ending = self._answer.end()
            if rest.strip(b"\r\n") and not rest.startswith(b":"):
                raise StoppedEarly(_UNENDED)  # noqa: TRY301 - it is a fault as those of `end` are
        except Exception as error:  # noqa: BLE001 - as above
            return self._stop(self._describe(rest, error))
        return self._end(ending)

    def fail(self, error: LLMProviderError) -> list[StreamEvent]:
        if self.is_over:
            return []
        try:
            ending = self._answer.end()
        except Exception:  # noqa: BLE001 - the answer was not whole; what cut it off is the error
            return self._stop(error)
        return self._end(ending)

    def _pieces(self, frame: Frame | BadFrame) -> Iterable[Piece]:
        if isinstance(frame, BadFrame):
            raise ValueError(frame.reason)  # noqa: TRY004 - the bytes are at fault, not their type
        if frame.event == "error":
            raise ErrorInStream(_TOLD)
        return self._answer.take(frame)

    def _end(self, ending: Ending) -> list[StreamEvent]:
        self.is_over = True
        return list(self._telling.end(ending, first_token_ms=self._telling.first_piece_ms))

    def _stop(self, error: LLMProviderError) -> list[StreamEvent]:
        self.is_over = True
        return list(self._telling.fail(error, self._answer.extensions()))


def is_event_stream(head: ResponseHead) -> bool:
    """Whether the answer says that it is one. An answer that says nothing of itself may be one."""
    kind = head.headers.get("content-type", "")
    return not kind or kind.partition(";")[0].strip().lower() == "text/event-stream"


def follow(table: Mapping[tuple[str, str], str], state: str, kind: str) -> str:
    """The state after a frame of the kind. Raises ValueError, naming what may stand there instead."""
    after = table.get((state, kind))
    if after is None:
        may = " or ".join(allowed for before, allowed in table if before == state) or "nothing"
        message = f"{kind} in the state {state!r}; {may} may come here"
        raise ValueError(message)
    return after


_TOLD: Final = "an event of the type error"
_UNENDED: Final = "it stopped before the end of an event that was begun after the answer's end"


def _bytes_of(frame: Frame | BadFrame) -> bytes:
    return frame.data if isinstance(frame, BadFrame) else frame.data.encode()
