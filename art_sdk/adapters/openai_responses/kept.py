"""What goes back with the next turn besides text and calls: reasoning, and the ids and phases of the items next to it.

An answer whose items are messages and calls alone keeps nothing, unless a message has a phase: without reasoning, no id
is needed. Otherwise every item is kept, in order. A reasoning item and others go back whole. Of a message, its text is
that of the standard message: its next `length` characters, or the rest. Calls are those of the standard message.
OpenAI rejects reasoning with an id if the item after it comes without its own (responses.reasoning-followed: recorded).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

_ANSWERED: Final = frozenset(
    {
        *("custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call"),
        *("mcp_approval_request", "tool_search_call"),
    }
)
"""Items that the client must answer, for which a prompt has no place."""

_MESSAGE: Final = ("id", "phase", "status")
_CALL: Final = ("id", "status", "namespace")


class _KeptItems(Struct, forbid_unknown_fields=True):
    items: list[dict[str, Any]]


class _KeptMessage(Struct, forbid_unknown_fields=True):
    type: str
    length: Annotated[int, Meta(ge=0)] | None = None
    id: str | None = None
    phase: str | None = None
    status: str | None = None


class _KeptCall(Struct, forbid_unknown_fields=True):
    type: str
    id: str | None = None
    status: str | None = None
    namespace: str | None = None


def has_open_call(output: Iterable[dict[str, Any]]) -> bool:
    """Whether the client must answer an item of the output that is not a call of a function."""
    return any(item.get("type") in _ANSWERED for item in output)


def keep_items(output: list[dict[str, Any]], lengths: list[int]) -> dict[str, Any] | None:
    """What of an answer's output goes back, or None. `lengths` are those of the texts of its messages.

    Reasoning that is neither encrypted nor readable is left out: nothing but its id is known, and it is not stored.
    """
    left = [item for item in output if item.get("type") != "reasoning" or _is_known(item)]
    is_plain = all(
        item.get("type") == "function_call" or (item.get("type") == "message" and not item.get("phase"))
        for item in left
    )
    if is_plain:
        return None
    places = [at for at, item in enumerate(left) if item.get("type") == "message"]
    known = dict(zip(places[:-1], lengths, strict=False))
    return {"items": [_keep(item, known.get(at)) for at, item in enumerate(left)]}


def _is_known(reasoning: dict[str, Any]) -> bool:
    return bool(reasoning.get("encrypted_content") or reasoning.get("content"))


def _keep(item: dict[str, Any], length: int | None) -> dict[str, Any]:
    match item.get("type"):
        case "message":
            part = {} if length is None else {"length": length}
            return {"type": "message", **part, **_some(item, _MESSAGE)}
        case "function_call":
            return {"type": "function_call", **_some(item, _CALL)}
        case _:
            return item


def _some(item: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: item[name] for name in names if item.get(name) is not None}


def put_back(written: list[dict[str, Any]], extension: object) -> list[dict[str, Any]]:
    """The kept items, with the text and the calls of the standard message, which are `written` as items.

    Raises ValueError for an extension of another form, and for one that does not fit the text and the calls.
    """
    text: str = written[0]["content"] if written and "content" in written[0] else ""
    calls = [item for item in written if "call_id" in item]
    items: list[dict[str, Any]] = []
    for kept in msgspec.convert(extension, _KeptItems).items:
        match kept.get("type"):
            case "message":
                message = msgspec.convert(kept, _KeptMessage)
                length = len(text) if message.length is None else message.length
                items.append(_message(message, text[:length]))
                text = text[length:]
            case "function_call" if calls:
                msgspec.convert(kept, _KeptCall)
                items.append(calls.pop(0) | _some(kept, _CALL))
            case _:
                items.append(_other(kept))
    if calls:
        raise ValueError("the message has more calls than its items")
    if text:  # which the answer did not have
        first = next((at for at, item in enumerate(items) if item.get("type") == "function_call"), len(items))
        items.insert(first, {"type": "message", "role": "assistant", "content": text})
    return items


def _message(kept: _KeptMessage, text: str) -> dict[str, Any]:
    """With an id, it is an item of the answer; without one, a message of the assistant."""
    phase = {} if kept.phase is None else {"phase": kept.phase}
    if kept.id is None:
        return {"type": "message", "role": "assistant", "content": text, **phase}
    content: list[dict[str, Any]] = [{"type": "output_text", "text": text, "annotations": []}]
    status = kept.status or "completed"
    return {"type": "message", "id": kept.id, "role": "assistant", "status": status, "content": content, **phase}


def _other(item: dict[str, Any]) -> dict[str, Any]:
    kind = item.get("type")
    if kind in _ANSWERED:
        raise ValueError(f"it has an item of type {kind!r}, whose result a prompt cannot contain")
    if not isinstance(kind, str) or kind in {"function_call", "function_call_output"}:
        raise ValueError(f"an item of type {kind!r} does not belong there")
    return item
