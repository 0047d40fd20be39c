"""What an agent remembers of a thread: where it is kept, and what of it goes into a prompt."""

from __future__ import annotations

from art_sdk.contributors.memory.provider import MemoryProvider, MemoryUnavailable
from art_sdk.contributors.memory.recall import Memory, open_memory
from art_sdk.contributors.memory.registry import memory_providers
from art_sdk.contributors.memory.retrieval import Embedder, Summarizer
from art_sdk.contributors.memory.summarizing import Completes, summarize_with

__all__ = [
    "Completes",
    "Embedder",
    "Memory",
    "MemoryProvider",
    "MemoryUnavailable",
    "Summarizer",
    "memory_providers",
    "open_memory",
    "summarize_with",
]
