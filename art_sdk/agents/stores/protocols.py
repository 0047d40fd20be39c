"""What an agent needs of a store. A class may be both kinds; those of this folder are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from art_sdk.agents.history import ConversationMessage
from art_sdk.agents.thread_config import ThreadConfig


@runtime_checkable
class StateStore(Protocol):
    """The settings of threads."""

    async def get_thread_config(self, thread_id: str) -> ThreadConfig:
        """The thread's settings; of a thread that has none, those of an empty `ThreadConfig`."""
        ...

    async def get_thread_config_value(self, thread_id: str, key: str) -> Any:
        """One setting by its name as JSON has it, such as `systemPrompt`, or None if it is not set."""
        ...

    async def set_thread_config(self, thread_id: str, config: ThreadConfig | dict[str, Any]) -> None:
        """Replaces the thread's settings. Raises InvalidConfig for settings that no thread may have."""
        ...


@runtime_checkable
class ConversationStore(Protocol):
    """The messages of threads."""

    async def append_messages(self, thread_id: str, messages: Sequence[ConversationMessage]) -> None:
        """Appends the messages, all or none, with nothing of another writer between them.

        When it returns, they are kept.
        """
        ...

    async def get_messages(self, thread_id: str, limit: int | None = None) -> tuple[ConversationMessage, ...]:
        """The latest messages, oldest first, at most `limit`."""
        ...
