"""Writes the scenarios `fixtures/scenarios/agents/pes-*.json`: prompts as the PES agent builds them.

`make payloads` runs it before it writes canonical payloads. Review the difference before you commit it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import anyio
import msgspec

from art_compliance.resources import data_folder
from art_sdk import AssistantMessage, PromptManager, ToolSchema, UserMessage, dump_prompt, parse_options
from art_sdk.agents.pes import (
    ConversationMessage,
    InMemoryStore,
    ObservationManager,
    PESAgent,
    PESSettings,
    ReasoningEngine,
    Tool,
    ToolFailed,
    ToolRegistry,
    ToolSystem,
)
from art_sdk.contributors import DynamicContributorContext
from scripted import PLAN, Said, ScriptedAdapter, calling, says_in_turn

FOLDER: Final = data_folder("fixtures") / "scenarios" / "agents"

_OBJECT: Final[dict[str, Any]] = {"type": "object"}
_CITY: Final = {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}}


def _weather(arguments: dict[str, Any]) -> dict[str, Any]:
    if arguments["city"] == "Oslo":
        raise ToolFailed("no answer within 5 s")
    return {"degrees": 24, "sky": "clear", "note": '<b>UV 7</b> & "rising"'}


WEATHER: Final = Tool(
    schema=ToolSchema(
        "get_weather",
        "Current weather at a place.",
        {**_OBJECT, "properties": _CITY, "required": ["city"]},
    ),
    run=_weather,
)
SEARCH: Final = Tool(
    schema=ToolSchema(
        "search",
        "Searches the catalogue.",
        {**_OBJECT, "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["query"]},
    ),
    run=lambda arguments: [f"Guide to {arguments['query']}", "Öffis & Fähren"],
)
TOOLS: Final = (WEATHER, SEARCH)

ROME: Final = ("call_1", "get_weather", '{"city": "Rome"}')
OSLO: Final = ("call_2", "get_weather", '{"city": "Oslo"}')
BOOKS: Final = ("call_1", "search", '{"query": "Rome", "limit": 2}')
PLANNED: Final = "Intent: compare weather\nPlan:\n1. Ask for Rome.\n2. Ask for Oslo."
IN_TEXT: Final = f"{PLANNED}\nTool Calls: " + json.dumps(
    [{"callId": "call_1", "toolName": "get_weather", "arguments": {"city": "Rome"}}]
)

GREETED: Final = (UserMessage("Hi, I am Ada."), AssistantMessage("Hello Ada! What shall we find out?"))
LONG: Final = tuple(
    message
    for day in range(1, 21)
    for message in (
        UserMessage(f'Day {day}: what did "we" say?\n- in short'),
        AssistantMessage(f"On day {day} we said: {'on and on, ' * (day % 4)}enough."),
    )
)
BLOCKS: Final = {
    "contributors": [
        {"id": "role", "type": "static", "priority": 0, "content": "You are Ada's agent. Keep {{braces}}."},
        {"id": "tools", "type": "dynamic", "priority": 20, "source": "toolListing"},
        {
            "id": "dateTime",
            "type": "dynamic",
            "priority": 10,
            "source": "dateTime",
            "options": {"granularity": "second"},
            "stability": "turn",
        },
    ]
}


class Case(NamedTuple):
    """A question, what the model says to it in turn, and which of the calls is the scenario."""

    purpose: str
    said: tuple[Said, ...] = (PLAN, "Done.")
    at: int = 0
    query: str = "Is it warmer in Rome or in Oslo?"
    tools: tuple[Tool, ...] = ()
    history: tuple[UserMessage | AssistantMessage, ...] = ()
    system: Any = None
    rounds: int = 1


CASES: Final[dict[str, Case]] = {
    "pes-plan": Case("The PES agent plans without tools, after a short exchange.", history=GREETED),
    "pes-plan-with-native-tools": Case(
        "The PES agent plans with tools: they are declared, and listed with their schemas in the request.", tools=TOOLS
    ),
    "pes-plan-after-long-history": Case(
        "The PES agent plans after twenty exchanges, with a query that has quotes and line ends.",
        query='And on "day 21"?\n\n\\ {{query}} <b>&amp;</b>',
        history=LONG,
        tools=TOOLS,
    ),
    "pes-plan-in-two-system-blocks": Case(
        "The PES agent plans with contributors: what stays, then what changes, as two system messages.",
        system=BLOCKS,
        tools=TOOLS,
    ),
    "pes-synthesize": Case("The PES agent answers where no tool was called.", at=1, history=GREETED),
    "pes-synthesize-with-results": Case(
        "The PES agent answers after two calls at once, one of which failed: as messages, and as text.",
        (calling(ROME, OSLO, content=PLANNED), "Done."),
        at=1,
        tools=TOOLS,
    ),
    "pes-synthesize-after-failed-tool": Case(
        "The PES agent answers after its only call failed.",
        (calling(("call_1", *OSLO[1:])), "Done."),
        at=1,
        tools=TOOLS,
        history=GREETED,
    ),
    "pes-synthesize-after-unknown-tool": Case(
        "The PES agent answers after a call of a tool that does not exist.",
        (calling(("call_1", "get_wether", '{"city": "Rome"}')), "Done."),
        at=1,
        tools=TOOLS,
    ),
    "pes-synthesize-from-calls-in-text": Case(
        "The PES agent answers after a call that the model wrote as text: it takes the shape of a native one.",
        (IN_TEXT, "Done."),
        at=1,
        tools=TOOLS,
    ),
    "pes-synthesize-in-second-round": Case(
        "The PES agent answers after two rounds of calls, the second with an id of the first.",
        (calling(ROME, content=PLANNED), calling(BOOKS), "Done."),
        at=2,
        tools=TOOLS,
        rounds=2,
    ),
    "pes-synthesize-in-two-system-blocks": Case(
        "The PES agent answers with two system messages, a long history and a result.",
        (calling(BOOKS), "Done."),
        at=1,
        tools=TOOLS,
        system=BLOCKS,
        history=LONG,
    ),
}
_OWN: Final = frozenset({"thread_id", "trace_id"})
_MAY_BE_REFUSED: Final = {
    "default": ["exact", "refused:PROMPT_TRANSLATION_FAILED"],
    "openai-chat": ["exact"],
    "gemini-generate": ["exact"],
    "anthropic-messages": ["exact"],
    "ollama-chat": ["exact"],
    "cohere-chat-v2": ["exact"],
}


async def _ask(case: Case) -> ScriptedAdapter:
    """The adapter that the agent asked."""
    adapter, store = ScriptedAdapter(says_in_turn(*case.said)), InMemoryStore()
    agent = PESAgent(
        ReasoningEngine({"scripted": adapter}),
        PromptManager(),
        ToolSystem(ToolRegistry(case.tools)),
        store,
        ObservationManager(),
        settings=PESSettings(max_rounds=case.rounds),
        about=DynamicContributorContext(now=lambda: datetime(2025, 5, 1, 8, 30, tzinfo=UTC)),
    )
    await store.append_messages("t", [ConversationMessage(message=one, timestamp=0.0) for one in case.history])
    if case.system is not None:
        await store.set_thread_config("t", {"systemPrompt": case.system})
    await agent.process("t", case.query)
    return adapter


def scenario_of(case: Case) -> dict[str, Any]:
    """The scenario: the prompt and the options of the case's call."""
    adapter = anyio.run(_ask, case)
    prompt = dump_prompt(adapter.prompts[case.at])
    given: dict[str, Any] = msgspec.to_builtins(adapter.options[case.at])
    options = {name: value for name, value in given.items() if name not in _OWN}
    parse_options({**options, "thread_id": "t"})
    is_parallel = any(len(message.get("tool_calls", ())) > 1 for message in prompt)
    used = {
        "system": True,
        "tools": "tools" in options,
        "parallel_tools": is_parallel,
        "tool_choice": "tool_choice" in options,
    }
    return {
        "purpose": case.purpose,
        "prompt": prompt,
        "options": options,
        "needs": [name for name, is_used in used.items() if is_used],
        "outcomes": _MAY_BE_REFUSED if is_parallel else {"default": ["exact"]},
    }


def _text(scenario: dict[str, Any]) -> str:
    """One message per line, as in scenarios that are written by hand."""
    messages = ",\n".join(f"    {json.dumps(message, ensure_ascii=False)}" for message in scenario["prompt"])
    fields = [
        f'  "{name}": ' + (f"[\n{messages}\n  ]" if name == "prompt" else json.dumps(value, ensure_ascii=False))
        for name, value in scenario.items()
    ]
    return "{\n" + ",\n".join(fields) + "\n}\n"


def scenario_files(folder: Path = FOLDER) -> Iterator[tuple[Path, str]]:
    """The path and the text of every scenario that the agent's prompts make."""
    for name, case in CASES.items():
        yield folder / f"{name}.json", _text(scenario_of(case))


if __name__ == "__main__":
    for path, text in scenario_files():
        path.write_text(text, encoding="utf-8")
