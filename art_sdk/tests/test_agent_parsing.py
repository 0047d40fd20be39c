from __future__ import annotations

import json

import pytest

from art_sdk import AssistantMessage, FunctionCall, LLMProviderError, ToolCall
from art_sdk.agents.pes import OutputParser, PlanningOutput

STANDARD = '{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\\"x\\": 1}"}}'
OTHER = '{"callId": "a", "toolName": "f", "arguments": {"x": 1}}'
CALL = ToolCall("a", FunctionCall("f", '{"x": 1}'))
PLANNED = PlanningOutput("to know", "1. look\n2. tell", (CALL,))
TEXT = "Intent: to know\nPlan: 1. look\n2. tell\nTool Calls: "


def parse(text: str | None, *calls: ToolCall) -> PlanningOutput:
    return OutputParser().parse_planning_output(AssistantMessage(text, calls))


@pytest.mark.parametrize("call", [STANDARD, OTHER], ids=["standard", "other"])
@pytest.mark.parametrize(
    "form",
    [
        TEXT + "[{}]",
        TEXT + "\n```json\n[{}]\n```\nThat is all.",
        TEXT + "\n[{}] and then I tell.",
        "**Intent:** to know\n**Plan:** 1. look\n2. tell\n**Tool Calls:** [{}]",
        "## Intent: to know\n## Plan:\n1. look\n2. tell\n## Tool calls:\n[{}]",
        "Sure!\n" + TEXT + "{}",
        '{{"intent": "to know", "plan": "1. look\\n2. tell", "toolCalls": [{}]}}',
        '```json\n{{"intent": "to know", "plan": ["1. look", "2. tell"], "tool_calls": [{}]}}\n```',
        "<think>Intent: no\nTool Calls: [7]</think>\n" + TEXT + "[{}]",
        "Intent: no\n</think>\n\n" + TEXT + "[{}]",
    ],
)
def test_a_plan_is_read_in_every_form_and_both_spellings(form: str, call: str):
    text = form.format(call) if "{{" in form else form.replace("{}", call)
    assert parse(text) == PLANNED


def test_native_calls_win_over_those_in_text():
    native = ToolCall("n", FunctionCall("g", "{}"))
    assert parse(TEXT + "[" + STANDARD + "]", native) == PlanningOutput("to know", "1. look\n2. tell", (native,))
    assert parse(TEXT + "[broken", native).tool_calls == (native,)


def test_calls_alone_have_no_intent_and_no_plan():
    assert parse(None, CALL) == PlanningOutput("", "", (CALL,))
    assert parse(f"[{OTHER}]") == PlanningOutput("", "", (CALL,))


@pytest.mark.parametrize("said", ["", "[]", "none", "None.", "N/A", "(no tools needed)", "null"])
def test_an_answer_without_calls_has_many_forms(said: str):
    assert parse(TEXT + said) == PlanningOutput("to know", "1. look\n2. tell")


def test_text_of_neither_form_is_the_plan():
    assert parse("I just say hello.") == PlanningOutput("", "I just say hello.")
    assert parse('{"answer": 42}') == PlanningOutput("", '{"answer": 42}')


def test_a_heading_out_of_order_is_text():
    plan = parse("Intent: a\nPlan: b\nIntent: c\nTool Calls: []\nPlan: d")
    assert (plan.intent, plan.plan) == ("a", "b\nIntent: c")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ('[{"id": ', "its tool calls are not JSON"),
        ("call f, please", "its tool calls must be a JSON array, not 'call f, please'"),
        ("[7]", "tool call 1 must be an object, not a number"),
        ('[{"id": "a"}]', "tool call 1 names no tool"),
        ('[{"toolName": "\\ud800"}]', "tool call 1 names no tool"),
    ],
)
def test_calls_that_cannot_be_read_are_a_retryable_error(said: str, reason: str):
    with pytest.raises(LLMProviderError) as caught:
        parse(TEXT + said)
    assert f"the plan cannot be read: {reason}" in caught.value.message
    assert caught.value.is_retryable


def test_calls_without_ids_are_numbered_and_odd_arguments_kept_for_the_tool_to_refuse():
    first, second = parse(TEXT + '[{"toolName": "f"}, {"toolName": "g", "arguments": [1]}]').tool_calls
    assert (first.id, first.function.arguments, second.id, second.function.arguments) == (
        "call_1",
        "{}",
        "call_2",
        "[1]",
    )


def test_thoughts_inside_a_line_are_text():
    text = json.dumps({"intent": "i", "plan": "say <think>x</think>", "toolCalls": []})
    assert parse(text).plan == "say <think>x</think>"


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("<think>hm</think>Yes.", "Yes."),
        ("<think>hm", ""),
        ("hm\n</think>\nYes.", "Yes."),
        ("The tag </think> ends it.", "The tag </think> ends it."),
        ("Yes.\n<thinking>more</thinking>\nReally.", "Yes.\n\nReally."),
    ],
)
def test_an_answer_is_the_text_without_thoughts(said: str, answer: str):
    assert OutputParser().parse_synthesis_output(AssistantMessage(said)) == answer


def test_lone_surrogates_of_escapes_do_not_stay_in_a_plan():
    assert parse('{"intent": "\\ud800", "plan": {"a": 1}}') == PlanningOutput("?", '{"a": 1}')


@pytest.mark.parametrize(
    "hostile", ["[" * 100_000, "<think>" * 20_000, "\n```\n" * 20_000, "Plan" * 20_000, "\n# " * 30_000]
)
def test_hostile_answers_are_read_in_time(hostile: str):
    assert parse(hostile).tool_calls == ()
