"""A streamed answer of Gemini: every frame is a complete answer, with the new parts.

There is no end mark; an answer has ended when `finishReason` came (or the block reason of a prompt),
and the body ends. After it, only usage may come. The last usage counts. Without `alt=sse` the chunks
are a JSON array instead.
Source: `google.genai.types.GenerateContentResponse` of the official client, version 3.4, and recorded streams.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import filterfalse
from typing import Any, Final

import msgspec

from art_sdk.adapters.answers import Answer, CallInfo, Ending, Piece
from art_sdk.adapters.gemini.answers import Candidate, Content, Feedback, Generated, piece_of, read_ending, read_part
from art_sdk.adapters.gemini.kept import KeptParts, has_other_data
from art_sdk.adapters.reading import ErrorInStream, StoppedEarly, follow, is_foreign
from art_sdk.http.framing import Frame
from art_sdk.messages import ToolCall


class _Chunk(Generated):
    error: Any = None


_FIELDS: Final = ("candidates", "promptFeedback", "usageMetadata", "error")
_decode_chunk: Final = msgspec.json.Decoder(_Chunk).decode
_decode_chunks: Final = msgspec.json.Decoder(list[_Chunk]).decode

_AFTER: Final[Mapping[tuple[str, str], str]] = {
    ("begun", "an aside"): "begun",
    ("begun", "a part"): "answering",
    ("begun", "a finish"): "finished",
    ("answering", "an aside"): "answering",
    ("answering", "a part"): "answering",
    ("answering", "a finish"): "finished",
    ("finished", "an aside"): "finished",
}


class GeneratedStream:
    """One streamed answer, chunk by chunk. Calls come whole."""

    def __init__(self, info: CallInfo, *, request_id: str | None) -> None:
        self._request_id = request_id
        self._state = "begun"
        self._has_others = False
        self._candidate = Candidate()
        self._answer = Generated()
        self._kept = KeptParts()
        self._ids: set[str] = set()
        self._fresh_ids = filterfalse(self._ids.__contains__, info.fresh_call_ids())

    def take(self, frame: Frame) -> Iterator[Piece]:
        try:
            chunk = _decode_chunk(frame.data)
        except msgspec.DecodeError:
            if is_foreign(frame, _FIELDS):
                return iter(())
            raise
        return self.take_chunk(chunk)

    def take_chunk(self, chunk: _Chunk) -> Iterator[Piece]:
        """The pieces in the chunk; none in an object of another kind. Raises what `take` raises."""
        if chunk.error:
            raise ErrorInStream("a chunk with an error")
        if not (chunk.candidates or chunk.usage_metadata or chunk.prompt_feedback):
            self._has_others = True
            return
        candidate = next((candidate for candidate in chunk.candidates or () if candidate.index == 0), Candidate())
        self._state = follow(_AFTER, self._state, _kind(chunk, candidate))
        self._answer.usage_metadata = chunk.usage_metadata or self._answer.usage_metadata
        self._answer.response_id = self._answer.response_id or chunk.response_id
        self._answer.prompt_feedback = chunk.prompt_feedback or self._answer.prompt_feedback
        if chunk.candidates:
            self._answer.candidates = [self._candidate]
            self._candidate.finish_reason = candidate.finish_reason or self._candidate.finish_reason
        if candidate.parts() and self._candidate.content is None:
            self._candidate.content = Content([{}])  # that there were any; what they say is kept apart
        yield from self._read_parts(candidate.parts())

    def end(self) -> Ending:
        if self._state == "begun" and self._has_others:
            raise ValueError("its chunks have neither candidates nor a block reason")
        if self._state != "finished":
            raise StoppedEarly("it stopped before finishReason")
        return read_ending(self._answer, self._kept, request_id=self._request_id)

    def extensions(self) -> dict[str, dict[str, Any]] | None:
        return self._kept.extensions()

    def _read_parts(self, parts: list[dict[str, Any]]) -> Iterator[Piece]:
        for given in parts:
            piece = piece_of(read_part(given, self._kept), self._fresh_ids)
            if isinstance(piece, ToolCall):
                self._take_id(piece.id)
            if piece is not None:
                yield piece

    def _take_id(self, call_id: str) -> None:
        if call_id in self._ids:
            raise ValueError(f"two calls with the id {call_id!r}")
        self._ids.add(call_id)


def parse_array(body: bytes, info: CallInfo, *, request_id: str | None) -> Answer:
    """An answer whose chunks came as a JSON array. Raises ValueError for a body that is not one."""
    stream = GeneratedStream(info, request_id=request_id)
    pieces = tuple(piece for chunk in _decode_chunks(body) for piece in stream.take_chunk(chunk))
    return Answer(pieces=pieces, **msgspec.structs.asdict(stream.end()))


def _kind(chunk: Generated, candidate: Candidate) -> str:
    if candidate.finish_reason is not None or _is_blocked(chunk):
        return "a finish"
    if any(map(_has_data, candidate.parts())):
        return "a part"
    return "an aside"


def _has_data(part: dict[str, Any]) -> bool:
    return bool(part.get("text") or part.get("functionCall") or has_other_data(part))


def _is_blocked(chunk: Generated) -> bool:
    feedback: Feedback | None = chunk.prompt_feedback
    return feedback is not None and feedback.block_reason is not None and not chunk.candidates
