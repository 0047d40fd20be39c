"""Who calls and who answers: the conversation rules, for validation and for adapters.

`read_conversation` folds explicit `tool_request` messages into the assistant turn that they belong
to, pairs every call with its result, and lists what breaks the rules of a tool conversation:

1. every result answers a call of an earlier assistant turn, and no call is answered twice;
2. a call id is used once in a prompt;
3. every call is answered before the next user or assistant turn, and before the end;
4. a call's arguments parse to a JSON object.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Literal, cast

import msgspec
from msgspec import Struct

from art_sdk.json_data import DEPTH_LIMIT, is_deep, is_object
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

FaultKind = Literal[
    "orphan-result",
    "double-result",
    "duplicate-id",
    "unanswered-call",
    "pending-call",
    "contradicting-name",
    "empty-request",
    "bad-arguments",
]


class Fault(Struct, frozen=True):
    """One breach of the conversation rules, at message `index`."""

    kind: FaultKind
    index: int
    message: str
    call_id: str | None = None
    field: str = ""

    @property
    def path(self) -> str:
        """Where it stands: `$[3].tool_call_id`."""
        return f"$[{self.index}]{self.field}"


class Answer(Struct, frozen=True):
    """A result, where it stands in the prompt."""

    index: int
    message: ToolResultMessage


class AssistantTurn(Struct):
    """An assistant message, the requests folded into it, and the answers to its calls by call id.

    `places` has, for each call, the index of the message that makes it: this one, or a request's.
    """

    index: int
    message: AssistantMessage
    calls: list[ToolCall]
    places: list[int]
    answers: dict[str, Answer]

    def answers_in_call_order(self) -> list[tuple[ToolCall, Answer]]:
        """Each answered call with its answer, in the order of the calls."""
        return [(call, self.answers[call.id]) for call in self.calls if call.id in self.answers]


class SystemTurn(Struct, frozen=True):
    """A system message. `late` once anything else came before it; `splits` where it parts a call from its result."""

    index: int
    message: SystemMessage
    late: bool
    splits: bool


class UserTurn(Struct, frozen=True):
    """A user message."""

    index: int
    message: UserMessage


Turn = SystemTurn | UserTurn | AssistantTurn


class Conversation(Struct, frozen=True):
    """A prompt as turns, with every breach of the conversation rules but rule 4."""

    turns: list[Turn]
    faults: list[Fault]


class _Reader:
    """Reads one prompt. `_open` is the assistant turn whose calls may still be answered."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.faults: list[Fault] = []
        self._open: AssistantTurn | None = None
        self._may_extend = False
        self._owner: dict[str, AssistantTurn] = {}
        self._begun = False

    def system(self, index: int, message: SystemMessage) -> None:
        self._may_extend = False
        splits = self._open is not None and len(self._open.answers) < len(self._open.calls)
        self.turns.append(SystemTurn(index, message, self._begun, splits))

    def user(self, index: int, message: UserMessage) -> None:
        self._close(index)
        self.turns.append(UserTurn(index, message))

    def assistant(self, index: int, message: AssistantMessage) -> None:
        self._close(index)
        turn = AssistantTurn(index, message, [], [], {})
        self.turns.append(turn)
        self._open, self._may_extend = turn, True
        for position, call in enumerate(message.tool_calls):
            self._call(turn, index, call, f".tool_calls[{position}].id")

    def request(self, index: int, message: ToolRequestMessage) -> None:
        wish = message.content
        if wish is None:
            self._fault("empty-request", index, "a tool_request with content null asks for nothing", field=".content")
            return
        if self._open is None or not self._may_extend:
            self.assistant(index, AssistantMessage(None))
        text = wish.arguments if isinstance(wish.arguments, str) else _encode(wish.arguments).decode()
        call = ToolCall(wish.id, FunctionCall(wish.name, text))
        self._call(cast("AssistantTurn", self._open), index, call, ".content.id")

    def result(self, index: int, message: ToolResultMessage) -> None:
        self._begun, self._may_extend = True, False
        call_id = message.tool_call_id
        owner = self._owner.get(call_id)
        if owner is None:
            self._fault("orphan-result", index, f"no earlier call has the id {call_id!r}", call_id, ".tool_call_id")
        elif call_id in owner.answers:
            first = owner.answers[call_id].index
            text = f"the call {call_id!r} is answered already, at $[{first}]"
            self._fault("double-result", index, text, call_id, ".tool_call_id")
        else:
            owner.answers[call_id] = Answer(index, message)
            if message.name is not None:
                self._compare_names(owner, index, message)

    def finish(self) -> Conversation:
        self._refuse_unanswered("pending-call", None)
        return Conversation(self.turns, self.faults)

    def _call(self, turn: AssistantTurn, index: int, call: ToolCall, field: str) -> None:
        if call.id in self._owner:
            self._fault("duplicate-id", index, f"the call id {call.id!r} is used twice", call.id, field)
        else:
            self._owner[call.id] = turn
        turn.calls.append(call)
        turn.places.append(index)

    def _compare_names(self, owner: AssistantTurn, index: int, message: ToolResultMessage) -> None:
        called = next(call.function.name for call in owner.calls if call.id == message.tool_call_id)
        if message.name != called:
            text = f"the result is named {message.name!r}, but the call {message.tool_call_id!r} is of {called!r}"
            self._fault("contradicting-name", index, text, message.tool_call_id, ".name")

    def _close(self, index: int) -> None:
        self._begun = True
        self._refuse_unanswered("unanswered-call", index)
        self._open, self._may_extend = None, False

    def _refuse_unanswered(self, kind: FaultKind, before: int | None) -> None:
        turn = self._open
        if turn is None or len(turn.answers) == len(turn.calls):
            return
        place = "at the end of the prompt" if before is None else f"before $[{before}]"
        for call, index in zip(turn.calls, turn.places, strict=True):
            if call.id not in turn.answers and self._owner.get(call.id) is turn:
                self._fault(kind, index, f"the call {call.id!r} has no result {place}", call.id)

    def _fault(self, kind: FaultKind, index: int, message: str, call_id: str | None = None, field: str = "") -> None:
        self.faults.append(Fault(kind, index, message, call_id, field))


def read_conversation(prompt: ArtStandardPrompt) -> Conversation:
    """The prompt's turns, calls paired with results, with every fault found. Never raises."""
    reader = _Reader()
    for index, message in enumerate(prompt):
        match message:
            case ToolResultMessage():
                reader.result(index, message)
            case AssistantMessage():
                reader.assistant(index, message)
            case UserMessage():
                reader.user(index, message)
            case SystemMessage():
                reader.system(index, message)
            case ToolRequestMessage():
                reader.request(index, message)
    return reader.finish()


def count_calls(prompt: ArtStandardPrompt) -> int:
    """How many calls stand in the prompt."""
    calls = sum(len(message.tool_calls) for message in prompt if type(message) is AssistantMessage)
    return calls + sum(type(message) is ToolRequestMessage for message in prompt)


def argument_faults(conversation: Conversation) -> list[Fault]:
    """Rule 4: every call whose arguments are not a JSON object."""
    faults: list[Fault] = []
    for turn in conversation.turns:
        if isinstance(turn, AssistantTurn):
            own = len(turn.message.tool_calls)
            for position, (call, index) in enumerate(zip(turn.calls, turn.places, strict=True)):
                reason = explain_bad_arguments(call.function.arguments)
                if reason:
                    field = f".tool_calls[{position}].function.arguments" if position < own else ".content.arguments"
                    faults.append(Fault("bad-arguments", index, reason, call.id, field))
    return faults


def explain_bad_arguments(text: str) -> str | None:
    """Why the text is not a JSON object, or None where it is one."""
    try:
        parse_arguments(text)
    except ValueError as error:
        return str(error)
    return None


_decode_object: Final = msgspec.json.Decoder(dict[str, Any]).decode
_encode: Final = msgspec.json.Encoder().encode


def parse_arguments(text: str) -> dict[str, Any]:
    """A call's arguments as an object; blank text means `{}`.

    Raises ValueError, in words, for text that is not a JSON object, for a number that no float
    can hold, for a key that stands twice in one object (parsing would lose one silently), and for
    nesting beyond `DEPTH_LIMIT`.
    """
    if not text or text.isspace():
        return {}
    try:
        value = _decode_object(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        message = f"the arguments are not a JSON object: {error}"
        raise ValueError(message) from error
    if text.count("{") + text.count("[") > DEPTH_LIMIT and is_deep(value):
        message = f"the arguments are nested deeper than {DEPTH_LIMIT} levels"
        raise ValueError(message)
    if text.count(":") != _count_keys(value):
        _refuse_doubled_keys(text)
    return value


_CONTAINERS: Final = frozenset({dict, list})


def _count_keys(value: dict[str, Any]) -> int:
    """How many keys stand in the value. Each has one colon in the text, so equal counts prove no key was lost."""
    count = 0
    containers: list[Any] = [value]
    for container in containers:  # grows as it goes
        children: Any = container
        if is_object(container):
            count += len(container)
            children = container.values()
        containers += [child for child in children if type(child) in _CONTAINERS]
    return count


def _refuse_doubled_keys(text: str) -> None:
    json.loads(text, object_pairs_hook=_pairs_once)


def _pairs_once(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            message = f"the arguments hold the key {key!r} twice in one object; one of them would be lost"
            raise ValueError(message)
        table[key] = value
    return table
