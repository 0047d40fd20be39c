"""A streamed answer of the chat completions family.

An answer has ended when `finish_reason` and then `data: [DONE]` came. Both, because every complete stream
that was recorded, of twelve providers, has both, and the usage comes between them: without the mark, a
stream that lost it would pass. Providers differ, as recorded: the finish comes again with the usage
(OpenRouter), usage comes with every chunk (Databricks), a finish with the last delta (Mistral), an
error with a delta (OpenRouter), an `event: error` (Groq), chunks have no choices (OpenAI's last one).
Source: `openai.types.chat.ChatCompletionChunk` of the official client, version 3.54.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import GenericAlias
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from art_sdk.adapters.answers import CallInfo, Ending, LongText, Piece, Text, Thinking
from art_sdk.adapters.chat_completions.answers import (
    Call,
    Function,
    Message,
    read_calls,
    read_chunks,
    read_stop_reason,
    read_usage,
    with_own_fields,
    with_types,
)
from art_sdk.adapters.chat_completions.joining import KeptPieces
from art_sdk.adapters.chat_completions.provider import ChatProvider
from art_sdk.adapters.reading import ErrorInStream, StoppedEarly, follow
from art_sdk.http.framing import Frame


class _FunctionPiece(Struct):
    name: str | None = None
    arguments: str | None = None


class _CallPiece(Struct):
    index: int
    function: _FunctionPiece
    id: str | None = None


class _Delta(Message):
    tool_calls: list[_CallPiece] | None = None


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
    message: Any = None  # Mistral's errors are bare: {"object": "error", "message": ...}
    x_groq: _Groq | None = None


class _OpenCall(NamedTuple):
    """A call whose arguments are still coming."""

    id: str | None
    name: str
    arguments: LongText


class _Decoder(NamedTuple):
    decode: Callable[[str], _Chunk]
    no_delta: _Delta


@lru_cache
def _decoder(provider: ChatProvider) -> _Decoder:
    delta = with_own_fields(_Delta, provider)
    choice = with_types(_Choice, delta=delta | None)
    chunk = with_types(_Chunk, choices=GenericAlias(list, (choice,)) | None)
    return _Decoder(msgspec.json.Decoder(chunk).decode, delta())


_DONE: Final = "the end mark"
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
"""An aside adds nothing to the answer: usage, a role, a filter's verdict, the same finish again."""


class ChatStream:
    """One streamed answer, chunk by chunk. Calls are complete at the finish, since their pieces may be interleaved."""

    def __init__(self, info: CallInfo, provider: ChatProvider, *, dialect: str, request_id: str | None) -> None:
        self._info = info
        self._provider = provider
        self._reasoning = provider.reasoning
        self._dialect = dialect
        self._request_id = request_id
        self._decode, self._no_delta = _decoder(provider)
        self._kept = KeptPieces()
        self._state = "begun"
        self._calls: list[_OpenCall] = []
        self._message = Message()
        self._finish: str | None = None
        self._usage: dict[str, Any] | None = None

    def take(self, frame: Frame) -> Iterator[Piece]:
        if frame.data == self._provider.end_mark:
            self._state = follow(_AFTER, self._state, _DONE)
            return
        chunk = self._decode(frame.data)
        if chunk.error is not None or (chunk.choices is None and chunk.message is not None):
            raise ErrorInStream("a chunk with an error")
        if chunk.choices is None:
            raise ValueError("a chunk has neither choices nor an error")
        self._request_id = self._request_id or chunk.id
        self._usage = chunk.usage or (chunk.x_groq and chunk.x_groq.usage) or self._usage
        choice = next((choice for choice in chunk.choices if choice.index == 0), _NO_CHOICE)
        delta = choice.delta or self._delta_of(choice)
        thinking: str | None = None
        for name in self._reasoning:  # as `read_reasoning`, without a call: this is the hot loop
            thinking = getattr(delta, name)
            if thinking:
                break
        self._state = follow(_AFTER, self._state, self._kind(choice, delta, thinking))
        if thinking:
            yield Thinking(thinking)
        yield from self._read_delta(delta)
        if choice.finish_reason is not None and self._finish is None:
            self._finish = choice.finish_reason
            yield from self._read_calls()

    def end(self) -> Ending:
        if self._finish is None:
            raise StoppedEarly("it stopped before finish_reason")
        if self._state != "done" and self._provider.end_mark is not None:
            raise StoppedEarly(f"it stopped before {self._provider.end_mark}")
        return Ending(
            stop_reason=read_stop_reason(self._message, self._finish, has_calls=bool(self._calls)),
            raw_stop_reason=self._finish,
            usage=read_usage(self._usage),
            request_id=self._request_id,
            extensions=self.extensions(),
        )

    def extensions(self) -> dict[str, dict[str, Any]] | None:
        """None before the finish: until then the last piece may be missing."""
        return None if self._finish is None else self._kept.extensions(self._dialect)

    def _delta_of(self, choice: _Choice) -> _Delta:
        """The delta of a choice without one. Azure's asynchronous filter sends its verdict so. Raises ValueError.

        Source: an observed chunk, https://github.com/aallam/openai-kotlin/pull/340.
        """
        if choice.content_filter_results is None and choice is not _NO_CHOICE:
            raise ValueError("choices[0] has no delta")
        return self._no_delta

    def _kind(self, choice: _Choice, delta: _Delta, thinking: str | None) -> str:
        """What a chunk is, as `_AFTER` has it. A finish may come again only without content."""
        has_content = delta.content or delta.tool_calls or delta.refusal or thinking
        if choice.finish_reason is not None and (has_content or choice.finish_reason != self._finish):
            return "a finish"
        return "a delta" if has_content else "an aside"

    def _read_delta(self, delta: _Delta) -> Iterator[Piece]:
        for name in self._provider.kept:
            self._kept.add(name, getattr(delta, name))
        message, content = self._message, delta.content
        if isinstance(content, list):
            self._kept.add_chunks(content)
            yield from read_chunks(content)
            content = "".join(chunk["text"] for chunk in content if chunk.get("type") == "text")
        elif content:
            yield Text(content)
        if content is not None:
            message.content = message.content or content[:1]  # whether there is any: its text was an event
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
            raise ValueError(f"a piece of the call {piece.index}, which has no name" if piece.index == begun else _GAP)
        elif name or piece.id:
            raise ValueError(f"the call {piece.index} begins twice")
        self._calls[piece.index].arguments.write(piece.function.arguments or "")

    def _read_calls(self) -> Iterator[Piece]:
        if self._calls:
            calls = [Call(Function(call.name, call.arguments.read()), call.id) for call in self._calls]
            yield from read_calls(calls, self._info)


_NO_CHOICE: Final = _Choice()
_GAP: Final = "a piece of a call whose index is not the next one"
