"""One question on its way through the steps of a PES agent."""

from __future__ import annotations

import math
import os
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from typing import Any, Final, cast

import anyio
from msgspec import structs, to_builtins

from art_sdk.agents.background import in_background
from art_sdk.agents.history import ConversationMessage
from art_sdk.agents.observations import Observation, ObservationType
from art_sdk.agents.pes.blueprints import PES_PLAN, PES_SYNTHESIZE
from art_sdk.agents.pes.parsing import OutputParser, PlanningOutput
from art_sdk.agents.pes.preparing import Parts, Prepared, prepare
from art_sdk.agents.pes.result import AgentEvent, AgentResult, Step
from art_sdk.agents.pes.rounds import Round, read_round
from art_sdk.agents.pes.settings import PESSettings, may_pass, pause_before_retry
from art_sdk.blueprints.blueprint import BlueprintSource
from art_sdk.context import PromptContext
from art_sdk.contributors.memory import Memory
from art_sdk.errors import ARTError, LLMProviderError
from art_sdk.messages import (
    ArtStandardPrompt,
    AssistantMessage,
    ToolCall,
    ToolResult,
    ToolSchema,
    UserMessage,
    dump_prompt,
)
from art_sdk.options import CallOptions
from art_sdk.stream import LLMMetadata, StreamEvent, fold
from art_sdk.tool_calls import answer_call


class Question:
    """A query, and what is known about it so far. Each step yields its events and keeps its findings."""

    def __init__(
        self,
        parts: Parts,
        settings: PESSettings,
        thread_id: str,
        query: str,
        session_id: str | None,
        user_id: str | None,
        *,
        stream: bool,
    ) -> None:
        self._parts: Final = parts
        self._settings: Final = settings
        self._query: Final = query
        self._thread_id: Final = thread_id
        self._trace_id: Final = os.urandom(16).hex()
        self._base: Final = CallOptions(
            thread_id=thread_id, trace_id=self._trace_id, session_id=session_id, user_id=user_id, stream=stream
        )
        self._known = Prepared()
        self._planned = PlanningOutput("", "")
        self._round: Round | None = None
        self._rounds = 0
        self._exchange: ArtStandardPrompt = ()
        self._results: tuple[ToolResult, ...] = ()
        self._metadata: list[LLMMetadata] = []
        self._parser = OutputParser()
        self._message = AssistantMessage(None)
        self._answer = ""

    async def answer(self) -> AsyncGenerator[AgentEvent]:
        """All steps; last the result. Raises what the policy lets through."""
        try:
            for name, step in self._steps():
                async with aclosing(self._guarded(name, step)) as events:
                    async for event in events:
                        yield event
        except ARTError as error:
            if self._settings.policy(error) != "answer":
                raise
            yield self._result(self._settings.error_answer, error)
        else:
            yield self._result(self._answer)

    def _steps(self) -> Iterator[tuple[str, Callable[[], AsyncGenerator[Step]]]]:
        """The steps by name, each decided when the one before it is done."""
        yield "preparation", self._prepare
        yield "planning", self._plan
        while not self._answer:
            if self._round is not None:
                yield "execution", self._execute
            yield "synthesis", self._synthesize
        yield "storing", self._store

    async def _guarded(self, name: str, step: Callable[[], AsyncGenerator[Step]]) -> AsyncGenerator[Step]:
        """A step, taken again as often as the policy says. Every error is an observation."""
        for left in range(self._settings.retries, -1, -1):
            try:
                async with aclosing(step()) as events:
                    async for event in events:
                        yield event
            except Exception as error:
                yield self._parts.observations.record_error(error, self._thread_id, self._trace_id, name)
                if not left or not may_pass(error) or self._settings.policy(error) != "retry":
                    raise
                await anyio.sleep(pause_before_retry(error))
            else:
                return

    async def _prepare(self) -> AsyncGenerator[Step]:
        self._known = await prepare(self._parts, self._settings, self._thread_id, self._query)
        for event in _NO_EVENTS:
            yield event

    async def _plan(self) -> AsyncGenerator[Step]:
        known = self._known
        context = PromptContext(query=self._query, history=known.history, available_tools=known.tools, **known.system)
        options = self._options("AGENT_THOUGHT", tools=known.tools)
        async with aclosing(self._call(PES_PLAN, "PES_PLAN", context, options)) as events:
            async for event in events:
                yield event
        self._planned = planned = self._parser.parse_planning_output(self._message)
        yield self._observe("INTENT", {"intent": planned.intent})
        yield self._observe("PLAN", {"plan": planned.plan})
        for observation in self._request(planned.tool_calls):
            yield observation

    async def _execute(self) -> AsyncGenerator[Step]:
        """Runs the tools of the round. Each result is an observation as soon as it is there."""
        requested, self._round = cast("Round", self._round), None
        for result in requested.refused:
            yield self._observe_result(result)
        executed: list[ToolResult] = []
        finished, arriving = anyio.create_memory_object_stream[Observation](math.inf)

        async def run() -> None:
            with finished:
                executed.extend(await self._run_tools(requested, finished.send_nowait))

        with arriving, finished:
            async with in_background(run):
                async for observation in arriving:
                    yield observation
        self._keep(requested, requested.in_call_order(executed))

    async def _run_tools(self, requested: Round, tell: Callable[[Observation], object]) -> tuple[ToolResult, ...]:
        return await self._parts.tools.execute_tools(
            requested.parsed,
            thread_id=self._thread_id,
            trace_id=self._trace_id,
            enabled=self._known.enabled,
            on_result=lambda result: tell(self._observe_result(result)),
        )

    def _keep(self, requested: Round, results: tuple[ToolResult, ...]) -> None:
        """Makes the round part of what the synthesis is given."""
        self._rounds += 1
        self._results += results
        if "tools" in self._known.capabilities:
            asked = self._exchange or (UserMessage(self._query),)
            one_by_one = len(results) > 1 and "parallel_tools" not in self._known.capabilities
            self._exchange = (*asked, *requested.messages(results, one_by_one=one_by_one))

    async def _synthesize(self) -> AsyncGenerator[Step]:
        may_call = self._rounds < self._settings.max_rounds
        context = PromptContext(
            query=self._query,
            history=self._known.history,
            tool_results=tuple(map(_stringified, self._results)),
            intent=self._planned.intent,
            plan=self._planned.plan,
            toolMessages=dump_prompt(self._exchange),
            **self._known.system,
        )
        can_forbid = bool(self._exchange) and "tool_choice" in self._known.capabilities
        options = self._options("FINAL_SYNTHESIS", tools=self._known.tools if may_call or can_forbid else ())
        if options.tools and not may_call:
            options = structs.replace(options, tool_choice="none")  # some providers want calls' tools to be declared
        async with aclosing(self._call(PES_SYNTHESIZE, "PES_SYNTHESIZE", context, options)) as events:
            async for event in events:
                yield event
        if may_call and self._message.tool_calls:
            for observation in self._request(self._message.tool_calls):
                yield observation
            return
        self._answer = self._require_answer()
        yield self._observe("SYNTHESIS", {"answer": self._answer})

    def _require_answer(self) -> str:
        """The answer in the last message.

        Raises LLMProviderError if it has no answer: retryable, unless the model called tools again.
        """
        answer = self._parser.parse_synthesis_output(self._message)
        if answer:
            return answer
        has_calls = bool(self._message.tool_calls)
        rounds = f"after {self._rounds} of at most {self._settings.max_rounds} rounds of tool calls"
        instead = f"requested tools again, {rounds}" if has_calls else "gave an empty answer"
        text = f"the model was asked for an answer, but {instead}"
        raise LLMProviderError(text, provider=self._parser.provider, is_retryable=not has_calls)

    async def _store(self) -> AsyncGenerator[Step]:
        """Appends query and answer to the conversation, together."""
        said = (UserMessage(self._query), AssistantMessage(self._answer))
        now = time.time()
        stored = [ConversationMessage(message=one, timestamp=now, trace_id=self._trace_id) for one in said]
        await self._parts.conversations.append_messages(self._thread_id, stored)
        try:
            await self._remember()
        except (ARTError, OSError) as error:  # the answer is there, and the conversation has it
            yield self._parts.observations.record_error(error, self._thread_id, self._trace_id, "remembering")

    async def _remember(self) -> None:
        memory = self._parts.about.memory
        if isinstance(memory, Memory):
            await memory.remember(self._thread_id, f"User: {self._query}\nAssistant: {self._answer}")

    def _options(self, call_context: str, tools: tuple[ToolSchema, ...]) -> CallOptions:
        native = tools if "tools" in self._known.capabilities else ()
        return structs.replace(self._base, call_context=call_context, tools=native)

    async def _call(
        self, blueprint: BlueprintSource, name: str, context: PromptContext, options: CallOptions
    ) -> AsyncGenerator[StreamEvent]:
        """The events of a call with the assembled prompt. Raises the error of an ERROR event."""
        prompt = self._parts.prompts.assemble_prompt(blueprint, context, name=name)
        events: list[StreamEvent] = []
        async with aclosing(self._parts.reasoning.call(prompt, options, self._known.provider)) as arriving:
            async for event in arriving:
                events.append(event)
                yield event
        completion = fold(events)
        self._message = completion.message
        self._metadata.append(completion.metadata)

    def _request(self, calls: Sequence[ToolCall]) -> Iterator[Observation]:
        """Makes the calls of the last message the round that is executed next."""
        if not calls:
            return
        self._round = read_round(self._message, calls, (*self._known.history, *self._exchange))
        for call in self._round.message.tool_calls:
            yield self._observe("TOOL_CALL", {"callId": call.id, "toolName": call.function.name})

    def _observe(self, kind: ObservationType, content: dict[str, Any]) -> Observation:
        return self._parts.observations.record(kind, self._thread_id, self._trace_id, content)

    def _observe_result(self, result: ToolResult) -> Observation:
        return self._observe("TOOL_EXECUTION", to_builtins(result))

    def _result(self, answer: str, error: ARTError | None = None) -> AgentResult:
        return AgentResult(
            thread_id=self._thread_id,
            trace_id=self._trace_id,
            answer=answer,
            status="success" if error is None else "failed",
            intent=self._planned.intent,
            plan=self._planned.plan,
            tool_results=self._results,
            rounds=self._rounds,
            metadata=tuple(self._metadata),
            error=error,
        )


_NO_EVENTS: Final[tuple[Step, ...]] = ()
"""Makes a generator of a step that yields nothing."""


def _stringified(result: ToolResult) -> ToolResult:
    """The result with its output as the text that the model is sent."""
    return result if result.status == "error" else structs.replace(result, output=answer_call(result).content)
