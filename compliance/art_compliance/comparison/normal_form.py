"""The normal form of a prompt: the same for any two ways to write the same conversation.

Explicit tool requests become calls of the assistant turn they belong to. A result is kept with the call it answers.
Text is a tuple of fragments, so that a joined turn differs from a lost one. Arguments are JSON values. The pairing
of calls and results is the suite's own: it shares no code with the adapters it judges.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from math import copysign
from typing import Any, Final, Literal, NamedTuple, TypeGuard

from msgspec import Struct, field

from art_compliance.quoting import as_json
from art_sdk.json_data import is_array, is_object
from art_sdk.messages import (
    ArtStandardPrompt,
    AssistantMessage,
    ImagePart,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolRequestMessage,
    ToolResultMessage,
    UserMessage,
)

Role = Literal["system", "user", "assistant", "result"]


class EntryResult(Struct, frozen=True):
    """The result of a call, at `path` in the prompt."""

    text: str
    status: str
    path: str
    name: str | None = None


class Image(NamedTuple):
    """An image of a turn. `after` is the number of texts before it, `data` its data or URL."""

    after: int
    mime_type: str
    data: str


class EntryCall(Struct):
    """A call with its result. `arguments` is a JSON value, or a marked text that is not JSON."""

    id: str
    name: str
    arguments: Any
    path: str
    result: EntryResult | None = None


class Entry(Struct):
    """One turn. A result that answers no call is a separate entry, with the role `result`."""

    role: Role
    texts: tuple[str, ...]
    path: str
    name: str | None = None
    calls: list[EntryCall] = field(default_factory=list[EntryCall])
    images: tuple[Image, ...] = ()
    extensions: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    had_blank: bool = False
    """Whether an empty text is next to its calls, where it is the same as no text."""
    turns: int = 1
    """How many turns of the prompt it is, where turns are joined."""

    @property
    def is_empty(self) -> bool:
        """Whether it has nothing but blank text."""
        return not (self.calls or self.images or self.extensions or any(text.strip() for text in self.texts))


NOT_JSON: Final = "not JSON"
REPEATED_KEY: Final = "a key is repeated"


def normal_form(prompt: ArtStandardPrompt) -> list[Entry]:
    """The prompt's turns, with calls paired with results."""
    entries: list[Entry] = []
    calls: dict[str, EntryCall] = {}
    may_extend = False
    for index, message in enumerate(prompt):
        path = f"$[{index}]"
        match message:
            case SystemMessage() | UserMessage():
                entries.append(_spoken(message, path))
            case AssistantMessage():
                entries.append(_assistant(message, path, calls))
            case ToolRequestMessage():
                if message.content is not None:
                    if not (may_extend and entries):
                        entries.append(Entry("assistant", (), path))
                    _add_request(entries[-1], message, path, calls)
            case ToolResultMessage():
                result = EntryResult(message.content, message.status, path, message.name)
                call = calls.get(message.tool_call_id)
                if call is None or call.result is not None:
                    entries.append(Entry("result", (message.content,), path, message.tool_call_id))
                else:
                    call.result = result
        may_extend = isinstance(message, AssistantMessage | ToolRequestMessage)
    return entries


def _spoken(message: SystemMessage | UserMessage, path: str) -> Entry:
    role: Role = "system" if isinstance(message, SystemMessage) else "user"
    if isinstance(message.content, str):
        return Entry(role, (message.content,), path, message.name)
    texts: list[str] = []
    images: list[Image] = []
    for part in message.content:
        match part:
            case TextPart():
                texts.append(part.text)
            case ImagePart():
                images.append(Image(len(texts), part.mime_type, part.data or part.url or ""))
    return Entry(role, tuple(texts), path, message.name, images=tuple(images))


def _assistant(message: AssistantMessage, path: str, calls: dict[str, EntryCall]) -> Entry:
    """Empty text next to calls is the same as no text."""
    had_blank = bool(message.tool_calls) and message.content == ""
    texts = () if message.content is None or had_blank else (message.content,)
    entry = Entry("assistant", texts, path, message.name, extensions=message.extensions or {}, had_blank=had_blank)
    for position, call in enumerate(message.tool_calls):
        _add_call(entry, call, f"{path}.tool_calls[{position}]", calls)
    return entry


def _add_request(entry: Entry, message: ToolRequestMessage, path: str, calls: dict[str, EntryCall]) -> None:
    request = message.content
    if request is not None:
        arguments = _arguments(request.arguments) if isinstance(request.arguments, str) else request.arguments
        call = EntryCall(request.id, request.name, arguments, f"{path}.content")
        entry.had_blank = entry.had_blank or "" in entry.texts
        entry.texts = tuple(filter(None, entry.texts))  # as in `_assistant`: empty text next to a call is not text
        entry.calls.append(call)
        _remember(call, calls)


def _add_call(entry: Entry, call: ToolCall, path: str, calls: dict[str, EntryCall]) -> None:
    known = EntryCall(call.id, call.function.name, _arguments(call.function.arguments), path)
    entry.calls.append(known)
    _remember(known, calls)


def _remember(call: EntryCall, calls: dict[str, EntryCall]) -> None:
    """The next result with its id is this call's, unless an earlier one of the same id still waits for its own."""
    earlier = calls.get(call.id)
    if earlier is None or earlier.result is not None:
        calls[call.id] = call


def _arguments(text: str) -> Any:
    """The JSON value, with exact integers and repeated keys kept. Blank text is the empty object."""
    if not text.strip():
        return {}
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return (NOT_JSON, text)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> Any:
    """The object. With a repeated key it is marked, and equals only an object with the same pairs."""
    table = dict(pairs)
    return table if len(table) == len(pairs) else (REPEATED_KEY, *pairs)


def same_json(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal. Integers, floats and booleans differ, and so do 0.0 and -0.0.

    Marked texts that are not JSON are equal if they differ in the spaces around `NaN` and `Infinity` alone.
    """
    return _same(one, other, _same_scalar)


def keeps_json(wanted: Any, found: Any) -> bool:
    """Whether the value that was found says all that the wanted one does: equal as for `same_json`, but for notation.

    Where a language has one kind of number, `1.0` and `-0.0` are written as `1` and `0`, and an integer from 1e21 on
    with an exponent (ECMA-262, Number::toString). Who reads the one reads the other. `0.0` for `-0.0` is no such
    notation: it has lost the sign. Nor is `1.0` for an integer: many decoders refuse it where they want an integer.
    """
    return _same(wanted, found, _keeps_scalar)


def keeps_arguments(wanted: Any, found: Any) -> bool:
    """Whether arguments that were found say what the wanted ones do. `null` may become `{}`, not the other way round.

    For a tool without parameters, models write either (Cohere: https://github.com/vercel/ai/pull/4755), and where a
    format takes nothing but an object, `null` is refused (https://github.com/langroid/langroid/pull/988).
    """
    return keeps_json(wanted, found) or (wanted is None and found == {})


def keeps_last_keys(wanted: Any, found: Any) -> bool:
    """Whether the value that was found has the last value of each repeated key, and everything else.

    "Many implementations report the last name/value pair only" (RFC 8259, 4): nobody can say which one was meant.
    """
    return keeps_json(_last_keys(wanted), found)


def _last_keys(value: Any) -> Any:
    if is_marked(value) and value[0] == REPEATED_KEY:
        return {key: _last_keys(item) for key, item in value[1:]}
    if is_object(value):
        return {key: _last_keys(item) for key, item in value.items()}
    return [_last_keys(item) for item in value] if is_array(value) else value


def _same(one: Any, other: Any, same_scalar: Callable[[Any, Any], bool]) -> bool:
    if is_marked(one) and is_marked(other) and one[:1] == other[:1] == (NOT_JSON,):
        return bool(_nearly_json(one[1]) == _nearly_json(other[1]))
    if is_object(one) and is_object(other):
        return one.keys() == other.keys() and all(_same(one[key], other[key], same_scalar) for key in one)
    if is_array(one) and is_array(other):
        return len(one) == len(other) and all(_same(a, b, same_scalar) for a, b in zip(one, other, strict=True))
    return same_scalar(one, other)


def _same_scalar(one: Any, other: Any) -> bool:
    if type(one) is float and type(other) is float:
        return one == other and copysign(1.0, one) == copysign(1.0, other)
    return type(one) is type(other) and bool(one == other)


def _keeps_scalar(wanted: Any, found: Any) -> bool:
    if type(wanted) is float and type(found) is int:
        return wanted == found
    if type(wanted) is int and type(found) is float and abs(wanted) >= _WRITTEN_WITH_EXPONENT:
        return wanted == found
    return _same_scalar(wanted, found)


_WRITTEN_WITH_EXPONENT: Final = 10**21


def _nearly_json(text: str) -> Any:
    """The value of a text that would be JSON without `NaN` or `Infinity`, else the text."""
    try:
        return json.loads(text, object_pairs_hook=tuple, parse_constant=lambda name: (name,))
    except (ValueError, RecursionError):
        return text


def is_json_of(text: str, value: Any) -> bool:
    """Whether a text is JSON and has this value. A number is the same with and without a fraction of zero."""
    parsed = _arguments(text)
    return bool(text.strip()) and not is_marked(parsed) and same_json(_plain_numbers(parsed), _plain_numbers(value))


def is_marked(value: Any) -> TypeGuard[tuple[Any, ...]]:
    """Whether the arguments of a call are not a plain JSON value: not JSON, or an object with a repeated key."""
    return isinstance(value, tuple)


def arguments_text(arguments: Any) -> str:
    """The arguments of a call in JSON notation, for people; text that is not JSON as it is."""
    if is_marked(arguments) and arguments[0] == NOT_JSON:
        return f"not JSON: {arguments[1]}"
    try:
        return as_json(_with_pairs(arguments))
    except RecursionError:
        return "arguments nested too deep to be shown"


class _Pairs(dict[str, Any]):
    """An object that is written with all of its pairs, those of a repeated key included."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self._pairs = pairs

    def items(self) -> Any:
        return self._pairs


def _with_pairs(value: Any) -> Any:
    if is_marked(value):
        return _Pairs([(key, _with_pairs(item)) for key, item in value[1:]])
    if is_object(value):
        return {key: _with_pairs(item) for key, item in value.items()}
    return [_with_pairs(item) for item in value] if is_array(value) else value


def _plain_numbers(value: Any) -> Any:
    """The value with whole floats as integers."""
    if is_object(value):
        return {key: _plain_numbers(item) for key, item in value.items()}
    if is_array(value):
        return [_plain_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def walk_texts(entries: list[Entry]) -> Iterator[str]:
    """Every text of the conversation in order: that of each turn, then the results of its calls."""
    for entry in entries:
        yield from entry.texts
        for call in entry.calls:
            if call.result is not None:
                yield call.result.text
