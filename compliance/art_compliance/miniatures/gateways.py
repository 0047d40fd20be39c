"""Adapters that read the streams of OpenAI, but not those of servers and gateways that fill other fields, or fewer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from art_compliance.dialects.framing import change_data
from art_compliance.miniatures.base import miniature
from art_compliance.miniatures.forms import reread

Change = Callable[[Any], Any]
"""What becomes of the JSON data of an event, or of a whole answer."""

_STREAM: Final = "stream.other-forms-are-read"
_WHOLE: Final = "response.other-forms-are-read"


def refeed_data(adapter: Any, begin: Callable[[], Change]) -> None:
    """The adapter reads other data of each stream than came: `begin` gives the change for a stream."""
    own = adapter.stream_reader

    def stream_reader(head: Any, info: Any) -> Any:
        reader, change = own(head, info), begin()
        feed: Callable[[bytes], Any] = reader.feed

        def changed(chunk: bytes) -> Any:
            return feed(change_data(chunk, change))

        reader.feed = changed
        return reader

    adapter.stream_reader = stream_reader


def of_each_delta(change: Callable[[dict[str, Any]], None]) -> Change:
    """Changes each delta of a chunk, or each message of a whole answer, in place."""

    def change_body(body: Any) -> Any:
        for choice in body.get("choices") or ():
            change(choice.get("delta") or choice.get("message") or {})
        return body

    return change_body


def _spoil(adapter: Any, change: Callable[[dict[str, Any]], None]) -> None:
    refeed_data(adapter, lambda: of_each_delta(change))
    reread(adapter, of_each_delta(change))


@miniature(_STREAM, around=("openai-compatible", "openai", "mistral"))
def takes_nothing_for_the_end(adapter: Any) -> None:
    """A delta without a text, a call and a finish reason ends a stream: the text behind it is lost."""

    def begin() -> Change:
        over: list[bool] = []

        def change(event: Any) -> Any:
            for choice in event.get("choices") or ():
                over.extend([True] * (choice.get("delta") == {} and not choice.get("finish_reason")))
                if over and choice.get("delta"):
                    choice["delta"].pop("content", None)
            return event

        return change

    refeed_data(adapter, begin)


@miniature(_STREAM, around=("openai-compatible", "openai", "deepseek"))
def begins_anew_at_a_role(adapter: Any) -> None:
    """A delta with a role begins an answer: what it says besides is not read."""

    def begin() -> Change:
        begun: list[bool] = []

        def change(delta: dict[str, Any]) -> None:
            if begun and delta.get("role"):
                delta.pop("content", None)
            begun.append(True)

        return of_each_delta(change)

    refeed_data(adapter, begin)


@miniature(_WHOLE, _STREAM, around=("openai-compatible",))
def takes_null_for_a_word(adapter: Any) -> None:
    """A refusal that is null is the text `null`."""

    def change(delta: dict[str, Any]) -> None:
        if "refusal" in delta and delta["refusal"] is None:
            delta["content"] = f"{delta.get('content') or ''}null"

    _spoil(adapter, change)


@miniature(_STREAM, around=("openai-compatible",))
def takes_null_for_arguments(adapter: Any) -> None:
    """Arguments of a call's first piece that are null are the text `null`."""

    def change(delta: dict[str, Any]) -> None:
        for piece in delta.get("tool_calls") or ():
            if piece["function"].get("arguments", "") is None:
                piece["function"]["arguments"] = "null"

    refeed_data(adapter, lambda: of_each_delta(change))


@miniature(_WHOLE, _STREAM, around=("openai-compatible",))
def takes_any_list_for_calls(adapter: Any) -> None:
    """What has a list of calls has no text, even if the list is empty."""

    def change(delta: dict[str, Any]) -> None:
        if delta.get("tool_calls") == []:
            delta["content"] = None

    _spoil(adapter, change)


@miniature(_STREAM, around=("openai-compatible",))
def ends_at_an_empty_finish_reason(adapter: Any) -> None:
    """A finish reason that is not null ends a stream, even if it is empty."""

    def begin() -> Change:
        over: list[bool] = []

        def change(event: Any) -> Any:
            for choice in event.get("choices") or ():
                if over:
                    choice["delta"] = {}
                over.extend([True] * (choice.get("finish_reason") == ""))
            return event

        return change

    refeed_data(adapter, begin)


@miniature(_STREAM, around=("openai-compatible",))
def waits_for_a_role(adapter: Any) -> None:
    """What comes before a delta with a role is not read."""

    def begin() -> Change:
        begun: list[bool] = []

        def change(delta: dict[str, Any]) -> None:
            begun.extend([True] * ("role" in delta))
            if not begun:
                delta.clear()

        return of_each_delta(change)

    refeed_data(adapter, begin)


@miniature(_WHOLE, around=("openai-compatible",))
def needs_the_name_of_a_model(adapter: Any) -> None:
    """An answer that does not name its model is not read."""

    def change(body: Any) -> Any:
        return body if "model" in body else {"error": {"message": "no model"}}

    reread(adapter, change)


@miniature(_STREAM, around=("openai-compatible",))
def reads_the_chunks_of_one_id(adapter: Any) -> None:
    """A chunk whose id is not the first one's belongs to another answer."""

    def begin() -> Change:
        ids: list[Any] = []

        def change(event: Any) -> Any:
            ids.append(event.get("id"))
            return event if event.get("id") == ids[0] else {**event, "choices": []}

        return change

    refeed_data(adapter, begin)


@miniature(_STREAM, around=("openai-compatible",))
def counts_where_no_choice_is(adapter: Any) -> None:
    """Token counts are those of a chunk without choices, and of no other."""

    def change(event: Any) -> Any:
        return {**event, "usage": None} if event.get("choices") else event

    refeed_data(adapter, lambda: change)


@miniature(_STREAM, around=("openai-compatible", "azure"))
def needs_a_choice_at_first(adapter: Any) -> None:
    """A stream whose first chunk has no choice is an error."""

    def begin() -> Change:
        begun: list[bool] = []

        def change(event: Any) -> Any:
            is_refused = not begun and not event.get("choices")
            begun.append(True)
            return {"error": {"message": "no choices"}} if is_refused else event

        return change

    refeed_data(adapter, begin)


@miniature(_WHOLE, _STREAM, around=("openai-compatible", "mistral"))
def reads_contents_of_text_alone(adapter: Any) -> None:
    """A content that is a list of parts is not read."""

    def change(delta: dict[str, Any]) -> None:
        if isinstance(delta.get("content"), list):
            delta["content"] = None

    _spoil(adapter, change)


@miniature(_STREAM, around=("openai-compatible",))
def reads_reasoning_for_want_of_a_text(adapter: Any) -> None:
    """Where there is no content, what is in the field `reasoning` is the text."""

    def change(delta: dict[str, Any]) -> None:
        if delta.get("reasoning") and not delta.get("content"):
            delta["content"] = delta.pop("reasoning")

    refeed_data(adapter, lambda: of_each_delta(change))


@miniature(_WHOLE, _STREAM, around=("openai-compatible", "mistral"))
def passes_over_calls_without_an_index(adapter: Any) -> None:
    """A call without an index is lost."""

    def change(delta: dict[str, Any]) -> None:
        if delta.get("tool_calls"):
            delta["tool_calls"] = [call for call in delta["tool_calls"] if "index" in call]

    _spoil(adapter, change)


@miniature(_STREAM, around=("openai-compatible",))
def keeps_calls_in_a_list(adapter: Any) -> None:
    """Calls are kept in a list, in which their indexes are places: one that is not the next is lost."""

    def begin() -> Change:
        known: set[int] = set()

        def change(delta: dict[str, Any]) -> None:
            kept: list[dict[str, Any]] = []
            for piece in delta.get("tool_calls") or ():
                if piece.get("index", 0) <= len(known):
                    known.add(piece.get("index", 0))
                    kept.append(piece)
            delta.update({"tool_calls": kept} if kept or delta.get("tool_calls") else {})

        return of_each_delta(change)

    refeed_data(adapter, begin)


@miniature(_STREAM, around=("openai-compatible",))
def begins_a_call_at_each_id(adapter: Any) -> None:
    """A piece with an id begins a call, even if a call has that id."""

    def begin() -> Change:
        begun: list[str] = []

        def change(delta: dict[str, Any]) -> None:
            for piece in delta.get("tool_calls") or ():
                if piece.get("id") in begun:
                    piece["function"] = {}
                begun.extend([piece["id"]] if piece.get("id") else [])

        return of_each_delta(change)

    refeed_data(adapter, begin)


@miniature(_WHOLE, _STREAM, around=("openai-compatible",))
def reads_every_field_of_reasoning(adapter: Any) -> None:
    """Reasoning that is in two fields is given twice."""

    def change(delta: dict[str, Any]) -> None:
        if delta.get("reasoning_content") and delta.get("reasoning"):
            delta["reasoning_content"] += delta["reasoning"]

    _spoil(adapter, change)


@miniature(_STREAM, around=("openai-responses",))
def joins_arguments_from_pieces_alone(adapter: Any) -> None:
    """The arguments of a call that come whole are not read."""

    def begin() -> Change:
        begun: set[int] = set()

        def change(event: Any) -> Any:
            at = event.get("output_index")
            if event["type"].endswith("arguments.delta"):
                begun.add(at)
            for ended in (event, event.get("item", {})):
                if ended.get("arguments") and at not in begun:
                    ended["arguments"] = "{}"
            return event

        return change

    refeed_data(adapter, begin)


@miniature(_STREAM, around=("openai-responses",))
def joins_texts_from_pieces_alone(adapter: Any) -> None:
    """A text of a message that comes whole is not read."""

    def begin() -> Change:
        begun: set[int] = set()

        def change(event: Any) -> Any:
            at = event.get("output_index")
            if event["type"] == "response.output_text.delta":
                begun.add(at)
            item: dict[str, Any] = event.get("item", {})
            for whole in (event, *(item.get("content") or () if item.get("type") == "message" else ())):
                if whole["type"] in ("response.output_text.done", "output_text") and at not in begun:
                    whole["text"] = ""
            return event

        return change

    refeed_data(adapter, begin)


@miniature(_STREAM, around=("cohere",))
def joins_arguments_behind_the_beginning(adapter: Any) -> None:
    """Arguments that stand where a call begins are not read, only the pieces behind it."""

    def change(event: Any) -> Any:
        if event.get("type") == "tool-call-start":
            event["delta"]["message"]["tool_calls"]["function"]["arguments"] = ""
        return event

    refeed_data(adapter, lambda: change)
