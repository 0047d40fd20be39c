"""From the bytes of an answer to events: the half of every adapter that reads, and its two readers. No I/O.

    bytes ─ framing ─► frames ─ an AnswerStream ─► pieces ─ EventWriter ─► events

A provider's own part is `parse_answer` for whole answers, and for streams an `AnswerStream`: which frame may
follow which, and what a frame says. Both raise ValueError for whatever breaks the provider's format; the
readers turn that into ERROR and END, after the events of what did arrive. METADATA and END of a good answer
come when the body has ended, since only then it is certain that nothing follows.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Final, Protocol

import msgspec
from msgspec import Struct

from art_sdk.adapters.answers import Answer, CallInfo, Ending, EventWriter, Piece, answer_events, failure_events
from art_sdk.adapters.failures import FailureReader, has_error
from art_sdk.errors import LLMProviderError
from art_sdk.http.exchange import StreamReader
from art_sdk.http.framing import BadFrame, Frame, Frames, ServerSentEvents
from art_sdk.http.size_limits import SizeLimits
from art_sdk.http.time_limits import Timeouts
from art_sdk.http.transport import HttpRequest, ResponseHead
from art_sdk.stream import StreamEvent


class ErrorInStream(ValueError):
    """The provider sent an error instead of the next part of the answer. `code` is its code, if not in its data."""

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code


class StoppedEarly(ValueError):
    """The stream ended before the answer did."""


class AnswerStream(Protocol):
    """What an adapter writes to read a streamed answer. It gets frames until the body ends."""

    def take(self, frame: Frame) -> Iterable[Piece]:
        """The pieces in the frame. Raises ErrorInStream, or ValueError for a frame that must not come here."""
        ...

    def end(self) -> Ending:
        """What is known at the end. Raises StoppedEarly before it, ValueError for an answer that lacks something."""
        ...

    def extensions(self) -> dict[str, dict[str, Any]] | None:
        """The message's extensions, as far as they are complete."""
        ...


_EVENT_STREAM: Final = "text/event-stream"


class AnswerReader:
    """The half of `BaseAdapter` that reads answers.

    A provider's faults become events. A method that the adapter should define and does not is the author's
    mistake: NotImplementedError goes through to the caller.
    """

    request_id_header: ClassVar[str] = "x-request-id"
    stream_type: ClassVar[str] = _EVENT_STREAM
    """The content type of the provider's streams."""
    size_limits: SizeLimits = SizeLimits()

    def parse_answer(self, head: ResponseHead, body: bytes, info: CallInfo) -> Answer:
        """A good answer as a value. Raises ValueError for a body that is not what the provider sends."""
        raise NotImplementedError(f"{type(self).__name__} must define parse_answer")

    def answer_stream(self, head: ResponseHead, info: CallInfo) -> AnswerStream:
        """What reads the frames of a good streamed answer; needed by an adapter that declares `streaming`."""
        raise NotImplementedError(f"{type(self).__name__} must define answer_stream")

    def stream_frames(self) -> Frames:
        """What parses the bytes of the provider's streams: server-sent events, if a subclass does not say otherwise."""
        return ServerSentEvents(self.size_limits.of_event())

    def read_response(self, head: ResponseHead, body: bytes, info: CallInfo) -> Iterator[StreamEvent]:
        """The events of an unstreamed answer, good or bad."""
        if not 200 <= head.status < 300:
            return failure_events(self.read_error(head, body), info)
        try:
            return iter([*answer_events(self.parse_answer(head, body, info), info)])
        except NotImplementedError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a parser raises or returns, the answer was not readable
            return failure_events(self._failures.read_no_answer(head, body, error), info)

    def stream_reader(self, head: ResponseHead, info: CallInfo) -> StreamReader:
        """A reader for the body of a streamed answer, good or bad: bytes in, events out.

        An answer that is not an event stream becomes an ERROR event, even a good one in JSON: a non-stream
        reply to a streaming request is an error.
        """
        if not 200 <= head.status < 300:
            return self.whole_reader(head, info)
        if not _is_of_type(head, self.stream_type):
            return NoStreamReader(self._failures, head, info, self.stream_type)
        return FrameReader(self.answer_stream(head, info), self.stream_frames(), self._failures, head, info)

    def whole_reader(self, head: ResponseHead, info: CallInfo) -> StreamReader:
        """A reader for the body of an unstreamed answer, or of a refusal."""
        return WholeReader(self, self._failures, head, info)

    def read_error(self, head: ResponseHead, body: bytes) -> LLMProviderError:
        """The error of an answer outside 2xx. Never raises."""
        return self._failures.read_refusal(head, body)

    @property
    @abc.abstractmethod
    def _failures(self) -> FailureReader: ...


class Prepared(Struct, frozen=True):
    """A call up to its I/O: the request, and what is needed to read its answer."""

    request: HttpRequest
    info: CallInfo
    timeouts: Timeouts | None
    stream: bool
    adapter: AnswerReader

    def open_reader(self, head: ResponseHead) -> StreamReader:
        """A reader for the body that follows this head."""
        if self.stream:
            return self.adapter.stream_reader(head, self.info)
        return self.adapter.whole_reader(head, self.info)

    def fail(self, error: LLMProviderError) -> list[StreamEvent]:
        """The events of a call that failed before any answer came."""
        return list(failure_events(error, self.info))


class _BodyReader(StreamReader):
    """Reads a body when it is complete."""

    def __init__(self, failures: FailureReader, head: ResponseHead, info: CallInfo) -> None:
        self._failures = failures
        self._head = head
        self._info = info
        self._chunks: list[bytes] = []

    @abc.abstractmethod
    def _read(self, body: bytes) -> Iterable[StreamEvent]: ...

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
        cut_off = self._failures.read_cut_off(self._head, b"".join(self._chunks), error)
        return list(failure_events(cut_off, self._info))


class WholeReader(_BodyReader):
    """Reads an unstreamed answer, or a refusal."""

    def __init__(self, adapter: AnswerReader, failures: FailureReader, head: ResponseHead, info: CallInfo) -> None:
        super().__init__(failures, head, info)
        self._adapter = adapter

    def _read(self, body: bytes) -> Iterable[StreamEvent]:
        return self._adapter.read_response(self._head, body, self._info)


class NoStreamReader(_BodyReader):
    """Reads the body that came instead of a stream of this type."""

    def __init__(self, failures: FailureReader, head: ResponseHead, info: CallInfo, wanted: str) -> None:
        super().__init__(failures, head, info)
        self._wanted = wanted

    def _read(self, body: bytes) -> Iterable[StreamEvent]:
        kind = "an event stream" if self._wanted == _EVENT_STREAM else f"a stream of the type {self._wanted}"
        cause = ValueError(f"expected {kind}")
        return failure_events(self._failures.read_no_answer(self._head, body, cause), self._info)


class FrameReader(StreamReader):
    """Reads the frames of a streamed answer."""

    def __init__(
        self,
        answer: AnswerStream,
        frames: Frames,
        failures: FailureReader,
        head: ResponseHead,
        info: CallInfo,
    ) -> None:
        self._answer = answer
        self._frames = frames
        self._failures = failures
        self._head = head
        self._writer = EventWriter(info)

    def feed(self, chunk: bytes) -> list[StreamEvent]:
        return [] if self.is_over else self._read(self._frames.feed(chunk))

    def _read(self, frames: Iterable[Frame | BadFrame]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        take, write = self._answer.take, self._writer.write
        for frame in frames:
            try:
                if type(frame) is not Frame or frame.event == "error" or frame.is_error:
                    raise _fault_in(frame)  # noqa: TRY301 - a fault like those of `take`
                for piece in take(frame):
                    events.append(write(piece))  # noqa: PERF401 - what comes before a fault is kept
            except Exception as error:  # noqa: BLE001 - whatever a parser raises, the frame was not readable
                return events + self._break(_bytes_of(frame), error)
        return events

    def close(self) -> list[StreamEvent]:
        if self.is_over:
            return []
        last = self._read(self._frames.finish())
        return last + self._close(self._frames.close())

    def _close(self, rest: bytes) -> list[StreamEvent]:
        """The last events of a stream whose bytes end with `rest`, which is not a frame."""
        if self.is_over:
            return []
        try:
            ending = self._answer.end()
            if rest.strip(b"\r\n") and not rest.startswith(b":"):
                raise StoppedEarly(_UNFINISHED)  # noqa: TRY301 - a fault like those of `end`
        except Exception as error:  # noqa: BLE001 - as above
            return self._break(rest, error)
        return self._end(ending)

    def fail(self, error: LLMProviderError) -> list[StreamEvent]:
        if self.is_over:
            return []
        try:
            ending = self._answer.end()
        except Exception:  # noqa: BLE001 - the answer was not complete; what cut it off is the error
            return self._stop(self._failures.read_cut_off(self._head, b"", error))
        return self._end(ending)

    def _end(self, ending: Ending) -> list[StreamEvent]:
        self.is_over = True
        return list(self._writer.end(ending, first_token_ms=self._writer.first_piece_ms))

    def _break(self, data: bytes, cause: Exception) -> list[StreamEvent]:
        """The last events of a stream that its own bytes ended."""
        if isinstance(cause, ErrorInStream) or has_error(data):
            code = cause.code if isinstance(cause, ErrorInStream) else None
            return self._stop(self._failures.read_stream_error(self._head, data, cause, code=code))
        is_retryable = isinstance(cause, StoppedEarly)
        return self._stop(self._failures.read_broken_stream(self._head, data, cause, is_retryable=is_retryable))

    def _stop(self, error: LLMProviderError) -> list[StreamEvent]:
        self.is_over = True
        return list(self._writer.fail(error, self._answer.extensions()))


def _is_of_type(head: ResponseHead, wanted: str) -> bool:
    """Whether the content type is this one, or missing."""
    kind = head.headers.get("content-type", "")
    return not kind or kind.partition(";")[0].strip().lower() == wanted


def fields_of(frame: Frame) -> dict[str, Any] | None:
    """The frame's data as an object; None where it is something else."""
    try:
        return _decode_object(frame.data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


_decode_object: Final = msgspec.json.Decoder(dict[str, Any]).decode


def is_foreign(frame: Frame, fields: Iterable[str]) -> bool:
    """Whether a frame has no part in an answer whose frames have at least one of these fields.

    Official clients skip an object of another kind, and of an event of another type even what is not an object. Empty
    data keeps a connection open: https://github.com/omnigent-ai/omnigent/pull/1474.
    """
    if not frame.data:
        return True
    found = fields_of(frame)
    return frame.event != "message" if found is None else found.keys().isdisjoint(fields)


def follow(table: Mapping[tuple[str, str], str], state: str, kind: str) -> str:
    """The state after a frame of this kind. Raises ValueError, naming what may come in this state."""
    after = table.get((state, kind))
    if after is None:
        expected = " or ".join(allowed for before, allowed in table if before == state) or "nothing"
        raise ValueError(f"{kind} in the state {state!r}; {expected} may come here")
    return after


def _fault_in(frame: Frame | BadFrame) -> ValueError:
    """What is wrong with a frame that is no part of an answer."""
    if isinstance(frame, BadFrame):
        return ValueError(frame.reason)
    if frame.is_error:
        return ErrorInStream(f"an error of the type {frame.event}", code=frame.event)
    return ErrorInStream("an event of the type error")


_UNFINISHED = "it stopped before the end of an event that began after the answer's end"


def _bytes_of(frame: Frame | BadFrame) -> bytes:
    return frame.data if isinstance(frame, BadFrame) else frame.data.encode()
