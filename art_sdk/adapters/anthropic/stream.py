"""A streamed answer of Anthropic's messages API.

The order of events must be the documented one (docs.anthropic.com/en/docs/build-with-claude/streaming):
blocks one after the other, counted by `index`, and `message_stop` at the end. Events of other types may
come anywhere (`ping`, and newer types): the API's terms announce them. So may deltas that do not change
a text (citations); an unknown delta in a block that goes back with the next turn is an error, since the
block would go back wrong.
Source: `anthropic.types.RawMessageStreamEvent` of the official client, version 2.12, and recorded streams.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from art_sdk.adapters.answers import CallInfo, Ending, LongText, Piece, Text, Thinking, settle_arguments
from art_sdk.adapters.anthropic.answers import THOUGHTS, Message, ToolUse, kept_blocks, read_ending, role_of
from art_sdk.adapters.reading import ErrorInStream, StoppedEarly, fields_of, follow
from art_sdk.http.framing import Frame
from art_sdk.messages import FunctionCall, ToolCall


class _Start(Struct):
    id: str | None = None
    usage: dict[str, Any] | None = None


class _Delta(Struct):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: str | None = None
    content: str | None = None
    encrypted_content: str | None = None
    stop_reason: str | None = None


class _Begun(Struct):
    """What a block of text or thinking may begin with."""

    text: str | None = None
    thinking: str | None = None


class _Event(Struct):
    type: str
    index: int | None = None
    message: _Start | None = None
    content_block: dict[str, Any] | None = None
    delta: _Delta | None = None
    usage: dict[str, Any] | None = None


class _OpenBlock:
    """A block whose deltas are still coming: the block as it began, and the text of the deltas."""

    def __init__(self, block: dict[str, Any], kind: str) -> None:
        self.block = block
        self.kind = kind
        self.text = LongText()
        self.call = msgspec.convert(block, ToolUse) if kind == "tool_use" else None
        self.has_text = False
        self.is_blank = True

    def add(self, text: str) -> Text:
        self.has_text = True
        self.is_blank = self.is_blank and not text.strip()
        return Text(text)

    def as_kept(self) -> dict[str, Any]:
        """The block as `kept_blocks` needs it: of a text block, only whether it is blank."""
        return {"type": "text", "text": "" if self.is_blank else "-"} if self.kind == "text" else self.block


_T = TypeVar("_T")

_decode_event: Final = msgspec.json.Decoder(_Event).decode
_decode: Final = msgspec.json.Decoder().decode

_AFTER: Final[Mapping[tuple[str, str], str]] = {
    ("begun", "message_start"): "between blocks",
    ("between blocks", "content_block_start"): "in a block",
    ("in a block", "content_block_start"): "in a block",
    ("in a block", "content_block_delta"): "in a block",
    ("in a block", "content_block_stop"): "between blocks",
    ("between blocks", "message_delta"): "ending",
    ("ending", "message_delta"): "ending",
    ("ending", "message_stop"): "done",
}
_KNOWN: Final = frozenset(kind for _, kind in _AFTER)


class MessageStream:
    """One streamed answer, event by event. A call is complete when its block stops."""

    def __init__(self, info: CallInfo, *, request_id: str | None) -> None:
        self._info = info
        self._request_id = request_id
        self._state = "begun"
        self._open: dict[int, _OpenBlock] = {}
        self._content: list[dict[str, Any]] = []
        self._message = Message(type="message", content=self._content, stop_reason=None)

    def take(self, frame: Frame) -> Iterator[Piece]:
        if frame.event not in _KNOWN and _is_unknown(frame):
            return
        event = _decode_event(frame.data)
        if event.type == "error":
            raise ErrorInStream("an event with an error")
        if frame.event not in ("message", event.type):  # some proxies leave the event's line out
            raise ValueError(f"an event {frame.event!r} with data of the type {event.type!r}")
        self._state = follow(_AFTER, self._state, event.type)
        match event.type:
            case "content_block_delta":
                yield from self._take_delta(event)
            case "message_start":
                self._start(event)
            case "content_block_start":
                yield from self._start_block(event)
            case "content_block_stop":
                yield from self._stop_block(event)
            case "message_delta":
                self._end(event)
            case _:
                pass  # message_stop has no content

    def end(self) -> Ending:
        if self._state != "done":
            raise StoppedEarly("it stopped before message_stop")
        return read_ending(self._message, request_id=self._request_id)

    def extensions(self) -> dict[str, dict[str, Any]] | None:
        """The blocks that can go back, if the answer ends here: not the thinking at its end, which would be refused."""
        open_texts = [opened.as_kept() for opened in self._open.values() if opened.kind == "text"]
        return kept_blocks(_without_last_thoughts([*self._content, *open_texts]))

    def _start(self, event: _Event) -> None:
        started = _needed(event.message, "message_start has no message")
        self._message.id = started.id
        self._message.usage = started.usage or {}

    def _start_block(self, event: _Event) -> Iterator[Piece]:
        block = _needed(event.content_block, "content_block_start has no content_block")
        index = self._check_index(event, len(self._content) + len(self._open))
        kind = block.get("type")
        if not isinstance(kind, str):
            raise ValueError("a block of the content has no type")  # noqa: TRY004 - as for a whole answer
        opened = self._open[index] = _OpenBlock(block, kind)
        text = msgspec.convert(block, _Begun).text if kind in {"text", "thinking"} else None
        if kind == "text" and text:
            yield opened.add(text)

    def _take_delta(self, event: _Event) -> Iterator[Piece]:
        opened = self._open.get(-1 if event.index is None else event.index) or self._open[self._oldest(event)]
        delta = _needed(event.delta, "content_block_delta has no delta")
        if delta.type in _EVENTS_AT_ONCE:
            self._check_index(event, len(self._content) + len(self._open) - 1)
        match (delta.type, opened.kind):
            case ("text_delta", "text"):
                yield opened.add(_needed(delta.text, "text_delta has no text"))
            case ("thinking_delta", "thinking"):
                thinking = _needed(delta.thinking, "thinking_delta has no thinking")
                opened.text.write(thinking)
                yield Thinking(thinking)
            case ("signature_delta", "thinking"):
                opened.block["signature"] = _needed(delta.signature, "signature_delta has no signature")
            case ("input_json_delta", kind) if kind not in _WITHOUT_INPUT:
                opened.text.write(_needed(delta.partial_json, "input_json_delta has no partial_json"))
            case ("compaction_delta", "compaction"):  # a beta's: `BetaCompactionContentBlockDelta`
                opened.block |= {"content": delta.content, "encrypted_content": delta.encrypted_content}
            case (str(), "text") if delta.type not in _DELTAS:
                pass
            case _:
                raise ValueError(f"a delta of the type {delta.type!r} in a block of the type {opened.kind!r}")

    def _stop_block(self, event: _Event) -> Iterator[Piece]:
        opened = self._open.pop(self._oldest(event))
        self._state = "in a block" if self._open else self._state
        text, block = opened.text.read(), opened.block
        if opened.call is not None:
            own_ids = self._info.id_map
            arguments = settle_arguments(text, opened.call.input or {})
            yield ToolCall(own_ids.get(opened.call.id, opened.call.id), FunctionCall(opened.call.name, arguments))
        elif opened.kind == "text" and not opened.has_text:
            yield Text("")
        elif opened.kind == "thinking":
            block["thinking"] = f"{block.get('thinking') or ''}{text}"
        elif text:
            block["input"] = _decode(text)
        self._content.append(opened.as_kept())

    def _end(self, event: _Event) -> None:
        delta = _needed(event.delta, "message_delta has no delta")
        self._message.stop_reason = delta.stop_reason or self._message.stop_reason
        counted = {name: count for name, count in (event.usage or {}).items() if count is not None}
        self._message.usage = (self._message.usage or {}) | counted  # cumulative counts

    def _oldest(self, event: _Event) -> int:
        """The block that stops next. llama-server begins a call before the previous one has stopped: recorded."""
        return self._check_index(event, len(self._content))

    def _check_index(self, event: _Event, index: int) -> int:
        if event.index != index:
            raise ValueError(f"{event.type} of block {event.index}; expected block {index}")
        return index


def _without_last_thoughts(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    end = len(content)
    while end and (content[end - 1]["type"] in THOUGHTS or role_of(content[end - 1]) == "blank"):
        end -= 1
    return content[:end]


def _is_unknown(frame: Frame) -> bool:
    """Whether an event is of a type that has no part in the answer: the official client skips it, whatever it holds."""
    fields = fields_of(frame)
    kind = None if fields is None else fields.get("type")
    if not isinstance(kind, str):
        return frame.event != "message"
    return kind not in _KNOWN and kind != "error"


_EVENTS_AT_ONCE: Final = frozenset({"text_delta", "thinking_delta"})  # only the newest block may go on
_WITHOUT_INPUT: Final = frozenset({"text", "thinking", "redacted_thinking", "compaction"})
_DELTAS: Final = frozenset({"text_delta", "thinking_delta", "signature_delta", "input_json_delta", "compaction_delta"})


def _needed(value: _T | None, lack: str) -> _T:
    if value is None:
        raise ValueError(lack)
    return value
