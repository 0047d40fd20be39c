"""A streamed answer of the chat completions family.

An answer has ended when `finish_reason` was told and `data: [DONE]` came. Both, because every whole
stream that was recorded, of twelve providers, has both, and because what stands between them is
the usage: without the mark, nobody could tell a stream that lost it. The relatives' own ways, as
recorded: a finish that is told again beside the usage (OpenRouter), a usage with every chunk
(Databricks), a finish beside the last delta (Mistral), an error beside a delta (OpenRouter), an
`event: error` (Groq), chunks without choices (OpenAI's last one).
Source: `openai.types.chat.ChatCompletionChunk` of the official client, version 3.54.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from art_sdk.adapters.answers import CallInfo, Ending, LongText, Piece, Text, Thinking
from art_sdk.adapters.chat_completions.answers import Call, Function, Message, read_calls, read_stop_reason, read_usage
from art_sdk.adapters.reading import ErrorInStream, StoppedEarly, follow
from art_sdk.http.framing import Frame


class _FunctionPiece(Struct):
    name: str | None = None
    arguments: str | None = None


class _CallPiece(Struct):
    index: int
    function: _FunctionPiece
    id: str | None = None


class _Delta(Struct):
    content: str | None = None
    tool_calls: list[_CallPiece] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None  # DeepSeek, xAI
    reasoning: str | None = None  # OpenRouter, Groq, Ollama


class _Choice(Struct):
    delta: _Delta | None = None
    index: int = 0
    finish_reason: str | None = None
    content_filter_results: Any = None


class _Groq(Struct):
    usage: dict[str, Any] | None = None


class _Chunk(Struct):
    choices: list[_Choice] | None = None
    id: str | None = None
    usage: dict[str, Any] | None = None
    error: Any = None
    x_groq: _Groq | None = None


class _OpenCall(NamedTuple):
    """A call whose arguments are still coming."""

    id: str | None
    name: str
    arguments: LongText


_decode_chunk: Final = msgspec.json.Decoder(_Chunk).decode

_DONE: Final = "[DONE]"
_AFTER: Final[Mapping[tuple[str, str], str]] = {
    ("begun", "an aside"): "begun",
    ("begun", "a delta"): "answering",
    ("begun", "a finish"): "finished",
    ("answering", "an aside"): "answering",
    ("answering", "a delta"): "answering",
    ("answering", "a finish"): "finished",
    ("finished", "an aside"): "finished",
    ("finished", _DONE): "done",
}
"""An aside says nothing of the answer: usage, a role, a filter's verdict, the same finish again."""


class ChatStream:
    """One streamed answer, chunk by chunk. Calls are complete at the finish, since their pieces may be interleaved."""

    def __init__(self, info: CallInfo, *, request_id: str | None) -> None:
        self._info = info
        self._request_id = request_id
        self._state = "begun"
        self._calls: list[_OpenCall] = []
        self._message = Message()
        self._finish: str | None = None
        self._usage: dict[str, Any] | None = None

    def take(self, frame: Frame) -> Iterator[Piece]:
        if frame.data == _DONE:
            self._state = follow(_AFTER, self._state, _DONE)
            return
        chunk = _decode_chunk(frame.data)
        if chunk.error is not None:
            raise ErrorInStream(_TOLD)
        if chunk.choices is None:
            raise ValueError(_NO_CHOICES)
        self._request_id = self._request_id or chunk.id
        self._usage = chunk.usage or (chunk.x_groq and chunk.x_groq.usage) or self._usage
        choice = next((choice for choice in chunk.choices if choice.index == 0), _NOTHING)
        delta = _delta_of(choice)
        self._state = follow(_AFTER, self._state, self._kind(choice, delta))
        yield from self._read_delta(delta)
        if choice.finish_reason is not None and self._finish is None:
            self._finish = choice.finish_reason
            yield from self._read_calls()

    def end(self) -> Ending:
        if self._state != "done" or self._finish is None:
            lack = "[DONE]" if self._finish else "finish_reason"
            message = f"it stopped before {lack}"
            raise StoppedEarly(message)
        return Ending(
            stop_reason=read_stop_reason(self._message, self._finish),
            raw_stop_reason=self._finish,
            usage=read_usage(self._usage),
            request_id=self._request_id,
        )

    def extensions(self) -> None:
        return None

    def _kind(self, choice: _Choice, delta: _Delta) -> str:
        """What a chunk is, as `_AFTER` has it. An empty finish may be told twice, another one may not."""
        says = delta.content or delta.tool_calls or delta.refusal or delta.reasoning_content or delta.reasoning
        if choice.finish_reason is not None and (says or choice.finish_reason != self._finish):
            return "a finish"
        return "a delta" if says else "an aside"

    def _read_delta(self, delta: _Delta) -> Iterator[Piece]:
        thinking = delta.reasoning_content or delta.reasoning
        if thinking:
            yield Thinking(thinking)
        message = self._message
        if delta.content is not None:
            message.content = message.content or delta.content[:1]  # whether there is any; the text itself was told
        if delta.content:
            yield Text(delta.content)
        if delta.refusal:
            message.refusal = "refused"
            if not message.content:  # an unstreamed answer's refusal is read where it has no content
                yield Text(delta.refusal)
        for piece in delta.tool_calls or ():
            self._take_call(piece)

    def _take_call(self, piece: _CallPiece) -> None:
        """The first piece of an index names the call, and the others do not."""
        name, begun = piece.function.name, len(self._calls)
        if piece.index == begun and name:
            self._calls.append(_OpenCall(piece.id, name, LongText()))
        elif not 0 <= piece.index < begun:
            reason = f"a piece of the call {piece.index}, which has no name" if piece.index == begun else _GAP
            raise ValueError(reason)
        elif name or piece.id:
            message = f"the call {piece.index} begins twice"
            raise ValueError(message)
        self._calls[piece.index].arguments.write(piece.function.arguments or "")

    def _read_calls(self) -> Iterator[Piece]:
        if self._calls:
            calls = [Call(Function(call.name, call.arguments.read()), call.id) for call in self._calls]
            self._message.tool_calls = calls
            yield from read_calls(calls, self._info)


def _delta_of(choice: _Choice) -> _Delta:
    """The delta. Azure's asynchronous filter tells its verdict in choices that have none. Raises ValueError.

    Source: an observed chunk, https://github.com/aallam/openai-kotlin/pull/340.
    """
    if choice.delta is None and choice.content_filter_results is None:
        raise ValueError(_NO_DELTA)
    return choice.delta or _Delta()


_NOTHING: Final = _Choice(_Delta())
_NO_DELTA: Final = "choices[0] has no delta"
_TOLD: Final = "a chunk with an error"
_NO_CHOICES: Final = "a chunk has neither choices nor an error"
_GAP: Final = "a piece of a call whose index is not the next one"
