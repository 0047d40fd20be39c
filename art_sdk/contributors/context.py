"""DynamicContributorContext: all that a contributor may know. Everything is passed in, so tests fix all of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from art_sdk.contributors.configuration import AgentConfig
from art_sdk.messages import ArtStandardPrompt, ToolSchema


class ClientManager(Protocol):
    """Where the tools of an agent come from."""

    def get_all_tools(self) -> Awaitable[Mapping[str, Any]] | Mapping[str, Any]:
        """The tools by name, now or when awaited."""
        ...


class RecallsMemory(Protocol):
    """The memory of an agent, as the source `memorySummary` reads it."""

    async def recall(self, thread_id: str | None, query: str) -> str:
        """What goes from the memory into the prompt of this thread, or `""`. `query` is the user's last message."""
        ...


class ReadsResources(Protocol):
    """Where the texts of resources come from."""

    async def read(self, uri: str) -> str:
        """The text of a resource. Raises if there is none."""
        ...


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True, repr=False)
class DynamicContributorContext:
    """What contributors are given when a system prompt is built. Each part is optional.

    `agent_config` is the agent's configuration. `client_manager` gives all tools, `tools`
    those that the thread enables, and the latter win. `history` is the conversation before this query. `now` is the
    clock. `workspace` is the root of files that have no other. `extra` is the application's own: templates see it.
    """

    agent_config: AgentConfig | None = None
    client_manager: ClientManager | None = None
    history: ArtStandardPrompt = ()
    query: str = ""
    now: Callable[[], datetime] = _now
    tools: tuple[ToolSchema, ...] | None = None
    memory: RecallsMemory | None = None
    resources: ReadsResources | None = None
    workspace: Path | None = None
    thread_id: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
