"""What is said of adapters that send a long conversation as it was, or otherwise than it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from art_compliance.checks.load.conversations import conversations_are_sent_as_they_are
from art_sdk import OpenAIAdapter
from trials import assert_each_has, messages_of, translating

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]

CHECK = conversations_are_sent_as_they_are.id
LONG = 60
DISORDER = "the request has its messages in another order, or one of them twice"
Messages = list[dict[str, Any]]


def changing(change: Callable[[Messages], Messages]) -> type[OpenAIAdapter]:
    def changed(payload: Any, *_: Any) -> Any:
        messages = payload["messages"]
        return {**payload, "messages": change(messages) if len(messages) > LONG else messages}

    return translating(changed)


def swapped(messages: Messages) -> Messages:
    return [*messages[:20], messages[22], messages[21], messages[20], *messages[23:]]


@pytest.mark.parametrize(
    ("change", "fragment"),
    [
        (swapped, DISORDER),
        (lambda messages: [*messages, messages[-1]], DISORDER),
        (lambda messages: [messages[0], *messages], DISORDER),
        (lambda messages: messages[1:], 'the request lacks ["mark-0000."]'),
        (lambda messages: [*messages[:30], *messages[31:]], 'the request lacks ["mark-0033."]'),
    ],
)
def test_a_request_has_each_message_once_and_in_its_place(change: Callable[[Messages], Messages], fragment: str):
    messages = messages_of(CHECK, changing(change))
    assert_each_has(messages, [f"a long conversation: {fragment}", f"a long conversation, as typed values: {fragment}"])


def test_a_system_message_may_be_in_another_place():
    assert messages_of(CHECK, changing(lambda messages: [*messages[1:], messages[0]])) == []


def test_what_is_left_of_an_earlier_call_is_named():
    first: list[Messages] = []

    def earlier(messages: Messages) -> Messages:
        first.append(messages)
        return first[0] if len(first) > 1 and len(messages) < len(first[0]) else messages

    [message, typed] = messages_of(CHECK, changing(earlier))
    assert message.startswith("after its beginning was taken out: the request ")
    assert "of an earlier call" in message
    assert typed
