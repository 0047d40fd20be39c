"""An agent over an adapter that says what a test wants, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

import anyio

from art_sdk import (
    CAPABILITIES,
    ARTError,
    ArtStandardPrompt,
    AssistantMessage,
    CallOptions,
    Capability,
    EndEvent,
    ErrorEvent,
    FunctionCall,
    LLMMetadata,
    MetadataEvent,
    PromptManager,
    StreamEvent,
    TokenEvent,
    ToolCall,
    ToolCallEvent,
    ToolSchema,
)
from art_sdk.agents.pes import (
    AgentResult,
    InMemoryStore,
    ObservationManager,
    PESAgent,
    PESSettings,
    ReasoningEngine,
    Tool,
    ToolRegistry,
    ToolSystem,
)

PLAN = "Intent: to know\nPlan: 1. answer\nTool Calls: []"
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}

Said = str | AssistantMessage | Exception
Script = Callable[[ArtStandardPrompt, CallOptions], Said]


def says_in_turn(*said: Said) -> Script:
    """Each call gets the next one."""
    left = iter(said)
    return lambda _prompt, _options: next(left)


def calling(*calls: tuple[str, str, str], content: str | None = None) -> AssistantMessage:
    """An answer with native calls, each an id, a tool and arguments."""
    return AssistantMessage(content, tuple(ToolCall(id_, FunctionCall(name, text)) for id_, name, text in calls))


class ScriptedAdapter:
    """Answers by a script; an LLMProviderError of it becomes an ERROR event, another exception is raised."""

    def __init__(self, script: Script, capabilities: frozenset[Capability] = CAPABILITIES) -> None:
        self.script = script
        self.capabilities = capabilities
        self.prompts: list[ArtStandardPrompt] = []
        self.options: list[CallOptions] = []
        self.open = 0

    async def call(self, prompt: ArtStandardPrompt, options: CallOptions) -> AsyncGenerator[StreamEvent]:
        self.prompts.append(prompt)
        self.options.append(options)
        self.open += 1
        try:
            for event in _events(self.script(prompt, options), options):
                await anyio.lowlevel.checkpoint()
                yield event
        finally:
            self.open -= 1


def _events(said: Said, options: CallOptions) -> list[StreamEvent]:
    of: Any = {"thread_id": options.thread_id, "trace_id": options.trace_id}
    if isinstance(said, ARTError) and said.code == "LLM_PROVIDER_ERROR":
        return [ErrorEvent(**of, error=said), EndEvent(**of, message=None, finish="error")]
    if isinstance(said, Exception):
        raise said
    message = AssistantMessage(said) if isinstance(said, str) else said
    kind: Any = f"{options.call_context}_LLM_RESPONSE"
    text = [TokenEvent(**of, text=message.content, token_type=kind)] if message.content else []
    calls = [ToolCallEvent(**of, call=call) for call in message.tool_calls]
    finish: Any = "tool_calls" if calls else "stop"
    metadata = LLMMetadata(stop_reason=finish, raw_stop_reason=finish, total_generation_time_ms=1.0)
    return [*text, *calls, MetadataEvent(**of, metadata=metadata), EndEvent(**of, message=message, finish=finish)]


def tool(name: str, run: Callable[..., Any], schema: Mapping[str, Any] | None = None, **limits: Any) -> Tool:
    about = ToolSchema(name, f"The tool {name}.", dict(CITY if schema is None else schema))
    return Tool(schema=about, run=run, **limits)


class AgentOnTrial:
    """A PES agent, with all its parts within reach."""

    def __init__(self, *said: Said, script: Script | None = None, tools: tuple[Tool, ...] = (), **others: Any) -> None:
        adapter = ScriptedAdapter(script or says_in_turn(*said), others.pop("capabilities", CAPABILITIES))
        self.adapter = adapter
        self.store: Any = others.pop("store", None) or InMemoryStore()
        limit, tracebacks = others.pop("observed", 1_000), others.pop("tracebacks", False)
        self.observations = ObservationManager(limit=limit, tracebacks=tracebacks)
        self.prompts = others.pop("prompts", None) or PromptManager()
        self.agent = PESAgent(
            ReasoningEngine({"scripted": adapter}),
            self.prompts,
            ToolSystem(ToolRegistry(tools)),
            self.store,
            self.observations,
            settings=PESSettings(**others),
        )

    def configure(self, thread_id: str = "t", **config: Any) -> None:
        anyio.run(self.store.set_thread_config, thread_id, config)

    def ask(self, query: str = "Rain?", thread_id: str = "t") -> AgentResult:
        return anyio.run(self.agent.process, thread_id, query)

    def history(self, thread_id: str = "t") -> list[Any]:
        return [stored.message for stored in anyio.run(self.store.get_messages, thread_id)]

    def kinds(self) -> list[str]:
        return [observation.type for observation in self.observations.find()]
