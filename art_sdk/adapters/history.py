"""What an adapter has sent of conversations that go on, kept as bytes: only what is new is translated again.

A prompt has leading system messages, messages that were sent before, and new ones, of which the first is the
assistant's answer. Nothing that comes after a message changes how it is written (the law `properties.prefix-is-stable`
of the suite), and what is before an answer does not change how the answer is written. So the payload of

    leading system messages, a question, new messages

is that of the whole prompt, once what was sent takes the place of the question. It does not show a call id that is used
twice, so these are looked up; if it is refused for anything, the whole prompt is translated, which finds the reason.

A prompt is kept once its conversation was seen to go on: a prompt that is sent once costs nothing more.

What was sent must be exactly the same to be known. Messages consist of texts, of which equal ones are written equally;
the free JSON data in some of them (extensions, arguments of requests) is compared as bytes, which tell 1 from true.
Typed values that nobody can change are recognized by their identity, and not validated again; JSON data always is.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import Any, Final, NamedTuple, cast

import msgspec

from art_sdk.conversation import find_call_ids
from art_sdk.messages import (
    ArtStandardPrompt,
    AssistantMessage,
    FunctionCall,
    SystemMessage,
    ToolCall,
    ToolRequestMessage,
    ToolResultMessage,
    UserMessage,
)

_MOST_CONVERSATIONS: Final = 256

_encode: Final = msgspec.json.Encoder().encode


class Key(NamedTuple):
    """What all calls of a conversation have in common: its first text, and everything that is sent but messages."""

    thread_id: str
    first: str
    options: bytes


class KnownHistory(NamedTuple):
    """What was sent of a conversation, behind its leading system messages.

    `written` is what stood between the brackets of the payload's list, `free` the free JSON data in the messages.
    `given` are the caller's own values of which they were parsed, if nobody can change them. `settings` stand for
    those of the adapter: another object, if one of them is changed.
    """

    messages: ArtStandardPrompt
    given: tuple[object, ...] | None
    settings: object
    free: bytes
    call_ids: frozenset[str]
    written: bytes | memoryview

    def is_given(self, prompt: Sequence[object], begin: int) -> bool:
        """Whether the prompt has these very values from `begin` on, and then the assistant's answer."""
        given = self.given
        return given is not None and self._goes_on(prompt, begin) and all(map(is_, given, prompt[begin:]))

    def is_equal(self, prompt: ArtStandardPrompt, begin: int) -> bool:
        """Whether the parsed prompt has the same messages from `begin` on, and then the assistant's answer."""
        if not self._goes_on(prompt, begin):
            return False
        sent = prompt[begin : begin + len(self.messages)]
        return sent == self.messages and (not self.free or find_free_json(sent) == self.free)

    def _goes_on(self, prompt: Sequence[object], begin: int) -> bool:
        end = begin + len(self.messages)
        return len(prompt) > end and type(prompt[end]) is AssistantMessage

    def go_on(self, new: KnownHistory) -> KnownHistory:
        """The history with what was sent after it."""
        given = None if self.given is None or new.given is None else self.given + new.given
        written = b",".join((self.written, new.written))
        ids = self.call_ids | new.call_ids
        return KnownHistory(self.messages + new.messages, given, new.settings, self.free + new.free, ids, written)


class KnownHistories:
    """The histories of the last conversations: at most `most_bytes`, and their messages. Threads may share it."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._known: dict[Key, KnownHistory] = {}
        self._lengths: dict[int, int] = {}

    def find(self, key: Key, settings: object) -> KnownHistory | None:
        """What is known of the conversation, if the adapter has the same settings still."""
        found = self._known.get(key)
        return found if found is not None and found.settings is settings else None

    def goes_on(self, key: Key, length: int) -> bool:
        """Whether the conversation's prompt was shorter the last time. Remembers its length."""
        conversation = hash(key)  # which keeps none of its texts alive
        before = self._lengths.pop(conversation, length)
        self._lengths[conversation] = length
        if len(self._lengths) > _MOST_CONVERSATIONS:
            self._lengths.pop([*self._lengths][0], None)  # noqa: RUF015 - in one step, as below
        return before < length

    def keep(self, key: Key, history: KnownHistory) -> None:
        """Keeps the history as the newest one. The oldest go."""
        self._known.pop(key, None)
        self._known[key] = history
        kept = list(self._known.items())  # in one step: other threads may change the table meanwhile
        size = sum([len(one.written) for _, one in kept])
        for count, (oldest, one) in enumerate(kept):
            if size <= self._most_bytes and len(kept) - count <= _MOST_CONVERSATIONS:
                break
            self._known.pop(oldest, None)
            size -= len(one.written)

    def clear(self) -> None:
        """Forgets all of them."""
        self._known.clear()
        self._lengths.clear()


def describe(
    messages: ArtStandardPrompt, given: tuple[object, ...], settings: object, written: memoryview
) -> KnownHistory | None:
    """The history of messages that were sent, of which those were given. None if it must not be kept.

    What follows them must be the assistant's answer. A late system message may have been sent elsewhere.
    """
    kinds = set(map(type, messages))
    if type(messages[-1]) not in _BEFORE_AN_ANSWER or SystemMessage in kinds:
        return None
    assistants = [one for one in messages if type(one) is AssistantMessage]
    if ToolRequestMessage in kinds:
        ids, has_free = [*find_call_ids(messages)], True
    else:
        ids = [call.id for one in assistants if one.tool_calls for call in one.tool_calls]
        has_free = any(one.extensions for one in assistants)
    fixed = given if type(given[0]) in _FIXED and are_fixed(given) else None
    free = find_free_json(messages) if has_free else b""
    return KnownHistory(messages, fixed, settings, free, frozenset(ids), written)


_BEFORE_AN_ANSWER: Final = frozenset({UserMessage, ToolResultMessage})


def find_free_json(messages: ArtStandardPrompt) -> bytes:
    """The free JSON data in the messages. It is that of their parts, one after the other."""
    found = [
        one for one in messages if (type(one) is AssistantMessage and one.extensions) or type(one) is ToolRequestMessage
    ]
    return b"".join(map(_encode, found))


def are_fixed(values: Sequence[object]) -> bool:
    """Whether nobody can change these messages, which were found to be valid. Texts are always fixed."""
    if not set(map(type, values)) <= _FIXED:
        return False
    if not {type(one.content) for one in cast("Sequence[Any]", values)} <= _TEXT:
        return False
    assistants = [one for one in values if type(one) is AssistantMessage]
    calls = [one.tool_calls for one in assistants]
    return (
        not any(one.extensions is not None for one in assistants)
        and set(map(type, calls)) <= {tuple}
        and all(type(call) is ToolCall and type(call.function) is FunctionCall for own in calls for call in own)
    )


_FIXED: Final = frozenset({AssistantMessage, SystemMessage, ToolResultMessage, UserMessage})
_TEXT: Final = frozenset({str, type(None)})
