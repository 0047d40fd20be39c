"""Real tool loops: what we read out of a recorded answer, appended, makes the request that was recorded next.

A pair is a recorded answer with calls, and a recorded request of the same provider in which these
calls are answered. The assistant's message of that request is replaced by the one that we read.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any, NamedTuple

import pytest

from art_compliance import decode
from art_compliance.comparison import Comparison, Expected, compare
from art_compliance.comparison.normal_form import same_json
from art_sdk import (
    ArtStandardPrompt,
    AssistantMessage,
    BaseAdapter,
    CallInfo,
    ResponseHead,
    fold,
    parse_options,
)
from recorded_traffic import READERS, Recorded, accepted, decoded_of, needs_traffic, open_reader, params, reader_of

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # recorded traffic says the same to every Python

Calls = list[tuple[str, str, Any]]


TEXT_LEFT_OUT = ("assistant-text", "the client that was recorded left the text beside the calls out")
SIGNATURE_LEFT_OUT = ("extensions", "the client that was recorded left the thought signature out")
ANOTHER_SIGNATURE = ("extensions", "the same question at another time: the calls are equal, the signature is not")
ANOTHER_TEXT = ("assistant-text", "the same question at another time: the calls are equal, the text is not")

PLAN_LEFT_OUT = ("extensions", "the client that was recorded left the tool plan out")
IDS_LEFT_OUT = ("extensions", "the client that was recorded left out the ids of the items")

REASONS = {
    "cohere/cohere-v2-chat_plain_calls3_01-cohere/cohere-v2-chat_plain_parcalls_01": PLAN_LEFT_OUT,
    "xai/responses_plain_calls3_01-xai/responses_plain_parcalls_01": IDS_LEFT_OUT,
    "anthropic/anthropic-messages_plain_calls3_01-anthropic/anthropic-messages_plain_parcalls_01": TEXT_LEFT_OUT,
    "bedrock/bedrock-converse_plain_calls3_01-bedrock/bedrock-converse_plain_parcalls_01": TEXT_LEFT_OUT,
    "gemini/gemini-generate_plain_calls3_01-gemini/gemini-generate_plain_parcalls_01": SIGNATURE_LEFT_OUT,
    "vertex/gemini-generate_plain_calls2_01-vertex/gemini-generate_stream_parcalls_01": ANOTHER_SIGNATURE,
    "groq/chat-completions_plain_calls2_01-groq/chat-completions_stream_parcalls_01": ANOTHER_TEXT,
}
"""Per pair, the slot that differs and why. Nothing else may."""


class Pair(NamedTuple):
    """An answer with calls, and a request in which they are answered."""

    answer: Recorded
    request: Recorded

    @property
    def name(self) -> str:
        return f"{self.answer.name}-{self.request.name}"


def adapter_of(one: Recorded) -> BaseAdapter:
    return open_reader(reader_of(one))


def prompt_of(one: Recorded) -> ArtStandardPrompt:
    return decoded_of(one).prompt


def message_read(one: Recorded) -> AssistantMessage:
    """END's message of the recorded answer to the recorded request."""
    info = CallInfo(thread_id="t", trace_id="r", model="m", prompt=prompt_of(one))
    return fold(adapter_of(one).read_response(ResponseHead(200, {}), one.answer, info)).message


def calls_of(message: Any) -> Calls:
    """Ids, names and arguments; an id of our own (`call_1`), where the provider gives none, is none."""
    calls = message.tool_calls if isinstance(message, AssistantMessage) else ()
    return [
        (re.sub(r"^call_\d{1,3}$", "", call.id), call.function.name, json.loads(call.function.arguments or "{}"))
        for call in calls
    ]


def place_of(calls: Calls, prompt: ArtStandardPrompt) -> int | None:
    """Where the prompt has an assistant message with these calls, or None."""
    return next((at for at, message in enumerate(prompt) if same_json(calls_of(message), calls)), None)


@cache
def pairs() -> tuple[Pair, ...]:
    taken = [one for one in accepted() if not one.has_numbers_for_enums]
    return tuple(
        Pair(one, other)
        for one in taken
        if one.data is not None and (calls := calls_of(message_read(one)))
        for other in taken
        if one.provider == other.provider and place_of(calls, prompt_of(other)) is not None
    )


each = pytest.mark.parametrize("pair", params(pairs()))


def continued(pair: Pair) -> Comparison:
    """The recorded request against the one that we make when the message that we read is in it."""
    adapter, message = adapter_of(pair.request), message_read(pair.answer)
    wanted = decoded_of(pair.request)
    at = place_of(calls_of(message), wanted.prompt)
    assert at is not None
    prompt = (*wanted.prompt[:at], message, *wanted.prompt[at + 1 :])
    payload = adapter.translate(prompt, parse_options({"thread_id": "corpus", "tools": wanted.tools}))
    expected = Expected(dialect=adapter.dialect, prompt=wanted.prompt, tools=wanted.tools, options={})
    return compare(expected, decode(adapter.dialect, payload))


LEAST = {"responses": 1, "cohere_v2_chat": 1, "ollama_chat": 0}
"""Of other shapes, there are two pairs. No call of Ollama's own API was recorded with its result after it."""


@needs_traffic
def test_the_corpus_is_no_smaller_than_before():
    shapes = [pair.answer.shape for pair in pairs()]
    assert {shape: shapes.count(shape) >= LEAST.get(shape, 2) for shape in READERS} == dict.fromkeys(READERS, True)
    assert len(shapes) >= 15


@each
def test_the_message_that_was_read_makes_the_request_that_was_recorded(pair: Pair):
    slot, _ = REASONS.get(pair.name, (None, ""))
    compared = continued(pair)
    assert [difference.slot for difference in compared.differences] == ([slot] if slot else [])
    assert compared.repairs <= adapter_of(pair.request).repairs


@each
def test_a_message_that_was_read_wrongly_makes_another_request(pair: Pair, monkeypatch: pytest.MonkeyPatch):
    message = message_read(pair.answer)
    changed = AssistantMessage("something else", message.tool_calls, extensions=message.extensions)
    monkeypatch.setitem(globals(), "message_read", lambda _: changed)
    assert "assistant-text" in {difference.slot for difference in continued(pair).differences}


@needs_traffic
def test_every_reason_is_needed():
    assert REASONS.keys() <= {pair.name for pair in pairs()}
