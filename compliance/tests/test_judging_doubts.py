"""Bad input to a judge: another format, an unknown host, an altered recording. None is refused in a provider's name."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance import judge

OPENAI = "https://api.openai.com/v1/chat/completions"
ANTHROPIC = "https://api.anthropic.com/v1/messages"
GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent"
CHAT = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}
EMBEDDING = {"model": "text-embedding-3-small", "input": ["hi"]}


def severities(dialect: str, payload: Any, url: str | None) -> set[str]:
    return {finding.severity for finding in judge(dialect, payload, url=url)}


@pytest.mark.parametrize(
    ("dialect", "payload", "url", "said"),
    [
        (
            "openai-chat",
            EMBEDDING,
            "https://api.openai.com/v1/embeddings",
            "/v1/embeddings is not a path of openai-chat",
        ),
        ("openai-chat", CHAT | {"system": "x"}, ANTHROPIC, "/v1/messages is not a path of openai-chat"),
        ("anthropic-messages", CHAT, OPENAI, "/v1/chat/completions is not a path of anthropic-messages"),
        ("gemini-generate", {}, "https://api.openai.com/v1/images", "/v1/images is not a path of gemini-generate"),
        ("openai-chat", EMBEDDING, "http://127.0.0.1:8000/v1/chat/completions", "the body has no 'messages'"),
        ("openai-chat", "--boundary", "<API_BASE>/chat/completions", "the body has no 'messages'"),
        ("gemini-generate", CHAT, "https://llm.example.com/models/m:generateContent", "the body has no 'contents'"),
    ],
)
def test_a_request_of_another_format_is_a_note_that_says_so(dialect, payload, url, said):
    found = judge(dialect, payload, url=url)
    assert {finding.severity for finding in found} <= {"note", "ignored"}
    assert found[0].message.startswith(said)


@pytest.mark.parametrize(
    ("dialect", "payload", "url"),
    [
        ("openai-chat", EMBEDDING, OPENAI),
        ("openai-chat", EMBEDDING, None),
        ("openai-chat", EMBEDDING, "/v1/embeddings"),  # the suite's own provider knows what it plays
        ("openai-chat", EMBEDDING, "https://api.openai.com/v1"),
        ("anthropic-messages", {"messages": "hi"}, ANTHROPIC),
        ("gemini-generate", {}, GEMINI),
    ],
)
def test_a_provider_refuses_at_its_own_address_what_is_no_request_of_its_format(dialect, payload, url):
    assert "reject" in severities(dialect, payload, url)


@pytest.mark.parametrize("mask", ["<MASSIVE_TEXT>", "REDACTED", "[REDACTED]", "***", "**REDACTED**", "<redacted id>"])
def test_a_masked_value_is_a_note_and_another_one_beside_it_a_refusal(mask):
    altered = CHAT | {"messages": mask}
    (found,) = judge("openai-chat", altered, url=OPENAI)
    assert (found.severity, "the request was altered after it was sent" in found.message) == ("note", True)
    assert "reject" in severities("openai-chat", altered | {"temperature": "hot"}, OPENAI)
    assert "reject" in severities("openai-chat", altered, "/v1/chat/completions")


@pytest.mark.parametrize("data", ["<REDACTED>", "iVBORw0KGgo...", "iVBORw0KGgo… (4 KB)", "[TRUNCATED]"])
def test_data_that_a_recorder_has_cut_is_not_judged_as_base64(data):
    shown = [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}]
    assert judge("openai-chat", {"model": "gpt-4o", "messages": [{"role": "user", "content": shown}]}, url=OPENAI) == []
