from __future__ import annotations

from typing import Any

import pytest

from art_sdk import FRAGMENTS, Blueprint, PromptContext, PromptManager, ToolResult, dump_prompt
from art_sdk.agents.pes import PES_PLAN, PES_PLAN_OBJECT, PES_SYNTHESIZE, PES_SYNTHESIZE_OBJECT

BOTH = {"plan": (PES_PLAN, PES_PLAN_OBJECT), "synthesize": (PES_SYNTHESIZE, PES_SYNTHESIZE_OBJECT)}
CONTEXT: dict[str, Any] = {
    "systemPrompt": 'You are "ART".\nBe kind.',
    "query": "Rain in \\London\\?",
    "history": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}],
    "availableTools": [{"name": "weather", "description": 'Says "rain".', "inputSchema": {"type": "object"}}],
    "intent": "weather",
    "plan": "1. ask\n2. answer",
    "toolResults": [
        {"callId": "c1", "toolName": "weather", "status": "success", "output": {"rain": True}},
        {"callId": "c2", "toolName": "news", "status": "error", "error": 'no "news"'},
    ],
}
EMPTY = CONTEXT | {"history": [], "availableTools": [], "toolResults": []}


def contents(name: str, context: dict[str, Any]) -> list[Any]:
    return [message["content"] for message in dump_prompt(PromptManager().assemble_prompt(BOTH[name][0], context))]


@pytest.mark.parametrize("context", [CONTEXT, EMPTY], ids=["full", "empty"])
@pytest.mark.parametrize("name", BOTH)
def test_text_and_object_make_the_same_prompt(name: str, context: dict[str, Any]):
    manager = PromptManager()
    text, node = BOTH[name]
    assert manager.assemble_prompt(text, context) == manager.assemble_prompt(node, context)


@pytest.mark.parametrize("name", BOTH)
def test_text_and_object_use_the_same_names(name: str):
    text, node = (Blueprint.compile(source, partials=FRAGMENTS) for source in BOTH[name])
    assert (text.variables(), text.sections()) == (node.variables(), node.sections())


def test_the_planning_prompt_lists_the_tools_and_the_form():
    system, first, second, request = contents("plan", CONTEXT)
    assert (system, first, second) == (CONTEXT["systemPrompt"], "hi", "hello")
    assert request.startswith(
        "User Query: Rain in \\London\\?\n\nAvailable Tools:\n"
        '- weather: Says "rain".\n  Input Schema: {"type":"object"}\n\nFind out'
    )
    assert request.endswith("plan for it.\n" + FRAGMENTS["pes_tool_format"])


def test_the_planning_prompt_says_that_there_are_no_tools():
    assert "\n\nAvailable Tools:\nNo tools available.\n\n" in contents("plan", EMPTY)[-1]


def test_the_synthesis_prompt_has_results_and_errors():
    assert contents("synthesize", CONTEXT)[-1] == (
        "User Query: Rain in \\London\\?\n\nOriginal Intent: weather\nExecution Plan: 1. ask\n2. answer\n\n"
        "Tool Execution Results:\n"
        '- Tool: weather (Call ID: c1)\n  Status: success\n  Output: {"rain":true}\n'
        '- Tool: news (Call ID: c2)\n  Status: error\n  Error: no "news"\n\n'
        "Answer the user from the query, the plan and these results."
    )
    assert "Tool Execution Results:\nNo tool was called.\n\n" in contents("synthesize", EMPTY)[-1]


def test_a_tool_without_output_is_not_a_missing_name():
    context = PromptContext(
        system_prompt="s",
        query="q",
        history=(),
        tool_results=(ToolResult("c1", "log", "success"), ToolResult("c2", "log", "error")),
        intent="i",
        plan="p",
    )
    request = PromptManager().assemble_prompt(PES_SYNTHESIZE, context)[-1].content
    assert "(Call ID: c1)\n  Status: success\n  Output: \n- Tool: log (Call ID: c2)\n  Status: error\n" in str(request)
