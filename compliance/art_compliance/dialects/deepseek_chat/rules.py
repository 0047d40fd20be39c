"""DeepSeek's rules. Statements and sources: `fixtures/rules/deepseek-chat.toml`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from art_compliance.dialects.openai_chat import rules as openai_chat
from art_compliance.dialects.openai_chat.chat import Chat, ChatMessage
from art_compliance.dialects.ruling import Broken, RuleCheck, child, rule, rules_of

calls_answered: Final = RuleCheck("deepseek.calls-answered", openai_chat.tool_calls_answered.run)
tool_needs_call: Final = RuleCheck("deepseek.tool-needs-call", openai_chat.tool_needs_call.run)


@rule("deepseek.reasoning-back")
def reasoning_back(chat: Chat) -> Iterator[Broken]:
    """In the messages since the user last spoke: earlier ones may have lost theirs. An empty text counts."""
    for message in reversed(chat.messages):
        if message.role == "user":
            return
        if _calls(message) and message.value.get("reasoning_content") is None and not _thinking_is_off(chat):
            yield Broken(message.pointer, "the message has calls, but no reasoning_content")


@rule("deepseek.reasoning-ignored-plain")
def reasoning_ignored_plain(chat: Chat) -> Iterator[Broken]:
    """In messages without calls."""
    for message in chat.messages:
        if message.has_reasoning and not message.calls:
            yield Broken(
                f"{message.pointer}/reasoning_content", "the message has no calls, so its reasoning_content is ignored"
            )


@rule("deepseek.alternate-r1")
def alternate_r1(chat: Chat) -> Iterator[Broken]:
    """Messages of the user and of the assistant."""
    for before, message in pairwise(chat.messages):
        if message.role == before.role and message.role in ("user", "assistant"):
            yield Broken(f"{message.pointer}/role", f"two messages in a row have the role {message.role}")


@rule("deepseek.roles")
def roles(chat: Chat) -> Iterator[Broken]:
    """`developer` is not among them."""
    for message in chat.messages:
        role = message.role
        if isinstance(role, str) and role not in _ROLES:
            yield Broken(f"{message.pointer}/role", f"unknown role {role!r}")


_ROLES: Final = ("system", "user", "assistant", "tool", "latest_reminder")


@rule("deepseek.sampling-ignored")
def sampling_ignored(chat: Chat) -> Iterator[Broken]:
    """DeepSeek answers as if the options were absent."""
    for name in ("temperature", "top_p", "presence_penalty", "frequency_penalty"):
        if chat.body.get(name) is not None and not _thinking_is_off(chat):
            yield Broken(f"/{name}", f"{chat.model} ignores {name}")


def _calls(message: ChatMessage) -> bool:
    return message.role == "assistant" and bool(message.calls)


def _thinking_is_off(chat: Chat) -> bool:
    return child(chat.root, "thinking").value.get("type") == "disabled"


RULES: Final = rules_of(sys.modules[__name__])
