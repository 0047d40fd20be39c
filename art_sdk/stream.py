"""The events of an answer, their order, and the fold that makes one answer of them.

    (TOKEN | TOOL_CALL)*, then METADATA and END, or ERROR and END

Exactly one END, always last. The table `AFTER` states the order for everyone: the fold, readers and judges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from art_sdk.errors import ARTError
from art_sdk.messages import AssistantMessage, ToolCall

TokenType = Literal[
    "LLM_THINKING",
    "LLM_RESPONSE",
    "AGENT_THOUGHT_LLM_THINKING",
    "AGENT_THOUGHT_LLM_RESPONSE",
    "FINAL_SYNTHESIS_LLM_THINKING",
    "FINAL_SYNTHESIS_LLM_RESPONSE",
]
StopReason = Literal["stop", "length", "tool_calls", "content_filter", "error", "other"]


class LLMMetadata(Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """What an answer cost and how it ended. Times are in milliseconds; counts are tokens as the provider reports them.

    `output_tokens` is everything that the model generated, `thinking_tokens` the part of it that was reasoning. A
    count that the provider does not report is None.
    """

    stop_reason: StopReason
    raw_stop_reason: str | None
    total_generation_time_ms: float
    trace_id: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    thinking_tokens: int | None = None
    cached_tokens: int | None = None
    time_to_first_token_ms: float | None = None
    provider_raw_usage: dict[str, Any] | None = None
    request_id: str | None = None


class _Event(Struct, frozen=True, kw_only=True, tag_field="type"):
    thread_id: str
    trace_id: str | None = None
    session_id: str | None = None


class TokenEvent(_Event, frozen=True, tag="TOKEN"):
    """A piece of text: of the answer or of the model's reasoning."""

    text: str
    token_type: TokenType


class ToolCallEvent(_Event, frozen=True, tag="TOOL_CALL"):
    """A complete tool call in standard form."""

    call: ToolCall


class MetadataEvent(_Event, frozen=True, tag="METADATA"):
    """Token counts, times and the stop reason of a good answer."""

    metadata: LLMMetadata


class ErrorEvent(_Event, frozen=True, tag="ERROR"):
    """What went wrong at the provider. An END follows."""

    error: ARTError


class EndEvent(_Event, frozen=True, tag="END"):
    """The last event. `message` is the whole assistant message, ready to append to the prompt.

    After an error `message` is what arrived before it, or None, and `finish` is `error`.
    """

    message: AssistantMessage | None
    finish: StopReason


StreamEvent = TokenEvent | ToolCallEvent | MetadataEvent | ErrorEvent | EndEvent
State = Literal["answering", "answered", "failed", "ended"]

AFTER: Final[Mapping[tuple[State, type[StreamEvent]], State]] = {
    ("answering", TokenEvent): "answering",
    ("answering", ToolCallEvent): "answering",
    ("answering", MetadataEvent): "answered",
    ("answering", ErrorEvent): "failed",
    ("answered", EndEvent): "ended",
    ("failed", EndEvent): "ended",
}
"""Maps a state and an event to the next state. Any other pair is out of order."""


class OutOfOrder(ValueError):
    """Events in an order that no adapter may yield."""


class Completion(Struct, frozen=True, kw_only=True):
    """A whole answer: the message to append, why it ended, what it cost, and the text of the reasoning."""

    message: AssistantMessage
    finish: StopReason
    metadata: LLMMetadata
    thinking: str = ""


def fold(events: Iterable[StreamEvent]) -> Completion:
    """Folds the events of one call into its answer.

    Raises the error of an ERROR event, and OutOfOrder for events that break the order above.
    """
    state: State = "answering"
    thinking: list[str] = []
    metadata: LLMMetadata | None = None
    error: ARTError | None = None
    end: EndEvent | None = None
    for event in events:
        state = follow(state, event)
        match event:
            case TokenEvent():
                if event.token_type.endswith("LLM_THINKING"):
                    thinking.append(event.text)
            case MetadataEvent():
                metadata = event.metadata
            case ErrorEvent():
                error = event.error
            case EndEvent():
                end = event
            case ToolCallEvent():
                pass
    if error is not None:
        raise error
    if end is None or end.message is None or metadata is None:
        raise OutOfOrder(f"the events end in the state {state!r}; expected METADATA and an END with a message")
    return Completion(message=end.message, finish=end.finish, metadata=metadata, thinking="".join(thinking))


def follow(state: State, event: StreamEvent) -> State:
    """The state after the event. Raises OutOfOrder, naming the events expected instead."""
    after = AFTER.get((state, type(event)))
    if after is None:
        expected = " or ".join(kind.__name__ for (before, kind) in AFTER if before == state)
        raise OutOfOrder(f"{type(event).__name__} in the state {state!r}; expected {expected or 'no more events'}")
    return after
