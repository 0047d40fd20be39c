"""Many questions: at once through one agent, and one after the other."""

from __future__ import annotations

import gc
import time
import tracemalloc
from typing import Any

import anyio
import pytest

from art_sdk import AssistantMessage, ToolResultMessage
from art_sdk.agents.pes import AgentResult, InMemoryStore
from scripted import AgentOnTrial, calling, tool

ECHO = {"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"]}


def said_of(prompt: Any) -> str:
    """The query of a prompt."""
    return prompt[-1].content.removeprefix("User Query: ").partition("\n")[0]


def answer(prompt: Any, options: Any) -> Any:
    """Plans to echo the query, then answers with the result."""
    if options.call_context == "AGENT_THOUGHT":
        return calling(("call_1", "echo", f'{{"said": "{said_of(prompt)}"}}'), content="Intent: echo\nPlan: 1. echo")
    [result] = [message for message in prompt if isinstance(message, ToolResultMessage)]
    return f"{options.thread_id} said {result.content}"


async def echo(arguments: dict[str, Any]) -> str:
    await anyio.lowlevel.checkpoint()
    return arguments["said"]


def trial(**others: Any) -> AgentOnTrial:
    return AgentOnTrial(script=answer, tools=(tool("echo", echo, ECHO),), **others)


def test_two_hundred_threads_at_once_are_not_mixed_up():
    asked = trial()
    results: dict[int, AgentResult] = {}

    async def ask(number: int) -> None:
        for turn in range(2):
            results[number] = await asked.agent.process(f"thread-{number}", f"query {number}/{turn}")

    async def run() -> None:
        async with anyio.create_task_group() as group:
            for number in range(200):
                group.start_soon(ask, number)

    anyio.run(run)
    assert {number: result.answer for number, result in results.items()} == {
        number: f"thread-{number} said query {number}/1" for number in range(200)
    }
    assert len({result.trace_id for result in results.values()}) == 200
    for number in range(200):
        kept = asked.history(f"thread-{number}")
        assert [one.content for one in kept if isinstance(one, AssistantMessage)] == [
            f"thread-{number} said query {number}/{turn}" for turn in range(2)
        ]
        assert len(kept) == 4


@pytest.mark.once
@pytest.mark.unmeasured
def test_memory_stays_flat_over_many_questions():
    asked = trial(store=InMemoryStore(messages=20), history_limit=10, observed=50)

    async def ask(times: int) -> None:
        for number in range(times):
            await asked.agent.process("thread", f"query {number}")

    tracemalloc.start()
    try:
        _grown(asked, ask)  # fills the observations and the messages that are kept
        sizes = [_grown(asked, ask) for _ in range(3)]
    finally:
        tracemalloc.stop()
    assert min(sizes) < 20_000, sizes  # of 60 questions: a kept prompt each would be 150,000


def _grown(asked: AgentOnTrial, ask: Any) -> int:
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    anyio.run(ask, 60)
    asked.adapter.prompts.clear()
    asked.adapter.options.clear()
    gc.collect()
    return tracemalloc.get_traced_memory()[0] - before


@pytest.mark.once
@pytest.mark.unmeasured
def test_the_agents_own_work_is_short():
    asked = trial(store=InMemoryStore(messages=20), history_limit=10)

    async def timed() -> float:
        began = time.process_time()
        for number in range(50):
            await asked.agent.process("thread", f"query {number}")
        return (time.process_time() - began) / 50

    anyio.run(timed)
    a_question = min(anyio.run(timed) for _ in range(3))
    assert a_question < 0.03, a_question  # three steps of 1 ms, on a machine ten times slower
