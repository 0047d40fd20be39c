"""What is said of adapters that do more with a chunk the later it comes, and of those that do not."""

from __future__ import annotations

import time
from typing import Any

import pytest

from art_compliance.checks.limits import DRIPS_OF_A_PIECE, LONG_ANSWER, LONG_ARGUMENTS, PIECES_IN_DRIPS
from art_compliance.checks.load import growth
from art_compliance.checks.load.growth import late_chunks_cost_no_more
from art_compliance.miniatures.base import change_events
from art_sdk import (
    AnthropicAdapter,
    BedrockConverseAdapter,
    GeminiAdapter,
    OllamaChatAdapter,
    OpenAIAdapter,
    OpenAIResponsesAdapter,
)
from trials import answer_events, messages_of, reason_of, scripted, spoiled, translator

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]

CHECK = late_chunks_cost_no_more.id
PIECES = 128


@pytest.mark.parametrize("make", [BedrockConverseAdapter, GeminiAdapter, OpenAIAdapter, OpenAIResponsesAdapter])
def test_the_adapters_read_each_byte_once(make: Any):
    assert messages_of(CHECK, make) == []


def test_an_adapter_that_is_as_slow_early_as_late_passes():
    def call(*_: Any) -> Any:
        _work(0.03)
        return answer_events()

    assert messages_of(CHECK, scripted(call)) == []


@pytest.mark.parametrize(
    ("early", "late", "count"),
    [
        (0.001, 0.003, 0),
        (0.01, 0.03, 1),
        (0.03, 0.031, 0),
        (0.03, 0.044, 0),
        (0.001, 0.0089, 0),
        (0.001, 0.0091, 1),
        (0.0, 0.03, 0),
    ],
)
def test_late_chunks_must_cost_more_both_by_a_factor_and_by_a_time(
    early: float, late: float, count: int, monkeypatch: pytest.MonkeyPatch
):
    costs = {False: early, True: late}
    monkeypatch.setattr(growth, "_cost", lambda _trial, _way, *, late: costs[late])
    messages = messages_of(CHECK, OpenAIAdapter)
    assert len(messages) == count
    for message in messages:
        assert f"takes {late * 1000:.0f} ms " in message
        assert f" with {PIECES_IN_DRIPS * DRIPS_OF_A_PIECE} small chunks at its end, " in message
        assert f", {early * 1000:.0f} ms with them at its start" in message


@pytest.mark.parametrize(
    ("text", "arguments", "count"),
    [
        ([0.01], [0.12], 0),
        ([0.01], [0.13], 1),
        ([0.01], [0.13, 0.12], 0),
        ([0.001, 0.01], [0.13], 1),
        ([0.0], [9.0], 0),
    ],
)
def test_arguments_must_cost_much_more_than_a_text_each_time(
    text: list[float], arguments: list[float], count: int, monkeypatch: pytest.MonkeyPatch
):
    """The last cost is that of all later calls, too. What a text costs least is compared."""
    costs = {True: iter([*arguments, arguments[-1]]), False: iter([*text, text[-1]])}

    def cost(_: Any, way: Any, *, late: bool) -> float:
        assert late
        return next(costs[bool(way.answer.tool_calls)])

    monkeypatch.setattr(growth, "_cost", cost)
    monkeypatch.setattr(growth, "_late_chunks_of_texts", lambda _: iter(()))
    assert len(messages_of(CHECK, OpenAIAdapter)) == count


def test_arguments_that_come_in_one_piece_are_not_measured(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(growth, "_late_chunks_of_texts", lambda _: iter(()))
    monkeypatch.setattr(growth, "_cost", lambda *_, **__: pytest.fail("it was measured"))
    assert messages_of(CHECK, GeminiAdapter) == []


def _work(seconds: float) -> None:
    ends = time.thread_time() + seconds
    while time.thread_time() < ends:
        pass


@pytest.mark.parametrize("method", ["call_sync", "complete", "complete_sync"])
def test_a_method_is_named_that_does_more_with_late_chunks(method: str):
    """It works for as long as all that came before it is large."""

    class Frames:
        def __init__(self, own: Any) -> None:
            self._own = own
            self._size = 0

        def feed(self, chunk: bytes) -> Any:
            self._size += len(chunk)
            _work(self._size / 1e9)
            return self._own.feed(chunk)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._own, name)

    def spoil(adapter: Any) -> None:
        own, frames, slow = getattr(adapter, method), adapter.stream_frames, [False]

        def stream_frames() -> Any:
            return Frames(frames()) if slow[0] else frames()

        async def complete(prompt: Any, options: Any) -> Any:
            slow[0] = True
            try:
                return await own(prompt, options)
            finally:
                slow[0] = False

        def without_a_loop(prompt: Any, options: Any) -> Any:
            slow[0] = True
            try:
                given = own(prompt, options)
                return iter(list(given)) if method == "call_sync" else given
            finally:
                slow[0] = False

        adapter.stream_frames = stream_frames
        setattr(adapter, method, complete if method == "complete" else without_a_loop)

    [message] = messages_of(CHECK, spoiled(spoil))
    assert message.startswith(f"{method}, a text, streamed: an answer of 0.5 MB takes ")


@pytest.mark.parametrize("make", [AnthropicAdapter, BedrockConverseAdapter, OllamaChatAdapter, OpenAIAdapter])
def test_the_answers_differ_only_in_where_their_small_pieces_are(make: Any):
    answers: list[list[int]] = []

    def note(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        answers.append([len(event["text"]) for event in events if event["type"] == "TOKEN"])
        return events

    assert messages_of(CHECK, spoiled(lambda adapter: change_events(adapter, note), make)) == []
    late, early = ([*map(small, sizes)] for sizes in answers[:2] if sum(sizes) == LONG_ANSWER)
    assert {sum(sizes) for sizes in answers} <= {LONG_ANSWER, LONG_ARGUMENTS, 0}  # calls have no tokens
    assert sum(late) == sum(early)
    assert late.count(True) == early.count(True) == PIECES_IN_DRIPS * DRIPS_OF_A_PIECE
    assert early.index(True) < 2
    assert late[::-1].index(True) < 3
    assert len(late) == len(early)


def small(size: int) -> bool:
    return size == pytest.approx(LONG_ANSWER / PIECES / DRIPS_OF_A_PIECE, rel=0.1)


def test_a_call_that_fails_costs_nothing():
    def failing(_: Any) -> Any:
        raise RuntimeError("no")

    assert messages_of(CHECK, spoiled(lambda adapter: setattr(adapter, "stream_frames", failing))) == []


def test_an_adapter_without_a_call_reads_nothing():
    assert "no call" in reason_of(CHECK, translator(lambda *_: {}))
