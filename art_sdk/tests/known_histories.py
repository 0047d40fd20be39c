"""What the tests of kept conversations share: an adapter that keeps short ones, too, and what it sends."""

from __future__ import annotations

import copy
from typing import Any

from art_sdk import ARTError, BaseAdapter, CallOptions, ToolSchema
from built_in import adapter_of

Message = dict[str, Any]

IMAGE = {"type": "image", "mime_type": "image/png", "data": "aGk="}
TOOL = ToolSchema("look", "d", {"type": "object", "properties": {"a": {"type": "integer"}}})
OPTIONS = CallOptions(thread_id="t", tools=(TOOL,))


def outcome(adapter: BaseAdapter, prompt: Any, options: CallOptions) -> object:
    """The body that the adapter would send, or its error."""
    try:
        return adapter.prepare(prompt, options).request.body
    except ARTError as error:
        return type(error), error.message, error.details


def keeping(name: str) -> BaseAdapter:
    """The adapter, which keeps short conversations, too."""
    kind = type(adapter_of(name))
    kept = type(kind.__name__, (kind,), {"shortest_history": 1})
    found = copy.copy(adapter_of(name))
    found.__class__ = kept
    return found
