"""What a provider's answer shows of its reasoning, by what the request asks for and by its model."""

from __future__ import annotations

from typing import Any, Final

import pytest

from art_compliance.dialects import DIALECTS
from art_compliance.dialects.base import Reasoning

TEXT: Final = Reasoning(text=True, signature=False)
SIGNED: Final = Reasoning(text=True, signature=True)
SIGNATURE: Final = Reasoning(text=False, signature=True)
COUNTED: Final = Reasoning(text=False, signature=False)

ENCRYPTED: Final = {"include": ["reasoning.encrypted_content"]}


def thoughts(**config: Any) -> dict[str, Any]:
    return {"generationConfig": {"thinkingConfig": config}}


def of_bedrock(name: str, kind: str) -> dict[str, Any]:
    return {"additionalModelRequestFields": {name: {"type": kind}}}


@pytest.mark.parametrize(
    ("dialect", "model", "payload", "shown"),
    [
        *(("anthropic-messages", "m", {"thinking": {"type": kind}}, SIGNED) for kind in ("enabled", "adaptive")),
        ("anthropic-messages", "m", {"thinking": {"type": "disabled"}}, None),
        ("anthropic-messages", "m", {"thinking": "enabled"}, None),
        ("anthropic-messages", "m", {}, None),
        *(
            ("bedrock-converse", "m", of_bedrock(name, "enabled"), SIGNED)
            for name in ("thinking", "reasoning_config", "reasoningConfig")
        ),
        ("bedrock-converse", "m", of_bedrock("thinking", "adaptive"), SIGNED),
        ("bedrock-converse", "m", of_bedrock("thinking", "disabled"), None),
        ("bedrock-converse", "m", {}, None),
        ("cohere-chat-v2", "m", {"thinking": {"type": "enabled"}}, TEXT),
        ("cohere-chat-v2", "command-a-reasoning", {"thinking": {"type": "disabled"}}, None),
        ("cohere-chat-v2", "command-a-reasoning", {}, TEXT),
        ("cohere-chat-v2", "m", {}, None),
        ("deepseek-chat", "deepseek-chat", {"thinking": {"type": "enabled"}}, TEXT),
        ("deepseek-chat", "deepseek-chat", {"thinking": {"type": "disabled"}}, None),
        ("deepseek-chat", "deepseek-reasoner", {}, TEXT),
        ("deepseek-chat", "deepseek-chat", {}, None),
        ("gemini-generate", "m", thoughts(includeThoughts=True), SIGNED),
        ("gemini-generate", "m", {"generation_config": {"thinking_config": {"include_thoughts": True}}}, SIGNED),
        ("gemini-generate", "m", thoughts(includeThoughts=False), SIGNATURE),
        ("gemini-generate", "m", thoughts(thinkingBudget=100), SIGNATURE),
        ("gemini-generate", "gemini-3-pro", {}, SIGNATURE),
        ("gemini-generate", "gemini-2.5-pro", {}, None),
        ("groq-chat", "openai/gpt-oss-20b", {}, TEXT),
        ("groq-chat", "openai/gpt-oss-20b", {"include_reasoning": False}, None),
        ("groq-chat", "qwen/qwen3-32b", {"include_reasoning": True}, TEXT),
        ("groq-chat", "qwen/qwen3-32b", {"reasoning_format": "parsed"}, TEXT),
        ("groq-chat", "qwen/qwen3-32b", {"reasoning_format": "hidden"}, None),
        ("groq-chat", "qwen/qwen3-32b", {}, None),
        ("mistral-chat", "m", {}, None),
        ("ollama-chat", "m", {"think": True}, TEXT),
        ("ollama-chat", "m", {"think": "low"}, TEXT),
        ("ollama-chat", "m", {"think": False}, None),
        ("ollama-chat", "m", {}, None),
        ("openai-chat", "gpt-5", {"reasoning_effort": "low"}, COUNTED),
        ("openai-chat", "gpt-5", {"reasoning_effort": "none"}, None),
        ("openai-chat", "gpt-4o", {}, None),
        *(("openai-chat", model, {}, COUNTED) for model in ("o1", "o3-mini", "o4-mini")),
        ("openai-compatible", "m", {"reasoning_effort": "low"}, TEXT),
        ("openai-compatible", "m", {"reasoning_effort": "none"}, None),
        ("openai-compatible", "m", {"reasoning_effort": None}, None),
        ("openai-responses", "gpt-5", {"reasoning": {"summary": "auto"}, **ENCRYPTED}, SIGNED),
        ("openai-responses", "gpt-5", {"reasoning": {"summary": "auto"}}, SIGNED),
        ("openai-responses", "gpt-5", {"reasoning": {"effort": "low"}, **ENCRYPTED}, SIGNATURE),
        ("openai-responses", "gpt-5", {"reasoning": {"effort": "low"}, "include": []}, SIGNATURE),
        ("openai-responses", "gpt-4o", {"reasoning": {"effort": "none"}}, None),
        ("openai-responses", "gpt-4o", ENCRYPTED, SIGNATURE),
        ("openrouter-chat", "m", {"reasoning": {"effort": "low"}}, TEXT),
        ("openrouter-chat", "m", {"include_reasoning": True}, TEXT),
        ("openrouter-chat", "m", {"include_reasoning": False}, None),
        ("openrouter-chat", "m", {}, None),
    ],
)
def test_an_answer_shows_the_reasoning_that_was_asked_for(
    dialect: str, model: str, payload: dict[str, Any], shown: Reasoning | None
):
    assert DIALECTS[dialect].answers.reasoning(payload, model) == shown
