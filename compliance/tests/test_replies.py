"""How two answers differ that should be equal."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.checks.replies import differences
from art_compliance.subject.events import Answered
from trials import answer_events, call_of, failure_events

SAID = answer_events("said", thinking="thought", calls=[call_of()], finish="tool_calls")
FAILED = failure_events("said", status=503)


def messages_between(one: list[Any], other: list[Any], *, own_ids: bool = False) -> list[str]:
    return [problem.message for problem in differences(Answered.of(one), Answered.of(other), own_ids=own_ids)]


@pytest.mark.parametrize("events", [SAID, FAILED])
def test_the_same_answer_again_does_not_differ(events: list[Any]):
    assert messages_between(events, events) == []


@pytest.mark.parametrize("pair", [(SAID, FAILED), (FAILED, SAID)])
def test_of_an_answer_and_an_error_only_the_error_is_named(pair: Any):
    [message] = messages_between(*pair)
    assert message.startswith("an ERROR event: ")


def test_another_error_with_the_same_text_does_not_differ():
    assert messages_between(FAILED, failure_events("said", status=429)) == []


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (answer_events("sung", thinking="thought", calls=[call_of()], finish="tool_calls"), ["message", "tokens"]),
        (answer_events("said", thinking="felt", calls=[call_of()], finish="tool_calls"), ["the thinking"]),
        (answer_events("said", thinking="thought", finish="tool_calls"), ["message", "TOOL_CALL"]),
        (answer_events("said", thinking="thought", calls=[call_of()], finish="stop"), ["the finish"]),
    ],
)
def test_what_differs_is_named(other: list[Any], named: list[str]):
    for pair in ((SAID, other), (other, SAID)):
        found = messages_between(*pair)
        assert all(any(word in message for message in found) for word in named), found


def test_ids_of_the_adapters_own_are_compared_by_place():
    other = answer_events("said", thinking="thought", calls=[call_of("another")], finish="tool_calls")
    assert len(messages_between(SAID, other)) == 2
    assert messages_between(SAID, other, own_ids=True) == []
