"""Memory: a provider and a strategy, as a configuration names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from art_sdk.contributors.configuration import MemoryConfig
from art_sdk.contributors.memory.provider import MemoryProvider
from art_sdk.contributors.memory.registry import KnownMemory, memory_providers, memory_violations
from art_sdk.contributors.memory.retrieval import Embedder, Recent, Retrieval, Semantic, Summarizer, Summary
from art_sdk.contributors.memory.summarizing import Completes, summarize_with
from art_sdk.contributors.memory.tokens import TokenCounter, count_roughly
from art_sdk.contributors.options import python_names
from art_sdk.contributors.violations import invalid_config, plain_config
from art_sdk.errors import InvalidConfig

ENTRIES: Final = 100
"""The most texts of a thread that a strategy chooses from: the newest."""


class Memory:
    """The memory of an agent. Give it to `DynamicContributorContext`, and to it what shall be remembered.

    `remember`, `recall` and `forget` raise MemoryUnavailable if the provider cannot be reached.
    """

    def __init__(self, provider: MemoryProvider, retrieval: Retrieval) -> None:
        self.provider = provider
        self._retrieval = retrieval

    async def remember(self, thread_id: str | None, text: str) -> None:
        """Keeps a text as the newest of its thread. It is kept when this returns."""
        await self.provider.add(thread_id, text)

    async def recall(self, thread_id: str | None, query: str = "") -> str:
        """What the strategy puts into the prompt of this thread; `""` if nothing is remembered."""
        texts = await self.provider.newest(thread_id, ENTRIES)
        return await self._retrieval(thread_id, texts, query) if texts else ""

    async def forget(self, thread_id: str | None) -> None:
        """Forgets everything of a thread."""
        await self.provider.forget(thread_id)

    async def aclose(self) -> None:
        """Closes the provider's connections."""
        await self.provider.aclose()

    def __repr__(self) -> str:
        return f"Memory({self.provider!r}, {type(self._retrieval).__name__})"


def open_memory(
    config: MemoryConfig | None,
    *,
    summarize: Summarizer | Completes | None = None,
    embed: Embedder | None = None,
    count_tokens: TokenCounter = count_roughly,
    registry: Mapping[str, KnownMemory] = memory_providers,
) -> Memory:
    """The memory of a configuration; without one, a memory that keeps nothing.

    `summarize`, a function or an adapter, is what the strategy `summary` needs, `embed` what `semantic` needs.
    `count_tokens` counts for `max_tokens`; without it a token is four characters.

    Raises InvalidConfig for an unknown provider, for options that it does not accept, for a connection string that is
    missing or not taken, and for a strategy without its function.
    """
    config = config or MemoryConfig(provider="none")
    violations = [*memory_violations(plain_config(config), "$", registry)]
    if violations:
        raise invalid_config("memory", violations)
    retrieval = _retrieval(config, summarize, embed, count_tokens)
    return Memory(_open(config, registry[config.provider]), retrieval)


def _open(config: MemoryConfig, known: KnownMemory) -> MemoryProvider:
    options = python_names(config.options)
    return known.factory(config.connection_string, **options) if known.connects else known.factory(**options)


def _retrieval(
    config: MemoryConfig, summarize: Summarizer | Completes | None, embed: Embedder | None, count: TokenCounter
) -> Retrieval:
    most = config.max_tokens
    match config.retrieval_strategy:
        case "recent":
            return Recent(most, count)
        case "summary" if summarize is not None:
            return Summary(
                most,
                count,
                summarize_with(summarize, max_tokens=most) if isinstance(summarize, Completes) else summarize,
            )
        case "semantic" if embed is not None:
            return Semantic(most, count, embed)
        case strategy:
            needed = {"summary": "summarize", "semantic": "embed"}[strategy]
            raise InvalidConfig(f"the retrievalStrategy '{strategy}' needs a function: open_memory(..., {needed}=...)")
