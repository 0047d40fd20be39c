"""What Gemini answers. The fields that are read stand here; the rest is left alone.

Source: `google.genai.types.GenerateContentResponse` of the official client, version 3.4, and recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct, field

from art_sdk.adapters.answers import Answer, CallInfo, Text, Thinking, Usage
from art_sdk.messages import FunctionCall, NonEmpty, ToolCall
from art_sdk.stream import StopReason


def parse_generated(body: bytes, info: CallInfo, *, request_id: str | None) -> Answer:
    """An unstreamed answer. Raises ValueError for what is none."""
    answer = _decode_answer(body)
    candidate = _candidate(answer)
    parts = candidate.content.parts if candidate.content else []
    pieces = tuple(_pieces(parts, info))
    return Answer(
        pieces=pieces,
        stop_reason=_stop_reason(candidate.finish_reason or "", pieces),
        raw_stop_reason=candidate.finish_reason,
        usage=_usage(answer.usage_metadata),
        request_id=request_id or answer.response_id,
        extensions=_extensions(parts),
    )


class Signatures(Struct, forbid_unknown_fields=True):
    """What an answer's message carries in `extensions`: the text's thought signature, and each call's by its place."""

    text: str | None = None
    calls: dict[Annotated[int, Meta(ge=0)], str] = field(default_factory=dict[int, str])


class _FunctionCall(Struct):
    name: NonEmpty
    args: dict[str, Any] = field(default_factory=dict[str, Any])
    id: str | None = None


class _Part(Struct, rename="camel"):
    text: str | None = None
    thought: bool = False
    function_call: _FunctionCall | None = None
    thought_signature: str | None = None


class _Content(Struct):
    parts: list[_Part] = field(default_factory=list[_Part])


class _Candidate(Struct, rename="camel"):
    content: _Content | None = None
    finish_reason: str | None = None


class _Feedback(Struct, rename="camel"):
    block_reason: str | None = None


class _Usage(Struct, rename="camel"):
    prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    cached_content_token_count: int | None = None


class _Answer(Struct, rename="camel"):
    candidates: list[_Candidate] | None = None
    prompt_feedback: _Feedback | None = None
    usage_metadata: dict[str, Any] | None = None
    response_id: str | None = None


_decode_answer: Final = msgspec.json.Decoder(_Answer).decode
_encode: Final = msgspec.json.Encoder().encode

_BLOCKED: Final = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "MODEL_ARMOR")
_STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(_BLOCKED, "content_filter"),
}


def _candidate(answer: _Answer) -> _Candidate:
    """The one that is read; a prompt that was blocked has none, and its reason is all that is told."""
    if answer.candidates:
        lack = _find_lack(answer.candidates[0])
        if lack:
            raise ValueError(lack)
        return answer.candidates[0]
    if answer.prompt_feedback is None or not answer.prompt_feedback.block_reason:
        message = "neither candidates nor a block reason"
        raise ValueError(message)
    return _Candidate(finish_reason=answer.prompt_feedback.block_reason)


def _find_lack(candidate: _Candidate) -> str | None:
    """What a candidate lacks. A content without `parts` is an empty one: protobuf's JSON leaves empty lists out."""
    if candidate.finish_reason is None:
        return "candidates[0].finishReason is missing: the answer is not finished"
    if candidate.finish_reason != "STOP":
        return None
    if candidate.content is None:
        return "candidates[0].content is missing, and finishReason is STOP"
    told = [part.text is not None or part.function_call is not None for part in candidate.content.parts]
    return "candidates[0].content has parts, and none of text or a call" if told and not any(told) else None


def _extensions(parts: list[_Part]) -> dict[str, dict[str, Any]] | None:
    """The thought signatures, to be sent back with the next turn."""
    calls = [part for part in parts if part.function_call is not None]
    texts = [part.thought_signature for part in parts if part.function_call is None and part.thought_signature]
    signed = {str(at): part.thought_signature for at, part in enumerate(calls) if part.thought_signature}
    written = ({"text": texts[-1]} if texts else {}) | ({"calls": signed} if signed else {})
    return {"gemini-generate": written} if written else None


def _pieces(parts: list[_Part], info: CallInfo) -> Iterator[Text | Thinking | ToolCall]:
    fresh = info.fresh_call_ids(part.function_call.id for part in parts if part.function_call)
    for part in parts:
        if part.function_call is not None:
            call, own = part.function_call, next(fresh)
            yield ToolCall(call.id or own, FunctionCall(call.name, _encode(call.args).decode()))
        elif part.text:
            yield Thinking(part.text) if part.thought else Text(part.text)


def _stop_reason(raw: str, pieces: tuple[Text | Thinking | ToolCall, ...]) -> StopReason:
    """Gemini says STOP beside calls, too (425 of 432 recorded answers with calls)."""
    reason: StopReason = _STOP_REASONS.get(raw, "other")
    called = any(isinstance(piece, ToolCall) for piece in pieces)
    return "tool_calls" if reason == "stop" and called else reason


def _usage(raw: dict[str, Any] | None) -> Usage:
    """Gemini counts thoughts beside the candidates' tokens; `output_tokens` is both."""
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
