"""A streamed answer of Bedrock's ConverseStream.

`messageStart`, then blocks, each with an index above those before it: a call begins with `contentBlockStart`, a text
or reasoning with its first delta; `contentBlockStop` ends them. Then `messageStop`, and `metadata` with the usage.
Events of other types may come anywhere. Source: `ConverseStreamOutput` of botocore 1.44, and recorded streams.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from art_sdk.adapters.answers import CallInfo, Ending, LongText, Piece, Text, Thinking, settle_arguments
from art_sdk.adapters.bedrock.answers import SERVER_TOOL, ToolUse, kept_blocks, read_ending
from art_sdk.adapters.reading import StoppedEarly, follow
from art_sdk.http.framing import Frame
from art_sdk.messages import FunctionCall, ToolCall


class _ToolDelta(Struct):
    input: str


class _ReasoningDelta(Struct, rename="camel"):
    text: str | None = None
    signature: str | None = None
    redacted_content: str | None = None


class _Delta(Struct, rename="camel"):
    text: str | None = None
    tool_use: _ToolDelta | None = None
    reasoning_content: _ReasoningDelta | None = None
    tool_result: list[dict[str, Any]] | None = None


class _Start(Struct, rename="camel"):
    tool_use: dict[str, Any] | None = None
    tool_result: dict[str, Any] | None = None


class _Event(Struct, rename="camel"):
    content_block_index: int | None = None
    start: _Start | None = None
    delta: _Delta | None = None
    stop_reason: str | None = None
    usage: dict[str, Any] | None = None


_decode_event: Final = msgspec.json.Decoder(_Event).decode
_decode: Final = msgspec.json.Decoder().decode

_IN_MESSAGE: Final = "in the message"
_AFTER: Final[Mapping[tuple[str, str], str]] = {
    ("begun", "messageStart"): _IN_MESSAGE,
    (_IN_MESSAGE, "contentBlockStart"): _IN_MESSAGE,
    (_IN_MESSAGE, "contentBlockDelta"): _IN_MESSAGE,
    (_IN_MESSAGE, "contentBlockStop"): _IN_MESSAGE,
    (_IN_MESSAGE, "messageStop"): "stopped",
    ("stopped", "metadata"): "done",
}
_KNOWN: Final = frozenset(kind for _, kind in _AFTER)


class _OpenBlock:
    """A block whose deltas are still coming: what it began with, and what they say."""

    def __init__(self, start: _Start | None) -> None:
        self.call = None if start is None or start.tool_use is None else msgspec.convert(start.tool_use, ToolUse)
        self.result = None if start is None else start.tool_result
        self.kind = "toolUse" if self.call else "toolResult" if self.result else None
        self.text = LongText()
        self.signature: str | None = None
        self.redacted: list[str] = []
        self.is_blank = True

    def be(self, kind: str) -> None:
        """Notes the kind of a delta. Raises ValueError for one of another kind than those before."""
        self.kind = self.kind or kind
        if self.kind != kind:
            raise ValueError(f"a delta of {kind} in a block of {self.kind}")

    def as_block(self) -> dict[str, Any] | None:
        """The block as a whole answer has it: of text, only whether it is blank. None: nothing came."""
        match self.kind:
            case "text":
                return {"text": "" if self.is_blank else "-"}
            case "toolUse":
                return {"toolUse": self._use()}
            case "toolResult":
                return {"toolResult": self.result}
            case "reasoningContent" if self.redacted:
                return {"reasoningContent": {"redactedContent": _joined(self.redacted)}}
            case "reasoningContent":
                signed = {} if self.signature is None else {"signature": self.signature}
                return {"reasoningContent": {"reasoningText": {"text": self.text.read(), **signed}}}
            case _:
                return None

    def _use(self) -> dict[str, Any]:
        call = self.call
        if call is None:
            raise ValueError("a toolUse block did not begin with contentBlockStart")
        if call.type != SERVER_TOOL:
            return {}
        return {"toolUseId": call.tool_use_id, "name": call.name, "type": call.type, "input": _decode(self._input())}

    def _input(self) -> str:
        return settle_arguments(self.text.read(), {} if self.call is None else self.call.input or {})

    def as_call(self, own_ids: Mapping[str, str]) -> ToolCall | None:
        """The call, if the caller is to make it."""
        call = self.call
        if call is None or call.type == SERVER_TOOL:
            return None
        return ToolCall(own_ids.get(call.tool_use_id, call.tool_use_id), FunctionCall(call.name, self._input()))


class ConverseStream:
    """One streamed answer, event by event. A call is complete when its block stops."""

    def __init__(self, info: CallInfo, *, request_id: str | None) -> None:
        self._info = info
        self._request_id = request_id
        self._state = "begun"
        self._open: dict[int, _OpenBlock] = {}
        self._last = -1
        self._content: dict[int, dict[str, Any]] = {}
        self._stop_reason: str | None = None
        self._usage: dict[str, Any] | None = None

    def take(self, frame: Frame) -> Iterator[Piece]:
        if frame.event not in _KNOWN:
            return
        event = _decode_event(frame.data)
        self._state = follow(_AFTER, self._state, frame.event)
        match frame.event:
            case "contentBlockDelta":
                yield from self._take_delta(event)
            case "contentBlockStart":
                self._begin(self._index_of(event), event.start)
            case "contentBlockStop":
                yield from self._stop_block(self._index_of(event))
            case "messageStop":
                self._stop(event)
            case "metadata":
                self._usage = event.usage
            case _:
                pass  # messageStart says that the assistant speaks

    def end(self) -> Ending:
        if self._stop_reason is None or self._state != "done":
            raise StoppedEarly(f"it stopped before {'messageStop' if self._stop_reason is None else 'metadata'}")
        return read_ending(self._in_order(), self._stop_reason, self._usage, request_id=self._request_id)

    def extensions(self) -> dict[str, dict[str, Any]] | None:
        return kept_blocks(self._in_order())

    def _in_order(self) -> list[dict[str, Any]]:
        return [block for _, block in sorted(self._content.items())]

    def _index_of(self, event: _Event) -> int:
        if event.content_block_index is None:
            raise ValueError("a block event has no contentBlockIndex")
        return event.content_block_index

    def _begin(self, index: int, start: _Start | None = None) -> _OpenBlock:
        if index <= self._last:
            raise ValueError(f"a block begins with the index {index}, after the index {self._last}")
        self._last = index
        opened = self._open[index] = _OpenBlock(start)
        return opened

    def _take_delta(self, event: _Event) -> Iterator[Piece]:
        index = self._index_of(event)
        opened = self._open.get(index) or self._begin(index)
        delta = event.delta
        if delta is None:
            raise ValueError("contentBlockDelta has no delta")
        if delta.text is not None:
            opened.be("text")
            opened.is_blank = opened.is_blank and not delta.text.strip()
            yield Text(delta.text)
        elif delta.tool_use is not None:
            opened.be("toolUse")
            opened.text.write(delta.tool_use.input)
        elif delta.reasoning_content is not None:
            opened.be("reasoningContent")
            yield from _take_reasoning(opened, delta.reasoning_content)
        elif delta.tool_result is not None and opened.result is not None:
            opened.result = {**opened.result, "content": [*opened.result.get("content", ()), *delta.tool_result]}
        # any other delta is a citation, or of a newer kind

    def _stop_block(self, index: int) -> Iterator[Piece]:
        opened = self._open.pop(index, None) or self._begin_and_end(index)
        block = opened.as_block()
        if block is not None:
            self._content[index] = block
        call = opened.as_call(self._info.id_map) if opened.call else None
        if call is not None:
            yield call

    def _begin_and_end(self, index: int) -> _OpenBlock:
        """A block of which nothing came: an empty text."""
        opened = self._begin(index)
        del self._open[index]
        return opened

    def _stop(self, event: _Event) -> None:
        if self._open:
            raise ValueError(f"messageStop before the block {min(self._open)} stopped")
        if event.stop_reason is None:
            raise ValueError("messageStop has no stopReason")
        self._stop_reason = event.stop_reason


def _take_reasoning(opened: _OpenBlock, delta: _ReasoningDelta) -> Iterator[Piece]:
    """Signatures and redacted data may come in pieces, which strands-agents, AWS's own library, joins."""
    if delta.text is not None:
        opened.text.write(delta.text)
        yield Thinking(delta.text)
    if delta.signature is not None:
        opened.signature = (opened.signature or "") + delta.signature
    if delta.redacted_content is not None:
        opened.redacted.append(delta.redacted_content)


def _joined(pieces: list[str]) -> str:
    """The base64 of all pieces together; a single one stays as it is. Raises ValueError for what is no base64."""
    if len(pieces) == 1:
        return pieces[0]
    return b64encode(b"".join(b64decode(piece, validate=True) for piece in pieces)).decode()
