"""A provider's answer as values, and the events made of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any, Final

import msgspec
from msgspec import Struct

from art_sdk.conversation import find_call_ids, find_called_tools, rename_call
from art_sdk.errors import ARTError
from art_sdk.messages import ArtStandardPrompt, AssistantMessage, ToolCall, ToolSchema
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


def keep_all(given: Iterable[str]) -> dict[str, str]:
    """Changes no call id and no name."""
    del given
    return {}


class CallInfo(Struct, frozen=True, kw_only=True):
    """What is known about a call when its answer is read.

    What an answer with tool calls needs of the prompt is computed when such an answer comes.
    """

    thread_id: str
    trace_id: str
    session_id: str | None = None
    call_context: str | None = None
    model: str
    prompt: ArtStandardPrompt = ()
    map_call_ids: Callable[[Iterable[str]], dict[str, str]] = keep_all
    tools: tuple[ToolSchema, ...] = ()
    map_tool_names: Callable[[Iterable[str]], dict[str, str]] = keep_all
    clock: Callable[[], float] = time.perf_counter
    started: float = 0.0

    @property
    def calls_in_prompt(self) -> int:
        """How many calls the conversation has; numbering of an answer's calls without ids goes on from there."""
        return sum(1 for _ in find_call_ids(self.prompt))

    def fresh_call_ids(self, given: Iterable[str | None] = ()) -> Iterator[str]:
        """One id per call of the answer, for those without: `call_<n>`, n counting on from the prompt.

        Ids that the prompt has already, or that the answer gives to another call, are skipped.
        """
        taken = {*find_call_ids(self.prompt), *given}
        for number in count(self.calls_in_prompt + 1):
            if f"call_{number}" not in taken:
                yield f"call_{number}"

    @property
    def id_map(self) -> dict[str, str]:
        """The prompt's own id per call id that was sent instead of it."""
        return {sent: own for own, sent in self.map_call_ids(find_call_ids(self.prompt)).items()}

    @property
    def name_map(self) -> dict[str, str]:
        """The caller's own name per tool that was sent under another one."""
        names = dict.fromkeys((*(tool.name for tool in self.tools), *find_called_tools(self.prompt)))
        return {sent: own for own, sent in self.map_tool_names(names).items()}

    def elapsed_ms(self) -> float:
        """Milliseconds since the call began."""
        return (self.clock() - self.started) * 1000

    def stamps(self) -> dict[str, Any]:
        """The three ids that every event carries."""
        return {"thread_id": self.thread_id, "trace_id": self.trace_id, "session_id": self.session_id}


class Text(Struct, frozen=True, gc=False):
    """A piece of the answer's text."""

    text: str


class Thinking(Struct, frozen=True, gc=False):
    """A piece of the model's reasoning."""

    text: str


class Usage(Struct, frozen=True, kw_only=True):
    """Token counts, as `LLMMetadata` has them."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    thinking_tokens: int | None = None
    cached_tokens: int | None = None
    raw: dict[str, Any] | None = None


Piece = Text | Thinking | ToolCall


class Ending(Struct, frozen=True, kw_only=True):
    """What is known when an answer has ended: why, and what it cost.

    `extensions` are the message's: what the provider wants back unchanged with the next turn.
    """

    stop_reason: StopReason
    raw_stop_reason: str | None
    usage: Usage = Usage()
    request_id: str | None = None
    extensions: dict[str, dict[str, Any]] | None = None


class Answer(Ending, frozen=True, kw_only=True):
    """A whole answer, unstreamed, in the order in which the provider gave its pieces."""

    pieces: tuple[Piece, ...]


class LongText:
    """Text that comes in many pieces. Its memory grows with its length, not with the number of pieces."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._pieces: list[str] = []

    def write(self, piece: str) -> None:
        """Adds a piece at the end."""
        self._pieces.append(piece)
        if len(self._pieces) == _PIECES_TO_A_BLOCK:
            self._blocks.append("".join(self._pieces))
            self._pieces.clear()

    def read(self) -> str:
        """The text so far."""
        return "".join([*self._blocks, *self._pieces])


_PIECES_TO_A_BLOCK: Final = 1000


def settle_arguments(text: str, given: Mapping[str, Any]) -> str:
    """A call's arguments out of the pieces of a stream, written as those of a whole answer.

    `given` are the ones that the call began with, if no piece came. Text that is not a JSON object is not changed.
    """
    if not text:
        return _encode(given).decode()
    try:
        arguments = _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text
    return _encode(arguments).decode() if isinstance(arguments, dict) else text


_decode: Final = msgspec.json.Decoder().decode
_encode: Final = msgspec.json.Encoder().encode


class EventWriter:
    """Writes the events of one answer: one per piece, and at the end the message that the pieces make."""

    def __init__(self, info: CallInfo) -> None:
        self._info = info
        self._stamps = info.stamps()
        self._ids = info.thread_id, info.trace_id, info.session_id
        self._text_type: TokenType = token_type(info.call_context, Text)
        self._thinking_type: TokenType = token_type(info.call_context, Thinking)
        self._text: LongText | None = None
        self._calls: list[ToolCall] = []
        self._own_names: dict[str, str] | None = None
        self.first_piece_ms: float | None = None

    def write(self, piece: Piece) -> StreamEvent:
        """The event of a piece. The first piece sets `first_piece_ms`.

        Raises TypeError if the text of a piece is not a str.
        """
        if self.first_piece_ms is None:
            self.first_piece_ms = self._info.elapsed_ms()
        if isinstance(piece, ToolCall):
            call = self._with_own_name(piece)
            self._calls.append(call)
            return ToolCallEvent(call=call, **self._stamps)
        text: Any = piece.text
        if not isinstance(text, str):
            raise TypeError(f"expected text, got {type(text).__name__}")
        if type(piece) is not Text:
            return TokenEvent(text, self._thinking_type, **self._stamps)
        if self._text is None:
            self._text = LongText()
        self._text.write(text)
        thread_id, trace_id, session_id = self._ids  # most pieces are text: this is the hot loop
        return TokenEvent(text, self._text_type, thread_id=thread_id, trace_id=trace_id, session_id=session_id)

    def end(self, ending: Ending, *, first_token_ms: float | None = None) -> Iterator[StreamEvent]:
        """The two last events of a good answer."""
        yield MetadataEvent(metadata=_metadata(ending, self._info, first_token_ms), **self._stamps)
        yield EndEvent(message=self._message(ending.extensions), finish=ending.stop_reason, **self._stamps)

    def fail(self, error: ARTError, extensions: dict[str, dict[str, Any]] | None = None) -> Iterator[StreamEvent]:
        """The two last events of an answer that failed. The message is what did arrive, or None."""
        has_arrived = self._text is not None or self._calls or extensions
        return failure_events(error, self._info, self._message(extensions) if has_arrived else None)

    def _with_own_name(self, call: ToolCall) -> ToolCall:
        """The call, of the tool as the caller named it."""
        if self._own_names is None:
            self._own_names = self._info.name_map
        return rename_call(call, self._own_names) if self._own_names else call

    def _message(self, extensions: dict[str, dict[str, Any]] | None) -> AssistantMessage:
        """The message to append. Its content is null only if there are calls and no text."""
        without_text = None if self._calls else ""
        content = without_text if self._text is None else self._text.read()
        return AssistantMessage(content, tuple(self._calls), extensions=extensions)


def answer_events(answer: Answer, info: CallInfo) -> Iterator[StreamEvent]:
    """The events of a good answer."""
    writer = EventWriter(info)
    for piece in answer.pieces:
        yield writer.write(piece)
    yield from writer.end(answer)


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
    """ART's token type: the kind, with the call context as a prefix if it is one of `CALL_CONTEXTS`."""
    return _TOKEN_TYPES[call_context if call_context in CALL_CONTEXTS else None, kind]


def _metadata(answer: Ending, info: CallInfo, first_token_ms: float | None) -> LLMMetadata:
    usage = answer.usage
    return LLMMetadata(
        stop_reason=answer.stop_reason,
        raw_stop_reason=answer.raw_stop_reason,
        time_to_first_token_ms=first_token_ms,
        total_generation_time_ms=info.elapsed_ms(),
        trace_id=info.trace_id,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        thinking_tokens=usage.thinking_tokens,
        cached_tokens=usage.cached_tokens,
        provider_raw_usage=usage.raw,
        request_id=answer.request_id,
    )
