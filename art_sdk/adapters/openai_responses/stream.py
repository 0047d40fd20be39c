"""A streamed answer of the Responses API.

The order of events is the one that the official client's `ResponseStreamState` demands: `response.created` first, an
item before its pieces, a part before its text, no index twice, and no item left open by `response.completed`. What a
`.done` event repeats must be what its pieces said; what it adds to them is read. Events of other types may come
anywhere: tools of the server's, annotations, and newer types. Some servers give no `output_index`: there, `item_id`
says which item is meant. OpenRouter ends with `[DONE]`: recorded.
Source: `openai.types.responses.ResponseStreamEvent` of the official client, version 3.54, and recorded streams of
OpenAI, Azure, DeepSeek, OpenRouter and xAI.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from art_sdk.adapters.answers import CallInfo, Ending, Piece, Text, Thinking
from art_sdk.adapters.openai_responses.answers import Output, OutputItem, Response, message_texts, read_call
from art_sdk.adapters.openai_responses.open_items import OpenItem, Said
from art_sdk.adapters.reading import ErrorInStream, StoppedEarly, fields_of, follow
from art_sdk.http.framing import Frame


class _Event(Struct):
    type: str
    delta: str | None = None
    output_index: int | None = None
    item_id: str | None = None
    content_index: int | None = None
    summary_index: int | None = None
    item: dict[str, Any] | None = None
    response: Response | None = None
    text: str | None = None
    refusal: str | None = None
    arguments: str | None = None


_T = TypeVar("_T")

_decode_event: Final = msgspec.json.Decoder(_Event).decode

_LIFECYCLE: Final[Mapping[tuple[str, str], str]] = {
    ("begun", "response.created"): "open",
    ("open", "response.queued"): "open",
    ("open", "response.in_progress"): "open",
    ("open", "an event of its output"): "open",
    ("open", "response.completed"): "done",
    ("open", "response.incomplete"): "done",
    ("open", "response.failed"): "done",
}
_ENDS: Final = frozenset({"response.completed", "response.incomplete"})
_OUTPUT: Final = "an event of its output"

_DELTAS: Final[Mapping[str, tuple[str, str, type[Text | Thinking] | None]]] = {
    "response.output_text.delta": ("message", "output_text", Text),
    "response.refusal.delta": ("message", "refusal", Text),
    "response.reasoning_summary_text.delta": ("reasoning", "summary_text", Thinking),
    "response.reasoning_text.delta": ("reasoning", "reasoning_text", Thinking),
    "response.reasoning.delta": ("reasoning", "reasoning_text", Thinking),  # the name in Open Responses
    "response.function_call_arguments.delta": ("function_call", "arguments", None),
}
"""Per event: the type of its item, the kind of text, and what a piece of it becomes; arguments are read when whole."""

_WHOLE: Final[Mapping[str, tuple[str, str, type[Text | Thinking] | None]]] = {
    f"{name.removesuffix('.delta')}.done": row for name, row in _DELTAS.items()
}
_ITEMS: Final = frozenset({"response.output_item.added", "response.output_item.done"})
_KNOWN: Final = frozenset({*(kind for _, kind in _LIFECYCLE), *_DELTAS, *_WHOLE, *_ITEMS, "error"})


class ResponseStream:
    """One streamed answer, event by event. A call is complete when its item is done."""

    def __init__(self, info: CallInfo, *, dialect: str, request_id: str | None) -> None:
        self._info = info
        self._request_id = request_id
        self._state = "begun"
        self._open: dict[int, OpenItem] = {}
        self._count = 0
        self._output = Output(dialect)
        self._response: Response | None = None

    def take(self, frame: Frame) -> Iterator[Piece]:
        if frame.data.startswith("[DONE]") or (frame.event not in _KNOWN and _is_unknown(frame)):
            return
        event = _decode_event(frame.data)
        kind = event.type
        if kind in ("error", "response.failed"):
            raise ErrorInStream(f"an event of the type {kind}")
        if frame.event not in ("message", kind):  # OpenRouter leaves the event's line out
            raise ValueError(f"an event {frame.event!r} with data of the type {kind!r}")
        row = _DELTAS.get(kind)
        if row is not None and self._state == "open":  # the hot path
            yield from self._take_delta(event, row)
            return
        self._state = follow(_LIFECYCLE, self._state, _OUTPUT if _is_output(kind) else kind)
        yield from self._take_rest(event)

    def end(self) -> Ending:
        if self._state != "done" or self._response is None:
            raise StoppedEarly("it stopped before response.completed")
        return self._output.end(self._response, request_id=self._request_id)

    def extensions(self) -> dict[str, dict[str, Any]] | None:
        return self._output.extensions()

    def _take_rest(self, event: _Event) -> Iterator[Piece]:
        match event.type:
            case "response.output_item.added":
                self._begin(event)
            case "response.output_item.done":
                yield from self._finish(event)
            case kind if kind in _WHOLE:
                yield from self._take_whole(event, _WHOLE[kind])
            case kind if kind in _ENDS:
                yield from self._complete(event)
            case _:
                pass  # created, queued, in_progress: nothing that the last event does not say

    def _begin(self, event: _Event) -> None:
        item = _needed(event.item, "response.output_item.added has no item")
        kind = msgspec.convert(item, OutputItem).type
        index = self._count if event.output_index is None else event.output_index
        if index in self._open or index < self._count:
            raise ValueError(f"the item {index} begins twice")
        self._open[index] = OpenItem(item, kind)
        self._count = index + 1

    def _take_delta(self, event: _Event, row: tuple[str, str, type[Text | Thinking] | None]) -> Iterator[Piece]:
        text, make = self._text_of(event, row)
        delta = _needed(event.delta, f"{event.type} has no delta")
        text.write(delta)
        if make is not None:
            yield make(delta)

    def _take_whole(self, event: _Event, row: tuple[str, str, type[Text | Thinking] | None]) -> Iterator[Piece]:
        """The whole text, of which the pieces have said all or a beginning."""
        text, make = self._text_of(event, row)
        fields = (event.text, event.refusal, event.arguments)
        whole = _needed(next((one for one in fields if one is not None), None), f"{event.type} has no text")
        rest = _rest_of(whole, text, event.type)
        if make is not None and rest:
            yield make(rest)

    def _text_of(
        self, event: _Event, row: tuple[str, str, type[Text | Thinking] | None]
    ) -> tuple[Said, Callable[[str], Piece] | None]:
        kind, name, make = row
        opened = self._find(event)
        if opened.kind != kind:
            raise ValueError(f"{event.type} in an item of type {opened.kind!r}")
        index = event.content_index if event.summary_index is None else event.summary_index
        return opened.text(name, index or 0), make

    def _find(self, event: _Event) -> OpenItem:
        """The item of an event. Raises ValueError for one that has not begun, or is done."""
        if event.output_index is not None:
            found = self._open.get(event.output_index)
        else:
            found = next((one for one in self._open.values() if one.is_meant(event.item_id)), None)
        which = event.item_id if event.output_index is None else event.output_index
        return _needed(found, f"{event.type} of the item {which}, which is not open")

    def _finish(self, event: _Event) -> Iterator[Piece]:
        """The item as it is now. What no piece has said is read from it."""
        given = _needed(event.item, "response.output_item.done has no item")
        opened = self._find(_Event(event.type, output_index=event.output_index, item_id=_id_of(given)))
        if given.get("type") != opened.kind:
            raise ValueError(f"an item of type {opened.kind!r} ends with type {given.get('type')!r}")
        self._open = {index: one for index, one in self._open.items() if one is not opened}
        yield from self._read(given, opened)

    def _read(self, given: dict[str, Any], opened: OpenItem) -> Iterator[Piece]:
        item = msgspec.convert(given, OutputItem)
        if opened.kind == "function_call":
            call = read_call(given, self._info)
            _rest_of(call.function.arguments, opened.text("arguments", 0), "response.output_item.done")
            yield call
        elif opened.kind == "message":
            yield from self._rest_of_message(item, opened)
        elif opened.kind == "reasoning":
            for name, parts in (("summary_text", item.summary), ("reasoning_text", item.content)):
                for index, part in enumerate(parts or ()):
                    rest = _rest_of(part.text or "", opened.text(name, index), "response.output_item.done")
                    yield from (Thinking(rest),) if rest else ()
        self._output.add(given, item)

    def _rest_of_message(self, item: OutputItem, opened: OpenItem) -> Iterator[Piece]:
        texts = message_texts(item)
        if not texts and opened.texts:
            raise ValueError("a message ends without the text of its deltas")
        for index, part in enumerate(item.content or ()):
            whole = part.text if part.type == "output_text" else part.refusal
            rest = _rest_of(whole or "", opened.text(part.type, index), "response.output_item.done")
            if rest or (whole == "" and len(texts) == 1):
                yield Text(rest)

    def _complete(self, event: _Event) -> Iterator[Piece]:
        response = self._response = _needed(event.response, f"{event.type} has no response")
        if self._open and response.status == "completed":
            raise ValueError(f"{event.type}, but {len(self._open)} of its items are not done")
        output = response.output or []
        msgspec.convert(output, list[OutputItem])
        if not self._count:
            for item in output:
                yield from self._output.read(item, self._info)
        elif len(output) > self._count:
            raise ValueError(f"{event.type} has {len(output)} items, but only {self._count} arrived")
        response.output = None  # every item is known by now, and its texts may be long
        for opened in self._open.values():
            yield from self._read_cut(opened)

    def _read_cut(self, opened: OpenItem) -> Iterator[Piece]:
        """An item of an answer that was cut off, as if it were done. The pieces of a message have said all of it."""
        if opened.kind == "message":
            parts = [{"type": kind, "text": "", "refusal": ""} for kind, _ in opened.texts]
            item = opened.item | {"content": parts}
            length = sum(said.length for said in opened.texts.values())
            self._output.add(item, msgspec.convert(item, OutputItem), length=length)
        elif opened.kind == "function_call":
            said = opened.text("arguments", 0)
            yield from self._read(opened.item | {"arguments": said.kept.read() if said.kept else ""}, opened)
        else:
            yield from self._read(opened.item, opened)


def _is_output(kind: str) -> bool:
    return kind in _DELTAS or kind in _WHOLE or kind in _ITEMS


def _is_unknown(frame: Frame) -> bool:
    """Whether an event is of a type that has no part in the answer: whatever it holds, it is skipped."""
    fields = fields_of(frame)
    kind = None if fields is None else fields.get("type")
    if not isinstance(kind, str):
        return frame.event != "message"
    return kind not in _KNOWN


def _id_of(item: dict[str, Any]) -> str | None:
    return item.get("id") or item.get("call_id")


def _rest_of(whole: str, said: Said, event: str) -> str:
    """What of a whole text its pieces have not said, which is added. Raises ValueError if they said something else."""
    if not said.begins(whole):
        raise ValueError(f"{event} differs from the text of its deltas")
    rest = whole[said.length :]
    said.write(rest)
    return rest


def _needed(value: _T | None, lack: str) -> _T:
    if value is None:
        raise ValueError(lack)
    return value
