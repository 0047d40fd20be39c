"""What of a recorded answer an adapter reads wrongly, and what the answer says without any adapter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from art_compliance import Selection
from art_compliance.cassettes import load_cassette, write_cassette
from art_compliance.checks.replay.recorded import read_recorded
from art_compliance.dialects import find_dialect
from art_compliance.miniatures.base import change_events
from art_compliance.run.recorder import choose
from art_sdk import OpenAIAdapter
from made_cassettes import ADAPTERS, findings, record_into, replayed
from trials import messages_of, spoiled


def each(kind: str, **changed: Any) -> Any:
    return lambda events: [{**event, **changed} if event["type"] == kind else event for event in events]


def crash(_: Any) -> Any:
    raise KeyError("choices")


MISREPORTED = {
    "it raises": (crash, "answer-one-call", "replay.answer-is-read", "it raised KeyError: 'choices'"),
    "an error": (
        lambda events: [{"type": "ERROR", "error": {"message": "no"}}, {**events[-1], "message": None}],
        "answer-text",
        "replay.answer-is-read",
        "call gave an ERROR event: no",
    ),
    "a message of no role": (
        each("END", message={"content": "x"}),
        "answer-text",
        "replay.message-is-whole",
        "END's message is not a standard message",
    ),
    "another text in the message": (
        each("END", message={"role": "assistant", "content": "x"}),
        "answer-text",
        "replay.message-is-whole",
        'the message\'s content is "x"',
    ),
    "no calls in the message": (
        each("END", message={"role": "assistant", "content": None}),
        "answer-one-call",
        "replay.message-is-whole",
        "0 of the message",
    ),
    "no text": (
        lambda events: [*each("END", message={"role": "assistant", "content": None})(events[1:])],
        "answer-text",
        "replay.message-is-whole",
        "a text of the recorded answer",
    ),
    "no counts": (
        each("METADATA", metadata={"stop_reason": "stop"}),
        "answer-text",
        "replay.tokens-are-counted",
        "input_tokens is null",
    ),
    "no end": (lambda events: events[:-1], "answer-text", "replay.events-keep-their-order", "END"),
}


@pytest.mark.parametrize("what", MISREPORTED)
def test_a_recorded_answer_that_is_read_wrongly_is_found(what: str, tmp_path: Path):
    change, name, check, message = MISREPORTED[what]
    record_into(tmp_path, "openai", name)
    wrong = spoiled(lambda adapter: change_events(adapter, change))
    found = messages_of(check, wrong, choose((name,))[0], selection=Selection(cassettes=tmp_path))
    assert message in "\n".join(found)


def test_an_answer_that_is_read_differently_when_it_is_cut_differently_is_found(tmp_path: Path):
    record_into(tmp_path, "openai", "streamed")

    class Eager(OpenAIAdapter):
        """Counts one token more for a chunk that ends inside an event."""

        def stream_reader(self, head: Any, info: Any) -> Any:
            reader = super().stream_reader(head, info)
            feed = reader.feed
            reader.feed = lambda chunk: feed(chunk if chunk.endswith(b"\n\n") else chunk.replace(b"w", b"v"))
            return reader

    wrong = findings(replayed(tmp_path, Eager, "streamed"), "replay.cuts-change-nothing")
    assert "differs in the " in wrong


def test_an_answer_without_counts_is_no_failure_of_the_adapter(tmp_path: Path):
    record_into(tmp_path, "openai", "answer-text")
    path = tmp_path / "openai" / "answer-text.yaml"
    one = load_cassette(path)
    body = json.loads(one.exchanges[0].answer_body)
    del body["usage"]
    exchange = msgspec.structs.replace(one.exchanges[0], answer_body=json.dumps(body).encode())
    write_cassette(path, [exchange], one.provenance)
    report = replayed(tmp_path, OpenAIAdapter, "answer-text")
    assert report.failures == []
    reasons = {result.check: result.reason for result in report.results if result.verdict == "not applicable"}
    assert reasons["replay.tokens-are-counted"] == "the recorded answer counts no tokens"


@pytest.mark.once
@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("name", ["streamed-parallel-calls", "answer-parallel-calls"])
@pytest.mark.parametrize(("old", "new"), [("get_weather", "get_climate"), ("city", "town")])
def test_a_call_that_is_read_otherwise_is_found(adapter: str, name: str, old: str, new: str, tmp_path: Path):
    record_into(tmp_path, adapter, name)
    change = lambda events: json.loads(json.dumps(events).replace(old, new))  # noqa: E731 - a function of two words
    wrong = spoiled(lambda one: change_events(one, change), ADAPTERS[adapter])
    found = findings(replayed(tmp_path, wrong, name), "replay.message-is-whole")
    assert 0 < found.index(old) <= found.rindex(old) < found.index(new)  # the recorded calls first


OTHER = [{"role": "user", "content": "Nobody recorded this."}]


class AsksTwice(OpenAIAdapter):
    """Its first call asks for what it should, its second for something else."""

    second: ClassVar[Any]
    gives_first: ClassVar[bool] = False

    async def call(self, prompt: Any, options: Any) -> Any:
        first = [event async for event in super().call(prompt, options)]
        second = [event async for event in super().call(self.second, options)]
        for event in first if self.gives_first else second:
            yield event


@pytest.fixture
def two_exchanges(tmp_path: Path) -> tuple[Path, Any]:
    """A cassette of two calls, and the prompt of the second one."""
    record_into(tmp_path, "openai", "one-question", "answer-text-in-many-scripts")
    path = tmp_path / "openai" / "one-question.yaml"
    one, other = load_cassette(path), load_cassette(tmp_path / "openai" / "answer-text-in-many-scripts.yaml")
    path.unlink()
    write_cassette(path, [*one.exchanges, *other.exchanges], one.provenance)
    return tmp_path, choose(("answer-text-in-many-scripts",))[0].prompt


def asks_also(prompt: Any, *, gives_first: bool = False) -> Any:
    return type("Asks", (AsksTwice,), {"second": prompt, "gives_first": gives_first})


def test_a_request_is_compared_with_the_recorded_one_that_was_not_made(two_exchanges: Any):
    folder, second = two_exchanges
    found = findings(replayed(folder, asks_also(OTHER), "one-question"), "replay.request-is-the-recorded-one")
    assert "the request is not the one in " in found
    assert f'recorded "{second[0]["content"][:20]}' in found.replace("…", "")


def test_of_several_answers_the_last_is_the_one_that_is_to_be_read(two_exchanges: Any):
    folder, second = two_exchanges
    assert replayed(folder, asks_also(second), "one-question").failures == []
    found = findings(replayed(folder, asks_also(second, gives_first=True), "one-question"), "replay.message-is-whole")
    assert "a text of the recorded answer" in found


CHAT_BODY = {
    "choices": [
        {"index": 1, "message": {"content": "another's"}},
        {
            "index": 0,
            "message": {
                "content": [{"type": "text", "text": "parts "}, {"type": "text", "text": "of it"}, "no part"],
                "tool_calls": [{"function": {"name": "f", "arguments": '{"a": 1'}}, {"function": None}],
            },
        },
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 4},
}
ANTHROPIC_STREAM = b"""data: {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a"}}
data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "b"}}
data: {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "stray"}}
data: {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "name": "f", "input": {}}}
data: {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{}"}}
data: [DONE]
"""
GEMINI_BODY = [
    {"candidates": []},
    {"candidates": [{"content": {"parts": [{"text": "hm", "thought": True}, {"text": "Yes"}]}}]},
    {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]}}]},
    "no chunk",
]
ANTHROPIC_BODY = {
    "content": [
        {"type": "server_tool_use", "name": "web_search", "input": {"query": "sea"}},
        {"type": "web_search_tool_result", "content": []},
        {"type": "tool_use", "name": "f", "input": {"a": 1}},
        {"type": "text", "text": "So."},
    ]
}
SAID = {
    "chat completions": ("mistral-chat", json.dumps(CHAT_BODY), ["parts of it"], [("f", '{"a": 1'), ("", {})]),
    "a stream of Anthropic's": ("anthropic-messages", ANTHROPIC_STREAM.decode(), ["ab"], [("f", {})]),
    "tools that Anthropic runs itself": (
        "anthropic-messages",
        json.dumps(ANTHROPIC_BODY),
        ["So."],
        [("f", {"a": 1})],
    ),
    "chunks of Gemini's": ("gemini-generate", json.dumps(GEMINI_BODY), ["Yes"], [("f", {"a": 1})]),
    "nothing": ("openai-chat", "<html>", [], []),
}


@pytest.mark.parametrize("what", SAID)
def test_a_recorded_answer_is_read_without_any_adapter(what: str):
    dialect, body, texts, calls = SAID[what]
    answer = read_recorded(find_dialect(dialect), body.encode())
    assert list(answer.texts.values()) == texts
    assert [(call.name, call.value) for call in answer.calls.values()] == calls
