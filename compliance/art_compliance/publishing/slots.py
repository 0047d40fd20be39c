"""Where each piece of a prompt is in the request of each dialect: the slot map of a scenario."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

from art_compliance.checks.payload import canonical
from art_compliance.dialects import DIALECTS, Decoded, decode
from art_compliance.findings import HarnessError
from art_compliance.pointers import escape, look_up
from art_compliance.publishing.pieces import Call, Piece, pieces_of
from art_compliance.scenarios import Scenario
from art_sdk.json_data import is_array, is_object
from art_sdk.messages import AssistantMessage, ToolCall, ToolResultMessage

_MOST_NODES: Final = 20_000


class Slot(Struct, frozen=True, kw_only=True):
    """A piece of a prompt, at `path`, and its JSON pointer in each dialect's request; None where it is not sent."""

    path: str
    kind: str
    value: str
    pointers: dict[str, str | None]


class SlotMap(Struct, frozen=True, kw_only=True):
    """The slots of a scenario in the canonical payload of each dialect.

    `without` says of the other dialects why they have none.
    """

    scenario: str
    purpose: str
    slots: tuple[Slot, ...]
    without: dict[str, str]


def slot_map(scenario: Scenario) -> SlotMap:
    """The slot map of a scenario. Raises HarnessError for one that is refused by every dialect."""
    pieces = list(pieces_of(scenario))
    found: dict[str, list[str | None]] = {}
    without: dict[str, str] = {}
    for name in DIALECTS:
        payload = canonical(name, scenario.id)
        if payload is None:
            without[name] = _why_none(scenario, name)
        else:
            found[name] = list(_Finder(payload, decode(name, payload), pieces).pointers())
    if not found:
        raise HarnessError(f"{scenario.id} has no canonical payload: {'; '.join(dict.fromkeys(without.values()))}")
    slots = (
        Slot(
            path=piece.path,
            kind=piece.kind,
            value=piece.shown,
            pointers={name: all_[at] for name, all_ in found.items()},
        )
        for at, piece in enumerate(pieces)
    )
    return SlotMap(scenario=scenario.id, purpose=scenario.purpose, slots=tuple(slots), without=without)


def _why_none(scenario: Scenario, dialect: str) -> str:
    refused = [one for one in scenario.outcomes_for(dialect) if one.startswith("refused:")]
    return refused[0].replace(":", ": ") if refused else "refused, or too long to be kept"


class _Finder:
    """Finds the pieces of one prompt in one request: message by message, as the request was decoded."""

    def __init__(self, payload: Any, decoded: Decoded, pieces: Sequence[Piece]) -> None:
        self._payload = payload
        self._decoded = decoded
        self._pieces = pieces
        self._used: set[str] = set()
        self._calls: dict[Call, str] = {}
        """The place of each call that was found."""
        self._sent: dict[str, ToolCall] = {}
        """Each call as it was sent, by its id in the prompt: ids may be mapped, and tools renamed."""

    def pointers(self) -> Iterator[str | None]:
        """The pointer of each piece, in order."""
        for piece in self._pieces:
            yield self._pointer(piece)

    def _pointer(self, piece: Piece) -> str | None:
        places = self._decoded.places
        if piece.option is not None:
            return places.get(piece.option)
        if piece.call is not None:
            return self._in_call(piece)
        if piece.result_of is not None:
            return self._in_result(piece)
        for pointer in self._scopes(piece):
            found = find_value(self._payload, pointer, piece.value, without=self._used)
            if found is not None:
                self._used.add(found)
                return found
        joined = (find_value(self._payload, pointer, piece.value) for pointer in self._scopes(piece))
        return next((found for found in joined if found is not None), None)

    def _scopes(self, piece: Piece) -> Iterator[str]:
        """Where to look for a text: in messages of its kind, in the others, and then next to them.

        Parts that stand together are one message, whose place is that of the first part.
        """
        messages = range(len(self._decoded.prompt))
        same = [number for number in messages if type(self._decoded.prompt[number]) is piece.of]
        places = (f"prompt/{number}" for number in (*same, *(one for one in messages if one not in same)))
        pointers = [self._decoded.places[place] for place in places if place in self._decoded.places]
        while pointers:
            yield from pointers
            pointers = list(dict.fromkeys(pointer.rpartition("/")[0] for pointer in pointers if pointer))

    def _in_call(self, piece: Piece) -> str | None:
        """A call's id, name or arguments: in the first call of that name and with these arguments that is not taken."""
        given = piece.call
        if given is None:
            return None
        place = self._place_of_call(given)
        if place is None:
            return None
        call = self._sent[given.id]
        sent = {"call id": call.id, "call name": call.function.name}.get(piece.kind, piece.value)
        return find_value(self._payload, self._decoded.places[place], sent)

    def _place_of_call(self, given: Call) -> str | None:
        """The call with the same id, arguments or name, in this order, of those that are not taken."""
        calls = {
            f"prompt/{number}/tool_calls/{at}": call
            for number, message in enumerate(self._decoded.prompt)
            for at, call in enumerate(message.tool_calls if isinstance(message, AssistantMessage) else ())
        }
        known = self._calls.get(given)
        if known is not None:
            return known
        free = {place: call for place, call in calls.items() if place not in self._calls.values()}
        for is_it in _SAME_CALL:
            for place, call in free.items():
                if place in self._decoded.places and is_it(given, call):
                    self._calls[given] = place
                    self._sent.setdefault(given.id, call)
                    return place
        return None

    def _in_result(self, piece: Piece) -> str | None:
        call = self._sent.get(str(piece.result_of))
        wanted = piece.result_of if call is None else call.id
        for number, message in enumerate(self._decoded.prompt):
            if isinstance(message, ToolResultMessage) and message.tool_call_id == wanted:
                value = wanted if piece.kind == "answered call" else piece.value
                return find_value(self._payload, self._decoded.places[f"prompt/{number}"], value)
        return None


def _same_name_and_arguments(given: Call, found: ToolCall) -> bool:
    return given.name == found.function.name and _same_arguments(given, found)


def _same_arguments(given: Call, found: ToolCall) -> bool:
    return given.arguments == found.function.arguments or _same(given.arguments, found.function.arguments)


_SAME_CALL: Final[tuple[Callable[[Call, ToolCall], bool], ...]] = (
    lambda given, found: given.id == found.id and given.name == found.function.name,
    _same_name_and_arguments,
    _same_arguments,
    lambda given, found: given.name == found.function.name,
)


def find_value(payload: Any, pointer: str, value: Any, *, without: Collection[str] = ()) -> str | None:
    """The pointer of a value at or below another: of the value itself, of its JSON, else of a text that contains it."""
    top = look_up(payload, pointer) if pointer else payload
    nodes = [(place, node) for place, node in _nodes(top, pointer) if place not in without]
    for is_it in _is_the_value, _is_its_json, _contains:
        for place, node in nodes:
            if is_it(node, value):
                return place
    return None


def _is_the_value(node: Any, value: Any) -> bool:
    return type(node) is type(value) and bool(node == value)


def _is_its_json(node: Any, value: Any) -> bool:
    return (isinstance(value, str) or is_object(value) or is_array(value)) and _same(value, node)


def _contains(node: Any, value: Any) -> bool:
    return isinstance(value, str) and isinstance(node, str) and bool(value) and value in node


def _nodes(value: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    """Every value with its pointer, from the outermost on; at most so many."""
    waiting, left = [(pointer, value)], _MOST_NODES
    while waiting and left:
        place, one = waiting.pop()
        left -= 1
        yield place, one
        if is_object(one):
            waiting += [(f"{place}/{escape(key)}", item) for key, item in reversed(one.items())]
        elif is_array(one):
            waiting += [(f"{place}/{at}", item) for at, item in reversed(list(enumerate(one)))]


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same as JSON: a text stands for what is written in it."""
    first, second = _parsed(one), _parsed(other)
    return first is not None and first == second


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        parsed: Any = json.loads(value) if value.strip() else dict[str, Any]()
    except (ValueError, RecursionError):
        return None
    return parsed if is_object(parsed) or is_array(parsed) else None
