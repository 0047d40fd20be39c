"""Adapters that read the suite's own answers well, but not recorded ones."""

from __future__ import annotations

from typing import Any

from art_compliance.miniatures.base import Events, as_data, change_events, change_payload, miniature
from art_compliance.miniatures.streams import refeed
from art_sdk.json_data import is_object


@miniature("replay.cassette-is-sound")
def answers_from_memory(adapter: Any) -> None:
    """The adapter answers without sending a request."""

    def call(prompt: Any, options: Any) -> Any:
        del prompt, options
        message = {"role": "assistant", "content": "As I said."}
        yield {"type": "END", "message": message, "finish": "stop"}

    adapter.call = call


@miniature("faults.retries-are-careful")
def remembers_its_answers(adapter: Any) -> None:
    """A question that was answered once is answered from memory."""
    own, kept = adapter.call, dict[str, list[Any]]()

    async def call(prompt: Any, options: Any) -> Any:
        question = str((as_data(prompt), as_data(options)))
        if question not in kept:
            kept[question] = [event async for event in own(prompt, options)]
        for event in kept[question]:
            yield event

    adapter.call = call


@miniature("replay.request-is-the-recorded-one")
def asks_otherwise(adapter: Any) -> None:
    """The request has a field that the recorded one does not have."""
    change_payload(adapter, lambda payload: {**payload, "seed": 7})


@miniature("replay.answer-is-read")
def reads_no_answer(adapter: Any) -> None:
    """Every answer becomes an error."""
    error = {"code": "LLM_PROVIDER_ERROR", "message": "unreadable"}
    ends: Events = [{"type": "ERROR", "error": error}, {"type": "END", "message": None, "finish": "error"}]
    change_events(adapter, lambda _: ends)


@miniature("replay.events-keep-their-order", "live.call-is-answered")
def goes_on_after_the_end(adapter: Any) -> None:
    """The first event comes again after END."""
    change_events(adapter, lambda events: [*events, events[0]])


@miniature("replay.message-is-whole")
def cuts_the_message(adapter: Any) -> None:
    """The tokens and the message lose the last letter of the text."""
    change_events(adapter, lambda events: [_cut(event) for event in events])


def _cut(event: dict[str, Any]) -> dict[str, Any]:
    if event["type"] == "TOKEN":
        return {**event, "text": event["text"][:-1]}
    message = event.get("message")
    if event["type"] == "END" and is_object(message) and message.get("content"):
        return {**event, "message": {**message, "content": message["content"][:-1]}}
    return event


@miniature("replay.tokens-are-counted")
def counts_one_too_many(adapter: Any) -> None:
    """The token count is one more than the answer's."""
    change_events(adapter, lambda events: [_one_more(event) for event in events])


def _one_more(event: dict[str, Any]) -> dict[str, Any]:
    metadata = event.get("metadata")
    if not is_object(metadata):
        return event
    name = "output_tokens" if "output_tokens" in metadata else "outputTokens"
    return {**event, "metadata": {**metadata, name: (metadata.get(name) or 0) + 1}}


@miniature("replay.cuts-change-nothing")
def takes_each_chunk_for_whole_events(adapter: Any) -> None:
    """A chunk without the end of an event is not read, which a cassette in one piece never shows."""
    refeed(adapter, lambda chunk: chunk if chunk.endswith((b"\n\n", b"\r\n\r\n")) else b"")
