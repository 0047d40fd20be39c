"""Bedrock's adapter: what it sends, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from art_sdk import PromptTranslationFailed
from bedrock import TOOLS, USER, adapter

pytestmark = pytest.mark.usefixtures("no_aws")


def test_everything_has_its_place(translate: Callable[..., Any], call: Any, result: Any) -> None:
    prompt = [{"role": "system", "content": "Be brief."}, USER, call("c", name="f"), result("c", content="7"), USER]
    payload = translate(adapter(), prompt, tools=TOOLS, tool_choice="required", max_tokens=9, stop=["END"])
    assert payload == {
        "messages": [
            {"role": "user", "content": [{"text": "hi"}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "f", "input": {}}}]},
            {
                "role": "user",
                "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": "7"}]}}, {"text": "hi"}],
            },
        ],
        "system": [{"text": "Be brief."}],
        "toolConfig": {
            "tools": [
                {"toolSpec": {"name": "f", "description": "Looks.", "inputSchema": {"json": {"type": "object"}}}}
            ],
            "toolChoice": {"any": {}},
        },
        "inferenceConfig": {"maxTokens": 9, "stopSequences": ["END"]},
    }


def test_a_response_schema_goes_as_text(translate: Callable[..., Any]) -> None:
    sent = translate(adapter(), [USER], response_schema={"type": "object"})["outputConfig"]["textFormat"]
    assert sent == {"type": "json_schema", "structure": {"jsonSchema": {"schema": '{"type":"object"}'}}}


def test_documents_and_fields_of_the_model_go_through_the_provider_s_own_fields(translate: Callable[..., Any]) -> None:
    own = {"additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 1024}}}
    assert translate(adapter(), [USER], provider={"bedrock-converse": own}).items() >= own.items()


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("amazon.nova-micro-v1:0", "/model/amazon.nova-micro-v1%3A0/converse"),
        (
            "arn:aws:bedrock:us-east-1:1:inference-profile/a.b",
            "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fa.b/converse",
        ),
    ],
)
def test_the_model_is_one_segment_of_the_path(model: str, path: str) -> None:
    made = adapter().prepare([USER], {"thread_id": "t", "model": model}).request
    assert made.url == f"https://bedrock-runtime.us-east-1.amazonaws.com{path}"
    assert (
        adapter().prepare([USER], {"thread_id": "t", "model": model, "stream": True}).request.url
        == f"{made.url}-stream"
    )


REFUSED: dict[str, tuple[str, list[Any], dict[str, Any], str]] = {
    "system": (
        "mistral.mistral-7b-instruct-v0:2",
        [{"role": "system", "content": "s"}, USER],
        {},
        "not support system messages",
    ),
    "tools": ("us.deepseek.r1-v1:0", [USER], {"tools": TOOLS}, "not support tools"),
    "tools while streaming": (
        "us.meta.llama4-scout-17b-instruct-v1:0",
        [USER],
        {"tools": TOOLS, "stream": True},
        "while streaming",
    ),
    "stop": ("openai.gpt-oss-120b-1:0", [USER], {"stop": ["END"]}, "not support stop sequences"),
    "prefill": ("us.anthropic.claude-sonnet-4-6", [USER, {"role": "assistant", "content": "So"}], {}, "at the end"),
    "both samplings": (
        "us.anthropic.claude-haiku-4-5-20251001-v1:0",
        [USER],
        {"temperature": 0.5, "top_p": 0.5},
        "not both",
    ),
    "tool_choice none": (
        "amazon.nova-lite-v1:0",
        [USER],
        {"tools": TOOLS, "tool_choice": "none"},
        "only for Claude; leave the tools out",
    ),
    "parallel": ("amazon.nova-lite-v1:0", [USER], {"tools": TOOLS, "parallel_tool_calls": False}, "only for Claude"),
    "blank text": ("amazon.nova-lite-v1:0", [{"role": "user", "content": " "}], {}, "is blank"),
    "an image by URL": (
        "amazon.nova-lite-v1:0",
        [{"role": "user", "content": [{"type": "image", "mime_type": "image/png", "url": "https://a/b.png"}]}],
        {},
        "s3://",
    ),
}


@pytest.mark.parametrize(("model", "prompt", "options", "words"), REFUSED.values(), ids=REFUSED)
def test_what_a_model_refuses_is_refused_first(
    model: str, prompt: list[Any], options: dict[str, Any], words: str, translate: Callable[..., Any]
) -> None:
    with pytest.raises(PromptTranslationFailed, match=words):
        translate(adapter(), prompt, model=model, **options)


def test_text_after_results_is_refused_for_the_models_that_refuse_it(
    translate: Callable[..., Any], call: Any, result: Any
) -> None:
    prompt = [USER, call("c"), result("c"), USER]
    translate(adapter(), prompt, tools=TOOLS)
    with pytest.raises(PromptTranslationFailed, match=r"\$\[3\].*text next to tool results"):
        translate(adapter(), prompt, tools=TOOLS, model="mistral.mistral-large-2407-v1:0")


def test_calls_without_tools_are_refused(translate: Callable[..., Any], call: Any, result: Any) -> None:
    with pytest.raises(PromptTranslationFailed, match="accepts tool calls only with tools"):
        translate(adapter(), [USER, call("c"), result("c")])


def test_an_image_comes_from_s3(translate: Callable[..., Any]) -> None:
    part = {"type": "image", "mime_type": "image/png", "url": "s3://bucket/a.png"}
    [sent] = translate(adapter(), [{"role": "user", "content": [part]}])["messages"][0]["content"]
    assert sent == {"image": {"format": "png", "source": {"s3Location": {"uri": "s3://bucket/a.png"}}}}


@pytest.mark.parametrize(
    ("options", "choice"),
    [
        ({"tool_choice": "none"}, {"type": "none"}),
        ({"parallel_tool_calls": False}, {"type": "auto", "disable_parallel_tool_use": True}),
        (
            {"tool_choice": "f", "parallel_tool_calls": True},
            {"type": "tool", "name": "f", "disable_parallel_tool_use": False},
        ),
    ],
)
def test_claude_has_a_field_of_its_own_for_parallel_calls(
    options: dict[str, Any], choice: dict[str, Any], translate: Callable[..., Any]
) -> None:
    own = {"additionalModelRequestFields": {"thinking": {"type": "disabled"}}}
    sent = translate(adapter(), [USER], tools=TOOLS, provider={"bedrock-converse": own}, **options)
    assert sent["additionalModelRequestFields"] == {"tool_choice": choice, "thinking": {"type": "disabled"}}
    assert "toolChoice" not in sent["toolConfig"]
