"""Real tool loops: what we read out of a recorded answer, appended, makes the request that was recorded next.

A pair is a recorded answer with calls, and a recorded request of the same provider in which these
calls are answered. The assistant's message of that request is replaced by the one that we read.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from art_compliance import decode
from art_compliance.comparison import Comparison, Expected, compare
from art_compliance.normal_form import same_json
from art_sdk import (
    AnthropicAdapter,
    ArtStandardPrompt,
    AssistantMessage,
    BaseAdapter,
    CallInfo,
    GeminiAdapter,
    OpenAIAdapter,
    ResponseHead,
    fold,
    parse_options,
)

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
ADAPTERS: dict[str, type[BaseAdapter]] = {
    "chat_completions": OpenAIAdapter,
    "gemini_generate": GeminiAdapter,
    "anthropic_messages": AnthropicAdapter,
}
ANOTHER_ENCODING = "enum-encoding%3Dint"
"""The client asked for enums as numbers, which our adapter never does."""

Calls = list[tuple[str, str, Any]]


TEXT_LEFT_OUT = ("assistant-text", "the client that was recorded left the text beside the calls out")
SIGNATURE_LEFT_OUT = ("extensions", "the client that was recorded left the thought signature out")
OTHER_ALPHABET = ("extensions", "the client that was recorded wrote the signature's base64 in the other alphabet")
ANOTHER_SIGNATURE = ("extensions", "the same question at another time: the calls are equal, the signature is not")
ANOTHER_TEXT = ("assistant-text", "the same question at another time: the calls are equal, the text is not")

REASONS = {
    "anthropic/anthropic-messages_plain_calls3_01-anthropic/anthropic-messages_plain_parcalls_01": TEXT_LEFT_OUT,
    "gemini/gemini-generate_plain_calls2_01-gemini/gemini-generate_plain_parcalls_calls1_01": OTHER_ALPHABET,
    "gemini/gemini-generate_plain_calls3_01-gemini/gemini-generate_plain_parcalls_01": SIGNATURE_LEFT_OUT,
    "vertex/gemini-generate_plain_calls2_01-vertex/gemini-generate_stream_parcalls_01": ANOTHER_SIGNATURE,
    "groq/chat-completions_plain_calls2_01-groq/chat-completions_stream_parcalls_01": ANOTHER_TEXT,
}
"""Per pair, the slot that differs and why. Nothing else may."""


class Pair(NamedTuple):
    """An answer with calls, and a request in which they are answered."""

    answer: dict[str, Any]
    request: dict[str, Any]


@cache
def recorded() -> list[tuple[str, dict[str, Any]]]:
    found = [(path, json.loads(path.read_text(encoding="utf-8"))) for path in sorted(CORPUS.glob("*/*.json"))]
    return [
        (f"{path.parent.name}/{path.stem}", one)
        for path, one in found
        if one["shape"] in ADAPTERS and one["response"]["status"] == 200 and ANOTHER_ENCODING not in one["url"]
    ]


def adapter_of(interaction: dict[str, Any]) -> BaseAdapter:
    return ADAPTERS[interaction["shape"]](api_key="no-key")


def prompt_of(interaction: dict[str, Any]) -> ArtStandardPrompt:
    return decode(adapter_of(interaction).dialect, interaction["request"], url=interaction["url"]).prompt


def message_read(interaction: dict[str, Any]) -> AssistantMessage:
    """END's message of the recorded answer to the recorded request."""
    body = json.dumps(interaction["response"]["json"]).encode()
    info = CallInfo(thread_id="t", trace_id="r", model="m", prompt=prompt_of(interaction))
    return fold(adapter_of(interaction).read_response(ResponseHead(200, {}), body, info)).message


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
def pairs() -> list[Any]:
    if not CORPUS.is_dir():
        reason = f"no recorded traffic: {CORPUS.parent.name}/{CORPUS.name} is not beside the checkout"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="absent")]
    return [
        pytest.param(Pair(one, other), id=f"{name}-{follower}")
        for name, one in recorded()
        if one["response"]["kind"] == "json" and (calls := calls_of(message_read(one)))
        for follower, other in recorded()
        if name.split("/")[0] == follower.split("/")[0] and place_of(calls, prompt_of(other)) is not None
    ]


def continued(pair: Pair) -> Comparison:
    """The recorded request against the one that we make when the message that we read stands in it."""
    adapter, message = adapter_of(pair.request), message_read(pair.answer)
    wanted = decode(adapter.dialect, pair.request["request"], url=pair.request["url"])
    at = place_of(calls_of(message), wanted.prompt)
    assert at is not None
    prompt = (*wanted.prompt[:at], message, *wanted.prompt[at + 1 :])
    payload = adapter.translate(prompt, parse_options({"thread_id": "corpus", "tools": wanted.tools}))
    expected = Expected(dialect=adapter.dialect, prompt=wanted.prompt, tools=wanted.tools, options={})
    return compare(expected, decode(adapter.dialect, payload))


def test_the_corpus_holds_what_it_held():
    if not CORPUS.is_dir():
        pytest.skip("no recorded traffic beside the checkout")
    shapes = [param.values[0].answer["shape"] for param in pairs()]
    assert {shape: shapes.count(shape) >= 2 for shape in ADAPTERS} == dict.fromkeys(ADAPTERS, True)
    assert len(shapes) >= 15


@pytest.mark.parametrize("pair", pairs())
def test_the_message_that_was_read_makes_the_request_that_was_recorded(pair: Pair, request: pytest.FixtureRequest):
    slot, _ = REASONS.get(request.node.callspec.id, (None, ""))
    compared = continued(pair)
    assert [difference.slot for difference in compared.differences] == ([slot] if slot else [])
    assert compared.repairs <= adapter_of(pair.request).repairs


@pytest.mark.parametrize("pair", pairs())
def test_a_message_that_was_read_wrongly_makes_another_request(pair: Pair, monkeypatch: pytest.MonkeyPatch):
    message = message_read(pair.answer)
    changed = AssistantMessage("something else", message.tool_calls, extensions=message.extensions)
    monkeypatch.setitem(globals(), "message_read", lambda _: changed)
    assert "assistant-text" in {difference.slot for difference in continued(pair).differences}


def test_every_reason_is_needed():
    if not CORPUS.is_dir():
        pytest.skip("no recorded traffic beside the checkout")
    assert REASONS.keys() <= {param.id for param in pairs()}
