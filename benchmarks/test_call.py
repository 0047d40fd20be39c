"""A whole call over HTTP on this machine, the provider in a process of its own: CPU time, of all our threads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from art_compliance.provider import WRITTEN_TEXT
from benchmarks.calls import MESSAGES, floor_calls, our_calls
from benchmarks.conftest import Cell, Note
from benchmarks.conversation import make_prompt
from benchmarks.floors import CONTESTS
from benchmarks.measure import compare
from benchmarks.serving import provider_process


@pytest.fixture(scope="module")
def provider_url() -> Iterator[str]:
    with provider_process() as url:
        yield url


@pytest.mark.parametrize("provider", CONTESTS)
def test_whole_call(note: Note, provider_url: str, provider: str):
    prompt = make_prompt(MESSAGES)
    with floor_calls(provider, provider_url, prompt) as floor, our_calls(provider, provider_url, prompt) as ours:
        assert WRITTEN_TEXT in floor.whole()
        assert ours.whole() == WRITTEN_TEXT
        pair = compare(floor.whole, ours.whole)
    note(f"{provider}, {MESSAGES} messages: whole call, CPU", pair.spread, Cell("call", provider, "whole call"))


@pytest.mark.parametrize("provider", CONTESTS)
def test_whole_call_in_asyncio(note: Note, provider_url: str, provider: str):
    prompt = make_prompt(MESSAGES)
    with floor_calls(provider, provider_url, prompt) as floor, our_calls(provider, provider_url, prompt) as ours:
        assert floor.in_asyncio is not None
        assert ours.in_asyncio is not None
        assert WRITTEN_TEXT in floor.in_asyncio()
        assert ours.in_asyncio() == WRITTEN_TEXT
        pair = compare(floor.in_asyncio, ours.in_asyncio)
    note(f"{provider}, {MESSAGES} messages: call in asyncio, CPU", pair.spread, Cell("call", provider, "in asyncio"))


@pytest.mark.parametrize("provider", [provider for provider in CONTESTS if provider != "bedrock"])
def test_streamed_call(note: Note, provider_url: str, provider: str):
    """Bedrock's streams are binary: the floor does not read them."""
    prompt = make_prompt(MESSAGES)
    with floor_calls(provider, provider_url, prompt) as floor, our_calls(provider, provider_url, prompt) as ours:
        assert WRITTEN_TEXT[-3:] in floor.streamed()
        assert ours.streamed() == WRITTEN_TEXT
        pair = compare(floor.streamed, ours.streamed)
    note(f"{provider}, {MESSAGES} messages: streamed call, CPU", pair.spread, Cell("call", provider, "streamed call"))
