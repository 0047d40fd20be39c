"""The part of every adapter that translates a conversation that goes on: see `history`."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any, ClassVar, Final, cast

import msgspec
from msgspec import Struct

from art_sdk.adapters.history import Key, KnownHistories, KnownHistory, describe
from art_sdk.adapters.known_options import OptionsKeeper
from art_sdk.adapters.payload import Payload, Written, encode_part
from art_sdk.conversation import find_call_ids
from art_sdk.errors import PromptValidationFailed
from art_sdk.messages import ArtStandardPrompt, SystemMessage, UserMessage
from art_sdk.options import CallOptions
from art_sdk.validation import parse_prompt_to_encode

_QUESTION: Final = UserMessage("?")
"""It stands for what was sent: a user's text is one message of the payload in every dialect."""


class ParsedPrompt(Struct, frozen=True):
    """A prompt whose first `begin` messages are the leading system messages, and those before `end` are known.

    `key` is that of its conversation; None if nothing of it is kept.
    """

    given: tuple[object, ...]
    prompt: ArtStandardPrompt
    key: Key | None
    begin: int = 0
    end: int = 0
    known: KnownHistory | None = None

    @property
    def short(self) -> ArtStandardPrompt:
        """The prompt with a question in place of what is known."""
        return (*self.prompt[: self.begin], _QUESTION, *self.prompt[self.end :])

    def without_known(self) -> ParsedPrompt:
        """The prompt as if nothing of it were known."""
        return self if self.known is None else msgspec.structs.replace(self, end=self.begin, known=None)


class HistoryKeeper(OptionsKeeper):
    """What `BaseAdapter` does to translate only what is new of a conversation that goes on.

    It holds for a class that states `history_field`, and for subclasses that only add data. A subclass that overrides
    a method states it again, if its payloads still keep the law of the module `history`.
    """

    history_field: ClassVar[str | None] = None
    """The payload's list of messages, if nothing that follows a message changes how it is written."""
    shortest_history: ClassVar[int] = 128
    """Messages of a prompt that is worth keeping: a shorter one is translated in little more time than it is found."""
    most_history_bytes: ClassVar[int] = 8 * 2**20
    """How much of the last conversations is kept, as it was sent; their messages take about as much again."""
    _messages_field: ClassVar[str | None] = None
    """`history_field`, where it holds."""
    _histories: KnownHistories

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._messages_field = _find_history_field(cls)

    def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> Payload:
        """The whole prompt's payload."""
        raise NotImplementedError

    def keeps_history(self, prompt: ArtStandardPrompt) -> bool:
        """Whether no refusal depends on the whole of a prompt like this, such as on a count."""
        del prompt
        return True

    def _parse_going_on(self, given: object, options: CallOptions) -> ParsedPrompt:
        """The prompt, and what of it is known. Raises PromptValidationFailed."""
        if not (
            type(given) in _LISTS and len(cast("list[Any]", given)) >= self.shortest_history and self._messages_field
        ):
            return ParsedPrompt((), parse_prompt_to_encode(given), None)
        values = tuple(cast("Sequence[object]", given))  # the caller's list may change meanwhile
        return self._find_given(values, options) or self._find_equal(values, parse_prompt_to_encode(values), options)

    def _find_given(self, given: tuple[object, ...], options: CallOptions) -> ParsedPrompt | None:
        """The prompt, if what is known of it are these very values. Only the others are parsed."""
        begin = _count_leading(given)
        key = self._history_key(given, begin, options)
        known = None if key is None else self._histories.find(key, self._settings)
        if known is None or not known.is_given(given, begin):
            return None
        end = begin + len(known.messages)
        try:
            rest = parse_prompt_to_encode(given[:begin] + given[end:])
        except PromptValidationFailed:  # the whole prompt shows why, at the right place
            return None
        return ParsedPrompt(given, rest[:begin] + known.messages + rest[begin:], key, begin, end, known)

    def _find_equal(self, given: tuple[object, ...], prompt: ArtStandardPrompt, options: CallOptions) -> ParsedPrompt:
        """The prompt, and what is known of it."""
        begin = _count_leading(prompt)
        key = self._history_key(prompt, begin, options)
        known = None if key is None else self._histories.find(key, self._settings)
        if known is None or not known.is_equal(prompt, begin):
            return ParsedPrompt(given, prompt, key, begin, begin)
        return ParsedPrompt(given, prompt, key, begin, begin + len(known.messages), known)

    def _translate_going_on(self, parsed: ParsedPrompt, options: CallOptions) -> Payload:
        """The payload. In its list of messages, those that are known are bytes."""
        key, known = parsed.key, parsed.known
        if key is None:
            return self.translate(parsed.prompt, options)
        payload = None if known is None else self._translate_short(parsed, known, options)
        if payload is None:
            payload, known, parsed = self.translate(parsed.prompt, options), None, parsed.without_known()
            if not self._histories.goes_on(key, len(parsed.prompt)):
                return payload
        field = cast("str", self._messages_field)
        messages: list[Any] = payload[field]
        begin = _count_system(messages)
        leading, new = messages[:begin], messages[begin if known is None else begin + 1 :]
        history = self._describe_history(parsed, new)
        if history is not None:
            kept = history if known is None else known.go_on(history)
            self._histories.keep(key, kept)
            payload[field] = [*leading, Written(kept.written)]
        elif known is not None:
            payload[field] = [*leading, Written(known.written), *new]
        return payload

    def _translate_short(self, parsed: ParsedPrompt, known: KnownHistory, options: CallOptions) -> Payload | None:
        """The payload with a question in place of what is known; None if only the whole prompt can tell."""
        if not known.call_ids.isdisjoint(find_call_ids(parsed.prompt[parsed.end :])):
            return None
        try:
            return self.translate(parsed.short, options)
        except Exception:  # noqa: BLE001 - the whole prompt shows it, at the right place
            return None

    def _describe_history(self, parsed: ParsedPrompt, written: list[Any]) -> KnownHistory | None:
        """The history of the messages that are new, of which those were written. None if it must not be kept."""
        if not written or not self.keeps_history(parsed.prompt):
            return None
        new, given = parsed.prompt[parsed.end :], parsed.given[parsed.end :]
        return describe(new, given, self._settings, memoryview(encode_part(written))[1:-1])

    def _history_key(self, prompt: Sequence[object], begin: int, options: CallOptions) -> Key | None:
        """The key of a conversation that begins with a user's text; None for any other."""
        first = prompt[begin] if begin < len(prompt) else None
        if type(first) is not UserMessage or type(first.content) is not str:
            return None
        return Key(options.thread_id, first.content, self._options_in_history(options))

    def _options_in_history(self, options: CallOptions) -> bytes:
        known = self._known
        if known is None or known.options is not options:
            return _encode(msgspec.structs.replace(options, **_OWN))
        if known.in_history is None:
            known.in_history = _encode(msgspec.structs.replace(options, **_OWN))
        return known.in_history


_LISTS: Final = frozenset({list, tuple})
_encode: Final = msgspec.json.Encoder().encode

_OWN: Final[dict[str, Any]] = {
    "thread_id": "",
    "trace_id": None,
    "session_id": None,
    "user_id": None,
    "stream": False,
    "call_context": None,
    "timeouts": None,
}
"""Options that do not change how a message is written."""


def _count_leading(prompt: Sequence[object]) -> int:
    """How many system messages stand before all others."""
    begin = 0
    while begin < len(prompt) and type(prompt[begin]) is SystemMessage:
        begin += 1
    return begin


def _count_system(messages: list[Any]) -> int:
    """How many messages of a payload are system messages before all others."""
    begin = 0
    while begin < len(messages) and messages[begin].get("role") == "system":
        begin += 1
    return begin


def _find_history_field(kind: type[Any]) -> str | None:
    """The field that the class states, or inherits without overriding any method."""
    for one in kind.__mro__:
        own = vars(one)
        if "history_field" in own:
            return cast("str | None", own["history_field"])
        if any(isinstance(value, _ROUTINES) for name, value in own.items() if name != "__annotate_func__"):
            return None
    return None


_ROUTINES: Final = (FunctionType, property, classmethod, staticmethod)
