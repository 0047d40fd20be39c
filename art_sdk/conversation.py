"""The rules of a tool conversation, for validation and for adapters.

`read_conversation` folds explicit `tool_request` messages into the assistant turn they belong to, pairs every call
with its result, and lists what breaks these rules:

1. every result answers a call of an earlier assistant turn, and no call has two results;
2. every call id is used once in a prompt;
3. every call has its result before the next user or assistant turn, and before the end;
4. a call's arguments parse to a JSON object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal, cast

import msgspec
from msgspec import Struct

from art_sdk.arguments import explain_bad_arguments
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
    """One violation of the conversation rules, at message `index`."""

    kind: FaultKind
    index: int
    message: str
    call_id: str | None = None
    field: str = ""

    @property
    def path(self) -> str:
        """Its path in the prompt, like `$[3].tool_call_id`."""
        return f"$[{self.index}]{self.field}"


class AssistantTurn(Struct, gc=False):
    """An assistant message, the tool requests folded into it, and the results of its calls by call id.

    `places` has the index of the message that makes each call: this one or a `tool_request`.
    """

    index: int
    message: AssistantMessage
    calls: tuple[ToolCall, ...]
    places: tuple[int, ...]
    answers: dict[str, ToolResultMessage]

    def answers_in_call_order(self) -> list[tuple[ToolCall, ToolResultMessage]]:
        """The calls that have a result, each with it, in the order of the calls."""
        return [(call, self.answers[call.id]) for call in self.calls if call.id in self.answers]


class SystemTurn(Struct, frozen=True, gc=False):
    """A system message. `late`: other messages came before it. `splits`: it comes between a call and its result."""

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
    """A prompt as turns, with every violation of the conversation rules except rule 4.

    `tool_of` maps every call id to the name of its tool, in order.
    """

    turns: list[Turn]
    faults: list[ConversationFault]
    tool_of: Mapping[str, str]

    def rename_calls(self, names: Mapping[str, str]) -> Conversation:
        """The conversation with other names of tools, in its calls and in `tool_of`."""
        if not names:
            return self
        for turn in self.turns:
            if isinstance(turn, AssistantTurn):
                turn.calls = tuple(rename_call(call, names) for call in turn.calls)
        return msgspec.structs.replace(self, tool_of={one: names.get(it, it) for one, it in self.tool_of.items()})

    def first_call(self, name: str) -> int:
        """The index of the first message that calls the tool. Raises StopIteration if none does."""
        turns = (turn for turn in self.turns if isinstance(turn, AssistantTurn))
        calls = (pair for turn in turns for pair in zip(turn.calls, turn.places, strict=True))
        return next(index for call, index in calls if call.function.name == name)


class _Reader:
    """Reads one prompt.

    `_open` is the assistant turn whose calls may still get results, and `_missing` how many of them have none yet. A
    tool_request at the index `_extended_by` belongs to it. `_leading` system messages stand before all others.
    """

    def __init__(self, prompt: ArtStandardPrompt) -> None:
        self._prompt = prompt
        self.turns: list[Turn] = []
        self.faults: list[ConversationFault] = []
        self._open: AssistantTurn | None = None
        self._missing = 0
        self._extended_by = 0
        self._leading = 0
        self._owner: dict[str, AssistantTurn] = {}
        self._tool_of: dict[str, str] = {}
        self._places: dict[int, int] = {}
        self._requested: list[tuple[ToolCall, int]] = []

    def read(self) -> Conversation:
        """Reads the whole prompt, with one method per type of message."""
        requested = self._requested
        for index, message in enumerate(self._prompt):
            kind = type(message)
            if requested and kind is not ToolRequestMessage:
                self._fold_requests()
            try:
                read = _READERS[kind]
            except KeyError:
                name = kind.__name__
                raise TypeError(
                    f"$[{index}] is a {name}, not a message; parse_prompt turns data into messages"
                ) from None
            read(self, index, message)
        self._fold_requests()
        if self._missing:
            self._note_unanswered("pending-call", "at the end of the prompt")
        return Conversation(self.turns, self.faults, self._tool_of)

    def system(self, index: int, message: SystemMessage) -> None:
        is_late = index > self._leading
        self._leading += not is_late
        self.turns.append(SystemTurn(index, message, is_late, self._missing > 0))

    def user(self, index: int, message: UserMessage) -> None:
        if self._missing:
            self._close(index)
        self.turns.append(UserTurn(index, message))

    def assistant(self, index: int, message: AssistantMessage) -> None:
        if self._missing:
            self._close(index)
        self._extended_by = index + 1
        calls = message.tool_calls
        turn = self._open = AssistantTurn(index, message, calls, (), {})
        self.turns.append(turn)
        if not calls:
            return
        turn.places = (index,) * len(calls)
        self._missing = len(calls)
        for position, call in enumerate(calls):
            call_id = call.id
            if call_id in self._owner:
                self._note_double_id(index, call, f".tool_calls[{position}].id")
            else:
                self._owner[call_id] = turn
                self._tool_of[call_id] = call.function.name

    def request(self, index: int, message: ToolRequestMessage) -> None:
        request = message.content
        if request is None:
            self._extended_by += self._extended_by == index
            self._fault("empty-request", index, "a tool_request must not have null as its content", field=".content")
            return
        if self._open is None or self._extended_by != index:
            self._fold_requests()
            self.assistant(index, AssistantMessage(None))
        text = request.arguments if isinstance(request.arguments, str) else _encode(request.arguments).decode()
        call = ToolCall(request.id, FunctionCall(request.name, text))
        self._requested.append((call, index))
        self._missing, self._extended_by = self._missing + 1, index + 1
        if call.id in self._owner:
            self._note_double_id(index, call, ".content.id")
        else:
            self._owner[call.id] = cast("AssistantTurn", self._open)
            self._tool_of[call.id] = call.function.name

    def result(self, index: int, message: ToolResultMessage) -> None:
        call_id = message.tool_call_id
        owner = self._owner.get(call_id)
        if owner is None:
            self._fault("orphan-result", index, f"no earlier call has the id {call_id!r}", call_id, ".tool_call_id")
        elif call_id in owner.answers:
            text = f"the call {call_id!r} already has a result, at $[{self._place_of(owner.answers[call_id])}]"
            self._fault("double-result", index, text, call_id, ".tool_call_id")
        else:
            owner.answers[call_id] = message
            if owner is self._open:
                self._missing -= 1
            if message.name is not None and message.name != self._tool_of[call_id]:
                called = self._tool_of[call_id]
                text = f"the result is named {message.name!r}, but the call {call_id!r} is a call of {called!r}"
                self._fault("contradicting-name", index, text, call_id, ".name")

    def _note_double_id(self, index: int, call: ToolCall, field: str) -> None:
        self._fault("duplicate-id", index, f"the call id {call.id!r} is used twice", call.id, field)

    def _place_of(self, message: ToolResultMessage) -> int:
        """The index of a message. All are looked up at the first question, so that many take linear time."""
        if not self._places:
            for at, one in enumerate(self._prompt):
                self._places.setdefault(id(one), at)
        return self._places[id(message)]

    def _fold_requests(self) -> None:
        """Adds the requests since the last other message to their turn, all at once."""
        if self._requested:
            turn = cast("AssistantTurn", self._open)
            turn.calls += tuple([call for call, _ in self._requested])
            turn.places += tuple([index for _, index in self._requested])
            self._requested.clear()

    def _close(self, index: int) -> None:
        """Ends the turn before the message at `index`, though some of its calls have no result."""
        self._note_unanswered("unanswered-call", f"before $[{index}]")
        self._open, self._missing = None, 0

    def _note_unanswered(self, kind: FaultKind, place: str) -> None:
        turn = cast("AssistantTurn", self._open)
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
    """The prompt's turns, with calls paired with results and every fault listed.

    Raises TypeError for messages that are not typed values, and nothing else.
    """
    return _Reader(prompt).read()


def find_call_ids(prompt: ArtStandardPrompt) -> Iterator[str]:
    """The id of every call in the prompt, in order."""
    for message in prompt:
        if type(message) is AssistantMessage:
            for call in message.tool_calls:
                yield call.id
        elif type(message) is ToolRequestMessage and message.content is not None:
            yield message.content.id


def find_called_tools(prompt: ArtStandardPrompt) -> Iterator[str]:
    """The name of the tool of every call in the prompt, in order."""
    for message in prompt:
        if type(message) is AssistantMessage:
            for call in message.tool_calls:
                yield call.function.name
        elif type(message) is ToolRequestMessage and message.content is not None:
            yield message.content.name


def rename_call(call: ToolCall, names: Mapping[str, str]) -> ToolCall:
    """The call, of a tool that has perhaps another name."""
    name = names.get(call.function.name)
    if name is None:
        return call
    return msgspec.structs.replace(call, function=msgspec.structs.replace(call.function, name=name))


def argument_faults(conversation: Conversation) -> list[ConversationFault]:
    """The faults of rule 4: every call whose arguments are not a JSON object."""
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


_encode: Final = msgspec.json.Encoder().encode
