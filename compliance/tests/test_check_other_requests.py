"""What an adapter may send in another way than the reference adapters: documented forms, fields and defaults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from art_sdk import AnthropicAdapter, CohereChatAdapter, OpenAIAdapter
from trials import assert_each_has, call_of, messages_of, scenario, translating

pytestmark = pytest.mark.once

INVENTED = "translation.nothing-is-invented"
HI = {"role": "user", "content": "hi"}
LOOP = scenario(
    prompt=[
        HI,
        {"role": "assistant", "content": "Let me look.", "tool_calls": [call_of()]},
        {"role": "tool_result", "tool_call_id": "c1", "content": "24"},
    ],
    options={"tools": [{"name": call_of()["function"]["name"], "description": "", "inputSchema": {"type": "object"}}]},
)


class Wraps(CohereChatAdapter):
    repairs = CohereChatAdapter.repairs | {"wraps_result"}


def messages(change: Callable[[dict[str, Any]], dict[str, Any]], make: Any = CohereChatAdapter) -> Any:
    """The factory of an adapter whose messages are changed."""
    return translating(lambda payload, *_: {**payload, "messages": [*map(change, payload["messages"])]}, make)


def with_plan(message: dict[str, Any]) -> dict[str, Any]:
    if not message.get("tool_calls"):
        return message
    return {**{name: value for name, value in message.items() if name != "content"}, "tool_plan": "Let me look."}


def as_document(data: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    content = [{"type": "document", "document": {"data": data}}]
    return lambda message: {**message, "content": content} if message["role"] == "tool" else message


@pytest.mark.parametrize(
    ("make", "lost"),
    [
        (messages(with_plan), []),
        (messages(as_document("24")), []),
        (messages(as_document({"output": "24"}), Wraps), []),
        (messages(as_document("25")), ["translation.results-survive"]),
        (messages(lambda one: with_plan(one) | {"tool_plan": "?"}), ["translation.assistant-text-survives"]),
    ],
    ids=["a plan", "a document", "an object", "another document", "another plan"],
)
def test_cohere_takes_texts_as_plans_and_results_as_documents(make: Any, lost: list[str]):
    checks = ["assistant-text-survives", "results-survive", "extensions-survive", "nothing-is-invented"]
    found = [check for check in (f"translation.{one}" for one in checks) if messages_of(check, make, LOOP)]
    assert [one for one in found if one in lost] == lost
    assert lost or not found


@pytest.mark.parametrize(
    ("make", "option", "usual", "other"),
    [
        (OpenAIAdapter, "temperature", 1, 0.9),
        (OpenAIAdapter, "parallel_tool_calls", True, False),
        (AnthropicAdapter, "temperature", 1.0, 0.9),
        (CohereChatAdapter, "p", 0.75, 0.7),
    ],
)
def test_a_documented_default_may_be_written_out(make: Any, option: str, usual: Any, other: Any):
    def sends(value: Any) -> Any:
        return translating(lambda payload, *_: {**payload, option: value}, make)

    asked = LOOP if option == "parallel_tool_calls" else scenario(prompt=[HI])
    assert messages_of(INVENTED, sends(usual), asked) == []
    assert_each_has(messages_of(INVENTED, sends(other), asked), ["is sent, but the call does not set it"])
