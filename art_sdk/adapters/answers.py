"""A provider's answer, read: one value for what it said, and the events that tell it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any, Final, NamedTuple

from msgspec import Struct

from art_sdk.adapters.call_ids import keep_call_ids
from art_sdk.conversation import find_call_ids
from art_sdk.errors import ARTError
from art_sdk.messages import ArtStandardPrompt, AssistantMessage, ToolCall
from art_sdk.options import CALL_CONTEXTS
from art_sdk.stream import (
    EndEvent,
    ErrorEvent,
    LLMMetadata,
    MetadataEvent,
    StopReason,
    StreamEvent,
    TokenEvent,
    TokenType,
    ToolCallEvent,
)


class CallInfo(Struct, frozen=True, kw_only=True):
    """What is known of a call when its answer is read.

    What an answer with calls needs to know of the prompt is worked out when such an answer comes.
    """

    thread_id: str
    trace_id: str
    session_id: str | None = None
    call_context: str | None = None
    model: str
    prompt: ArtStandardPrompt = ()
    map_call_ids: Callable[[Iterable[str]], dict[str, str]] = keep_call_ids
    clock: Callable[[], float] = time.perf_counter
    started: float = 0.0

    @property
    def calls_in_prompt(self) -> int:
        """How many calls the conversation has, so that an answer's calls without ids are numbered on."""
        return sum(1 for _ in find_call_ids(self.prompt))

    def fresh_call_ids(self, given: Iterable[str | None] = ()) -> Iterator[str]:
        """One id for each call of the answer, for those that come without: `call_<n>`, n counting on.

        An id that the prompt has already, or that the answer gives to another call, is passed over.
        """
        taken = {*find_call_ids(self.prompt), *given}
        for number in count(self.calls_in_prompt + 1):
            if f"call_{number}" not in taken:
                yield f"call_{number}"

    @property
    def id_map(self) -> dict[str, str]:
        """Per call id that was sent in the place of another: the prompt's own."""
        return {sent: own for own, sent in self.map_call_ids(find_call_ids(self.prompt)).items()}

    def elapsed_ms(self) -> float:
        """Milliseconds since the call began."""
        return (self.clock() - self.started) * 1000

    def stamps(self) -> dict[str, Any]:
        """The three ids that every event carries."""
        return {"thread_id": self.thread_id, "trace_id": self.trace_id, "session_id": self.session_id}


class Text(NamedTuple):
    """A piece of the answer's text."""

    text: str


class Thinking(NamedTuple):
    """A piece of the model's reasoning."""

    text: str


class Usage(Struct, frozen=True, kw_only=True):
    """Token counts, as `LLMMetadata` has them."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    thinking_tokens: int | None = None
    cached_tokens: int | None = None
    raw: dict[str, Any] | None = None


class Answer(Struct, frozen=True, kw_only=True):
    """A whole answer, unstreamed, in the order in which the provider gave its pieces.

    `extensions` are the message's: what the provider wants back unchanged with the next turn.
    """

    pieces: tuple[Text | Thinking | ToolCall, ...]
    stop_reason: StopReason
    raw_stop_reason: str | None
    usage: Usage = Usage()
    request_id: str | None = None
    extensions: dict[str, dict[str, Any]] | None = None


def answer_events(answer: Answer, info: CallInfo) -> Iterator[StreamEvent]:
    """The events of a good answer."""
    stamps = info.stamps()
    for piece in answer.pieces:
        match piece:
            case Text() | Thinking():
                kind = token_type(info.call_context, type(piece))
                yield TokenEvent(text=piece.text, token_type=kind, **stamps)
            case ToolCall():
                yield ToolCallEvent(call=piece, **stamps)
    yield MetadataEvent(metadata=_metadata(answer, info), **stamps)
    yield EndEvent(message=_message(answer), finish=answer.stop_reason, **stamps)


def failure_events(error: ARTError, info: CallInfo, arrived: AssistantMessage | None = None) -> Iterator[StreamEvent]:
    """The events of a call that failed; `arrived` is what came before the failure."""
    yield ErrorEvent(error=error, **info.stamps())
    yield EndEvent(message=arrived, finish="error", **info.stamps())


_TOKEN_TYPES: Final[Mapping[tuple[str | None, type[Text | Thinking]], TokenType]] = {
    (None, Text): "LLM_RESPONSE",
    (None, Thinking): "LLM_THINKING",
    ("AGENT_THOUGHT", Text): "AGENT_THOUGHT_LLM_RESPONSE",
    ("AGENT_THOUGHT", Thinking): "AGENT_THOUGHT_LLM_THINKING",
    ("FINAL_SYNTHESIS", Text): "FINAL_SYNTHESIS_LLM_RESPONSE",
    ("FINAL_SYNTHESIS", Thinking): "FINAL_SYNTHESIS_LLM_THINKING",
}


def token_type(call_context: str | None, kind: type[Text | Thinking]) -> TokenType:
    """ART's token type: the kind, marked by the call context where that is one that marks."""
    return _TOKEN_TYPES[call_context if call_context in CALL_CONTEXTS else None, kind]


def _message(answer: Answer) -> AssistantMessage:
    """The message to append. Its content is null only where calls stand in its place."""
    texts = [piece.text for piece in answer.pieces if isinstance(piece, Text)]
    calls = tuple(piece for piece in answer.pieces if isinstance(piece, ToolCall))
    content = "".join(texts) if texts or not calls else None
    return AssistantMessage(content, calls, extensions=answer.extensions)


def _metadata(answer: Answer, info: CallInfo) -> LLMMetadata:
    usage = answer.usage
    return LLMMetadata(
        stop_reason=answer.stop_reason,
        raw_stop_reason=answer.raw_stop_reason,
        total_generation_time_ms=info.elapsed_ms(),
        trace_id=info.trace_id,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        thinking_tokens=usage.thinking_tokens,
        cached_tokens=usage.cached_tokens,
        provider_raw_usage=usage.raw,
        request_id=answer.request_id,
    )
