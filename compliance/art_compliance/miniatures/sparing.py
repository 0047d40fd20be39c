"""Adapters that need what an answer may lack, or stumble over what it may have besides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from art_compliance.miniatures.base import miniature
from art_compliance.miniatures.forms import reread
from art_compliance.miniatures.gateways import Change, refeed_data
from art_sdk.json_data import is_object

_STREAM: Final = "stream.other-forms-are-read"
_WHOLE: Final = "response.other-forms-are-read"
_ERROR: Final[dict[str, Any]] = {"type": "error", "error": {"type": "api_error", "message": "not expected"}}


def _spoil(adapter: Any, change: Change) -> None:
    refeed_data(adapter, lambda: change)
    reread(adapter, change)


def _counting(change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> Change:
    """Changes what an event or an answer counts, wherever that is; None leaves it out."""

    def change_body(body: Any) -> Any:
        changed = {name: change_body(item) if name == "message" else item for name, item in body.items()}
        usage = changed.get("usage")
        return {**changed, "usage": change(usage)} if is_object(usage) else changed

    return change_body


@miniature(_STREAM, around=("anthropic",))
def knows_one_place_of_pings(adapter: Any) -> None:
    """A ping after a block has begun is an error."""

    def begin() -> Change:
        begun: list[bool] = []

        def change(event: Any) -> Any:
            begun.extend([True] * (event["type"] == "content_block_start"))
            return _ERROR if begun and event["type"] == "ping" else event

        return change

    refeed_data(adapter, begin)


@miniature(_STREAM, around=("anthropic",))
def counts_the_prompt_at_the_beginning(adapter: Any) -> None:
    """The tokens of a prompt are those that the beginning of a stream counts."""

    def change(event: Any) -> Any:
        if event["type"] != "message_delta":
            return event
        return {**event, "usage": {"output_tokens": event["usage"]["output_tokens"]}}

    refeed_data(adapter, lambda: change)


@miniature(_STREAM, around=("anthropic",))
def counts_the_prompt_at_the_end(adapter: Any) -> None:
    """The tokens of a prompt are those that the end of a stream counts."""

    def change(event: Any) -> Any:
        if event["type"] == "message_start":
            del event["message"]["usage"]["input_tokens"]
        return event

    refeed_data(adapter, lambda: change)


@miniature(_WHOLE, _STREAM, around=("anthropic",))
def takes_null_for_no_counts(adapter: Any) -> None:
    """Where the count of a cache is null, none are read."""
    _spoil(adapter, _counting(lambda usage: None if usage.get("cache_read_input_tokens", 0) is None else usage))


@miniature(_WHOLE, _STREAM, around=("bedrock",))
def needs_counts_of_caches(adapter: Any) -> None:
    """Without counts of caches, no others are read."""
    _spoil(adapter, _counting(lambda usage: usage if "cacheReadInputTokens" in usage else None))


@miniature(_STREAM, around=("anthropic",))
def ends_at_the_first_change(adapter: Any) -> None:
    """The first event that changes a message says why it ended, and no later one is read."""

    def begin() -> Change:
        ended: list[bool] = []

        def change(event: Any) -> Any:
            if event["type"] != "message_delta":
                return event
            ended.append(True)
            return event if len(ended) == 1 else {"type": "ping"}

        return change

    refeed_data(adapter, begin)


@miniature(_WHOLE, around=("anthropic",))
def reads_the_first_text_even_if_it_is_empty(adapter: Any) -> None:
    """The text of an answer is that of its first block."""

    def change(body: Any) -> Any:
        first, *others = body["content"]
        rest = others if first.get("text") != "" else [block for block in others if block["type"] != "text"]
        return {**body, "content": [first, *rest]}

    reread(adapter, change)


@miniature(_STREAM, around=("anthropic",))
def parses_input_that_did_not_come(adapter: Any) -> None:
    """A call without a piece of its input is an error, as an empty text is no JSON."""

    def begin() -> Change:
        waiting: list[int] = []

        def change(event: Any) -> Any:
            if event["type"] == "content_block_start" and event["content_block"]["type"] == "tool_use":
                waiting.append(event["index"])
            if event["type"] == "content_block_delta" and event["index"] in waiting:
                waiting.remove(event["index"])
            return _ERROR if event["type"] == "content_block_stop" and event["index"] in waiting else event

        return change

    refeed_data(adapter, begin)


@miniature(_STREAM, around=("bedrock",))
def parses_input_of_bedrock_that_did_not_come(adapter: Any) -> None:
    """A call without a piece of its input cannot be read: its end belongs to no block."""

    def begin() -> Change:
        waiting: list[int] = []

        def change(event: Any) -> Any:
            index = event.get("contentBlockIndex")
            if event.get("start", {}).get("toolUse"):
                waiting.append(index)
            elif index in waiting and "delta" in event:
                waiting.remove(index)
            elif index in waiting:
                return {**event, "contentBlockIndex": "none"}
            return event

        return change

    refeed_data(adapter, begin)


_PLACES: Final = (("delta", "text"), ("delta", "message", "content", "text"), ("message", "content"))
"""Where the text of a piece is: Bedrock's, Cohere's, Ollama's."""


def _text_of(event: Any) -> Any:
    for place in _PLACES:
        found = event
        for name in place:
            found = found.get(name) if is_object(found) else None
        if isinstance(found, str):
            return found
    return None


@miniature(_STREAM, around=("bedrock", "cohere", "ollama-chat"))
def ends_texts_at_an_empty_piece(adapter: Any) -> None:
    """After an empty piece of a text, further pieces are not read."""

    def begin() -> Change:
        over: list[bool] = []

        def change(event: Any) -> Any:
            text = _text_of(event)
            if text and over:
                return _emptied(event, text)
            over.extend([True] * (text == "" and event.get("type") != "content-start"))  # Cohere's has none yet
            return event

        return change

    refeed_data(adapter, begin)


def _emptied(event: Any, text: str) -> Any:
    """The event without this text."""
    if is_object(event):
        return {name: _emptied(item, text) for name, item in event.items()}
    return "" if event == text else event


@miniature(_WHOLE, _STREAM, around=("gemini",))
def takes_feedback_for_a_block(adapter: Any) -> None:
    """An answer with feedback on its prompt has no candidates: the prompt was blocked."""
    _spoil(adapter, lambda body: {"promptFeedback": {"blockReason": "OTHER"}} if "promptFeedback" in body else body)


@miniature("response.failed-finish-is-not-success", "stream.failed-finish-is-not-success", around=("gemini",))
def knows_two_reasons_of_blocks(adapter: Any) -> None:
    """A prompt that was blocked for a reason other than the two oldest ones has an empty answer."""

    def change(body: Any) -> Any:
        reason = body.get("promptFeedback", {}).get("blockReason")
        empty = {"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}]}
        return body if reason in (None, "SAFETY", "OTHER") else {**body, **empty}

    _spoil(adapter, change)


@miniature(_WHOLE, _STREAM, around=("gemini",))
def needs_a_version_of_the_model(adapter: Any) -> None:
    """An answer that does not name the version of its model is an error."""
    _spoil(adapter, lambda body: body if "modelVersion" in body else _ERROR)


@miniature(_WHOLE, _STREAM, around=("gemini",))
def needs_args(adapter: Any) -> None:
    """A call without args is lost."""

    def change(body: Any) -> Any:
        for candidate in body.get("candidates") or ():
            parts: list[dict[str, Any]] = candidate.get("content", {}).get("parts", [])
            parts[:] = [part for part in parts if "args" in part.get("functionCall", {"args": {}})]
        return body

    _spoil(adapter, change)


@miniature(_STREAM, around=("gemini",))
def needs_counts_in_each_response(adapter: Any) -> None:
    """A response of a stream without token counts is an error."""
    refeed_data(adapter, lambda: lambda event: event if "usageMetadata" in event else _ERROR)


@miniature(_STREAM, around=("gemini",))
def reads_counts_beside_candidates_alone(adapter: Any) -> None:
    """Token counts of a response without a candidate are not read: the answer is there."""

    def change(event: Any) -> Any:
        return event if "candidates" in event else {**event, "usageMetadata": {}}

    refeed_data(adapter, lambda: change)


@miniature(_STREAM, around=("gemini",))
def needs_content_in_each_response(adapter: Any) -> None:
    """A response of a stream without a candidate, or whose candidate has no content, is an error."""

    def change(event: Any) -> Any:
        candidates: list[dict[str, Any]] = event.get("candidates") or [{}]
        return event if "content" in candidates[0] or "finishReason" in candidates[0] else _ERROR

    refeed_data(adapter, lambda: change)


@miniature(_STREAM, around=("gemini", "ollama-chat"))
def takes_equal_pieces_for_one(adapter: Any) -> None:
    """A piece of a text that is equal to the one before is not read, as if it had been sent twice."""

    def begin() -> Change:
        before: list[Any] = [None]

        def change(event: Any) -> Any:
            text = _text_of(event) or _part_of(event)
            is_again, before[0] = bool(text) and text == before[0], text or before[0]
            return _without_text(event) if is_again else event

        return change

    refeed_data(adapter, begin)


def _part_of(event: Any) -> Any:
    """The text of the first part of a Gemini response."""
    for candidate in event.get("candidates") or ():
        for part in candidate.get("content", {}).get("parts", ()):
            return part.get("text")
    return None


def _without_text(event: Any) -> Any:
    for candidate in event.get("candidates") or ():
        candidate["content"]["parts"] = [{"text": ""}]
    if "message" in event:
        event["message"]["content"] = ""
    return event


@miniature(_WHOLE, _STREAM, around=("gemini",))
def keeps_signatures_of_empty_texts(adapter: Any) -> None:
    """A signature beside a text is not kept."""

    def change(body: Any) -> Any:
        for candidate in body.get("candidates") or ():
            for part in candidate.get("content", {}).get("parts", ()):
                if part.get("text"):
                    part.pop("thoughtSignature", None)
        return body

    _spoil(adapter, change)


@miniature(_STREAM, around=("openai-responses",))
def knows_the_events_of_responses_alone(adapter: Any) -> None:
    """An event whose type does not begin with `response.` is an error."""

    def change(event: Any) -> Any:
        return event if event["type"].startswith("response.") else {**_ERROR, "message": "unknown event"}

    refeed_data(adapter, lambda: change)


@miniature(_WHOLE, _STREAM, around=("openai-responses",))
def keeps_reasoning_with_a_summary(adapter: Any) -> None:
    """Reasoning without a summary is not kept."""

    def change(body: Any) -> Any:
        answer = body.get("response", body)
        if answer.get("output"):
            answer["output"] = [item for item in answer["output"] if item.get("summary") != []]
        item: dict[str, Any] = body.get("item") or {}
        return {**body, "item": {**item, "encrypted_content": None}} if item.get("summary") == [] else body

    _spoil(adapter, change)


@miniature(_STREAM, around=("openai-responses",))
def knows_no_annotations(adapter: Any) -> None:
    """A citation in a stream is an error."""

    def change(event: Any) -> Any:
        return {**_ERROR, "message": "unknown event"} if "annotation" in event else event

    refeed_data(adapter, lambda: change)


@miniature(_STREAM, around=("openai-responses",))
def needs_the_name_at_the_end(adapter: Any) -> None:
    """A call whose whole arguments come without its name is an error."""

    def change(event: Any) -> Any:
        is_end = event["type"] == "response.function_call_arguments.done"
        return {**_ERROR, "message": "no name"} if is_end and "name" not in event else event

    refeed_data(adapter, lambda: change)
