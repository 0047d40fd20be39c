"""A streamed answer of Gemini: every frame is an answer of its own, with the new parts.

There is no end mark; an answer has ended when `finishReason` came (or the block reason of a prompt),
and the body ends. After it, only usage may come. The last usage counts.
Source: `google.genai.types.GenerateContentResponse` of the official client, version 3.4, and recorded streams.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import filterfalse
from typing import Any, Final

import msgspec

from art_sdk.adapters.answers import CallInfo, Ending, Piece
from art_sdk.adapters.gemini.answers import (
    Candidate,
    Content,
    Feedback,
    Generated,
    Part,
    kept_signatures,
    read_ending,
    read_part,
)
from art_sdk.adapters.reading import ErrorInStream, StoppedEarly, follow
from art_sdk.http.framing import Frame
from art_sdk.messages import ToolCall


class _Chunk(Generated):
    error: Any = None


_decode_chunk: Final = msgspec.json.Decoder(_Chunk).decode

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
        self._candidate = Candidate()
        self._answer = Generated()
        self._ids: set[str] = set()
        self._fresh_ids = filterfalse(self._ids.__contains__, info.fresh_call_ids())

    def take(self, frame: Frame) -> Iterator[Piece]:
        chunk = _decode_chunk(frame.data)
        if chunk.error is not None:
            raise ErrorInStream("a chunk with an error")
        candidate = next((candidate for candidate in chunk.candidates or () if candidate.index == 0), Candidate())
        self._state = follow(_AFTER, self._state, _kind(chunk, candidate))
        self._answer.usage_metadata = chunk.usage_metadata or self._answer.usage_metadata
        self._answer.response_id = self._answer.response_id or chunk.response_id
        self._answer.prompt_feedback = chunk.prompt_feedback or self._answer.prompt_feedback
        if chunk.candidates:
            self._answer.candidates = [self._candidate]
            self._candidate.finish_reason = candidate.finish_reason or self._candidate.finish_reason
        if candidate.content is not None:
            self._candidate.content = self._candidate.content or Content()
            yield from self._read_parts(candidate.content.parts)

    def end(self) -> Ending:
        if self._state != "finished":
            raise StoppedEarly("it stopped before finishReason")
        return read_ending(self._answer, request_id=self._request_id)

    def extensions(self) -> dict[str, dict[str, Any]] | None:
        return kept_signatures(self._candidate.parts())

    def _read_parts(self, parts: list[Part]) -> Iterator[Piece]:
        for part in parts:
            self._keep(part)
            piece = read_part(part, self._fresh_ids)
            if isinstance(piece, ToolCall):
                self._take_id(piece.id)
            if piece is not None:
                yield piece

    def _take_id(self, call_id: str) -> None:
        if call_id in self._ids:
            raise ValueError(f"two calls with the id {call_id!r}")
        self._ids.add(call_id)

    def _keep(self, part: Part) -> None:
        """Keeps what the end of the answer needs: signatures, calls, and whether there was any text."""
        kept = self._candidate.parts()
        if part.function_call is not None:
            kept.append(part)
        elif part.thought_signature or not kept:
            text = None if part.text is None else ""
            kept.append(Part(text=text, thought_signature=part.thought_signature))
        elif part.text is not None:
            kept[0].text = kept[0].text or ""


def _kind(chunk: Generated, candidate: Candidate) -> str:
    if candidate.finish_reason is not None or _is_blocked(chunk):
        return "a finish"
    if any(part.text or part.function_call for part in candidate.parts()):
        return "a part"
    if chunk.candidates or chunk.usage_metadata or chunk.prompt_feedback:
        return "an aside"
    raise ValueError("a chunk has neither candidates nor a block reason")


def _is_blocked(chunk: Generated) -> bool:
    feedback: Feedback | None = chunk.prompt_feedback
    return feedback is not None and feedback.block_reason is not None and not chunk.candidates
