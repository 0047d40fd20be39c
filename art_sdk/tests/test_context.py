from __future__ import annotations

import copy
from typing import Any

import pytest

from art_sdk import PromptContext, ToolResult, ToolSchema, UserMessage

GIVEN: list[tuple[str, Any, str, Any]] = [
    ("query", "why?", "query", "why?"),
    ("query", "", "query", ""),
    ("history", (UserMessage("hi"),), "history", [{"role": "user", "content": "hi"}]),
    ("history", (), "history", []),
    (
        "available_tools",
        (ToolSchema("f", "d", {"type": "object"}),),
        "availableTools",
        [{"name": "f", "description": "d", "inputSchema": {"type": "object"}}],
    ),
    (
        "tool_results",
        (ToolResult("c", "f", "error", error="no"),),
        "toolResults",
        [{"callId": "c", "toolName": "f", "status": "error", "output": None, "error": "no"}],
    ),
    ("tool_results", (), "toolResults", []),
    ("system_prompt", "be kind", "systemPrompt", "be kind"),
    ("userName", {"first": "Ann"}, "userName", {"first": "Ann"}),
    ("own", None, "own", None),
]


@pytest.mark.parametrize(("attribute", "value", "name", "data"), GIVEN)
def test_a_value_has_its_blueprint_name_and_is_json_data(attribute: str, value: Any, name: str, data: Any) -> None:
    context = PromptContext(**{attribute: value})
    assert dict(context) == {name: data}
    assert (context[name], len(context), list(context)) == (data, 1, [name])


@pytest.mark.parametrize("attribute", ["query", "history", "available_tools", "tool_results", "system_prompt"])
def test_a_standard_name_that_is_not_given_is_absent(attribute: str) -> None:
    context = PromptContext(**{attribute: None})
    assert len(context) == 0
    with pytest.raises(KeyError):
        context["query"]


@pytest.mark.parametrize(
    ("snake", "camel"),
    [("available_tools", "availableTools"), ("tool_results", "toolResults"), ("system_prompt", "systemPrompt")],
)
def test_a_value_given_under_both_names_is_an_error(snake: str, camel: str) -> None:
    value: Any = "x" if snake == "system_prompt" else ()
    with pytest.raises(TypeError, match=f"given in both snake_case and camelCase: {camel}$"):
        PromptContext(**{snake: value, camel: "x"})


def test_the_repr_of_a_context_has_no_data() -> None:
    context = PromptContext(query="my password is swordfish", own=1)
    assert repr(context) == "PromptContext(query, own)"


def test_a_context_shares_nothing_with_its_arguments() -> None:
    schema = ToolSchema("f", "d", {"type": "object", "properties": {}})
    before = copy.deepcopy(schema)
    context = PromptContext(available_tools=(schema,))
    context["availableTools"][0]["inputSchema"]["properties"]["x"] = 1
    assert schema == before
