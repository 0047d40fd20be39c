"""Mistral's rules. Words and sources stand in `fixtures/rules/mistral-chat.toml`.

Most are those of mistral-common's validator, by which Mistral itself holds a request.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from art_compliance.dialects.openai_chat.chat import Chat, calls_of, role_of
from art_compliance.dialects.ruling import Broken, Place, outside, rule, rules_of

_ID: Final = re.compile(r"[a-zA-Z0-9]{9}")
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@rule("mistral.tool-id-9")
def tool_id_9(chat: Chat) -> Iterator[Broken]:
    """Of calls and of results; calls without ids are told apart by their order."""
    for name, places in (("id", chat.calls), ("tool_call_id", chat.messages)):
        for place in places:
            value = place.value.get(name)
            if isinstance(value, str) and not _ID.fullmatch(value):
                told = f"the id {value!r} does not have nine characters of a-z, A-Z and 0-9"
                yield Broken(f"{place.pointer}/{name}", told)


@rule("mistral.calls-answered")
def calls_answered(chat: Chat) -> Iterator[Broken]:
    """Counted up to the next assistant message, or to the end."""
    waiting: Place | None = None
    calls = answers = 0
    for message in (*chat.messages, Place({"role": "assistant"})):
        if role_of(message) == "tool":
            answers += 1
        elif role_of(message) == "assistant":
            if waiting is not None and calls != answers:
                yield Broken(waiting.pointer, f"{calls} calls are followed by {answers} results")
            waiting, calls, answers = message, len(calls_of(message)), 0


_AFTER: Final = {
    "system": ("user", "assistant", "system"),
    "user": ("assistant", "system", "user"),
    "assistant": ("assistant", "user", "tool"),
    "tool": ("assistant", "tool", "user"),
}


@rule("mistral.order")
def order(chat: Chat) -> Iterator[Broken]:
    """By a table of what may follow what; a role that is in none of it is the schema's business."""
    for before, message in pairwise(chat.messages):
        role, allowed = role_of(message), _AFTER.get(role_of(before) or "")
        if allowed is not None and role in _AFTER and role not in allowed:
            yield Broken(f"{message.pointer}/role", f"{role} stands after {role_of(before)}")


@rule("mistral.no-user-after-tool")
def no_user_after_tool(chat: Chat) -> Iterator[Broken]:
    """Right after."""
    for before, message in pairwise(chat.messages):
        if role_of(before) == "tool" and role_of(message) == "user":
            yield Broken(f"{message.pointer}/role", "the user speaks right after a result")


@rule("mistral.last-role")
def last_role(chat: Chat) -> Iterator[Broken]:
    """An assistant's message at the end says that it is to be continued; one that stands alone is another rule's."""
    for message in chat.messages[-1:] if len(chat.messages) > 1 else ():
        if role_of(message) == "assistant" and message.value.get("prefix") is not True:
            yield Broken(f"{message.pointer}/role", "the conversation ends with the assistant")


@rule("mistral.start")
def start(chat: Chat) -> Iterator[Broken]:
    """One message alone is the user's or the system's."""
    if chat.body.get("messages") == []:
        yield Broken("/messages", "the list is empty")
    if len(chat.messages) == 1 and role_of(chat.messages[0]) in ("tool", "assistant"):
        yield Broken("/messages/0/role", f"a message of {role_of(chat.messages[0])} stands alone")


@rule("mistral.content-xor-tools")
def content_xor_tools(chat: Chat) -> Iterator[Broken]:
    """Empty content is none."""
    for message in chat.messages:
        if role_of(message) == "assistant" and bool(message.value.get("content")) == bool(calls_of(message)):
            yield Broken(message.pointer, "the message has both content and calls, or neither")


@rule("mistral.prefix-last")
def prefix_last(chat: Chat) -> Iterator[Broken]:
    """Anywhere else there is nothing to continue."""
    for message in chat.messages[:-1]:
        if role_of(message) == "assistant" and message.value.get("prefix") is True:
            yield Broken(f"{message.pointer}/prefix", "a message that is to be continued is not the last")


@rule("mistral.function-name")
def function_name(chat: Chat) -> Iterator[Broken]:
    """Offered, called, and named by results."""
    for named in (*chat.named, *(message for message in chat.messages if role_of(message) == "tool")):
        name = named.value.get("name")
        if isinstance(name, str) and not _NAME.fullmatch(name):
            yield Broken(f"{named.pointer}/name", f"the name {name!r} does not match {_NAME.pattern}")


@rule("mistral.tool-result-ids")
def tool_result_ids(chat: Chat) -> Iterator[Broken]:
    """Of the calls of the last assistant message; each once."""
    waiting: Counter[Any] = Counter()
    for at, message in enumerate(chat.messages):
        if role_of(message) == "assistant":
            waiting = Counter(call.value["id"] for call in calls_of(message) if isinstance(call.value.get("id"), str))
        call_id = message.value.get("tool_call_id")
        if at and role_of(message) == "tool" and isinstance(call_id, str):  # the validator begins with the second
            if not waiting[call_id]:
                yield Broken(f"{message.pointer}/tool_call_id", f"no call {call_id!r} waits for a result")
            waiting[call_id] -= 1


@rule("mistral.call-ids-unique")
def call_ids_unique(chat: Chat) -> Iterator[Broken]:
    """Within one message; another may have the same."""
    for message in chat.messages:
        seen: set[Any] = set()
        for call in calls_of(message):
            call_id = call.value.get("id")
            if isinstance(call_id, str) and call_id in seen:
                yield Broken(f"{call.pointer}/id", f"two calls of the message have the id {call_id!r}")
            seen.add(call_id if isinstance(call_id, str) else None)


@rule("mistral.temperature")
def temperature(chat: Chat) -> Iterator[Broken]:
    """And the ranges of the other options of sampling."""
    yield from outside(chat.root, _RANGES)


_RANGES: Final = {
    "temperature": (0.0, 1.5),
    "top_p": (0.0, 1.0),
    "presence_penalty": (-2.0, 2.0),
    "frequency_penalty": (-2.0, 2.0),
}

RULES: Final = rules_of(sys.modules[__name__])
