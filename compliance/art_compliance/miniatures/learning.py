"""Adapters that learn from a refusal what a model cannot do, and leave it out without a word."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from art_compliance.miniatures.base import Options, as_data, change_options, miniature
from art_sdk import LLMProviderError
from art_sdk.stream import ErrorEvent


def _refused_options(event: Any, options: Options) -> list[str]:
    """The options of the call that an error speaks of."""
    if not isinstance(event, ErrorEvent) or not isinstance(event.error, LLMProviderError):
        return []
    words = str(event.error.provider_message)
    return [name for name in options if name != "model" and f"'{name}'" in words]


@miniature("response.refused-options-are-not-dropped", around=("openai", "anthropic", "gemini"))
def learns_what_a_model_refuses(adapter: Any) -> None:
    """An option that was refused once is left out of all later calls."""
    own, learned = adapter.call, set[str]()

    async def call(prompt: Any, options: Any) -> AsyncIterator[Any]:
        async for event in own(prompt, options):
            learned.update(_refused_options(event, as_data(options)))
            yield event

    adapter.call = call
    change_options(adapter, lambda options: {name: one for name, one in options.items() if name not in learned})


@miniature("response.refused-options-are-not-dropped", around=("openai", "openrouter", "ollama-chat"))
def tries_again_without_what_was_refused(adapter: Any) -> None:
    """A call whose option is refused is made again without it, and its answer is given as that to the call."""
    own = adapter.call

    async def call(prompt: Any, options: Any) -> AsyncIterator[Any]:
        known, refused = as_data(options), list[str]()
        async for event in own(prompt, options):
            refused += _refused_options(event, known)
            if not refused:
                yield event
        if refused:
            async for event in own(prompt, {name: one for name, one in known.items() if name not in refused}):
                yield event

    adapter.call = call
