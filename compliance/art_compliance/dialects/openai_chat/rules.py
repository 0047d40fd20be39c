"""OpenAI's rules about messages. Statements, sources and models: `fixtures/rules/openai-chat.toml`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Final

from art_compliance.dialects.openai_chat import option_rules, part_rules, tool_rules
from art_compliance.dialects.openai_chat.chat import Chat
from art_compliance.dialects.ruling import Broken, rule, rules_of, texts_in
from art_compliance.quoting import show
from art_sdk.json_data import is_array, is_object


@rule("openai.messages-nonempty")
def messages_nonempty(chat: Chat) -> Iterator[Broken]:
    """An empty list; a missing one is left to the wire schema."""
    messages = chat.body.get("messages")
    if is_array(messages) and not messages:
        yield Broken("/messages", "there are no messages")


@rule("openai.tool-calls-answered")
def tool_calls_answered(chat: Chat) -> Iterator[Broken]:
    """Only calls with ids: one without cannot be answered by its id."""
    for one in chat.rounds:
        answered = {result.answers for result in one.results}
        for call in one.calls:
            if call.id is not None and call.id not in answered:
                yield Broken(call.pointer, f"no tool message right after this one answers the call {show(call.id)}")


@rule("openai.tool-needs-call")
def tool_needs_call(chat: Chat) -> Iterator[Broken]:
    """The calls of the assistant message right before the tool messages; ids may be left out."""
    for one in chat.rounds:
        called = {call.id for call in one.calls}
        for result in one.results:
            if result.answers is not None and called.isdisjoint((result.answers, None)):
                yield Broken(result.pointer, f"the assistant message before it has no call {show(result.answers)}")


@rule("openai.result-once")
def result_once(chat: Chat) -> Iterator[Broken]:
    """In one run of tool messages; a later call may have an earlier one's id."""
    for one in chat.rounds:
        seen: set[str] = set()
        for result in one.results:
            if result.answers is not None and result.answers in seen:
                yield Broken(f"{result.pointer}/tool_call_id", f"the call {show(result.answers)} already has a result")
            seen.add(result.answers or "")


@rule("openai.tool-calls-nonempty-array")
def tool_calls_nonempty_array(chat: Chat) -> Iterator[Broken]:
    """The field should be left out instead."""
    for message in chat.messages:
        if is_array(message.tool_calls) and not message.tool_calls:
            yield Broken(f"{message.pointer}/tool_calls", "the list is empty; omit the field")


@rule("openai.tool-call-id-len40")
def tool_call_id_len40(chat: Chat) -> Iterator[Broken]:
    """Counted in characters, as in the error text."""
    for call in chat.calls:
        if call.id is not None and len(call.id) > 40:
            yield Broken(f"{call.pointer}/id", f"the id has {len(call.id)} characters; at most 40 are allowed")


_INSTEAD_OF_CONTENT: Final = ("tool_calls", "function_call", "refusal", "audio")


@rule("openai.content-not-null")
def content_not_null(chat: Chat) -> Iterator[Broken]:
    """An assistant message may have one of these instead."""
    for message in chat.messages:
        if message.content is not None:
            continue
        if message.role == "assistant" and any(message.value.get(name) for name in _INSTEAD_OF_CONTENT):
            continue
        if message.role in _ROLES_WITH_CONTENT:
            yield Broken(f"{message.pointer}/content", "the message has no content")


_ROLES_WITH_CONTENT: Final = ("system", "developer", "user", "assistant", "tool")
_NAMED_ROLES: Final = ("system", "developer", "user", "assistant")
_NOT_IN_A_NAME: Final = re.compile(r"[\s<|\\/>]")


@rule("openai.message-name-pattern")
def message_name_pattern(chat: Chat) -> Iterator[Broken]:
    """The name of a tool message is not checked: it is not a field of the format."""
    for message in chat.messages:
        name = message.name
        if isinstance(name, str) and message.role in _NAMED_ROLES and _NOT_IN_A_NAME.search(name):
            yield Broken(f"{message.pointer}/name", f"the name {show(name)} has a character that is not allowed")


@rule("openai.json-word")
def json_word(chat: Chat) -> Iterator[Broken]:
    """In any text of the messages, in upper or lower case."""
    wanted = chat.body.get("response_format")
    if is_object(wanted) and wanted.get("type") == "json_object" and chat.messages:
        messages = [message.value for message in chat.messages]
        if not any("json" in text.lower() for text in texts_in(messages)):
            yield Broken("/response_format", "no message contains the word json")


@rule("openai.role-function-models")
def role_function_models(chat: Chat) -> Iterator[Broken]:
    """The role from before there were tools."""
    yield from _messages_of(chat, "function")


@rule("openai.role-system-models")
def role_system_models(chat: Chat) -> Iterator[Broken]:
    """Under both names."""
    yield from _messages_of(chat, "system", "developer")


def _messages_of(chat: Chat, *roles: str) -> Iterator[Broken]:
    for message in chat.messages:
        if message.role in roles:
            yield Broken(
                f"{message.pointer}/role", f"{chat.model} does not accept messages with the role {show(message.role)}"
            )


RULES: Final = rules_of(sys.modules[__name__], part_rules, tool_rules, option_rules)

__all__ = ["RULES", "Chat"]
