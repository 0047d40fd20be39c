"""What decoding Anthropic's messages keeps, leaves opaque and refuses."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.dialects import DecodeFailed, decode, find_by_url
from art_sdk import AssistantMessage

USER = {"role": "user", "content": "hi"}


TEXT = {"type": "text", "text": "hi"}


THINKING = {"type": "thinking", "thinking": "h", "signature": "="}


USE = {"type": "tool_use", "id": "a", "name": "look", "input": {"at": 1}}


def chat(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"messages": list(messages), **fields}


def kept(*places: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    return {"anthropic-messages": {"blocks": [{"at": at, "block": block} for at, block in places]}}


@pytest.mark.parametrize(
    ("choice", "options"),
    [
        ({"type": "auto"}, {"tool_choice": "auto"}),
        ({"type": "none"}, {"tool_choice": "none"}),
        ({"type": "any", "disable_parallel_tool_use": False}, {"tool_choice": "required", "parallel_tool_calls": True}),
    ],
)
def test_a_tool_choice_is_decoded(choice: Any, options: dict[str, Any]):
    assert decode("anthropic-messages", chat(USER, tool_choice=choice)).options == options


def test_an_output_of_another_format_is_opaque():
    decoded = decode("anthropic-messages", chat(USER, output_config={"format": {"type": "grammar"}}))
    assert (decoded.options, decoded.opaque) == ({}, {"/output_config/format": {"type": "grammar"}})


@pytest.mark.parametrize(
    ("content", "extensions"),
    [
        ([TEXT, USE], None),
        ([THINKING], kept((0, THINKING))),
        ([THINKING, TEXT, THINKING, USE], kept((0, THINKING), (2, THINKING))),
        ([{"type": "newer", "x": [None], "y": 1}], kept((0, {"type": "newer", "x": [None], "y": 1}))),
    ],
)
def test_blocks_that_are_neither_text_nor_calls_are_extensions(content: Any, extensions: Any):
    decoded = decode("anthropic-messages", chat({"role": "assistant", "content": content}))
    (message,) = decoded.prompt
    assert isinstance(message, AssistantMessage)
    assert message.extensions == extensions
    assert decoded.opaque == {}


@pytest.mark.parametrize("kind", ["zone", "area", None])
def test_an_unknown_tool_choice_is_refused(kind: str | None):
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "a"}]}
    with pytest.raises(DecodeFailed, match="unknown tool choice"):
        decode("anthropic-messages", {**body, "tool_choice": {"type": kind, "name": "f"}})


@pytest.mark.parametrize("kind", ["audio", "thinking", "video", "zone"])
def test_a_block_of_an_unknown_kind_is_not_read_as_text(kind: str):
    blocks = [{"type": "text", "text": "a"}, {"type": kind, "text": "b"}]
    found = decode("anthropic-messages", {"model": "m", "messages": [{"role": "user", "content": blocks}]})
    assert [message.content for message in found.prompt] == ["a"]
    assert found.opaque["/messages/0/content/1/type"] == kind


@pytest.mark.parametrize("kind", ["grammar", "json", "text", "yaml"])
def test_a_format_without_a_schema_is_opaque(kind: str):
    body = {"model": "m", "messages": [{"role": "user", "content": "a"}], "output_config": {"format": {"type": kind}}}
    found = decode("anthropic-messages", body)
    assert "response_schema" not in found.options
    assert found.opaque["/output_config/format"] == {"type": kind}


@pytest.mark.parametrize("kind", ["aaa", "uri", "zone", None])
def test_an_image_from_an_unknown_source_is_refused(kind: str | None):
    image = {"type": "image", "source": {"type": kind, "url": "https://x", "media_type": "image/png", "data": "AAAA"}}
    with pytest.raises(DecodeFailed, match="unknown image source"):
        decode("anthropic-messages", {"model": "m", "messages": [{"role": "user", "content": [image]}]})


@pytest.mark.parametrize("name", ["output_config", "output_format"])
def test_the_schema_of_the_answer_is_read_from_its_place_and_from_that_of_the_older_beta(name):
    wanted: Any = {"type": "json_schema", "schema": {"type": "object"}}
    decoded = decode(
        "anthropic-messages", chat(USER, **{name: {"format": wanted} if name == "output_config" else wanted})
    )
    assert decoded.options == {"response_schema": {"type": "object"}}
    assert decoded.places["options/response_schema"].startswith(f"/{name}")
    assert decoded.opaque == {}


_VERTEX = "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/publishers/anthropic/models"


@pytest.mark.parametrize(
    ("url", "options"),
    [
        (
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-haiku-4-5-v1%3A0/invoke",
            {"model": "anthropic.claude-haiku-4-5-v1:0"},
        ),
        (
            "/model/us.anthropic.claude-haiku-4-5-v1:0/invoke-with-response-stream",
            {"model": "us.anthropic.claude-haiku-4-5-v1:0", "stream": True},
        ),
        (f"{_VERTEX}/claude-haiku-4-5@20251001:rawPredict", {"model": "claude-haiku-4-5@20251001"}),
        (f"{_VERTEX}/claude-haiku-4-5:streamRawPredict?alt=sse", {"model": "claude-haiku-4-5", "stream": True}),
        ("https://api.anthropic.com/v1/messages", {}),
        (None, {}),
    ],
)
def test_at_bedrock_and_vertex_ai_the_url_has_the_model_and_whether_to_stream(url, options):
    body = {"messages": [USER], "anthropic_version": "bedrock-2023-05-31"}
    decoded = decode("anthropic-messages", body, url=url)
    assert decoded.options == options
    assert decoded.opaque == {"/anthropic_version": "bedrock-2023-05-31"}
    known = find_by_url(url or "")
    assert (known is not None and known.name == "anthropic-messages") is bool(url)
