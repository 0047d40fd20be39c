"""Mistral's rules. Statements and sources: `fixtures/rules/mistral-chat.toml`.

Most are those of mistral-common, Mistral's own validator.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from art_compliance.dialects.json_schemas import schema_faults
from art_compliance.dialects.openai_chat import part_rules
from art_compliance.dialects.openai_chat.chat import Chat, ChatMessage
from art_compliance.dialects.ruling import Broken, RuleCheck, below, child, number, objects, outside, rule, rules_of
from art_compliance.quoting import show
from art_sdk.json_data import is_array

_ID: Final = re.compile(r"[a-zA-Z0-9]{9}")
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@rule("mistral.tool-id-9")
def tool_id_9(chat: Chat) -> Iterator[Broken]:
    """The ids of calls and of results; calls without ids are matched by their order."""
    for call in chat.calls:
        if call.id is not None and not _ID.fullmatch(call.id):
            yield Broken(f"{call.pointer}/id", f"the id {show(call.id)} {_LIMIT}")
    for message in chat.messages:
        if message.answers is not None and not _ID.fullmatch(message.answers):
            yield Broken(f"{message.pointer}/tool_call_id", f"the id {show(message.answers)} {_LIMIT}")


_LIMIT: Final = "must have nine characters from a-z, A-Z and 0-9"


@rule("mistral.calls-answered")
def calls_answered(chat: Chat) -> Iterator[Broken]:
    """Counted up to the next assistant message or the end."""
    waiting: ChatMessage | None = None
    answers = 0
    for message in (*chat.messages, None):
        if message is None or message.role == "assistant":
            if waiting is not None and len(waiting.calls) != answers:
                yield Broken(waiting.pointer, f"{len(waiting.calls)} calls are followed by {answers} results")
            waiting, answers = message, 0
        elif message.role == "tool":
            answers += 1


_AFTER: Final = {
    "system": ("user", "assistant", "system"),
    "user": ("assistant", "system", "user"),
    "assistant": ("assistant", "user", "tool"),
    "tool": ("assistant", "tool", "user"),
}


@rule("mistral.order")
def order(chat: Chat) -> Iterator[Broken]:
    """By a table of what may follow what; unknown roles are left to the wire schema."""
    for before, message in pairwise(chat.messages):
        role, allowed = message.role, _AFTER.get(before.role or "")
        if allowed is not None and role in _AFTER and role not in allowed:
            yield Broken(
                f"{message.pointer}/role",
                f"a message with the role {role} cannot follow one with the role {before.role}",
            )


@rule("mistral.no-user-after-tool")
def no_user_after_tool(chat: Chat) -> Iterator[Broken]:
    """Right after."""
    for before, message in pairwise(chat.messages):
        if before.role == "tool" and message.role == "user":
            yield Broken(f"{message.pointer}/role", "a user message directly follows a tool result")


@rule("mistral.last-role")
def last_role(chat: Chat) -> Iterator[Broken]:
    """Allowed with `prefix`, which asks for a continuation. A single message is left to `mistral.start`."""
    for message in chat.messages[-1:] if len(chat.messages) > 1 else ():
        if message.role == "assistant" and message.value.get("prefix") is not True:
            yield Broken(f"{message.pointer}/role", "the last message is from the assistant")


@rule("mistral.start")
def start(chat: Chat) -> Iterator[Broken]:
    """A single message must be the user's or the system's."""
    if chat.body.get("messages") == []:
        yield Broken("/messages", "there are no messages")
    if len(chat.messages) == 1 and chat.messages[0].role in ("tool", "assistant"):
        yield Broken("/messages/0/role", f"the only message has the role {chat.messages[0].role}")


@rule("mistral.content-xor-tools")
def content_xor_tools(chat: Chat) -> Iterator[Broken]:
    """Empty content counts as none."""
    for message in chat.messages:
        if message.role == "assistant" and bool(message.content) == bool(message.calls):
            yield Broken(message.pointer, "the message must have either content or tool calls")


@rule("mistral.assistant-nonempty")
def assistant_nonempty(chat: Chat) -> Iterator[Broken]:
    """An answer that begins with `prefix` may begin with nothing."""
    for message in chat.messages:
        if message.role == "assistant" and not (message.content or message.calls or message.value.get("prefix")):
            yield Broken(message.pointer, "the message has neither content nor tool calls")


@rule("mistral.prefix-last")
def prefix_last(chat: Chat) -> Iterator[Broken]:
    """Elsewhere there is nothing to continue."""
    for message in chat.messages[:-1]:
        if message.role == "assistant" and message.value.get("prefix") is True:
            yield Broken(f"{message.pointer}/prefix", "a message with prefix: true is not the last")


@rule("mistral.function-name")
def function_name(chat: Chat) -> Iterator[Broken]:
    """Names of tools, of calls and of results."""
    results = [message for message in chat.messages if message.role == "tool"]
    for place, name in [(one, one.name) for one in chat.named] + [(one, one.name) for one in results]:
        if isinstance(name, str) and not _NAME.fullmatch(name):
            yield Broken(f"{place.pointer}/name", f"the name {show(name)} does not match {_NAME.pattern}")


@rule("mistral.tool-result-ids")
def tool_result_ids(chat: Chat) -> Iterator[Broken]:
    """Each call of the last assistant message, once."""
    waiting: Counter[str] = Counter()
    for at, message in enumerate(chat.messages):
        if message.role == "assistant":
            waiting = Counter(call.id for call in message.calls if call.id is not None)
        call_id = message.answers
        if at and message.role == "tool" and call_id is not None:  # the validator skips the first message
            if not waiting[call_id]:
                yield Broken(f"{message.pointer}/tool_call_id", f"no open call has the id {show(call_id)}")
            waiting[call_id] -= 1


@rule("mistral.call-ids-unique")
def call_ids_unique(chat: Chat) -> Iterator[Broken]:
    """Within one message; other messages may repeat an id."""
    for message in chat.messages:
        seen: set[str | None] = set()
        for call in message.calls:
            if call.id in seen and call.id is not None:
                yield Broken(f"{call.pointer}/id", f"two calls in this message have the id {show(call.id)}")
            seen.add(call.id)


@rule("mistral.tool-schema")
def tool_schema(chat: Chat) -> Iterator[Broken]:
    """Of draft 7."""
    for function in chat.functions:
        root = child(function, "parameters")
        for pointer, message in schema_faults(root.value):
            yield Broken(f"{root.pointer}{pointer}", message)


image_base64: Final = RuleCheck("mistral.image-base64", part_rules.image_base64.run)


@rule("mistral.image-url")
def image_url(chat: Chat) -> Iterator[Broken]:
    """The URL alone, or in an object."""
    for message in chat.messages:
        for part in objects(message, "content"):
            given = part.value.get("image_url")
            url = given if isinstance(given, str) else child(part, "image_url").value.get("url")
            if isinstance(url, str) and not _IMAGE_URL.match(url):
                yield Broken(f"{part.pointer}/image_url", "the URL starts neither with https nor with data:image/")


_IMAGE_URL: Final = re.compile(r"https?:|data:image/|<|\W*REDACTED")  # a masked URL says nothing


@rule("mistral.max-tokens-min")
def max_tokens_min(chat: Chat) -> Iterator[Broken]:
    """0 is allowed."""
    yield from below(chat.root, ("max_tokens",), 0)


@rule("mistral.random-seed")
def random_seed(chat: Chat) -> Iterator[Broken]:
    """0 is a seed."""
    yield from below(chat.root, ("random_seed",), 0)


@rule("mistral.n-min")
def n_min(chat: Chat) -> Iterator[Broken]:
    """Null counts as absent."""
    wanted = number(chat.body.get("n"))
    if wanted is not None and wanted < 1:
        yield Broken("/n", f"n is {wanted}; it is not known whether Mistral accepts less than 1")


@rule("mistral.stop-max4")
def stop_max4(chat: Chat) -> Iterator[Broken]:
    """A plain text counts as one."""
    stops = chat.body.get("stop")
    if is_array(stops) and len(stops) > 4:
        yield Broken(
            "/stop", f"there are {len(stops)} stop sequences; it is not known whether Mistral accepts more than 4"
        )


@rule("mistral.reasoning-effort")
def reasoning_effort(chat: Chat) -> Iterator[Broken]:
    """Another type is left to the wire schema."""
    effort = chat.body.get("reasoning_effort")
    if isinstance(effort, str) and effort not in _EFFORTS:
        yield Broken("/reasoning_effort", f"{show(effort)} is not one of {', '.join(_EFFORTS)}")


_EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


@rule("mistral.greedy-top-p")
def greedy_top_p(chat: Chat) -> Iterator[Broken]:
    """A temperature of 0 leaves nothing to choose from."""
    top_p = number(chat.body.get("top_p"))
    if number(chat.body.get("temperature")) == 0 and top_p is not None and top_p != 1:
        yield Broken("/top_p", f"top_p is {top_p} with a temperature of 0; it must be 1")


@rule("mistral.temperature")
def temperature(chat: Chat) -> Iterator[Broken]:
    """Also the ranges of the other sampling options. top_p may not be 0."""
    yield from outside(chat.root, _RANGES)
    if number(chat.body.get("top_p")) == 0:
        yield Broken("/top_p", "top_p is 0; it must be above 0")


_RANGES: Final = {
    "temperature": (0.0, 1.5),
    "top_p": (0.0, 1.0),
    "presence_penalty": (-2.0, 2.0),
    "frequency_penalty": (-2.0, 2.0),
}

RULES: Final = rules_of(sys.modules[__name__])
