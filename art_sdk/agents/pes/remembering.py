"""The memory of an agent, with the model that summarizes and the function that embeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from art_sdk.agents.pes.configuration import PESConfig
from art_sdk.agents.places import import_place
from art_sdk.agents.reasoning import ReasoningEngine
from art_sdk.contributors import open_memory
from art_sdk.contributors.memory import Completes, Embedder, Memory, Summarizer
from art_sdk.errors import InvalidConfig
from art_sdk.options import parse_options
from art_sdk.stream import Completion, fold

EMBEDDER_MISSING: Final = "a function that embeds texts: name it in recall.embedder, or give it to create_agent"


class ModelOfAgent:
    """Asks one of the agent's adapters, which is made when it is first needed."""

    def __init__(self, reasoning: ReasoningEngine, provider: str | None) -> None:
        self._reasoning = reasoning
        self._provider = provider

    async def complete(self, prompt: Any, options: Any) -> Completion:
        """The whole answer. Raises as the adapter does, and the error of an ERROR event."""
        events = self._reasoning.call(prompt, parse_options(options), self._provider)
        return fold([event async for event in events])


def open_agents_memory(
    config: PESConfig,
    reasoning: ReasoningEngine,
    summarize: Summarizer | Completes | None,
    embed: Embedder | None,
) -> Memory | None:
    """The memory of the configuration, if it has one. Functions that are given come before those that it names.

    Raises InvalidConfig for a provider or a function that is not there, and as `open_memory` does.
    """
    if config.memory is None:
        return None
    named = config.recall.embedder
    embed = embed or (_load_embedder(named) if named else None)
    if config.memory.retrieval_strategy == "semantic" and embed is None:
        raise InvalidConfig(f"the retrievalStrategy 'semantic' needs {EMBEDDER_MISSING}")
    return open_memory(config.memory, summarize=summarize or _summarizer(config, reasoning), embed=embed)


def _summarizer(config: PESConfig, reasoning: ReasoningEngine) -> ModelOfAgent:
    name = config.recall.summarizer
    if name is not None and name not in reasoning.names:
        known = ", ".join(reasoning.names)
        raise InvalidConfig(
            f"bad agent configuration: $.recall.summarizer: there is no provider {name!r}; known providers: {known}"
        )
    return ModelOfAgent(reasoning, name)


def _load_embedder(place: str) -> Embedder:
    found = import_place(place)
    if not callable(found):
        raise InvalidConfig(f"{place!r} is not a function that embeds, but a {type(found).__name__}")
    return cast("Callable[..., Any]", found)
