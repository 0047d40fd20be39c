"""An agent with two tools, over any reference adapter.

    python examples/agent.py                              against a strict provider on this machine, without a key
    python examples/agent.py --adapter gemini             the same, as Gemini would answer
    python examples/agent.py --real --adapter openai      against OpenAI, with the key in OPENAI_API_KEY

Azure and servers of your own also need `--base-url` and `--model` with `--real`.

The strict provider (`pip install 'art-adapter-sdk[compliance]'`) judges each request as the real one would. It calls
the tools with made-up arguments and answers with a fixed text: it shows the way of a question, not the wit of a model.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import anyio

from art_compliance import StrictProvider, WrittenAnswer
from art_compliance.provider import Asked
from art_sdk import BUILT_IN, BaseAdapter, PromptManager, TokenEvent, ToolSchema
from art_sdk.agents.pes import (
    AgentResult,
    InMemoryStore,
    Observation,
    ObservationManager,
    PESAgent,
    ReasoningEngine,
    Tool,
    ToolFailed,
    ToolRegistry,
    ToolSystem,
)

Answer = Callable[[Asked], WrittenAnswer] | str
"""How the strict provider answers: a function, or one of its own ways."""

SERVICES = {"azure": "azure-v1", "ollama": "ollama", "xai": "xai"}
"""Services that speak another provider's format with paths, keys and errors of their own."""

TEMPERATURES = {"rome": 24, "oslo": 9}


def get_weather(arguments: dict[str, Any]) -> dict[str, Any]:
    """A tool is a function of its arguments, which its schema has checked."""
    degrees = TEMPERATURES.get(arguments["city"].lower())
    if degrees is None:
        raise ToolFailed(f"no weather is known for {arguments['city']}")  # the model is told, and answers all the same
    return {"degrees": degrees}


async def to_fahrenheit(arguments: dict[str, Any]) -> float:
    """A tool may be asynchronous."""
    await anyio.lowlevel.checkpoint()
    return round(arguments["celsius"] * 9 / 5 + 32, 1)


def parameters(**properties: str) -> dict[str, Any]:
    """The JSON Schema of an object with these properties, all of them required."""
    types = {name: {"type": kind} for name, kind in properties.items()}
    return {"type": "object", "properties": types, "required": list(types), "additionalProperties": False}


TOOLS = (
    Tool(
        schema=ToolSchema("get_weather", "The temperature in a city, in degrees Celsius.", parameters(city="string")),
        run=get_weather,
    ),
    Tool(
        schema=ToolSchema("to_fahrenheit", "Converts degrees Celsius to Fahrenheit.", parameters(celsius="number")),
        run=to_fahrenheit,
        timeout=1.0,
    ),
)


def add_adapter_options(parser: argparse.ArgumentParser) -> None:
    """The options that `open_adapter` reads."""
    parser.add_argument("--adapter", default="openai", choices=sorted(BUILT_IN))
    parser.add_argument("--model", help="the model, for an adapter that has no usual one")
    parser.add_argument("--base-url", help="with --real: the server's URL, for an adapter that has no usual one")
    parser.add_argument("--real", action="store_true", help="ask the real provider, with the key in <ADAPTER>_API_KEY")


@contextmanager
def open_adapter(given: argparse.Namespace, answer: Answer = "asked") -> Generator[BaseAdapter]:
    """The reference adapter that is given, with the real provider behind it or the strict one, which answers so."""
    name: str = given.adapter
    module, _, attribute = BUILT_IN[name].partition(":")
    adapter_class: type[BaseAdapter] = getattr(import_module(module), attribute)
    if given.real:
        key = os.environ[f"{name.upper().replace('-', '_')}_API_KEY"]
        yield adapter_class(api_key=key, base_url=given.base_url, model=given.model)
        return
    model = given.model or adapter_class.default_model or "any-model"
    with StrictProvider(adapter_class.dialect, service=SERVICES.get(name), answer=answer) as provider:
        yield adapter_class(api_key="any-key-will-do", base_url=provider.base_url, model=model)


async def ask(adapter: BaseAdapter, question: str) -> AgentResult:
    """Asks, and prints what happens as it happens."""
    agent = PESAgent(
        ReasoningEngine({"main": adapter}),
        PromptManager(),
        ToolSystem(ToolRegistry(TOOLS)),
        InMemoryStore(),  # or SQLiteStore("threads.db"), which remembers
        ObservationManager(),
    )
    await agent.state.set_thread_config("thread-1", {"systemPrompt": "You are a weather service. Be brief."})
    result: AgentResult | None = None
    async for event in agent.stream("thread-1", question):
        match event:
            case Observation():
                print(f"[{event.type}] {event.message or event.content}")
            case TokenEvent(token_type="FINAL_SYNTHESIS_LLM_RESPONSE"):
                print(event.text, end="", flush=True)
            case AgentResult():
                result = event
            case _:
                pass
    await agent.aclose()
    assert result is not None, "the last event is the result"
    return result


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Ask an agent with two tools.")
    parser.add_argument("question", nargs="?", default="How warm is it in Rome, in Fahrenheit?")
    add_adapter_options(parser)
    given = parser.parse_args()
    with open_adapter(given) as adapter:
        result = anyio.run(ask, adapter, given.question)
    print(f"\nThe answer, after {len(result.tool_results)} tool calls: {result.answer}")


if __name__ == "__main__":
    main()
