"""What Gemini answers: the fields that are read. All others are ignored.

Source: `google.genai.types.GenerateContentResponse` of the official client, version 3.4, and recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct, field

from art_sdk.adapters.answers import Answer, CallInfo, Ending, Piece, Text, Thinking, Usage
from art_sdk.messages import FunctionCall, NonEmpty, ToolCall
from art_sdk.stream import StopReason


def parse_generated(body: bytes, info: CallInfo, *, request_id: str | None) -> Answer:
    """An unstreamed answer. Raises ValueError for a body that is not one."""
    answer = _decode_answer(body)
    ending = read_ending(answer, request_id=request_id)
    candidate = answer.candidates[0] if answer.candidates else Candidate()
    pieces = tuple(_pieces(candidate.parts(), info))
    return Answer(pieces=pieces, **msgspec.structs.asdict(ending))


def read_ending(answer: Generated, *, request_id: str | None) -> Ending:
    """What an answer says besides text and calls. Raises ValueError for one that lacks something."""
    candidate = _candidate(answer)
    parts = candidate.parts()
    return Ending(
        stop_reason=_stop_reason(candidate.finish_reason or "", parts),
        raw_stop_reason=candidate.finish_reason,
        usage=_usage(answer.usage_metadata),
        request_id=request_id or answer.response_id,
        extensions=kept_signatures(parts),
    )


class Signatures(Struct, forbid_unknown_fields=True):
    """What an answer's message carries in `extensions`: the text's thought signature, and each call's by its place."""

    text: str | None = None
    calls: dict[Annotated[int, Meta(ge=0)], str] = field(default_factory=dict[int, str])


class CalledFunction(Struct):
    """A call in an answer."""

    name: NonEmpty
    args: dict[str, Any] = field(default_factory=dict[str, Any])
    id: str | None = None


class Part(Struct, rename="camel"):
    """A piece of the content: text, a thought, a call, or a newer kind."""

    text: str | None = None
    thought: bool = False
    function_call: CalledFunction | None = None
    thought_signature: str | None = None


class Content(Struct):
    """What the model said."""

    parts: list[Part] = field(default_factory=list[Part])


class Candidate(Struct, rename="camel"):
    """One of the answers that the model gave; the first is read."""

    content: Content | None = None
    finish_reason: str | None = None
    index: int = 0

    def parts(self) -> list[Part]:
        """The content's parts, if there are any."""
        return self.content.parts if self.content else []


class Feedback(Struct, rename="camel"):
    """Why a prompt was blocked."""

    block_reason: str | None = None


class _Usage(Struct, rename="camel"):
    prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    cached_content_token_count: int | None = None


class Generated(Struct, rename="camel"):
    """An answer, or a chunk of a streamed one, which has the same form."""

    candidates: list[Candidate] | None = None
    prompt_feedback: Feedback | None = None
    usage_metadata: dict[str, Any] | None = None
    response_id: str | None = None


_decode_answer: Final = msgspec.json.Decoder(Generated).decode
_encode: Final = msgspec.json.Encoder().encode

_BLOCKED: Final = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "MODEL_ARMOR")
_STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(_BLOCKED, "content_filter"),
}


def _candidate(answer: Generated) -> Candidate:
    """The candidate to read. A blocked prompt has none; one is made of the reason."""
    if answer.candidates:
        lack = _find_lack(answer.candidates[0])
        if lack:
            raise ValueError(lack)
        return answer.candidates[0]
    if answer.prompt_feedback is None or not answer.prompt_feedback.block_reason:
        raise ValueError("neither candidates nor a block reason")
    return Candidate(finish_reason=answer.prompt_feedback.block_reason)


def _find_lack(candidate: Candidate) -> str | None:
    """What a candidate lacks. A content without `parts` is empty: protobuf's JSON leaves empty lists out."""
    if candidate.finish_reason is None:
        return "candidates[0].finishReason is missing: the answer is not finished"
    if candidate.finish_reason != "STOP":
        return None
    if candidate.content is None:
        return "candidates[0].content is missing, and finishReason is STOP"
    known = [part.text is not None or part.function_call is not None for part in candidate.content.parts]
    return "candidates[0].content has parts, but neither text nor a call" if known and not any(known) else None


def kept_signatures(parts: list[Part]) -> dict[str, dict[str, Any]] | None:
    """The message's extensions: the thought signatures, to be sent back with the next turn."""
    calls = [part for part in parts if part.function_call is not None]
    texts = [part.thought_signature for part in parts if part.function_call is None and part.thought_signature]
    signed = {str(at): part.thought_signature for at, part in enumerate(calls) if part.thought_signature}
    written = ({"text": texts[-1]} if texts else {}) | ({"calls": signed} if signed else {})
    return {"gemini-generate": written} if written else None


def _pieces(parts: list[Part], info: CallInfo) -> Iterator[Piece]:
    fresh = info.fresh_call_ids(part.function_call.id for part in parts if part.function_call)
    return (piece for part in parts if (piece := read_part(part, fresh)) is not None)


def read_part(part: Part, fresh_ids: Iterator[str]) -> Piece | None:
    """What a part says, or None. Every call uses up a fresh id, so that calls without one are numbered by place."""
    if part.function_call is not None:
        call, own = part.function_call, next(fresh_ids)
        return ToolCall(call.id or own, FunctionCall(call.name, _encode(call.args).decode()))
    if part.text:
        return Thinking(part.text) if part.thought else Text(part.text)
    return None


def _stop_reason(raw: str, parts: list[Part]) -> StopReason:
    """Gemini says STOP with calls, too (425 of 432 recorded answers with calls)."""
    reason: StopReason = _STOP_REASONS.get(raw, "other")
    called = any(part.function_call is not None for part in parts)
    return "tool_calls" if reason == "stop" and called else reason


def _usage(raw: dict[str, Any] | None) -> Usage:
    """Gemini counts thoughts apart from the candidates' tokens; `output_tokens` is both."""
    if raw is None:
        return Usage()
    usage = msgspec.convert(raw, _Usage)
    visible, thoughts = usage.candidates_token_count, usage.thoughts_token_count
    known = visible is not None or thoughts is not None
    return Usage(
        input_tokens=usage.prompt_token_count,
        output_tokens=(visible or 0) + (thoughts or 0) if known else None,
        thinking_tokens=thoughts,
        cached_tokens=usage.cached_content_token_count,
        raw=raw,
    )
