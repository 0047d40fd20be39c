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
from collections.abc import Callable, Iterator, Mapping
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


class ConversationFault(Struct, frozen=True):
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


class AssistantTurn(Struct, gc=False):
    """An assistant message, the requests folded into it, and the answers to its calls by call id.

    `places` has, for each call, the index of the message that makes it: this one, or a request's.
    """

    index: int
    message: AssistantMessage
    calls: tuple[ToolCall, ...]
    places: tuple[int, ...]
    answers: dict[str, ToolResultMessage]

    def answers_in_call_order(self) -> list[tuple[ToolCall, ToolResultMessage]]:
        """Each answered call with its answer, in the order of the calls."""
        return [(call, self.answers[call.id]) for call in self.calls if call.id in self.answers]


class SystemTurn(Struct, frozen=True, gc=False):
    """A system message. `late` once anything else came before it; `splits` where it parts a call from its result."""

    index: int
    message: SystemMessage
    late: bool
    splits: bool


class UserTurn(Struct, frozen=True, gc=False):
    """A user message."""

    index: int
    message: UserMessage


Turn = SystemTurn | UserTurn | AssistantTurn


class Conversation(Struct, frozen=True):
    """A prompt as turns, with every breach of the conversation rules but rule 4.

    `tool_of` has the tool's name for every call id, in order.
    """

    turns: list[Turn]
    faults: list[ConversationFault]
    tool_of: Mapping[str, str]

    def first_call(self, name: str) -> int:
        """The index of the message that calls the tool first. Raises StopIteration where none does."""
        turns = (turn for turn in self.turns if isinstance(turn, AssistantTurn))
        calls = (pair for turn in turns for pair in zip(turn.calls, turn.places, strict=True))
        return next(index for call, index in calls if call.function.name == name)


class _Reader:
    """Reads one prompt. `_open` is the assistant turn whose calls may still be answered."""

    def __init__(self, prompt: ArtStandardPrompt) -> None:
        self._prompt = prompt
        self.turns: list[Turn] = []
        self.faults: list[ConversationFault] = []
        self._open: AssistantTurn | None = None
        self._may_extend = False
        self._owner: dict[str, AssistantTurn] = {}
        self._tool_of: dict[str, str] = {}
        self._begun = False

    def read(self) -> Conversation:
        """The whole prompt: one method a kind of message, looked up by its type."""
        for index, message in enumerate(self._prompt):
            _READERS[type(message)](self, index, message)
        self._refuse_unanswered("pending-call", None)
        return Conversation(self.turns, self.faults, self._tool_of)

    def system(self, index: int, message: SystemMessage) -> None:
        self._may_extend = False
        splits = self._open is not None and len(self._open.answers) < len(self._open.calls)
        self.turns.append(SystemTurn(index, message, self._begun, splits))

    def user(self, index: int, message: UserMessage) -> None:
        if self._open is not None:
            self._close(index)
        self._begun = True
        self.turns.append(UserTurn(index, message))

    def assistant(self, index: int, message: AssistantMessage) -> None:
        if self._open is not None:
            self._close(index)
        calls = message.tool_calls
        turn = AssistantTurn(index, message, calls, (index,) * len(calls), {})
        self.turns.append(turn)
        self._begun, self._open, self._may_extend = True, turn, True
        for call in calls:
            if call.id in self._owner:
                self._double_id(turn, index, call)
            else:
                self._owner[call.id] = turn
                self._tool_of[call.id] = call.function.name

    def request(self, index: int, message: ToolRequestMessage) -> None:
        wish = message.content
        if wish is None:
            self._fault("empty-request", index, "a tool_request with content null asks for nothing", field=".content")
            return
        if self._open is None or not self._may_extend:
            self.assistant(index, AssistantMessage(None))
        turn = cast("AssistantTurn", self._open)
        text = wish.arguments if isinstance(wish.arguments, str) else _encode(wish.arguments).decode()
        call = ToolCall(wish.id, FunctionCall(wish.name, text))
        turn.calls, turn.places = (*turn.calls, call), (*turn.places, index)
        if wish.id in self._owner:
            self._double_id(turn, index, call)
        else:
            self._owner[wish.id] = turn
            self._tool_of[wish.id] = wish.name

    def result(self, index: int, message: ToolResultMessage) -> None:
        self._begun, self._may_extend = True, False
        call_id = message.tool_call_id
        owner = self._owner.get(call_id)
        if owner is None:
            self._fault("orphan-result", index, f"no earlier call has the id {call_id!r}", call_id, ".tool_call_id")
        elif call_id in owner.answers:
            first = next(at for at, one in enumerate(self._prompt) if one is owner.answers[call_id])
            text = f"the call {call_id!r} is answered already, at $[{first}]"
            self._fault("double-result", index, text, call_id, ".tool_call_id")
        else:
            owner.answers[call_id] = message
            if message.name is not None and message.name != self._tool_of[call_id]:
                called = self._tool_of[call_id]
                text = f"the result is named {message.name!r}, but the call {call_id!r} is of {called!r}"
                self._fault("contradicting-name", index, text, call_id, ".name")

    def _double_id(self, turn: AssistantTurn, index: int, call: ToolCall) -> None:
        places = [f".tool_calls[{at}].id" for at, one in enumerate(turn.message.tool_calls) if one is call]
        field = places[0] if places else ".content.id"
        self._fault("duplicate-id", index, f"the call id {call.id!r} is used twice", call.id, field)

    def _close(self, index: int) -> None:
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
        self.faults.append(ConversationFault(kind, index, message, call_id, field))


_READERS: Final[Mapping[type, Callable[[_Reader, int, Any], None]]] = {
    SystemMessage: _Reader.system,
    UserMessage: _Reader.user,
    AssistantMessage: _Reader.assistant,
    ToolRequestMessage: _Reader.request,
    ToolResultMessage: _Reader.result,
}


def read_conversation(prompt: ArtStandardPrompt) -> Conversation:
    """The prompt's turns, calls paired with results, with every fault found. Never raises."""
    return _Reader(prompt).read()


def find_call_ids(prompt: ArtStandardPrompt) -> Iterator[str]:
    """The id of every call in the prompt, in order."""
    for message in prompt:
        if type(message) is AssistantMessage:
            for call in message.tool_calls:
                yield call.id
        elif type(message) is ToolRequestMessage and message.content is not None:
            yield message.content.id


def argument_faults(conversation: Conversation) -> list[ConversationFault]:
    """Rule 4: every call whose arguments are not a JSON object."""
    faults: list[ConversationFault] = []
    for turn in conversation.turns:
        if isinstance(turn, AssistantTurn):
            own = len(turn.message.tool_calls)
            for position, (call, index) in enumerate(zip(turn.calls, turn.places, strict=True)):
                reason = explain_bad_arguments(call.function.arguments)
                if reason:
                    field = f".tool_calls[{position}].function.arguments" if position < own else ".content.arguments"
                    faults.append(ConversationFault("bad-arguments", index, reason, call.id, field))
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
    if len(text) > DEPTH_LIMIT and text.count("{") + text.count("[") > DEPTH_LIMIT and is_deep(value):
        message = f"the arguments are nested deeper than {DEPTH_LIMIT} levels"
        raise ValueError(message)
    colons = text.count(":")
    if colons != len(value) and colons != _count_keys(value):
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
