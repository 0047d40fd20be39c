"""The entries of calls in a chunk: each is a piece of a call, or a whole one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from art_compliance.dialects.openai_chat.variations import Chunk

Entry = dict[str, Any]


def entries_of(chunk: Chunk) -> list[Entry]:
    """The entries in a chunk with one choice."""
    (choice,) = chunk["choices"]
    return choice["delta"].get("tool_calls") or []


def with_entries(chunk: Chunk, change: Callable[[Entry], Entry]) -> Chunk:
    """The chunk with its entries changed; a chunk without any stays as it is."""
    entries = entries_of(chunk)
    return put_entries(chunk, [*map(change, entries)]) if entries else chunk


def put_entries(chunk: Chunk, entries: list[Entry]) -> Chunk:
    """The chunk with these entries in place of its own."""
    (choice,) = chunk["choices"]
    return {**chunk, "choices": [{**choice, "delta": {**choice["delta"], "tool_calls": entries}}]}


def whole_call(first: Entry, pieces: list[Entry]) -> Entry:
    """The call that begins with this entry, whole, from the pieces of all calls."""
    arguments = "".join(
        one.get("function", {}).get("arguments") or "" for one in pieces if one["index"] == first["index"]
    )
    return {**first, "function": {**first["function"], "arguments": arguments}}
