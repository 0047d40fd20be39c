"""A streamed answer of Ollama: every line is a complete answer, with the new pieces.

An answer has ended when a line with `"done": true` came and the body ends. Calls come whole. An error in the
stream is its own line: `{"error": "text"}`.
Source: `streamResponse` in github.com/ollama/ollama, server/routes.go, and recorded streams.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import filterfalse
from typing import Any, Final

import msgspec

from art_sdk.adapters.answers import CallInfo, Ending, LongText, Piece, Text, Thinking
from art_sdk.adapters.ollama.answers import Call, Chat, kept_thinking, read_call, read_ending
from art_sdk.adapters.reading import ErrorInStream, StoppedEarly, follow
from art_sdk.http.framing import Frame
from art_sdk.messages import ToolCall

_decode_line: Final = msgspec.json.Decoder(Chat).decode

_AFTER: Final[Mapping[tuple[str, str], str]] = {
    ("answering", "a piece"): "answering",
    ("answering", "the end"): "finished",
}


class ChatLines:
    """One streamed answer, line by line."""

    def __init__(self, info: CallInfo, *, request_id: str | None) -> None:
        self._request_id = request_id
        self._state = "answering"
        self._last = Chat()
        self._has_messages = False
        self._has_others = False
        self._thinking: LongText | None = None
        self._ids: set[str] = set()
        self._fresh_ids = filterfalse(self._ids.__contains__, info.fresh_call_ids())

    def take(self, frame: Frame) -> Iterable[Piece]:
        line = _decode_line(frame.data)
        message = line.message
        if message is None or line.done or line.error or message.thinking or message.tool_calls:
            return self._take(line)
        if self._state != "answering":
            return self._take(line)
        self._has_messages = True  # as most lines are, it is a piece of text: this is the hot loop
        return (Text(message.content),) if message.content else ()

    def _take(self, line: Chat) -> Iterator[Piece]:
        if line.error:
            raise ErrorInStream("a line with an error")
        message = line.message
        if message is None:
            self._has_others = True  # an object of another kind, which has no part in the answer
            return
        self._has_messages = True
        self._state = follow(_AFTER, self._state, "the end" if line.done else "a piece")
        if line.done:
            self._last = line
        if message.thinking:
            self._think(message.thinking)
            yield Thinking(message.thinking)
        if message.content:
            yield Text(message.content)
        for call in message.tool_calls or ():
            yield self._call(call)

    def end(self) -> Ending:
        if self._has_others and not self._has_messages:
            raise ValueError("no line has a message")
        if self._state != "finished":
            raise StoppedEarly("it stopped before a line with done")
        has_calls = bool(self._ids)
        extensions = self.extensions()
        return read_ending(self._last, has_calls=has_calls, request_id=self._request_id, extensions=extensions)

    def extensions(self) -> dict[str, dict[str, Any]] | None:
        """None before the end: until then the last piece may be missing."""
        if self._thinking is None or self._state != "finished":
            return None
        return kept_thinking(self._thinking.read())

    def _think(self, piece: str) -> None:
        if self._thinking is None:
            self._thinking = LongText()
        self._thinking.write(piece)

    def _call(self, given: Call) -> ToolCall:
        call = read_call(given, self._fresh_ids)
        if call.id in self._ids:
            raise ValueError(f"two calls with the id {call.id!r}")
        self._ids.add(call.id)
        return call
