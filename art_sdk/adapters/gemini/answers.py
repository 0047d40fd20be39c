"""What Gemini answers: the fields that are read. All others are ignored.

Source: `google.genai.types.GenerateContentResponse` of the official client, version 3.4, and recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from art_sdk.adapters.answers import Answer, CallInfo, Ending, Piece, Text, Thinking, Usage
from art_sdk.adapters.gemini.kept import KeptParts, Part
from art_sdk.messages import FunctionCall, ToolCall
from art_sdk.stream import StopReason


def parse_generated(body: bytes, info: CallInfo, *, request_id: str | None) -> Answer:
    """An unstreamed answer. Raises ValueError for a body that is not one."""
    answer, kept = _decode_answer(body), KeptParts()
    given = answer.candidates[0].parts() if answer.candidates else []
    parts = [read_part(one, kept) for one in given]
    ending = read_ending(answer, kept, request_id=request_id)
    return Answer(pieces=tuple(_pieces(parts, info)), **msgspec.structs.asdict(ending))


def read_ending(answer: Generated, kept: KeptParts, *, request_id: str | None) -> Ending:
    """What an answer says besides text and calls. Raises ValueError for one that lacks something."""
    raw = _finish(answer, kept)
    return Ending(
        stop_reason=_stop_reason(raw, has_calls=kept.call_count > 0),
        raw_stop_reason=raw,
        usage=_usage(answer.usage_metadata),
        request_id=request_id or answer.response_id,
        extensions=kept.extensions(),
    )


class Content(Struct):
    """What the model said."""

    parts: list[dict[str, Any]] | None = None


class Candidate(Struct, rename="camel"):
    """One of the answers that the model gave; the first is read."""

    content: Content | None = None
    finish_reason: str | int | None = None
    index: int = 0

    def parts(self) -> list[dict[str, Any]]:
        """The content's parts, if there are any."""
        return (self.content.parts if self.content else None) or []


class Feedback(Struct, rename="camel"):
    """Why a prompt was blocked."""

    block_reason: str | int | None = None


class _Usage(Struct, rename="camel"):
    prompt_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
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


# Enums come as numbers where a client asks for them (`alt=json;enum-encoding=int`: recorded). These mean the same at
# Gemini's API and at Vertex AI: `Candidate.FinishReason` and `BlockedReason` of both; from 6 on they differ.
_FINISHES: Final = {1: "STOP", 2: "MAX_TOKENS", 3: "SAFETY", 4: "RECITATION", 5: "OTHER"}
_BLOCKS: Final = {1: "SAFETY", 2: "OTHER"}


def _finish(answer: Generated, kept: KeptParts) -> str:
    """Why the answer ended, or why its prompt was blocked. An answer that stopped may be empty.

    Protobuf's JSON leaves out what is empty: the content, or its list of parts.
    """
    if answer.candidates:
        raw = answer.candidates[0].finish_reason
        if raw is None:
            raise ValueError("candidates[0].finishReason is missing: the answer is not finished")
        if answer.candidates[0].parts() and not kept.has_data and _name_of(raw, _FINISHES) == "STOP":
            raise ValueError("candidates[0].content has parts, but none with data that is known")
        return _name_of(raw, _FINISHES)
    blocked = answer.prompt_feedback and answer.prompt_feedback.block_reason
    if not blocked:
        raise ValueError("neither candidates nor a block reason")
    return _name_of(blocked, _BLOCKS)


def _name_of(value: str | int, names: Mapping[int, str]) -> str:
    return value if isinstance(value, str) else names.get(value, str(value))


def read_part(given: dict[str, Any], kept: KeptParts) -> Part:
    """A part, which is kept as far as it goes back. Raises ValueError for one of another form."""
    text = given.get("text")
    is_text = len(given) == 1 and isinstance(text, str)  # as most parts of a stream are: this is the hot loop
    part = Part(text) if is_text else msgspec.convert(given, Part)
    kept.add(given, part)
    return part


def _pieces(parts: list[Part], info: CallInfo) -> Iterator[Piece]:
    fresh = info.fresh_call_ids(part.function_call.id for part in parts if part.function_call)
    return (piece for part in parts if (piece := piece_of(part, fresh)) is not None)


def piece_of(part: Part, fresh_ids: Iterator[str]) -> Piece | None:
    """What a part says, or None. Every call uses up a fresh id, so that calls without one are numbered by place."""
    if part.function_call is not None:
        call, own = part.function_call, next(fresh_ids)
        return ToolCall(call.id or own, FunctionCall(call.name, _encode(call.args or {}).decode()))
    if part.text:
        return Thinking(part.text) if part.thought else Text(part.text)
    return None


def _stop_reason(raw: str, *, has_calls: bool) -> StopReason:
    """Gemini says STOP with calls, too (425 of 432 recorded answers with calls)."""
    reason: StopReason = _STOP_REASONS.get(raw, "other")
    return "tool_calls" if reason == "stop" and has_calls else reason


def _usage(raw: dict[str, Any] | None) -> Usage:
    """Gemini counts thoughts apart from the candidates' tokens, and what its own tools read apart from the prompt's.

    Recorded totals are the sum of all four.
    """
    if raw is None:
        return Usage()
    usage = msgspec.convert(raw, _Usage)
    return Usage(
        input_tokens=_sum(usage.prompt_token_count, usage.tool_use_prompt_token_count),
        output_tokens=_sum(usage.candidates_token_count, usage.thoughts_token_count),
        thinking_tokens=usage.thoughts_token_count,
        cached_tokens=usage.cached_content_token_count,
        raw=raw,
    )


def _sum(*counts: int | None) -> int | None:
    """None if no count is given."""
    given = [count for count in counts if count is not None]
    return sum(given) if given else None
