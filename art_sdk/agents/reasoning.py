"""ReasoningEngine: passes a prompt to the adapter that a thread names, and its events back."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any, Final, Protocol, cast

import msgspec

from art_sdk.adapters.capabilities import CAPABILITIES, Capability
from art_sdk.agents.thread_config import ProviderConfig
from art_sdk.errors import InvalidConfig
from art_sdk.messages import ArtStandardPrompt
from art_sdk.options import CallOptions, parse_options
from art_sdk.stream import StreamEvent


class Adapter(Protocol):
    """What the engine needs of an adapter. Every `BaseAdapter` is one.

    `capabilities`, if there are any, are what the adapter can do; without them it can do everything.
    """

    def call(self, prompt: Any, options: Any, /) -> AsyncGenerator[StreamEvent]:
        """The events of one call."""
        ...


Provider = str | ProviderConfig | None
"""How a thread names its adapter; None is the first one."""


class ReasoningEngine:
    """The adapters of an agent by name; the first is that of threads that name none.

    An adapter may be given as a function that makes it when it is first needed. Raises InvalidConfig for no adapter.
    """

    def __init__(self, adapters: Mapping[str, Adapter | Callable[[], Adapter]]) -> None:
        if not adapters:
            raise InvalidConfig("a reasoning engine needs an adapter")
        self._adapters: Final = dict(adapters)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the adapters, the usual one first."""
        return tuple(self._adapters)

    def capabilities(self, provider: Provider = None) -> frozenset[Capability]:
        """What the adapter can do. Raises InvalidConfig for an unknown name."""
        declared: frozenset[Capability] = getattr(self._find(_name(provider)), "capabilities", CAPABILITIES)
        return declared

    async def call(
        self, prompt: ArtStandardPrompt, options: CallOptions, provider: Provider = None
    ) -> AsyncGenerator[StreamEvent]:
        """The events of a call of the named adapter, whose connection is released however the reading ends.

        The prompt goes to the adapter as it is; the options are completed by the provider's. Raises InvalidConfig for
        an unknown name, and what the adapter raises.
        """
        adapter = self._find(_name(provider))
        async with aclosing(adapter.call(prompt, _completed(options, provider))) as events:
            async for event in events:
                yield event

    async def aclose(self) -> None:
        """Closes the adapters that were made."""
        for adapter in self._adapters.values():
            close = getattr(adapter, "aclose", None)
            if close is not None:
                await close()

    def _find(self, name: str | None) -> Adapter:
        name = next(iter(self._adapters)) if name is None else name
        if name not in self._adapters:
            raise InvalidConfig(f"there is no provider {name!r}; known providers: {', '.join(self._adapters)}")
        found = self._adapters[name]
        if not hasattr(found, "call") and callable(found):
            found = self._adapters[name] = found()
        return cast("Adapter", found)


def _name(provider: Provider) -> str | None:
    return provider.name if isinstance(provider, ProviderConfig) else provider


def _completed(options: CallOptions, provider: Provider) -> CallOptions:
    """The options, and those of the provider that they do not set."""
    if not isinstance(provider, ProviderConfig) or not provider.options:
        return options
    return parse_options({**provider.options, **msgspec.to_builtins(options)})
