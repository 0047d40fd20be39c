from __future__ import annotations

import json
from typing import Any, get_args

import msgspec
import pytest

from art_sdk import PromptValidationFailed, parse_prompt, parse_prompt_json
from art_sdk import messages as m

PROMPT = (
    m.SystemMessage("s", "n"),
    m.UserMessage("u"),
    m.UserMessage((m.TextPart("t"), m.ImagePart("image/png", url="https://x/y")), "n"),
    m.AssistantMessage(None, (m.ToolCall("c", m.FunctionCall("f", "{}")),), extensions={"d": {"n": 10**30, "x": None}}),
    m.ToolResultMessage("r", "c", "f", "error"),
    m.ToolRequestMessage(m.ToolRequest("e", "f", {"n": -(10**30), "f": 0.1})),
    m.ToolRequestMessage(m.ToolRequest("g", "f", "{}")),
    m.ToolRequestMessage(None),
)


def test_a_dumped_prompt_parses_to_an_equal_one() -> None:
    assert parse_prompt(m.dump_prompt(PROMPT)) == PROMPT
    assert parse_prompt_json(json.dumps(m.dump_prompt(PROMPT))) == PROMPT


@pytest.mark.parametrize(
    ("message", "data"),
    [
        (m.UserMessage("u"), {"role": "user", "content": "u"}),
        (m.AssistantMessage(None), {"role": "assistant", "content": None}),
        (m.ToolResultMessage("r", "c"), {"role": "tool_result", "content": "r", "tool_call_id": "c"}),
        (m.ToolRequestMessage(None), {"role": "tool_request", "content": None}),
    ],
)
def test_an_unset_field_is_left_out_of_json(message: m.ArtStandardMessage, data: dict[str, Any]) -> None:
    assert m.dump_prompt((message,)) == [data]


def test_a_call_keeps_its_type_in_json() -> None:
    calls = m.dump_prompt(PROMPT)[3]["tool_calls"]
    assert calls == [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]


def test_dumped_data_shares_nothing_with_the_prompt() -> None:
    dumped = m.dump_prompt(PROMPT)
    dumped[3]["extensions"]["d"]["x"] = "changed"
    assert PROMPT[3] == m.AssistantMessage(
        None, (m.ToolCall("c", m.FunctionCall("f", "{}")),), extensions={"d": {"n": 10**30, "x": None}}
    )


@pytest.mark.parametrize("message", PROMPT, ids=lambda message: type(message).__name__)
def test_a_message_is_frozen(message: Any) -> None:
    with pytest.raises(AttributeError):
        message.content = "x"


def test_every_message_has_a_role_and_every_role_a_message() -> None:
    tags = {kind.__struct_config__.tag for kind in get_args(m.ArtStandardMessage)}
    assert tags | {"tool"} == set(get_args(m.ArtStandardMessageRole))


def test_art_tool_call_request_is_the_tool_call() -> None:
    assert m.ArtToolCallRequest is m.ToolCall


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (
            m.ToolSchema("f", "d", {"type": "object"}),
            {"name": "f", "description": "d", "inputSchema": {"type": "object"}},
        ),
        (m.ToolResult("c", "f", "success", [1]), {"callId": "c", "toolName": "f", "status": "success", "output": [1]}),
        (m.ParsedToolCall("c", "f", {"a": 1}), {"callId": "c", "toolName": "f", "arguments": {"a": 1}}),
    ],
)
def test_values_for_blueprints_have_camel_case_names(value: msgspec.Struct, data: dict[str, Any]) -> None:
    assert msgspec.to_builtins(value) == data
    assert msgspec.convert(data, type(value)) == value


@pytest.mark.parametrize("more", [{}, {"data": "AAAA", "url": "https://pictures.example/1.png"}])
def test_an_image_must_have_either_data_or_url(more: dict[str, str]) -> None:
    image = {"type": "image", "mime_type": "image/png", **more}
    with pytest.raises(PromptValidationFailed, match=r"\$\[0\]\.content\[0\]: an image must have either data or url"):
        parse_prompt([{"role": "user", "content": [image]}])
