from __future__ import annotations

import json
from typing import Any, get_args

import msgspec
import pytest

from art_sdk import (
    ArtStandardMessage,
    ArtStandardMessageRole,
    ArtToolCallRequest,
    AssistantMessage,
    FunctionCall,
    ImagePart,
    ParsedToolCall,
    PromptValidationFailed,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolRequest,
    ToolRequestMessage,
    ToolResult,
    ToolResultMessage,
    ToolSchema,
    UserMessage,
    dump_prompt,
    parse_prompt,
    parse_prompt_json,
)

PROMPT = (
    SystemMessage("s", "n"),
    UserMessage("u"),
    UserMessage((TextPart("t"), ImagePart("image/png", url="https://x/y")), "n"),
    AssistantMessage(None, (ToolCall("c", FunctionCall("f", "{}")),), extensions={"d": {"n": 10**30, "x": None}}),
    ToolResultMessage("r", "c", "f", "error"),
    ToolRequestMessage(ToolRequest("e", "f", {"n": -(10**30), "f": 0.1})),
    ToolRequestMessage(ToolRequest("g", "f", "{}")),
    ToolRequestMessage(None),
)


def test_a_prompt_dumped_and_parsed_again_is_equal() -> None:
    assert parse_prompt(dump_prompt(PROMPT)) == PROMPT
    assert parse_prompt_json(json.dumps(dump_prompt(PROMPT))) == PROMPT


@pytest.mark.parametrize(
    ("message", "data"),
    [
        (UserMessage("u"), {"role": "user", "content": "u"}),
        (AssistantMessage(None), {"role": "assistant", "content": None}),
        (ToolResultMessage("r", "c"), {"role": "tool_result", "content": "r", "tool_call_id": "c"}),
        (ToolRequestMessage(None), {"role": "tool_request", "content": None}),
    ],
)
def test_an_unset_field_is_left_out_of_json(message: ArtStandardMessage, data: dict[str, Any]) -> None:
    assert dump_prompt((message,)) == [data]


def test_a_call_keeps_its_type_in_json() -> None:
    calls = dump_prompt(PROMPT)[3]["tool_calls"]
    assert calls == [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]


def test_dumped_data_shares_nothing_with_the_prompt() -> None:
    dumped = dump_prompt(PROMPT)
    dumped[3]["extensions"]["d"]["x"] = "changed"
    assert PROMPT[3] == AssistantMessage(
        None, (ToolCall("c", FunctionCall("f", "{}")),), extensions={"d": {"n": 10**30, "x": None}}
    )


@pytest.mark.parametrize("message", PROMPT, ids=lambda m: type(m).__name__)
def test_a_message_is_frozen(message: Any) -> None:
    with pytest.raises(AttributeError):
        message.content = "x"


def test_every_message_has_a_role_and_every_role_a_message() -> None:
    tags = {kind.__struct_config__.tag for kind in get_args(ArtStandardMessage)}
    assert tags | {"tool"} == set(get_args(ArtStandardMessageRole))


def test_the_seed_s_name_of_a_call_is_the_call() -> None:
    assert ArtToolCallRequest is ToolCall


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (
            ToolSchema("f", "d", {"type": "object"}),
            {"name": "f", "description": "d", "inputSchema": {"type": "object"}},
        ),
        (ToolResult("c", "f", "success", [1]), {"callId": "c", "toolName": "f", "status": "success", "output": [1]}),
        (ParsedToolCall("c", "f", {"a": 1}), {"callId": "c", "toolName": "f", "arguments": {"a": 1}}),
    ],
)
def test_values_for_blueprints_have_camel_case_names(value: msgspec.Struct, data: dict[str, Any]) -> None:
    assert msgspec.to_builtins(value) == data
    assert msgspec.convert(data, type(value)) == value


@pytest.mark.parametrize("more", [{}, {"data": "AAAA", "url": "https://pictures.example/1.png"}])
def test_an_image_has_data_or_url(more: dict[str, str]) -> None:
    image = {"type": "image", "mime_type": "image/png", **more}
    with pytest.raises(PromptValidationFailed, match=r"\$\[0\]\.content\[0\]: an image must have either data or url"):
        parse_prompt([{"role": "user", "content": [image]}])
