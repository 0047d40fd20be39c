"""A whole call over loopback HTTP: CPU time of the calling thread, so that the server's own does not count."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import httpx2
import pytest

from art_compliance.provider import WRITTEN_TEXT, LoopbackProvider
from art_sdk import EndEvent, StreamEvent
from benchmarks.conftest import Cell, Note
from benchmarks.conversation import MODEL, make_options, make_prompt
from benchmarks.floors import CONTESTS
from benchmarks.measure import compare

MESSAGES = 100
PATHS = {
    "openai": "/chat/completions",
    "openai-responses": "/responses",
    "anthropic": "/messages",
    "bedrock": f"/model/{MODEL}/converse",
    "cohere": "/chat",
    "ollama-chat": "/chat",
    "gemini": f"/models/{MODEL}:generateContent",
}


BASES = {"cohere": "/v2", "ollama-chat": "/api"}
"""What tells their paths from those of others."""


@pytest.fixture
def provider_url() -> Iterator[str]:
    with LoopbackProvider() as server:
        yield server.url


@pytest.mark.parametrize("provider", CONTESTS)
def test_whole_call(note: Note, provider_url: str, provider: str):
    prompt, options, contest = make_prompt(MESSAGES), make_options(), CONTESTS[provider]
    base_url = provider_url + BASES.get(provider, "")
    adapter = type(contest.adapter)(api_key="key", base_url=base_url)
    url = base_url + PATHS[provider]
    headers = {"content-type": "application/json", "authorization": "Bearer key"}

    with httpx2.Client() as client:

        def floor() -> dict[str, object]:
            answer = client.post(url, content=contest.floor(prompt), headers=headers)
            found: dict[str, object] = json.loads(answer.content)
            return found

        def ours() -> list[StreamEvent]:
            return list(adapter.call_sync(prompt, options))

        assert WRITTEN_TEXT in json.dumps(floor(), ensure_ascii=False)
        assert _text_of(ours()) == WRITTEN_TEXT
        pair = compare(floor, ours, clock=time.thread_time)
    adapter.close()
    note(f"{provider}, {MESSAGES} messages: whole call, CPU", pair.spread, Cell("call", provider, "whole call"))


def _text_of(events: list[StreamEvent]) -> str | None:
    last = events[-1]
    assert isinstance(last, EndEvent)
    assert last.message is not None
    return last.message.content
