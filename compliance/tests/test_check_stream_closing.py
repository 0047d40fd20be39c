"""The checks of streamed calls that are closed or cancelled."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from art_compliance.miniatures import find_miniature
from art_compliance.miniatures.base import retell
from art_sdk import OpenAIAdapter
from trials import answer_events, assert_each_has, messages_of, reason_of, scripted, spoiled


def closing(seconds: float = 0.0, error: Exception | None = None) -> Any:
    """An adapter that does this before its call is closed."""

    async def pass_on(given: Any) -> Any:
        try:
            async for event in given:
                yield event
        finally:
            await given.aclose()
            await asyncio.sleep(seconds)
            if error is not None:
                raise error

    return spoiled(lambda adapter: retell(adapter, pass_on))


@pytest.mark.parametrize(
    ("make", "fragments"),
    [
        (OpenAIAdapter, []),
        (closing(0.1), []),
        (closing(0.3), ["closing took 0.3"]),
        (closing(error=OSError("no line")), ["closing raised OSError: no line"]),
        (find_miniature("keeps-reading-when-it-is-closed").of(OpenAIAdapter), ["the connection stays open"]),
    ],
)
def test_closing_comes_back_at_once_and_closes_the_connection(make: Any, fragments: list[str]):
    assert_each_has(messages_of("stream.closing-ends-the-call", make), fragments)


def cancelled(error: Exception | None) -> Any:
    """An adapter that raises another error where it is cancelled, or none."""

    async def pass_on(given: Any) -> Any:
        try:
            async for event in given:
                yield event
        except asyncio.CancelledError:
            await given.aclose()
            if error is not None:
                raise error from None

    return spoiled(lambda adapter: retell(adapter, pass_on))


@pytest.mark.parametrize(
    ("make", "fragments"),
    [
        (OpenAIAdapter, []),
        (
            cancelled(None),
            ["after its first token, the call ran", "answer's head, the call ran", "unstreamed answer, the call ran"],
        ),
        (
            cancelled(OSError("no line")),
            ["first token, the call raised", "head, the call raised", "unstreamed answer, the call raised"],
        ),
    ],
)
def test_a_call_that_is_cancelled_ends_as_cancelled(make: Any, fragments: list[str]):
    assert_each_has(messages_of("stream.cancelling-ends-the-call", make), fragments)


@pytest.mark.parametrize("check", ["closing-ends-the-call", "cancelling-ends-the-call"])
def test_a_call_that_gives_a_list_is_neither_closed_nor_cancelled(check: str):
    assert reason_of(f"stream.{check}", scripted(answer_events()))
