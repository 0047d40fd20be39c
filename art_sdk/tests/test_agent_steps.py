"""A question's way: what is assembled, what is sent, what is kept."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from art_sdk import (
    AssistantMessage,
    PromptManager,
    TokenEvent,
    ToolResultMessage,
    UserMessage,
    dump_prompt,
)
from art_sdk.agents.pes import DEFAULT_SYSTEM_PROMPT, PES_PLAN, PES_SYNTHESIZE, AgentResult, Observation, PESAgent
from scripted import CITY, PLAN, AgentOnTrial, calling, tool

WEATHER = tool("weather", lambda arguments: {"city": arguments["city"], "rain": True})
NEWS = tool("news", lambda arguments: "none", {"type": "object"})
ROME = ("c1", "weather", '{"city": "Rome"}')


class Remembering(PromptManager):
    def __init__(self) -> None:
        super().__init__()
        self.assembled: list[tuple[Any, dict[str, Any], Any]] = []

    def assemble_prompt(self, blueprint: Any, context: Any, **options: Any) -> Any:
        self.assembled.append((blueprint, dict(context), options.get("name")))
        return super().assemble_prompt(blueprint, context, **options)


def test_both_steps_assemble_their_blueprint_with_exactly_this_context():
    prompts = Remembering()
    planned = calling(ROME, content="Intent: rain\nPlan: 1. look")
    trial = AgentOnTrial(PLAN, "Hi!", planned, "It rains.", tools=(WEATHER,), prompts=prompts)
    trial.configure(systemPrompt="Be brief.")
    trial.ask("Hi")
    trial.ask("Rain in Rome?")
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hi!"}]
    schema = {"name": "weather", "description": "The tool weather.", "inputSchema": CITY}
    output = '{"city":"Rome","rain":true}'
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
    assert prompts.assembled[2:] == [
        (
            PES_PLAN,
            {"query": "Rain in Rome?", "history": history, "availableTools": [schema], "systemPrompt": "Be brief."},
            "PES_PLAN",
        ),
        (
            PES_SYNTHESIZE,
            {
                "query": "Rain in Rome?",
                "history": history,
                "systemPrompt": "Be brief.",
                "intent": "rain",
                "plan": "1. look",
                "toolResults": [
                    {"callId": "c1", "toolName": "weather", "status": "success", "output": output, "error": None}
                ],
                "toolMessages": [
                    {"role": "user", "content": "Rain in Rome?"},
                    {"role": "assistant", "content": "Intent: rain\nPlan: 1. look", "tool_calls": [call]},
                    {"role": "tool_result", "content": output, "tool_call_id": "c1", "name": "weather"},
                ],
            },
            "PES_SYNTHESIZE",
        ),
    ]


def test_the_synthesis_prompt_has_the_round_as_messages_and_its_results_as_text():
    trial = AgentOnTrial(calling(ROME), "It rains.", tools=(WEATHER,))
    trial.ask("Rain in Rome?")
    system, query, asked, result, request = dump_prompt(trial.adapter.prompts[1])
    assert (system["content"], query["content"]) == (DEFAULT_SYSTEM_PROMPT, "Rain in Rome?")
    assert (asked["content"], asked["tool_calls"][0]["id"], result["tool_call_id"]) == (None, "c1", "c1")
    assert request["content"] == (
        "User Query: Rain in Rome?\n\nOriginal Intent: \nExecution Plan: \n\nTool Execution Results:\n"
        '- Tool: weather (Call ID: c1)\n  Status: success\n  Output: {"city":"Rome","rain":true}\n\n'
        "Answer the user from the query, the plan and these results."
    )


def test_calls_in_text_take_the_shape_of_native_ones():
    text = 'Intent: i\nPlan: p\nTool Calls: [{"callId": "a", "toolName": "weather", "arguments": {"city": "Rome"}}]'
    trial = AgentOnTrial(text, "It rains.", tools=(WEATHER,))
    result = trial.ask()
    assert (result.intent, result.plan, result.rounds) == ("i", "p", 1)
    asked = trial.adapter.prompts[1][2]
    assert isinstance(asked, AssistantMessage)
    assert (asked.content, asked.tool_calls[0].function.arguments) == (None, '{"city": "Rome"}')


@pytest.mark.parametrize(
    ("config", "used"), [({"systemPrompt": "Mine."}, "Mine."), ({"systemPrompt": ""}, None), ({}, None)]
)
def test_a_thread_without_a_system_prompt_has_the_agents_own(config: dict[str, Any], used: str | None):
    trial = AgentOnTrial(PLAN, "Yes.")
    trial.configure(**config)
    trial.ask()
    assert {prompt[0].content for prompt in trial.adapter.prompts} == {used or DEFAULT_SYSTEM_PROMPT}


def test_query_and_answer_are_the_history_of_the_next_question_and_the_query_is_not():
    trial = AgentOnTrial(PLAN, "First answer.", PLAN, "Second answer.")
    trial.ask("First?")
    trial.ask("Second?")
    said = [UserMessage("First?"), AssistantMessage("First answer.")]
    assert list(trial.adapter.prompts[2][1:3]) == said
    assert len(trial.adapter.prompts[2]) == 4
    assert trial.history() == [*said, UserMessage("Second?"), AssistantMessage("Second answer.")]


def test_the_history_of_a_prompt_is_bounded():
    trial = AgentOnTrial(
        script=lambda _, options: PLAN if options.call_context == "AGENT_THOUGHT" else "Yes.", history_limit=4
    )
    for number in range(5):
        trial.ask(f"Question {number}?")
    assert [message.content for message in trial.adapter.prompts[-1][1:-1]] == [
        "Question 2?",
        "Yes.",
        "Question 3?",
        "Yes.",
    ]


def test_calls_have_the_options_of_their_step():
    trial = AgentOnTrial(calling(ROME), "It rains.", tools=(WEATHER, NEWS))
    trial.configure(enabledTools=["weather"], provider={"name": "scripted", "options": {"temperature": 0}})
    trial.ask()
    plan, synthesis = trial.adapter.options
    assert (plan.call_context, plan.tool_choice, plan.temperature) == ("AGENT_THOUGHT", None, 0)
    assert (synthesis.call_context, synthesis.tool_choice) == ("FINAL_SYNTHESIS", "none")
    assert plan.trace_id == synthesis.trace_id != None  # noqa: E711 - one comparison
    assert [tool.name for tool in plan.tools] == [tool.name for tool in synthesis.tools] == ["weather"]


def test_an_adapter_without_tools_gets_them_as_text_alone():
    text = 'Tool Calls: [{"id": "a", "function": {"name": "weather", "arguments": {"city": "Rome"}}}]'
    trial = AgentOnTrial(text, "It rains.", tools=(WEATHER,), capabilities=frozenset({"system"}))
    trial.ask()
    assert all(not options.tools for options in trial.adapter.options)
    assert [message["role"] for message in dump_prompt(trial.adapter.prompts[1])] == ["system", "user"]
    assert 'Output: {"city":"Rome","rain":true}' in str(trial.adapter.prompts[1][-1].content)


def test_an_adapter_without_parallel_calls_gets_them_one_by_one():
    two = calling(ROME, ("c2", "weather", '{"city": "Oslo"}'))
    known: Any = frozenset({"system", "tools"})
    trial = AgentOnTrial(two, "It rains.", tools=(WEATHER,), capabilities=known)
    trial.ask()
    roles = [message["role"] for message in dump_prompt(trial.adapter.prompts[1])]
    assert roles == ["system", "user", "assistant", "tool_result", "assistant", "tool_result", "user"]
    assert not trial.adapter.options[1].tools  # calls cannot be forbidden: the tools are not offered


def test_a_model_may_call_tools_again_within_its_rounds():
    again = calling(("c1", "weather", '{"city": "Oslo"}'))
    trial = AgentOnTrial(calling(ROME), again, "Both.", tools=(WEATHER,), max_rounds=2)
    result = trial.ask()
    assert (result.answer, result.rounds, len(result.tool_results)) == ("Both.", 2, 2)
    results = [message for message in trial.adapter.prompts[2] if isinstance(message, ToolResultMessage)]
    assert [message.tool_call_id for message in results] == ["c1", "c1_2"]
    assert [options.tool_choice for options in trial.adapter.options] == [None, None, "none"]


def test_the_thread_chooses_the_provider():
    trial = AgentOnTrial(PLAN, "Yes.")
    trial.configure(provider="another")
    with pytest.raises(Exception, match="there is no provider 'another'; known providers: scripted"):
        trial.ask()


def stream(agent: PESAgent, query: str) -> list[Any]:
    async def collect() -> list[Any]:
        return [event async for event in agent.stream("t", query)]

    return anyio.run(collect)


def test_a_stream_has_the_events_of_both_calls_the_observations_and_the_result():
    trial = AgentOnTrial(calling(ROME, content="Intent: i\nPlan: p"), "It rains.", tools=(WEATHER,))
    events = stream(trial.agent, "Rain?")
    assert [event.type if isinstance(event, Observation) else type(event).__name__ for event in events] == [
        *("TokenEvent", "ToolCallEvent", "MetadataEvent", "EndEvent"),
        *("INTENT", "PLAN", "TOOL_CALL", "TOOL_EXECUTION"),
        *("TokenEvent", "MetadataEvent", "EndEvent", "SYNTHESIS"),
        "AgentResult",
    ]
    assert trial.kinds() == ["INTENT", "PLAN", "TOOL_CALL", "TOOL_EXECUTION", "SYNTHESIS"]
    assert all(options.stream for options in trial.adapter.options)


def test_a_stream_that_is_left_early_releases_the_call_and_keeps_nothing():
    trial = AgentOnTrial(PLAN, "Yes.")

    async def leave() -> None:
        events = trial.agent.stream("t", "Rain?")
        async for event in events:
            if isinstance(event, TokenEvent):
                assert trial.adapter.open == 1
                break
        await events.aclose()

    anyio.run(leave)
    assert (trial.adapter.open, trial.history()) == (0, [])


def test_streamed_or_not_the_result_is_the_same():
    def result(*, streamed: bool) -> AgentResult:
        trial = AgentOnTrial(calling(ROME), "It rains.", tools=(WEATHER,))
        return stream(trial.agent, "Rain?")[-1] if streamed else trial.ask("Rain?")

    one, other = result(streamed=True), result(streamed=False)
    assert one.trace_id != other.trace_id
    assert (one.answer, one.tool_results) == (other.answer, other.tool_results)
