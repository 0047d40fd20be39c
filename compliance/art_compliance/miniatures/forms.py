"""Adapters that read answers of the usual form and size, but not those of another."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from art_compliance.dialects.framing import change_data
from art_compliance.miniatures.base import Events, change_events, miniature
from art_compliance.miniatures.streams import change_streams, refeed
from art_sdk.json_data import is_array, is_object


def reread(adapter: Any, change: Callable[[Any], Any]) -> None:
    """The adapter reads another body than came, of an unstreamed answer."""
    own = adapter.parse_answer

    def parse_answer(head: Any, body: bytes, info: Any) -> Any:
        return own(head, json.dumps(change(json.loads(body))).encode(), info)

    adapter.parse_answer = parse_answer


@miniature("response.other-forms-are-read")
def reads_the_first_text_alone(adapter: Any) -> None:
    """Of several texts in an answer, the first is read."""
    reread(adapter, _with_first_text)


@miniature("response.other-forms-are-read", around=("mistral",))
def reads_the_first_part_alone(adapter: Any) -> None:
    """Of an answer in several parts, the first text is read."""
    reread(adapter, _with_first_text)


@miniature("stream.other-forms-are-read")
def reads_one_thing_per_event(adapter: Any) -> None:
    """Text next to a finish reason, a second part in an event, and a second block of text in a stream are lost."""
    blocks: list[str] = []
    refeed(adapter, lambda chunk: change_data(chunk, lambda event: _first_text_block(_with_one_thing(event), blocks)))


@miniature("stream.other-forms-are-read", around=("openai",))
def reads_one_piece_of_a_call_per_event(adapter: Any) -> None:
    """Of two pieces of one call in an event, the first is read."""

    def change(event: Any) -> Any:
        for choice in event.get("choices") or ():
            pieces: list[dict[str, Any]] = choice["delta"].get("tool_calls") or []
            first = {piece["index"]: piece for piece in reversed(pieces)}
            choice["delta"]["tool_calls"] = [*reversed(first.values())]
        return event

    refeed(adapter, lambda chunk: change_data(chunk, change))


@miniature("stream.other-forms-are-read", around=("openai", "deepseek"))
def reads_no_text_beside_later_pieces(adapter: Any) -> None:
    """Text in an event in which a call goes on is lost."""

    def change(event: Any) -> Any:
        for choice in event.get("choices") or ():
            pieces: list[dict[str, Any]] = choice["delta"].get("tool_calls") or []
            if pieces and not any(_begins(piece) for piece in pieces):
                choice["delta"].pop("content", None)
        return event

    refeed(adapter, lambda chunk: change_data(chunk, change))


@miniature("stream.other-forms-are-read", around=("openai", "openrouter"))
def begins_calls_in_events_of_their_own(adapter: Any) -> None:
    """In an event in which a call begins, the end of the one before it is lost."""

    def change(event: Any) -> Any:
        for choice in event.get("choices") or ():
            pieces: list[dict[str, Any]] = choice["delta"].get("tool_calls") or []
            choice["delta"]["tool_calls"] = [*filter(_begins, pieces)] if any(map(_begins, pieces)) else pieces
        return event

    refeed(adapter, lambda chunk: change_data(chunk, change))


def _begins(piece: dict[str, Any]) -> bool:
    """Whether it is the first one of a call."""
    return bool(piece.get("function", {}).get("name"))


@miniature("stream.other-forms-are-read", around=("openai-compatible",))
def joins_the_names_of_pieces(adapter: Any) -> None:
    """The name of a call is joined from all of its pieces."""
    names: dict[int, str] = {}

    def change(event: Any) -> Any:
        for choice in event.get("choices") or ():
            for piece in choice["delta"].get("tool_calls") or ():
                before = "" if piece.get("id") else names.get(piece["index"], "")
                names[piece["index"]] = before + (piece["function"].get("name") or "")
                piece["function"]["name"] = names[piece["index"]]
        return event

    refeed(adapter, lambda chunk: change_data(chunk, change))


@miniature("stream.other-forms-are-read", around=("openai-compatible",))
def takes_every_id_for_new(adapter: Any) -> None:
    """The id of a call is that of its last piece, even if it is empty."""
    empty: list[bool] = []
    refeed(adapter, lambda chunk: change_data(chunk, lambda event: _noted(event, empty)))
    change_streams(adapter, lambda events: _without_ids(events) if empty else events)


def _noted(event: Any, empty: list[bool]) -> Any:
    for choice in event.get("choices") or ():
        empty += [True for piece in choice["delta"].get("tool_calls") or () if piece.get("id") == ""]
    return event


def _without_ids(events: Events) -> Events:
    return [{**event, "call": {**event["call"], "id": ""}} if "call" in event else event for event in events]


@miniature("stream.other-forms-are-read", around=("anthropic",))
def reads_deltas_alone(adapter: Any) -> None:
    """What a block of a stream begins with is lost."""
    refeed(adapter, lambda chunk: change_data(chunk, _emptied))


def _emptied(event: Any) -> Any:
    empty: dict[str, Any] = {"text": "", "input": {}}
    block: dict[str, Any] = event.get("content_block") or {}
    block |= {name: value for name, value in empty.items() if name in block}
    return event


@miniature("response.other-forms-are-read", "stream.other-forms-are-read", around=("openai", "deepseek"))
def knows_no_probabilities(adapter: Any) -> None:
    """An answer with the probabilities of its tokens has no text."""
    reread(adapter, _without_probable_texts)
    refeed(adapter, lambda chunk: change_data(chunk, _without_probable_texts))


def _without_probable_texts(body: Any) -> Any:
    for choice in body.get("choices") or ():
        if choice.get("logprobs"):
            choice.get("delta", choice.get("message"))["content"] = None
    return body


@miniature("response.other-forms-are-read", "stream.other-forms-are-read", around=("gemini",))
def shows_code_that_ran(adapter: Any) -> None:
    """Code that the provider's own tool ran is part of the text."""
    reread(adapter, _with_code_shown)
    refeed(adapter, lambda chunk: change_data(chunk, _with_code_shown))


def _with_code_shown(body: Any) -> Any:
    for candidate in body.get("candidates") or ():
        parts: list[dict[str, Any]] = candidate.get("content", {}).get("parts", [])
        parts[:] = [one for part in parts for one in _with_its_code(part)]
    return body


def _with_its_code(part: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    return (part, {"text": part["executableCode"]["code"]}) if "executableCode" in part else (part,)


@miniature("response.other-forms-are-read", "stream.other-forms-are-read", around=("openrouter", "openai"))
def names_its_sources(adapter: Any) -> None:
    """The addresses of the pages that an answer cites are added to its text."""
    cited: list[str] = []

    def note(body: Any) -> Any:
        for choice in body.get("choices") or ():
            said: dict[str, Any] = choice.get("delta") or choice.get("message") or {}
            cited.extend(one["url_citation"]["url"] for one in said.get("annotations") or ())
        return body

    def change(events: Events) -> Events:
        sources = "".join(f"\n{url}" for url in cited)
        cited.clear()
        return _with_text(events, lambda text: text and text + sources)

    reread(adapter, note)
    refeed(adapter, lambda chunk: change_data(chunk, note))
    change_events(adapter, change)


@miniature("response.other-forms-are-read", around=("openrouter",))
def keeps_reasoning_that_it_can_read(adapter: Any) -> None:
    """Encrypted reasoning is not kept."""
    reread(adapter, _without_encrypted)


def _without_encrypted(body: Any) -> Any:
    for choice in body.get("choices") or ():
        details: list[dict[str, Any]] = choice["message"].get("reasoning_details") or []
        choice["message"]["reasoning_details"] = [one for one in details if one["type"] != "reasoning.encrypted"]
    return body


@miniature(
    "response.failed-finish-is-not-success", "stream.failed-finish-is-not-success", around=("anthropic", "cohere")
)
def knows_one_good_end(adapter: Any) -> None:
    """An answer that met a stop sequence ends with `other`."""
    change_events(adapter, _without_other_ends)


def _without_other_ends(events: Events) -> Events:
    raw = {event["metadata"].get("rawStopReason") for event in events if is_object(event.get("metadata"))}
    is_other = not raw.isdisjoint({"stop_sequence", "STOP_SEQUENCE"})
    return [{**event, "finish": "other"} if "finish" in event and is_other else event for event in events]


@miniature("response.unusual-answers-are-read", "stream.unusual-answers-are-read")
def reads_ten_calls(adapter: Any) -> None:
    """Calls beyond the tenth are lost."""
    change_events(adapter, _of_ten_calls)


@miniature("response.unusual-answers-are-read", "stream.unusual-answers-are-read", around=("openai", "anthropic"))
def adds_fractions_of_zero(adapter: Any) -> None:
    """Integers in arguments become `7.0`, which many decoders refuse, where the provider's numbers are not doubles."""
    change_events(adapter, lambda events: _with_numbers(events, parse_int=float))


@miniature("response.unusual-answers-are-read", "stream.unusual-answers-are-read")
def rounds_fractions(adapter: Any) -> None:
    """Fractions in arguments are cut off."""
    change_events(adapter, lambda events: _with_numbers(events, parse_float=lambda digits: int(float(digits))))


@miniature(
    "response.unusual-answers-are-read", "stream.unusual-answers-are-read", around=("openai-compatible", "openai")
)
def parses_arguments_twice(adapter: Any) -> None:
    """Arguments that are a JSON text with an object in it become the object."""
    change_events(adapter, lambda events: _with_each_call(events, _unwrapped))


def _unwrapped(call: dict[str, Any]) -> dict[str, Any]:
    function = call["function"]
    try:
        found = json.loads(function["arguments"])
    except ValueError:
        return call
    is_wrapped = isinstance(found, str) and found.startswith("{")
    return {**call, "function": {**function, "arguments": found}} if is_wrapped else call


@miniature("stream.unusual-answers-are-read", around=("openai", "cohere", "bedrock"))
def takes_repetition_for_a_loop(adapter: Any) -> None:
    """After a hundred equal pieces of a text, the others are left out."""
    change_streams(adapter, _without_repetition)


def _without_repetition(events: Events) -> Events:
    kept: Events = []
    run = 0
    for event in events:
        is_again = bool(kept) and event["type"] == kept[-1]["type"] == "TOKEN" and event["text"] == kept[-1]["text"]
        run = run + 1 if is_again else 0
        kept += [event] if run < _MOST_EQUAL else []
    return kept


_MOST_EQUAL: Final = 100


@miniature("stream.unusual-answers-are-read", around=("openai", "cohere"))
def looks_for_the_end_mark_in_texts(adapter: Any) -> None:
    """A piece of a text or of arguments with the end mark in it ends the stream: its event is not read."""
    refeed(adapter, lambda chunk: chunk if chunk.startswith(b"data: [DONE]") or b"[DONE]" not in chunk else b"")


@miniature(
    "response.several-answers-do-not-mix", "stream.several-answers-do-not-mix", around=("openai", "gemini", "xai")
)
def mixes_the_answers(adapter: Any) -> None:
    """Of several answers to one request, the texts are joined."""
    reread(adapter, _as_one)
    refeed(adapter, lambda chunk: change_data(chunk, _as_first))


@miniature("stream.several-answers-do-not-mix", around=("openai", "gemini"))
def mixes_the_answers_up_to_their_ends(adapter: Any) -> None:
    """Of several answers to one stream, the pieces are mixed until a second one ends, which is an error."""
    refeed(adapter, lambda chunk: change_data(chunk, _without_index))


def _without_index(event: Any) -> Any:
    for choice in (*(event.get("choices") or ()), *(event.get("candidates") or ())):
        choice["index"] = 0
    return event


def _as_one(body: Any) -> Any:
    for choice in body.get("choices", ())[1:]:
        body["choices"][0]["message"]["content"] += choice["message"]["content"]
    for candidate in body.get("candidates", ())[1:]:
        body["candidates"][0]["content"]["parts"] += candidate["content"]["parts"]
    return body


def _as_first(event: Any) -> Any:
    for choice in (*(event.get("choices") or ()), *(event.get("candidates") or ())):
        if choice["index"]:
            choice |= {"index": 0, "finish_reason": None, "finishReason": None}
    return event


@miniature("response.unusual-answers-are-read", "stream.unusual-answers-are-read", around=("openai",))
def takes_fences_off(adapter: Any) -> None:
    """A text between fences loses them."""
    change_events(adapter, lambda events: _with_text(events, partial(_FENCES.sub, r"\1")))


@miniature("response.unusual-answers-are-read", "stream.unusual-answers-are-read", around=("anthropic",))
def takes_tags_for_reasoning(adapter: Any) -> None:
    """What is between the tags of reasoning is left out of a text."""
    change_events(adapter, lambda events: _with_text(events, partial(_THOUGHT.sub, "")))


@miniature("response.unusual-answers-are-read", "stream.unusual-answers-are-read", around=("gemini",))
def takes_a_text_for_a_call(adapter: Any) -> None:
    """A text that is an object with a name and arguments is given as a call, and not as a text."""
    change_events(adapter, lambda events: _with_text(events, lambda text: "" if _CALL.fullmatch(text) else text))


@miniature("response.unusual-answers-are-read", "stream.unusual-answers-are-read", around=("openai",))
def drops_calls_of_other_tools(adapter: Any) -> None:
    """A call of a tool that is not offered is lost."""
    change_events(adapter, _of_calls_to_look)


@miniature("response.failed-finish-is-not-success", "stream.failed-finish-is-not-success")
def takes_every_end_for_good(adapter: Any) -> None:
    """Every answer that is not an error ends with `stop`."""
    change_events(adapter, _ended_well)


@miniature("response.usage-may-be-missing", "stream.usage-may-be-missing")
def needs_token_counts(adapter: Any) -> None:
    """An answer without token counts gives those of the answer before it."""
    known: list[dict[str, Any]] = []
    change_events(adapter, lambda events: [_counted(event, known) for event in events])


def _with_first_text(body: Any) -> Any:
    """The body with the first text alone, of Anthropic's blocks and of Gemini's parts."""
    if is_object(body):
        return {
            name: _first_text(item) if name in ("content", "parts") else _with_first_text(item)
            for name, item in body.items()
        }
    return [_with_first_text(item) for item in body] if is_array(body) else body


def _first_text(items: Any) -> Any:
    if not is_array(items):
        return _with_first_text(items)
    texts = [at for at, item in enumerate(items) if is_object(item) and item.get("text") and not item.get("thought")]
    return [item for at, item in enumerate(items) if at not in texts[1:]]


def _with_one_thing(event: Any) -> Any:
    for choice in event.get("choices") or ():
        if choice.get("finish_reason"):
            choice["delta"].pop("content", None)
    for candidate in event.get("candidates") or ():
        del candidate.get("content", {}).get("parts", [])[1:]
    return event


def _first_text_block(event: Any, blocks: list[str]) -> Any:
    """An event of Anthropic's, without text unless its block is the first of text."""
    if event.get("type") == "message_start":
        blocks.clear()
    if event.get("type") == "content_block_start":
        blocks.append(event["content_block"]["type"])
    if event.get("type") == "content_block_delta" and blocks.count("text") > 1:
        event["delta"] = {**event["delta"], **({"text": ""} if "text" in event["delta"] else {})}
    return event


_FENCES: Final = re.compile(r"```\w*\n(.*)\n```", re.DOTALL)
_THOUGHT: Final = re.compile("<think>.*?</think>", re.DOTALL)
_CALL: Final = re.compile(r'\{"name": .*"arguments": .*\}')


def _with_text(events: Events, change: Callable[[str], str]) -> Events:
    """The text of an answer, changed as a whole: its first token has all of it."""
    tokens = [event for event in events if event["type"] == "TOKEN"]
    whole = "".join(event["text"] for event in tokens)
    changed = change(whole)
    if changed == whole:
        return events
    message = {**events[-1]["message"], "content": changed}
    others = [event for event in events[:-1] if event not in tokens]
    return [{**tokens[0], "text": changed}, *others, {**events[-1], "message": message}]


def _of_calls_to_look(events: Events) -> Events:
    kept = [event for event in events if "call" not in event or _is_look(event["call"])]
    return [_with_calls(event, lambda calls: [call for call in calls if _is_look(call)]) for event in kept]


def _is_look(call: dict[str, Any]) -> bool:
    return bool(call["function"]["name"] == "look")


def _of_ten_calls(events: Events) -> Events:
    numbers = [at for at, event in enumerate(events) if event["type"] == "TOOL_CALL"]
    kept = [event for at, event in enumerate(events) if at not in numbers[10:]]
    return [_with_calls(event, lambda calls: calls[:10]) for event in kept]


def _with_calls(event: dict[str, Any], change: Callable[[list[Any]], list[Any]]) -> dict[str, Any]:
    message = event.get("message")
    if not is_object(message) or not message.get("tool_calls"):
        return event
    return {**event, "message": {**message, "tool_calls": change(list(message["tool_calls"]))}}


def _with_numbers(events: Events, **parse: Callable[[str], float]) -> Events:
    """The events with the numbers in arguments read like this: `parse_int`, `parse_float` of `json.loads`."""
    return _with_each_call(events, lambda call: _reread(call, parse))


def _with_each_call(events: Events, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Events:
    changed = [{**event, "call": change(event["call"])} if "call" in event else event for event in events]
    return [_with_calls(event, lambda calls: [change(call) for call in calls]) for event in changed]


def _reread(call: dict[str, Any], parse: Mapping[str, Any]) -> dict[str, Any]:
    function = call["function"]
    try:
        arguments = json.loads(function["arguments"], **parse)
    except ValueError:
        return call
    return {**call, "function": {**function, "arguments": json.dumps(arguments)}}


def _ended_well(events: Events) -> Events:
    return [{**event, "finish": "stop"} if event.get("finish") not in {None, "error"} else event for event in events]


def _counted(event: dict[str, Any], known: list[dict[str, Any]]) -> dict[str, Any]:
    metadata = event.get("metadata")
    if not is_object(metadata):
        return event
    if metadata.get("inputTokens"):
        known[:] = [dict(metadata)]
    return {**event, "metadata": {**metadata, **known[0]}} if known else event


@miniature("stream.failures-in-any-form-are-errors", around=("openai", "anthropic"))
def holds_tags_back(adapter: Any) -> None:
    """Text from a `<` on is held back until the end of a good stream."""
    change_streams(adapter, _holding_back)


def _holding_back(events: Events) -> Events:
    if events[-1].get("finish") != "error":
        return events
    tokens = [at for at, event in enumerate(events) if event["type"] == "TOKEN" and "<" in event["text"]]
    begun = tokens[0] if tokens else len(events)
    return [event for at, event in enumerate(events) if at < begun or event["type"] != "TOKEN"]


@miniature("stream.unusual-answers-are-read", around=("deepseek", "openrouter"))
def drops_a_thought_that_comes_again(adapter: Any) -> None:
    """A piece of reasoning that equals the one before is taken for the same."""
    change_streams(adapter, _without_repetitions)


def _without_repetitions(events: Events) -> Events:
    def is_again(one: Any, other: Any) -> bool:
        is_thought = one["type"] == "TOKEN" and str(one["token_type"]).endswith("THINKING")
        return (
            is_thought
            and other["type"] == "TOKEN"
            and (one["token_type"], one["text"]) == (other["token_type"], other["text"])
        )

    return [event for at, event in enumerate(events) if at == 0 or not is_again(event, events[at - 1])]
