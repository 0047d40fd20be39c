"""System messages in mid-conversation: where they may stand, and whose choice it is to move them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from art_sdk import AnthropicAdapter, GeminiAdapter, InvalidConfig, MistralAdapter
from short_messages import USER, Refusal

Translate = Callable[..., dict[str, Any]]

SAID = {"role": "assistant", "content": "a"}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
RESULT = {"role": "tool_result", "tool_call_id": "x", "content": "r"}


def late(text: str = "s") -> dict[str, Any]:
    return {"role": "system", "content": text}


PLACED = {
    "last": ([USER, SAID, USER, late()], ["user", "assistant", "user", "system"]),
    "before the assistant": ([USER, late(), SAID, USER], ["user", "system", "assistant", "user"]),
    "after results": ([USER, CALL, RESULT, late(), SAID, USER], ["user", "assistant", "user", "system"]),
    "after two of the user's": ([USER, SAID, USER, USER, late()], ["user", "assistant", "user", "user", "system"]),
    "two in a row": ([USER, late("s"), late("t")], ["user", "system"]),
}


@pytest.mark.parametrize(("prompt", "roles"), PLACED.values(), ids=PLACED)
def test_newer_models_of_anthropic_take_it_in_its_place(prompt: Any, roles: list[str], translate: Translate) -> None:
    payload = translate(AnthropicAdapter(api_key="k", model="claude-opus-5"), prompt)
    assert [message["role"] for message in payload["messages"]][: len(roles)] == roles
    assert "system" not in payload
    texts = [block["text"] for one in payload["messages"] if one["role"] == "system" for block in one["content"]]
    assert texts == [message["content"] for message in prompt if message["role"] == "system"]


MISPLACED = {
    "after the assistant's words": ([USER, SAID, late(), USER], 2),
    "between a call and its result": ([USER, CALL, late(), RESULT, SAID, USER], 2),
    "before the user's words": ([USER, late(), USER], 1),
    "the second of two": ([USER, late(), SAID, USER, late(), USER], 4),
}


@pytest.mark.parametrize(("prompt", "index"), MISPLACED.values(), ids=MISPLACED)
def test_in_other_places_it_is_refused_or_hoisted(
    prompt: Any, index: int, translate: Translate, refusal: Refusal
) -> None:
    adapter = AnthropicAdapter(api_key="k", model="claude-opus-5")
    error = refusal(adapter, prompt)
    assert error.details["index"] == index
    assert 'late_system="hoist"' in error.message
    payload = translate(adapter, prompt, late_system="hoist")
    assert len(payload["system"]) == sum(message["role"] == "system" for message in prompt)
    assert "system" not in {message["role"] for message in payload["messages"]}


MODELS = {
    "claude-opus-4-8": True,
    "claude-opus-4-8-20260528": True,
    "claude-opus-5-5": True,
    "claude-sonnet-5": True,
    "claude-haiku-5-5": True,
    "claude-fable-5-1": True,
    "claude-opus-4-7": False,
    "claude-opus-4-20250514": False,
    "claude-sonnet-4-6": False,
    "claude-haiku-4-5": False,
    "claude-3-5-sonnet-latest": False,
}


@pytest.mark.parametrize(("model", "takes"), MODELS.items(), ids=MODELS)
def test_the_model_of_the_call_decides(
    model: str,
    takes: bool,  # noqa: FBT001 - a column of the table
    translate: Translate,
    refusal: Refusal,
) -> None:
    adapter = AnthropicAdapter(api_key="k")
    if takes:
        assert translate(adapter, [USER, late()], model=model)["messages"][-1]["role"] == "system"
    else:
        assert "does not declare 'late_system'" in refusal(adapter, [USER, late()], model=model).message


@pytest.mark.parametrize("make", [AnthropicAdapter, GeminiAdapter, MistralAdapter])
def test_the_adapter_s_own_choice_applies_to_calls_that_make_none(
    make: Callable[..., Any], translate: Translate, refusal: Refusal
) -> None:
    prompt, adapter = [USER, SAID, late(), USER], make(api_key="k", late_system="hoist")
    assert translate(adapter, prompt) == translate(make(api_key="k"), prompt, late_system="hoist")
    assert "does not declare 'late_system'" in refusal(adapter, prompt, late_system="refuse").message


@pytest.mark.parametrize("choice", ["drop", "", None, 1, ["hoist"]])
def test_another_choice_is_refused(choice: Any) -> None:
    with pytest.raises(InvalidConfig, match="late_system must be one of refuse, hoist, not "):
        GeminiAdapter(api_key="k", late_system=choice)
