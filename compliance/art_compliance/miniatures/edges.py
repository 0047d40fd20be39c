"""Adapters that read what providers usually send, but not what stands at its edges."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.framing import change_data
from art_compliance.dialects.variations import read_data
from art_compliance.miniatures.answers import with_calls
from art_compliance.miniatures.base import Events, change_messages, change_payload, miniature
from art_compliance.miniatures.streams import change_streams, refeed


def _pieces_of(event: Any) -> Iterator[dict[str, Any]]:
    """The pieces of calls in an event."""
    for choice in event.get("choices") or ():
        yield from choice["delta"].get("tool_calls") or ()


@miniature("stream.other-forms-are-read", around=("openai-compatible",))
def begins_arguments_with_an_object(adapter: Any) -> None:
    """The arguments of a call that begins without any begin with `{}`, and the pieces are added to that."""

    def change(event: Any) -> Any:
        for piece in _pieces_of(event):
            if piece.get("id"):
                piece["function"].setdefault("arguments", "{}")
        return event

    refeed(adapter, lambda chunk: change_data(chunk, change))


@miniature("stream.other-forms-are-read", around=("openai-compatible",))
def drops_calls_with_empty_arguments(adapter: Any) -> None:
    """A call in a stream whose arguments are an empty text is lost."""
    texts: dict[int, str] = {}

    def note(event: Any) -> Any:
        for piece in _pieces_of(event):
            before = "" if piece.get("id") else texts.get(piece["index"], "")
            texts[piece["index"]] = before + (piece["function"].get("arguments") or "")
        return event

    refeed(adapter, lambda chunk: change_data(chunk, note))
    change_streams(adapter, lambda events: _without_calls(events, [at for at, text in texts.items() if not text]))


def _without_calls(events: Events, places: list[int]) -> Events:
    """The events without the calls at these places; the message has them."""
    numbers = [at for at, event in enumerate(events) if event["type"] == "TOOL_CALL"]
    dropped = {numbers[place] for place in places if place < len(numbers)}
    return [event for at, event in enumerate(events) if at not in dropped]


@miniature("stream.other-forms-are-read", around=("openai-compatible", "openai"))
def gives_calls_again_at_an_empty_piece(adapter: Any) -> None:
    """A call is given once more for an empty piece behind its complete arguments."""
    texts: dict[int, str] = {}
    again: set[int] = set()

    def note(event: Any) -> Any:
        for piece in _pieces_of(event):
            at, text = piece["index"], piece["function"].get("arguments") or ""
            if piece.get("id"):
                texts[at] = ""
                again.discard(at)
            if not text and texts[at].endswith("}"):
                again.add(at)
            texts[at] += text
        return event

    refeed(adapter, lambda chunk: change_data(chunk, note))
    change_streams(adapter, lambda events: [one for event in events for one in _repeated(event, events, again)])


def _repeated(event: dict[str, Any], events: Events, places: set[int]) -> Events:
    calls = [one for one in events if one["type"] == "TOOL_CALL"]
    return [event, event] if event in calls and calls.index(event) in places else [event]


@miniature("stream.other-forms-are-read", around=("openai-compatible",))
def lets_an_empty_id_win(adapter: Any) -> None:
    """A call whose later pieces have an empty id gets an invented one."""
    begun: dict[int, str] = {}
    emptied: set[str] = set()

    def note(event: Any) -> Any:
        for piece in _pieces_of(event):
            if piece.get("id"):
                begun[piece.get("index", 0)] = piece["id"]
            elif "id" in piece:
                emptied.add(begun.get(piece.get("index", 0), ""))
        return event

    refeed(adapter, lambda chunk: change_data(chunk, note))
    change_streams(adapter, lambda events: with_calls(events, lambda call: _invented(call, emptied)))


@miniature("stream.other-forms-are-read", around=("openai-compatible",))
def joins_the_names_of_a_call(adapter: Any) -> None:
    """The name of a call is what all its pieces say, one after the other."""
    names: dict[str, str] = {}
    begun: dict[int, str] = {}

    def note(event: Any) -> Any:
        for piece in _pieces_of(event):
            if piece.get("id"):
                begun[piece.get("index", 0)] = piece["id"]
                names[piece["id"]] = ""
            known = begun.get(piece.get("index", 0), "")
            names[known] = names.get(known, "") + (piece["function"].get("name") or "")
        return event

    refeed(adapter, lambda chunk: change_data(chunk, note))
    change_streams(adapter, lambda events: with_calls(events, lambda call: _named(call, names)))


def _named(call: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    name = names.get(call["id"]) or call["function"]["name"]
    return {**call, "function": {**call["function"], "name": name}}


def _invented(call: dict[str, Any], emptied: set[str]) -> dict[str, Any]:
    return {**call, "id": f"made_up_{call['id']}"} if call["id"] in emptied else call


@miniature("stream.other-forms-are-read", around=("azure",))
def needs_a_delta_in_each_choice(adapter: Any) -> None:
    """A choice without a delta in a stream breaks it."""
    refeed(adapter, lambda chunk: b"data: {\n\n" if _lacks_delta(chunk) else chunk)


def _lacks_delta(chunk: bytes) -> bool:
    read = [read_data(line) or {} for line in chunk.splitlines()]
    return any("delta" not in choice for data in read for choice in data.get("choices") or ())


@miniature("stream.other-forms-are-read", around=("gemini",))
def reads_the_finish_beside_parts(adapter: Any) -> None:
    """A finish reason in a response without parts is not read."""

    def change(event: Any) -> Any:
        for candidate in event.get("candidates") or ():
            if not candidate.get("content", {}).get("parts"):
                candidate.pop("finishReason", None)
        return event

    refeed(adapter, lambda chunk: change_data(chunk, change))


@miniature("stream.other-forms-are-read", around=("bedrock",))
def drops_signatures_without_thoughts(adapter: Any) -> None:
    """Reasoning of a stream that has a signature and no text is not kept."""
    change_streams(adapter, lambda events: [_with_readable_thoughts(event) for event in events])


def _with_readable_thoughts(event: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = event.get("message") or {}
    extensions: dict[str, Any] = message.get("extensions") or {}
    kept: list[dict[str, Any]] = extensions.get("bedrock-converse", {}).get("blocks", [])
    if not kept:
        return event
    blocks = [one for one in kept if not _is_signed_alone(one["block"])]
    return {**event, "message": {**message, "extensions": {"bedrock-converse": {"blocks": blocks}}}}


def _is_signed_alone(block: dict[str, Any]) -> bool:
    thought: dict[str, Any] = block.get("reasoningContent", {}).get("reasoningText", {})
    return thought.get("text") == ""


@miniature("response.other-forms-are-read", "stream.other-forms-are-read", around=("anthropic",))
def sends_back_thoughts_alone(adapter: Any) -> None:
    """Of an answer's blocks besides text and calls, those of the provider's own tools do not go back."""

    def change(payload: Any) -> Any:
        for message in payload["messages"]:
            if not isinstance(message["content"], str):
                message["content"] = [one for one in message["content"] if one["type"] not in _OF_SERVERS]
        return payload

    change_payload(adapter, change)


_OF_SERVERS: Final = frozenset({"server_tool_use", "web_search_tool_result"})


@miniature("wire.no-rule-is-broken", around=("openai",))
def names_the_schema_by_its_title(adapter: Any) -> None:
    """The response schema's title is sent as its name, which takes no blanks."""

    def change(payload: Any) -> Any:
        written = payload.get("response_format", {}).get("json_schema")
        if written is not None:
            written["name"] = written["schema"].get("title", written["name"])
        return payload

    change_payload(adapter, change)


@miniature("faults.become-errors", around=("openai",))
def expects_the_providers_own_errors(adapter: Any) -> None:
    """An error answer whose JSON is of another form raises an exception out of the call."""
    own = adapter.read_error

    def read_error(head: Any, body: bytes) -> Any:
        try:
            said = json.loads(body)
        except ValueError:
            return own(head, body)
        return own(head, body) if said["error"] else None

    adapter.read_error = read_error


@miniature("response.error-answer-is-an-error", around=("groq",))
def takes_a_failed_call_for_an_answer(adapter: Any) -> None:
    """What the model wrote in place of a call is given as an answer, without the error that it came with."""
    own = adapter.read_response

    def read_response(head: Any, body: bytes, info: Any) -> Any:
        events = own(head, body, info)
        return (event for event in events if b"failed_generation" not in body or event.type == "END")

    adapter.read_response = read_response


@miniature("faults.benign-faults-change-nothing", around=("openai", "deepseek"))
def reads_json_from_the_first_byte(adapter: Any) -> None:
    """A whole answer that begins with a blank line is an error."""
    own = adapter.parse_answer

    def parse_answer(head: Any, body: bytes, info: Any) -> Any:
        if not body.startswith(b"{"):
            raise ValueError("it is not an object")
        return own(head, body, info)

    adapter.parse_answer = parse_answer


@miniature("faults.benign-faults-change-nothing", around=("ollama-chat",))
def needs_a_line_end_at_the_end(adapter: Any) -> None:
    """The last line of a stream is not read if no line end follows it."""
    own = adapter.stream_frames

    def stream_frames() -> Any:
        frames = own()
        frames.finish = list
        return frames

    adapter.stream_frames = stream_frames


@miniature("response.other-forms-are-read", "stream.other-forms-are-read", around=("deepseek",))
def sends_no_empty_reasoning_back(adapter: Any) -> None:
    """Reasoning that is an empty text does not go back with its calls."""

    def change(message: dict[str, Any]) -> dict[str, Any]:
        extensions: dict[str, Any] = message.get("extensions") or {}
        kept: dict[str, Any] = extensions.get("deepseek-chat") or {}
        return message if kept.get("reasoning_content") != "" else {**message, "extensions": None}

    change_messages(adapter, "assistant", change)
