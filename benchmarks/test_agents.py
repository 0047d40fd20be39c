"""What a PES agent costs beyond its provider and its tools, alone and with 200 threads at once, and what it keeps."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from statistics import median
from typing import Any, Final

import anyio
import anyio.lowlevel
import pytest

from art_sdk import (
    ArtStandardPrompt,
    AssistantMessage,
    CallOptions,
    EndEvent,
    FunctionCall,
    LLMMetadata,
    MetadataEvent,
    PromptManager,
    StreamEvent,
    TokenEvent,
    ToolCall,
    ToolCallEvent,
    ToolResultMessage,
    ToolSchema,
)
from art_sdk.agents.pes import (
    InMemoryStore,
    ObservationManager,
    PESAgent,
    PESSettings,
    ReasoningEngine,
    Tool,
    ToolRegistry,
    ToolSystem,
)
from benchmarks.conftest import Note

STEPS: Final = 3
"""Planning, execution, synthesis."""

THREADS: Final = 200
QUESTIONS: Final = 5_000
ROUNDS: Final = 200

METADATA: Final = LLMMetadata(stop_reason="stop", raw_stop_reason="stop", total_generation_time_ms=1.0)
SCHEMA: Final = {"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"]}


class Provider:
    """An adapter that plans to echo the query, and answers with the thread and the tool's result."""

    async def call(self, prompt: ArtStandardPrompt, options: CallOptions) -> AsyncGenerator[StreamEvent]:
        of: Any = {"thread_id": options.thread_id, "trace_id": options.trace_id}
        message = _answer(prompt, options)
        await anyio.lowlevel.checkpoint()
        if message.content:
            yield TokenEvent(**of, text=message.content, token_type="AGENT_THOUGHT_LLM_RESPONSE")
        for call in message.tool_calls:
            yield ToolCallEvent(**of, call=call)
        yield MetadataEvent(**of, metadata=METADATA)
        yield EndEvent(**of, message=message, finish="tool_calls" if message.tool_calls else "stop")


def _answer(prompt: ArtStandardPrompt, options: CallOptions) -> AssistantMessage:
    if options.call_context == "AGENT_THOUGHT":
        query = str(prompt[-1].content).removeprefix("User Query: ").partition("\n")[0]
        call = ToolCall("call_1", FunctionCall("echo", f'{{"said": "{query}"}}'))
        return AssistantMessage("Intent: echo\nPlan: 1. echo", (call,))
    [result] = [message.content for message in prompt if isinstance(message, ToolResultMessage)]
    return AssistantMessage(f"{options.thread_id} said {result}")


async def echo(arguments: dict[str, Any]) -> str:
    return str(arguments["said"])


def make_agent(history: int) -> PESAgent:
    tool = Tool(schema=ToolSchema("echo", "Echoes.", SCHEMA), run=echo)
    return PESAgent(
        ReasoningEngine({"provider": Provider()}),
        PromptManager(),
        ToolSystem(ToolRegistry([tool])),
        InMemoryStore(messages=2 * history + 2),
        ObservationManager(limit=100),
        settings=PESSettings(history_limit=history),
    )


async def floor(prompts: list[ArtStandardPrompt]) -> None:
    """The provider's and the tool's own work for one question."""
    for context, prompt in zip(("AGENT_THOUGHT", "FINAL_SYNTHESIS"), prompts, strict=True):
        options = CallOptions(thread_id="t", call_context=context)
        async with aclosing(Provider().call(prompt, options)) as events:
            async for _ in events:
                pass
    await echo({"said": "query"})


async def milliseconds(work: Callable[[], Awaitable[object]]) -> float:
    """Median CPU time of a round."""
    times: list[float] = []
    for _ in range(ROUNDS):
        start = time.process_time()
        await work()
        times.append((time.process_time() - start) * 1_000)
    return median(times)


@pytest.mark.parametrize("history", [0, 50])
def test_a_step_takes_less_than_1_ms_beyond_the_provider_and_the_tools(note: Note, history: int):
    agent = make_agent(history)
    result = ToolResultMessage(tool_call_id="call_1", content="query")
    prompts: list[Any] = [(AssistantMessage("User Query: query"),), (result,)]

    async def measure() -> float:
        for number in range(history // 2):
            await agent.process("t", f"query {number}")
        whole = await milliseconds(lambda: agent.process("t", "query"))
        return whole - await milliseconds(lambda: floor(prompts))

    a_step = anyio.run(measure) / STEPS
    note(f"a step of an agent, history of {history}: ms of CPU of its own", f"{a_step:.2f}")
    assert a_step < 1


def test_two_hundred_threads_at_once_cost_what_they_cost_one_by_one(note: Note):
    def queries() -> list[tuple[str, str]]:
        return [(f"thread-{number}", f"query {number}") for number in range(THREADS)]

    async def one_by_one(agent: PESAgent) -> dict[str, str]:
        return {thread: (await agent.process(thread, query)).answer for thread, query in queries()}

    async def at_once(agent: PESAgent) -> dict[str, str]:
        answers: dict[str, str] = {}

        async def ask(thread: str, query: str) -> None:
            answers[thread] = (await agent.process(thread, query)).answer

        async with anyio.create_task_group() as group:
            for thread, query in queries():
                group.start_soon(ask, thread, query)
        return answers

    def seconds(ask: Callable[[PESAgent], Awaitable[dict[str, str]]]) -> float:
        agent, start = make_agent(0), time.process_time()
        answers = anyio.run(ask, agent)
        assert answers == {thread: f"{thread} said {query}" for thread, query in queries()}
        return time.process_time() - start

    ratio = median(seconds(at_once) / seconds(one_by_one) for _ in range(5))
    note(f"{THREADS} threads at once / one by one", f"{ratio:.2f}")
    assert ratio < 2


def test_memory_is_flat_over_thousands_of_questions(note: Note):
    agent = make_agent(10)

    async def ask(times: int) -> int:
        for number in range(times):
            await agent.process("t", f"query {number % 100:03}")
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    async def growth() -> int:
        before = await ask(QUESTIONS // 5)
        return await ask(QUESTIONS * 4 // 5) - before

    tracemalloc.start(1)
    try:
        grown = anyio.run(growth)
    finally:
        tracemalloc.stop()
    note(f"an agent: kB kept from question {QUESTIONS // 5:,} to {QUESTIONS:,}", f"{grown / 1_000:.1f}")
    assert grown < 100_000
