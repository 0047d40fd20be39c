"""Odd requests that providers accept, so the adapters send them; and what refusals of others say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from art_sdk import AnthropicAdapter, BaseAdapter
from short_messages import SYSTEM, USER, Refusal
from streamed import ADAPTERS, KEY

Translate = Callable[..., dict[str, Any]]
EMPTY = {"text": ""}


def adapter(provider: str) -> BaseAdapter:
    return ADAPTERS[provider](api_key=KEY)


# Recorded at Gemini with status 200: Mirascope/mirascope (a user's text), pydantic/pydantic-ai (a model's).
@pytest.mark.parametrize(
    ("messages", "contents"),
    [
        ([{"role": "user", "content": ""}], [{"role": "user", "parts": [EMPTY]}]),
        (
            [{"role": "user", "content": [{"type": "text", "text": ""}, {"type": "text", "text": ""}]}],
            [{"role": "user", "parts": [EMPTY]}],
        ),
        (
            [USER, {"role": "assistant", "content": ""}, USER],
            [{"role": role, "parts": [part]} for role, part in (("user", {"text": "u"}), ("model", EMPTY))]
            + [{"role": "user", "parts": [{"text": "u"}]}],
        ),
    ],
)
def test_gemini_is_sent_an_empty_text(messages: Any, contents: Any, translate: Translate) -> None:
    assert translate(adapter("gemini"), messages)["contents"] == contents


def test_a_call_that_joins_gemini_s_empty_turn_does_not_change_it(translate: Translate) -> None:
    request = {"role": "tool_request", "content": {"id": "a", "name": "f", "arguments": {}}}
    result = {"role": "tool_result", "content": "r", "tool_call_id": "a"}
    contents = translate(adapter("gemini"), [USER, {"role": "assistant", "content": ""}, request, result])["contents"]
    assert contents[1]["parts"] == [EMPTY, {"functionCall": {"id": "a", "name": "f", "args": {}}}]


def test_anthropic_is_sent_an_empty_system_prompt_as_text(translate: Translate) -> None:
    empty = SYSTEM | {"content": ""}
    assert translate(adapter("anthropic"), [empty, USER])["system"] == ""
    assert translate(adapter("anthropic"), [empty, empty, USER])["system"] == ""


@pytest.mark.parametrize("texts", [[" "], ["", " "], ["s", ""]])
def test_a_blank_block_of_anthropic_s_system_prompt_is_refused(texts: list[str], refusal: Refusal) -> None:
    error = refusal(adapter("anthropic"), [*(SYSTEM | {"content": text} for text in texts), USER])
    assert error.details["rule"] == "anthropic.text-block-nonblank"


OWN_TOOLS: dict[str, tuple[str, list[dict[str, Any]], Any]] = {
    "openai": ("openai-chat", [{"type": "custom", "custom": {"name": "f"}}], "auto"),
    "anthropic": ("anthropic-messages", [{"type": "web_search_20250305", "name": "web_search"}], {"type": "auto"}),
    "gemini": (
        "gemini-generate",
        [{"functionDeclarations": [{"name": "f"}]}],
        {"functionCallingConfig": {"mode": "AUTO"}},
    ),
}


@pytest.mark.parametrize("provider", OWN_TOOLS)
def test_a_tool_choice_is_allowed_with_the_provider_s_own_tools(provider: str, translate: Translate) -> None:
    dialect, tools, choice = OWN_TOOLS[provider]
    payload = translate(adapter(provider), [USER], tool_choice="auto", provider={dialect: {"tools": tools}})
    assert payload["tools"] == tools
    assert payload["toolConfig" if provider == "gemini" else "tool_choice"] == choice


@pytest.mark.parametrize("provider", OWN_TOOLS)
def test_a_tool_choice_without_tools_is_refused(provider: str, refusal: Refusal) -> None:
    for own in ({}, {"another-dialect": {"tools": [{}]}}):
        error = refusal(adapter(provider), [USER], tool_choice="auto", provider=own)
        assert "tool_choice is only allowed with tools; pass tools, or leave it out" in error.message


def test_a_tool_choice_is_refused_where_gemini_has_only_tools_of_its_own(refusal: Refusal) -> None:
    own = {"gemini-generate": {"tools": [{"googleSearch": {}}]}}
    assert "only allowed with tools" in refusal(adapter("gemini"), [USER], tool_choice="required", provider=own).message


@pytest.mark.parametrize("provider", ADAPTERS)
def test_an_image_in_the_base64_of_urls_is_sent_in_the_usual_one(provider: str, translate: Translate) -> None:
    image = {"type": "image", "mime_type": "image/png", "data": "-_-_"}
    payload = str(translate(adapter(provider), [{"role": "user", "content": [image]}]))
    assert "+/+/" in payload
    assert "-_-_" not in payload


@pytest.mark.parametrize(("messages", "lack"), [([], "it is empty"), ([SYSTEM], "there are only system messages")])
@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
def test_a_prompt_without_messages_is_refused_in_its_own_words(
    provider: str, messages: list[Any], lack: str, refusal: Refusal
) -> None:
    assert f"{lack}; add at least one user message" in refusal(adapter(provider), messages).message


@pytest.mark.parametrize(
    ("model", "takes_both"),
    [
        ("claude-2.1", True),
        ("anthropic.claude-v2", True),
        ("claude-instant-1.2", True),
        ("claude-3-7-sonnet-latest", True),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", True),
        ("claude-sonnet-4@20250514", True),
        ("claude-opus-4-0", True),
        ("claude-opus-4-1-20250805", False),
        ("claude-haiku-4-5", False),
    ],
)
def test_older_claudes_take_temperature_and_top_p(
    *, model: str, takes_both: bool, translate: Translate, refusal: Refusal
) -> None:
    made = AnthropicAdapter(api_key=KEY, model=model)
    sampling = {"temperature": 0.5, "top_p": 0.5}
    if takes_both:
        assert sampling.items() <= translate(made, [USER], **sampling).items()
    else:
        assert "accepts temperature or top_p, not both" in refusal(made, [USER], **sampling).message
