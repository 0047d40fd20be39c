"""What `PESAgent.stream` yields while tools run: each result at once, under any time limits of the caller."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from art_sdk import ToolResultMessage
from art_sdk.agents.background import in_background
from art_sdk.agents.pes import AgentResult, Observation
from scripted import AgentOnTrial, calling, tool

BACKENDS = pytest.mark.parametrize("backend", ["asyncio", "trio"])
NOTHING: dict[str, Any] = {"type": "object"}
LONG = 30


class Tools:
    """`slow` waits until it is let go; `fast` does not wait. Both say how they ended."""

    def __init__(self) -> None:
        self.released = anyio.Event()
        self.ended: list[str] = []

    async def slow(self, _: dict[str, Any]) -> str:
        try:
            await self.released.wait()
            return "slow"
        finally:
            self.ended.append("slow")

    def trial(self) -> AgentOnTrial:
        calls = calling(("1", "slow", "{}"), ("2", "fast", "{}"))
        tools = (tool("slow", self.slow, NOTHING), tool("fast", lambda _: "fast", NOTHING))
        return AgentOnTrial(calls, "Done.", tools=tools)


def is_result(event: object) -> bool:
    return isinstance(event, Observation) and event.type == "TOOL_EXECUTION"


@BACKENDS
def test_a_result_is_observed_as_soon_as_it_is_there_and_kept_in_the_order_of_the_calls(backend: str):
    async def ask() -> tuple[list[str], AgentResult, list[str]]:
        tools = Tools()
        trial = tools.trial()
        seen: list[Any] = []
        with anyio.fail_after(LONG):
            async for event in trial.agent.stream("t", "Go."):
                seen.append(event)
                if is_result(event):
                    tools.released.set()  # the other tool waits for this
        names = [event.content["toolName"] for event in seen if is_result(event)]
        sent = [one.content for one in trial.adapter.prompts[-1] if isinstance(one, ToolResultMessage)]
        return names, seen[-1], sent

    names, result, sent = anyio.run(ask, backend=backend)
    assert names == ["fast", "slow"]
    assert [one.output for one in result.tool_results] == ["slow", "fast"]
    assert sent == ["slow", "fast"]


@BACKENDS
def test_a_time_limit_on_each_event_does_not_disturb_the_tools(backend: str):
    async def ask() -> list[Any]:
        tools = Tools()
        events, seen = tools.trial().agent.stream("t", "Go."), []
        while not (seen and isinstance(seen[-1], AgentResult)):
            with anyio.fail_after(LONG):
                seen.append(await anext(events))
            if is_result(seen[-1]):
                tools.released.set()
        await events.aclose()
        return seen

    assert anyio.run(ask, backend=backend)[-1].answer == "Done."


@BACKENDS
def test_leaving_the_stream_cancels_the_tools_that_run(backend: str):
    async def leave() -> list[str]:
        tools = Tools()
        events = tools.trial().agent.stream("t", "Go.")
        async for event in events:
            if is_result(event):
                break
        assert tools.ended == []
        await events.aclose()
        return tools.ended

    assert anyio.run(leave, backend=backend) == ["slow"]


@BACKENDS
def test_cancelling_a_question_cancels_its_tools(backend: str):
    async def cancel() -> tuple[list[str], Any]:
        tools = Tools()
        trial = tools.trial()
        with anyio.CancelScope() as scope:
            trial.observations.subscribe(lambda event: scope.cancel() if is_result(event) else None)
            await trial.agent.process("t", "Go.")
        return tools.ended, await trial.store.get_messages("t")

    assert anyio.run(cancel, backend=backend) == (["slow"], ())


@BACKENDS
def test_an_error_in_the_background_is_raised_at_the_end(backend: str):
    async def fail() -> None:
        raise LookupError("gone")

    async def run() -> None:
        async with in_background(fail):
            await anyio.lowlevel.checkpoint()

    with pytest.raises(LookupError, match="gone"):
        anyio.run(run, backend=backend)


@BACKENDS
def test_work_that_is_over_before_it_began_is_not_waited_for(backend: str):
    async def run() -> None:
        with anyio.fail_after(LONG):
            async with in_background(anyio.sleep_forever):
                pass

    anyio.run(run, backend=backend)
