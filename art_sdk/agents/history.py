"""Stored messages of a conversation, and the history that a prompt holds of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from art_sdk.conversation import ConversationFault, read_conversation
from art_sdk.messages import (
    ArtStandardMessage,
    ArtStandardPrompt,
    AssistantMessage,
    ToolRequestMessage,
    UserMessage,
)


class ConversationMessage(Struct, frozen=True, kw_only=True):
    """One stored message: in standard form, with the time in seconds since 1970 and the question's trace id."""

    message: ArtStandardMessage
    timestamp: float
    trace_id: str | None = None


_UNANSWERED: Final = frozenset({"unanswered-call", "pending-call", "empty-request"})
_UNASKED: Final = frozenset({"orphan-result", "double-result"})


def format_history_for_prompt(messages: Sequence[ConversationMessage], limit: int | None = None) -> ArtStandardPrompt:
    """The stored messages as those of a prompt: the latest, at most `limit`.

    What is cut off ends before a user message, so that a round of tools stays whole. Calls that have no result, as of
    a program that ended in between, and results without a call are left out: no provider accepts them.
    """
    prompt = tuple(stored.message for stored in messages)
    if limit is not None and len(prompt) > limit:
        prompt = _from_a_user_message(prompt, len(prompt) - limit)
    return _paired(prompt)


def _from_a_user_message(prompt: ArtStandardPrompt, start: int) -> ArtStandardPrompt:
    while start < len(prompt) and not isinstance(prompt[start], UserMessage):
        start += 1
    return prompt[start:]


def _paired(prompt: ArtStandardPrompt) -> ArtStandardPrompt:
    faults = read_conversation(prompt).faults
    if not faults:
        return prompt
    unasked = {fault.index for fault in faults if fault.kind in _UNASKED}
    unanswered: dict[int, list[ConversationFault]] = {}
    for fault in faults:
        if fault.kind in _UNANSWERED:
            unanswered.setdefault(fault.index, []).append(fault)
    kept = (
        _without(message, unanswered[index]) if index in unanswered else message
        for index, message in enumerate(prompt)
        if index not in unasked
    )
    return tuple(message for message in kept if message is not None)


def _without(message: ArtStandardMessage, faults: list[ConversationFault]) -> ArtStandardMessage | None:
    """The message without these calls, or None if nothing is left of it."""
    if isinstance(message, ToolRequestMessage) or not isinstance(message, AssistantMessage):
        return None
    lost = {fault.call_id for fault in faults}
    calls = tuple(call for call in message.tool_calls if call.id not in lost)
    if not calls and not message.content:
        return None
    return msgspec.structs.replace(message, tool_calls=calls, extensions=None)
