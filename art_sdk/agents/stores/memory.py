"""A store in memory, for tests and for programs that need not remember."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from typing import Any

from art_sdk.agents.history import ConversationMessage
from art_sdk.agents.thread_config import ThreadConfig, dump_thread_config, parse_thread_config


class InMemoryStore:
    """Settings and conversations, gone when the program ends. Threads of the program may share it.

    It keeps the latest `messages` of each thread, by default all.
    """

    def __init__(self, *, messages: int | None = None) -> None:
        self._configs: dict[str, ThreadConfig] = {}
        self._conversations: dict[str, deque[ConversationMessage]] = {}
        self._lock = threading.Lock()
        self._most = messages

    async def get_thread_config(self, thread_id: str) -> ThreadConfig:
        """As in `StateStore`."""
        return self._configs.get(thread_id, ThreadConfig())

    async def get_thread_config_value(self, thread_id: str, key: str) -> Any:
        """As in `StateStore`."""
        return dump_thread_config(await self.get_thread_config(thread_id)).get(key)

    async def set_thread_config(self, thread_id: str, config: ThreadConfig | dict[str, Any]) -> None:
        """As in `StateStore`."""
        self._configs[thread_id] = parse_thread_config(config)

    async def append_messages(self, thread_id: str, messages: Sequence[ConversationMessage]) -> None:
        """As in `ConversationStore`."""
        with self._lock:
            self._conversations.setdefault(thread_id, deque(maxlen=self._most)).extend(messages)

    async def get_messages(self, thread_id: str, limit: int | None = None) -> tuple[ConversationMessage, ...]:
        """As in `ConversationStore`."""
        with self._lock:
            kept = tuple(self._conversations.get(thread_id, ()))
        return kept if limit is None else kept[max(0, len(kept) - limit) :]
