from __future__ import annotations

from typing import Any

import pytest

from art_sdk import (
    AssistantMessage,
    FunctionCall,
    ParsedToolCall,
    PromptValidationFailed,
    ToolCall,
    ToolResult,
    answer_call,
    parse_tool_calls,
)


def test_calls_are_parsed_for_their_tools():
    message = AssistantMessage(
        None,
        (ToolCall("a", FunctionCall("look", '{"at": 12345678901234567890}')), ToolCall("b", FunctionCall("go", ""))),
    )
    assert parse_tool_calls(message) == (
        ParsedToolCall("a", "look", {"at": 12345678901234567890}),
        ParsedToolCall("b", "go", {}),
    )


def test_the_error_of_bad_arguments_names_call_and_path():
    message = AssistantMessage(
        None, (ToolCall("a", FunctionCall("look", "{}")), ToolCall("b", FunctionCall("go", "[1]")))
    )
    with pytest.raises(
        PromptValidationFailed, match=r"\$\.tool_calls\[1\]\.function\.arguments: the call 'b': "
    ) as failed:
        parse_tool_calls(message)
    assert failed.value.details["violations"][0]["path"] == "$.tool_calls[1].function.arguments"


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("as it is", "as it is"),
        ("", ""),
        ({"a": [1, None, "ü"]}, '{"a":[1,null,"ü"]}'),
        (None, "null"),
        (42, "42"),
        (True, "true"),
    ],
)
def test_an_output_becomes_text(output: Any, text: str):
    message = answer_call(ToolResult("a", "look", "success", output=output))
    assert (message.content, message.tool_call_id, message.name, message.status) == (text, "a", "look", "success")


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (ToolResult("a", "look", "error", error="no such place"), "no such place"),
        (ToolResult("a", "look", "error", output={"half": 1}), '{"half":1}'),
    ],
)
def test_an_error_becomes_text(result: ToolResult, text: str):
    assert (answer_call(result).content, answer_call(result).status) == (text, "error")


@pytest.mark.parametrize("output", [float("nan"), {"a": {1, 2}}, ["\ud800"]])
def test_an_output_that_is_not_json_is_an_error(output: Any):
    with pytest.raises(PromptValidationFailed, match="the tool's output: "):
        answer_call(ToolResult("a", "look", "success", output=output))
