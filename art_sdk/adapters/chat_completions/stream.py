"""A streamed answer of the chat completions family.

At the provider's own host an answer has ended when `finish_reason` and then `data: [DONE]` came: both,
since the usage comes between them, and without the mark a stream that lost it would pass. At any other
host (`base_url`) one of them is enough, as relatives do without the other: as recorded, the mark is
missing at Hugging Face and GPUStack, `finish_reason` at Snowflake and some models of OpenRouter.
Providers differ, as recorded: the finish comes again with the usage (OpenRouter), usage comes with every
chunk (Databricks), a finish with the last delta (Mistral), an error with a delta (OpenRouter), an
`event: error` (Groq), chunks have no choices (OpenAI's last one).
Source: `openai.types.chat.ChatCompletionChunk` of the official client, version 3.54.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import GenericAlias
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from art_sdk.adapters.answers import CallInfo, Ending, Piece, Text, Thinking
from art_sdk.adapters.chat_completions.answers import (
    FunctionPiece,
    Message,
    read_calls,
    read_chunks,
    read_finish,
    read_stop_reason,
    text_of,
    with_own_fields,
    with_types,
)
from art_sdk.adapters.chat_completions.calls import CallPiece, JoinedCalls
from art_sdk.adapters.chat_completions.joining import KeptPieces
from art_sdk.adapters.chat_completions.provider import ChatProvider
from art_sdk.adapters.chat_completions.usage import read_usage
from art_sdk.adapters.reading import ErrorInStream, StoppedEarly, follow, is_foreign
from art_sdk.http.framing import Frame
from art_sdk.json_data import is_array, is_object


class _Delta(Message):
    tool_calls: list[CallPiece] | None = None
    function_call: FunctionPiece | None = None


class _Choice(Struct):
    delta: _Delta | None = None
    index: int = 0
    finish_reason: str | int | None = None
    content_filter_results: Any = None
    error: Any = None


class _Groq(Struct):
    usage: dict[str, Any] | None = None
    error: str | None = None  # `XGroq` in groq 1.7: why a stream was stopped early


class _Chunk(Struct):
    choices: list[_Choice] | None = None
    id: str | None = None
    usage: dict[str, Any] | None = None
    error: Any = None
    message: Any = None  # Mistral's errors are bare: {"object": "error", "message": ...}
    x_groq: _Groq | None = None


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
_AFTER_AT_OTHER_HOSTS: Final = {**_AFTER, ("answering", _DONE): "done"}


class ChatStream:
    """One streamed answer, chunk by chunk. Calls are complete at the end, since their pieces may be interleaved."""

    def __init__(
        self, info: CallInfo, provider: ChatProvider, *, dialect: str, request_id: str | None, is_own_host: bool
    ) -> None:
        self._info = info
        self._provider = provider
        self._reasoning = provider.reasoning
        self._dialect = dialect
        self._request_id = request_id
        self._decode, self._no_delta = _decoder(provider)
        self._kept = KeptPieces()
        self._after = _AFTER if is_own_host and provider.always_finishes else _AFTER_AT_OTHER_HOSTS
        self._needs_mark = is_own_host and provider.end_mark is not None
        self._state = "begun"
        self._calls = JoinedCalls(may_skip_numbers=not is_own_host)
        self._message = Message()
        self._has_others = False
        self._finish: str | None = None
        self._usage: dict[str, Any] | None = None

    def take(self, frame: Frame) -> Iterator[Piece]:
        if frame.data == self._provider.end_mark:
            self._state = follow(self._after, self._state, _DONE)
            if self._finish is None:
                yield from self._read_calls()
            return
        chunk = self._decode_chunk(frame)
        usage = chunk.usage or (chunk.x_groq and chunk.x_groq.usage)
        if chunk.choices is None and usage is None:
            self._has_others = True
            return
        self._request_id = self._request_id or chunk.id
        self._usage = usage or self._usage
        choice = next((choice for choice in chunk.choices or () if choice.index == 0), _NO_CHOICE)
        if choice.error:
            raise ErrorInStream("a choice with an error")
        delta = choice.delta or self._delta_of(choice)
        thinking: str | None = None
        for name in self._reasoning:  # as `read_reasoning`, without a call: this is the hot loop
            thinking = getattr(delta, name)
            if thinking:
                break
        self._state = follow(self._after, self._state, self._kind(choice, delta, thinking))
        if thinking:
            yield Thinking(thinking)
        yield from self._read_delta(delta)
        if self._finish is None and choice.finish_reason not in _NONE:
            self._finish = read_finish(choice.finish_reason)
            yield from self._read_calls()

    def _decode_chunk(self, frame: Frame) -> _Chunk:
        """The chunk; an empty one for an event or an object of another kind, which has no part in the answer.

        Raises ErrorInStream, or ValueError for data that is not a chunk.
        """
        try:
            chunk = self._decode(frame.data)
        except msgspec.DecodeError:
            if is_foreign(frame, _FIELDS):
                return _NO_CHUNK
            raise
        is_error = chunk.choices is None and chunk.message is not None and frame.event == "message"
        if chunk.error or is_error or (chunk.x_groq and chunk.x_groq.error):
            raise ErrorInStream("a chunk with an error")
        return chunk

    def end(self) -> Ending:
        if self._state == "begun" and self._has_others:
            raise ValueError("no chunk has choices")
        if not self._is_complete:
            raise StoppedEarly("it stopped before finish_reason")
        if self._state != "done" and self._needs_mark:
            raise StoppedEarly(f"it stopped before {self._provider.end_mark}")
        calls, others = self._calls.functions(), self._calls.others()
        return Ending(
            stop_reason=read_stop_reason(self._message, self._finish, has_calls=bool(calls), has_others=bool(others)),
            raw_stop_reason=self._finish,
            usage=read_usage(self._usage),
            request_id=self._request_id,
            extensions=self.extensions(),
        )

    def extensions(self) -> dict[str, dict[str, Any]] | None:
        """None before the end: until then the last piece may be missing."""
        return self._kept.extensions(self._dialect, self._calls.others()) if self._is_complete else None

    @property
    def _is_complete(self) -> bool:
        return self._finish is not None or self._state == "done"

    def _delta_of(self, choice: _Choice) -> _Delta:
        """The delta of a choice without one. Azure's asynchronous filter sends its verdict so. Raises ValueError.

        Source: an observed chunk, https://github.com/aallam/openai-kotlin/pull/340.
        """
        if choice.content_filter_results is None and choice.finish_reason is None and choice is not _NO_CHOICE:
            raise ValueError("choices[0] has no delta")
        return self._no_delta

    def _kind(self, choice: _Choice, delta: _Delta, thinking: str | None) -> str:
        """What a chunk is, as `_AFTER` has it. A finish may come again only without content."""
        has_content = (
            delta.content
            or delta.tool_calls
            or delta.refusal
            or thinking
            or delta.images
            or delta.audio
            or (delta.function_call and delta.function_call.name)
        )
        finish = choice.finish_reason
        if finish not in _NONE and (has_content or read_finish(finish) != self._finish):
            return "a finish"
        return "a delta" if has_content else "an aside"

    def _read_delta(self, delta: _Delta) -> Iterator[Piece]:
        for name in self._provider.kept:
            self._kept.add(name, getattr(delta, name))
        message, content = self._message, delta.content
        if isinstance(content, str):
            message.content = message.content or content[:1]  # whether there is any: its text is an event
            if content:
                yield Text(content)
        elif content is not None:
            yield from self._read_content(content)
        if is_array(delta.images):
            self._kept.add("images", delta.images)
        if is_object(delta.audio):
            self._kept.add_audio(delta.audio)
        if delta.refusal:
            message.refusal = "refused"
            if not message.content:  # an unstreamed answer's refusal is read where it has no content
                yield Text(delta.refusal)
        self._calls.add_all(delta.tool_calls or (), delta.function_call)

    def _read_content(self, content: list[dict[str, Any]] | dict[str, Any]) -> Iterator[Piece]:
        """The pieces of a content that is not text."""
        if isinstance(content, list):
            self._kept.add_chunks(content)
            yield from read_chunks(content)
        else:
            self._message.content = "-"
            yield Text(text_of(content))

    def _read_calls(self) -> Iterator[Piece]:
        calls = self._calls.functions()
        if calls:
            yield from read_calls(calls, self._info, is_cut=self._finish == "length")


_FIELDS: Final = ("choices", "error", "usage")
_NO_CHUNK: Final = _Chunk()
_NO_CHOICE: Final = _Choice()
_NONE: Final = (None, "")  # servers written in Go send an empty text for what is not set, as Snowflake does elsewhere
