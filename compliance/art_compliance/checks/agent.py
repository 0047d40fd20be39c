"""Agent: an agent plans, calls tools and answers over the adapter, with the strict provider behind it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from types import ModuleType
from typing import Any, Final

import anyio
import anyio.to_thread
import msgspec

from art_compliance.checks import wire
from art_compliance.checks.base import Check, check, checks_of, leave_to
from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.response import names, reading
from art_compliance.checks.stream import answers as streamed
from art_compliance.checks.translation import conservation, declared
from art_compliance.checks.trial import Trial
from art_compliance.dialects import Decoded, DecodeFailed
from art_compliance.findings import Problem
from art_compliance.provider import Asked, Response
from art_compliance.provider.strict import answer_strictly
from art_compliance.quoting import show_both
from art_compliance.scenarios import Scenario, WrittenAnswer
from art_compliance.subject.deadlines import run_bounded
from art_compliance.subject.events import Answered
from art_sdk import (
    ARTError,
    ArtStandardPrompt,
    AssistantMessage,
    CallOptions,
    Capability,
    EndEvent,
    FunctionCall,
    LLMMetadata,
    MetadataEvent,
    PromptManager,
    StreamEvent,
    ToolCall,
    ToolResultMessage,
    ToolSchema,
    dump_prompt,
    parse_prompt,
)
from art_sdk.agents.pes import (
    AgentResult,
    InMemoryStore,
    ObservationManager,
    PESAgent,
    ReasoningEngine,
    Tool,
    ToolFailed,
    ToolRegistry,
    ToolSystem,
)


@check(
    "agent.question-is-answered",
    clause="Through the adapter, an agent plans, calls tools, and answers from their results.",
    requires=("dialect", "call"),
    once=True,
)
def question_is_answered(trial: Trial) -> Iterator[Problem]:
    """What one call gives goes into the next one: the calls, their ids, and what the provider wants back."""
    _require(trial, *_NEEDED)
    yield from _wrong(trial, streams=False)


@check(
    "agent.streamed-question-is-answered",
    clause="An agent that streams its calls gets the same answer.",
    requires=("dialect", "call", "streaming"),
    once=True,
    leaves_to=(question_is_answered,),
)
def streamed_question_is_answered(trial: Trial) -> Iterator[Problem]:
    """Agents stream, so that people see an answer begin."""
    _require(trial, *_NEEDED)
    yield from _wrong(trial, streams=True)


_NEEDED: Final[tuple[Capability, ...]] = ("system", "tools")
_QUERY: Final = "How warm is it in Rome, and in Atlantis?"
_PLAN: Final = "Intent: compare two cities\nPlan: 1. Ask for both. 2. Compare."
_WEATHER: Final = ToolSchema(
    "get_weather",
    "Current weather at a place.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
_KNOWN: Final = {"Rome": "24 degrees"}
_UNKNOWN: Final = "there is no such city"


def _require(trial: Trial, *needed: Capability) -> None:
    missing = [name for name in needed if name not in trial.subject.capabilities]
    if missing:
        raise NotApplicable(f"the adapter does not declare {missing[0]}")


def _weather(arguments: dict[str, Any]) -> dict[str, str]:
    if arguments["city"] not in _KNOWN:
        raise ToolFailed(_UNKNOWN)
    return {"weather": _KNOWN[arguments["city"]]}


def _wrong(trial: Trial, *, streams: bool) -> Iterator[Problem]:
    """What is wrong with the outcome, unless other checks say it of one of the two calls."""
    played = _Played(trial, streams=streams)
    problem = _judged(played)
    if problem is None:
        return
    for scenario in played.scenarios:
        leave_to(Trial(trial.subject, scenario, trial.seed), *_CAUSES, *(_CAUSES_IN_STREAMS if streams else ()))
    yield problem


def _judged(played: _Played) -> Problem | None:
    try:
        result = played.ask()
    except _NoAnswer as error:
        return Problem(f"{played.place}: {error}")
    except ARTError as error:
        return Problem(f"{played.place}: {error}", finding_class="contract")
    if result.answer != played.expected:
        expected, found = show_both(played.expected, result.answer)
        return Problem(f"the answer must be {expected}, not {found}")
    return None


class _NoAnswer(Exception):
    """A call gave no answer that an agent can go on with."""


class _Played:
    """The question, asked by an agent over the adapter. It is an adapter itself: it passes calls on to the subject."""

    def __init__(self, trial: Trial, *, streams: bool) -> None:
        self._trial = trial
        self._streams = streams
        self.capabilities = trial.subject.capabilities
        self.scenarios: list[Scenario] = []
        cities = ("Rome", "Atlantis") if "parallel_tools" in self.capabilities else ("Rome",)
        prefix = trial.dialect.answers.call_id_prefix
        self._calls = tuple(
            ToolCall(f"{prefix}question{number}", FunctionCall(_WEATHER.name, f'{{"city":"{city}"}}'))
            for number, city in enumerate(cities)
        )
        self.expected = "; ".join(f"{city}: {_KNOWN.get(city, _UNKNOWN)}" for city in cities)

    @property
    def place(self) -> str:
        """Which of the agent's calls was the last one."""
        return "planning" if len(self.scenarios) < 2 else "synthesis"

    def ask(self) -> AgentResult:
        """The agent's answer. Raises _NoAnswer, and what the agent raises."""
        tools = ToolSystem(ToolRegistry([Tool(schema=_WEATHER, run=_weather)]))
        engine = ReasoningEngine({"subject": self})
        agent = PESAgent(engine, PromptManager(), tools, InMemoryStore(), ObservationManager())
        return run_bounded(lambda: anyio.run(self._ask, agent))  # here there may be an event loop already

    async def _ask(self, agent: PESAgent) -> AgentResult:
        if not self._streams:
            return await agent.process("agent", _QUERY)
        *_, last = [event async for event in agent.stream("agent", _QUERY)]
        if not isinstance(last, AgentResult):
            raise _NoAnswer(f"the stream ends with {type(last).__name__}")
        return last

    async def call(self, prompt: ArtStandardPrompt, options: CallOptions) -> AsyncGenerator[StreamEvent]:
        """The events of the subject's call: its message and its end are all that an agent needs."""
        data, given = dump_prompt(prompt), msgspec.to_builtins(options)
        self.scenarios.append(_scenario(data, given, self._said(_has_results(prompt))))
        reply = await anyio.to_thread.run_sync(self._trial.subject.call, data, given, self._respond)
        for event in _events(reply, options):
            yield event

    def _respond(self, asked: Asked) -> Response:
        return answer_strictly(asked, self._compose)

    def _compose(self, asked: Asked) -> WrittenAnswer:
        """The plan with its calls, or an answer made of the results that arrived."""
        try:
            decoded = asked.dialect.requests.decode(asked.payload, url=asked.request.target)
        except DecodeFailed:
            decoded = Decoded(prompt=())
        if not _has_results(decoded.prompt):
            return self._said(has_results=False)
        return WrittenAnswer(content=_summary(decoded.prompt))

    def _said(self, has_results: bool) -> WrittenAnswer:  # noqa: FBT001 - it is the only one
        if has_results:
            return WrittenAnswer(content=self.expected)
        return WrittenAnswer(content=_PLAN, tool_calls=self._calls, finish="tool_calls")


def _has_results(prompt: ArtStandardPrompt) -> bool:
    return any(isinstance(message, ToolResultMessage) for message in prompt)


def _summary(prompt: ArtStandardPrompt) -> str:
    """What the results say of each city, linked to the calls by their ids."""
    results = {one.tool_call_id: one.content for one in prompt if isinstance(one, ToolResultMessage)}
    calls = [call for one in prompt if isinstance(one, AssistantMessage) for call in one.tool_calls]
    return "; ".join(f"{_city(call)}: {_said_of(results.get(call.id, ''))}" for call in calls)


def _city(call: ToolCall) -> str:
    return next((city for city in ("Rome", "Atlantis") if city in call.function.arguments), "nowhere")


def _said_of(result: str) -> str:
    return next((words for words in (*_KNOWN.values(), _UNKNOWN) if words in result), "nothing")


_OWN: Final = frozenset({"thread_id", "trace_id"})


def _scenario(prompt: list[dict[str, Any]], options: dict[str, Any], answer: WrittenAnswer) -> Scenario:
    """One of the agent's calls, for other checks to look at."""
    return Scenario(
        id="agent-question",
        group="agents",
        purpose="A prompt of the agent that the stage asks.",
        prompt=prompt,
        options={name: value for name, value in options.items() if name not in _OWN},
        needs=_NEEDED,
        answer=answer,
        outcomes={"default": ("exact",)},
    )


def _events(reply: object, options: CallOptions) -> Iterator[StreamEvent]:
    """The reply's metadata and its end. Raises _NoAnswer, and NotApplicable for events that other checks report."""
    if not isinstance(reply, Answered):
        raise _NoAnswer(str(reply))
    if reply.error is not None:
        raise _NoAnswer(f"an ERROR event: {reply.error.get('message')}")
    try:
        [message] = parse_prompt([reply.message])
    except (ARTError, ValueError) as error:
        raise _NoAnswer(f"END's message is not standard: {error}") from error
    if not isinstance(message, AssistantMessage):
        raise _NoAnswer("END's message is not of the assistant")
    of: Any = {"thread_id": options.thread_id, "trace_id": options.trace_id}
    metadata = LLMMetadata(stop_reason="other", raw_stop_reason=None, total_generation_time_ms=0.0)
    yield MetadataEvent(**of, metadata=metadata)
    yield EndEvent(**of, message=message, finish="other")


def _of_one_call(*modules: ModuleType) -> tuple[Check, ...]:
    found = (one for module in modules for one in checks_of(module))
    return tuple(one for one in found if not one.once and not one.needs and not one.families)


_CAUSES: Final = _of_one_call(wire, conservation, declared, reading, names)
"""The checks that report what is wrong with one request, or with its whole answer."""

_CAUSES_IN_STREAMS: Final = _of_one_call(streamed)
"""The checks that report what is wrong with a streamed answer."""
