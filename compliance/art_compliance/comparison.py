"""What is different between a prompt and what was decoded from the request that an adapter made of it.

Every difference names its slot, the place in the prompt, the place in the payload, and the declared
loss that would allow it. What a declared repair explains is no difference: it is a repair seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import combinations, zip_longest
from typing import Any, Final, Literal

from msgspec import Struct

from art_compliance.dialects import Decoded
from art_compliance.normal_form import Call, Entry, Image, normal_form, same_json
from art_sdk.adapters.capabilities import Loss, Repair
from art_sdk.json_data import is_object
from art_sdk.messages import ArtStandardPrompt, ToolSchema

Slot = Literal[
    "system-text",
    "user-text",
    "image",
    "assistant-text",
    "message-name",
    "extensions",
    "turns",
    "call",
    "call-id",
    "arguments",
    "result",
    "result-status",
    "tool",
    "option",
    "invented",
]


class Difference(Struct, frozen=True, kw_only=True):
    """One slot that did not survive; `path` in the prompt, `pointer` in the payload."""

    slot: Slot
    message: str
    path: str | None = None
    pointer: str | None = None
    loss: Loss | None = None


class Comparison(Struct, frozen=True):
    """The differences, and the repairs without which there would be more."""

    differences: tuple[Difference, ...]
    repairs: frozenset[Repair]

    @property
    def weight(self) -> tuple[int, int, int]:
        """Smaller is the better explanation. What may be a declared loss weighs less than a repair."""
        unexplained = sum(difference.loss is None for difference in self.differences)
        return unexplained, len(self.repairs), len(self.differences)


class Expected(Struct, frozen=True, kw_only=True):
    """What a request must say. Of a message's extensions it need say those of its own dialect alone."""

    dialect: str
    prompt: ArtStandardPrompt
    tools: tuple[ToolSchema, ...]
    options: dict[str, Any]


def compare(expected: Expected, decoded: Decoded) -> Comparison:
    """The explanation of the decoded request with the fewest differences, and then the fewest repairs."""
    told = _Reading(expected, decoded, frozenset()).told()
    if told.differences:
        readings = (_Reading(expected, decoded, repairs).told() for repairs in _READINGS)
        told = min(readings, key=lambda comparison: comparison.weight)
    rest = (*_compare_tools(expected, decoded), *_compare_options(expected, decoded))
    return Comparison((*told.differences, *rest), told.repairs)


_TURN_REPAIRS: Final[tuple[Repair, ...]] = (
    "drops_blank_text",
    "joins_turns",
    "hoists_late_system",
    "adds_filler_turn",
)
_READINGS: Final = tuple(
    frozenset(chosen) for count in range(len(_TURN_REPAIRS) + 1) for chosen in combinations(_TURN_REPAIRS, count)
)
"""The repairs that change which turns there are, from none to all: each is tried as an explanation."""


class _Reading:
    """One way to read a decoded request: what was to be found, after the repairs, against what was found."""

    def __init__(self, expected: Expected, decoded: Decoded, repairs: frozenset[Repair]) -> None:
        self._wanted = _repaired(normal_form(expected.prompt), repairs, expected.dialect)
        self._found = _repaired(normal_form(decoded.prompt), repairs, expected.dialect)
        if "adds_filler_turn" in repairs:
            self._found = _without_filler(self._wanted, self._found)
        self._places = decoded.places
        self._dialect = expected.dialect
        self._repairs = repairs
        self._ids: list[tuple[Call, Call]] = []
        self._differences: list[Difference] = []

    def told(self) -> Comparison:
        matcher = SequenceMatcher(None, [_key(e) for e in self._wanted], [_key(e) for e in self._found], autojunk=False)
        for _, low, high, start, end in matcher.get_opcodes():
            self._block(self._wanted[low:high], self._found[start:end])
        mapped: frozenset[Repair] = frozenset({"maps_call_ids"} if self._ids_are_mapped() else ())
        repairs = self._repairs | mapped
        return Comparison(tuple(self._differences), repairs)

    def _block(self, wanted: list[Entry], found: list[Entry]) -> None:
        """Pairs what can be a changed version of each other: same role, in order; the rest is lost or invented."""
        left = list(found)
        for entry in wanted:
            twin = next((other for other in left if other.role == entry.role), None)
            if twin is None:
                self._lost(entry, found)
            else:
                left.remove(twin)
                self._pair(entry, twin)
        for entry in left:
            if self._is_moved(entry):
                continue
            said = entry.texts[0] if entry.texts else ", ".join(call.name for call in entry.calls)
            self._add("invented", f"a {entry.role} turn that the prompt does not have: {_short(said)}", found=entry)

    def _lost(self, entry: Entry, near: list[Entry]) -> None:
        slot = _TEXT_SLOT[entry.role] if entry.texts else "call"
        shown = entry.texts[0] if entry.texts else ", ".join(call.id for call in entry.calls)
        if self._is_moved(entry):
            elsewhere = next(other for other in self._found if _key(other) == _key(entry))
            text = f"the {entry.role} turn {_short(shown)} stands elsewhere: the order changed"
            self._add("turns", text, entry, elsewhere)
        else:
            self._add(slot, f"the {entry.role} turn is lost: {_short(shown)}", entry, near[0] if near else None)

    def _is_moved(self, entry: Entry) -> bool:
        """Whether the turn stands in both as often: then it is neither lost nor invented."""
        wanted, found = (sum(_key(e) == _key(entry) for e in side) for side in (self._wanted, self._found))
        return wanted == found

    def _pair(self, wanted: Entry, found: Entry) -> None:
        if wanted.texts != found.texts and not self._joined(wanted, found):
            self._compare_texts(wanted, found)
        if not _same_images(wanted.images, found.images):
            told, heard = (", ".join(map(_tell_image, side.images)) or "no image" for side in (wanted, found))
            self._add("image", f"the images are not the same: expected {told}; found {heard}", wanted, found)
        if wanted.name != found.name:
            text = f"the message's name {wanted.name!r} became {found.name!r}"
            self._add("message-name", text, wanted, found, loss="message_name")
        own, sent = wanted.extensions.get(self._dialect), found.extensions.get(self._dialect)
        if not same_json(own, sent):
            text = f"the extensions changed: {describe_change(repr(own), repr(sent))}"
            self._add("extensions", text, wanted, found)
        for call, twin in zip_longest(wanted.calls, found.calls):
            if call is None:
                self._add("invented", f"a call of {twin.name!r} that the prompt does not have", found=found, call=twin)
            elif twin is None:
                self._add("call", f"the call {call.id!r} of {call.name!r} is lost", wanted, found, call=call)
            else:
                self._compare_calls(call, twin, found)

    def _joined(self, wanted: Entry, found: Entry) -> bool:
        """Whether the texts stand whole and in order inside the joined one."""
        if "joins_turns" not in self._repairs:
            return False
        whole, at = "".join(found.texts), 0
        for text in wanted.texts:
            at = whole.find(text, at)
            if at < 0:
                return False
            at += len(text)
        return len(whole) - sum(map(len, wanted.texts)) <= 2 * max(len(wanted.texts) - 1, 0)

    def _compare_texts(self, wanted: Entry, found: Entry) -> None:
        slot = _TEXT_SLOT[wanted.role]
        if "".join(wanted.texts) == "".join(found.texts):
            text = f"{len(wanted.texts)} pieces of text became {len(found.texts)}"
            self._add(slot, text, wanted, found)
            return
        shown = describe_change("\n".join(wanted.texts), "\n".join(found.texts))
        self._add(slot, f"the {wanted.role} text changed: {shown}", wanted, found)

    def _compare_calls(self, wanted: Call, found: Call, entry: Entry) -> None:
        self._ids.append((wanted, found))
        if wanted.name != found.name:
            text = f"the called tool {wanted.name!r} became {found.name!r}"
            self._add("call", text, found=entry, call=found, path=wanted.path)
        if not same_json(wanted.arguments, found.arguments):
            shown = describe_change(repr(wanted.arguments), repr(found.arguments))
            text = f"the arguments of the call {wanted.id!r} changed: {shown}"
            self._add("arguments", text, found=entry, call=found, path=f"{wanted.path}.function.arguments")
        self._compare_results(wanted, found, entry)

    def _compare_results(self, wanted: Call, found: Call, entry: Entry) -> None:
        if wanted.result is None or found.result is None:
            if wanted.result is not None:
                text = f"the result of the call {wanted.id!r} is lost, or answers another call"
                self._add("result", text, found=entry, call=found, path=wanted.result.path)
            elif found.result is not None:
                text = f"a result of the call {wanted.id!r} that the prompt does not have"
                self._add("invented", text, found=entry, call=found)
            return
        pointer = self._pointer(found.result.path)
        if wanted.result.text != found.result.text:
            shown = describe_change(wanted.result.text, found.result.text)
            text = f"the result of the call {wanted.id!r} changed: {shown}"
            self._differences.append(Difference(slot="result", message=text, path=wanted.result.path, pointer=pointer))
        if found.result.name not in (None, found.name):
            text = f"the result of the call {wanted.id!r} of {found.name!r} is named {found.result.name!r}"
            self._differences.append(Difference(slot="result", message=text, path=wanted.result.path, pointer=pointer))
        if wanted.result.status != found.result.status:
            text = f"the result's status {wanted.result.status!r} became {found.result.status!r}"
            self._differences.append(
                Difference(
                    slot="result-status", message=text, path=wanted.result.path, pointer=pointer, loss="result_status"
                )
            )

    def _ids_are_mapped(self) -> bool:
        """Whether ids changed, one to one. Ids that changed otherwise are differences."""
        changed = [(wanted, found) for wanted, found in self._ids if wanted.id != found.id]
        pairs = {(wanted.id, found.id) for wanted, found in self._ids}
        one_to_one = len(pairs) == len({own for own, _ in pairs}) == len({sent for _, sent in pairs})
        if changed and not one_to_one:
            for wanted, found in changed:
                text = f"the call id {wanted.id!r} became {found.id!r}, which is not one to one"
                self._add("call-id", text, call=found, path=f"{wanted.path}.id", loss="call_ids")
        return bool(changed) and one_to_one

    def _add(
        self,
        slot: Slot,
        message: str,
        wanted: Entry | None = None,
        found: Entry | None = None,
        *,
        call: Call | None = None,
        path: str | None = None,
        loss: Loss | None = None,
    ) -> None:
        place = self._pointer(call.path) if call is not None and slot != "call" else None
        if place is None and found is not None:
            place = self._pointer(found.path)
        where = path or (wanted.path if wanted is not None else None)
        self._differences.append(Difference(slot=slot, message=message, path=where, pointer=place, loss=loss))

    def _pointer(self, path: str) -> str | None:
        """`$[2].tool_calls[0]` of the decoded prompt as a place in the payload."""
        key = path.replace("$[", "prompt/", 1).replace("].", "/").replace("[", "/").replace("]", "")
        return self._places.get(key)


def _same_images(wanted: tuple[Image, ...], found: tuple[Image, ...]) -> bool:
    """Some formats have no place for the type of an image that is given by its URL."""
    return len(wanted) == len(found) and all(
        one._replace(mime_type=other.mime_type) == other and other.mime_type in (one.mime_type, "image/*")
        for one, other in zip(wanted, found, strict=True)
    )


def _tell_image(image: Image) -> str:
    return f"{image.mime_type} {_short(image.data)} after {image.after} texts"


_TEXT_SLOT: Final[dict[str, Slot]] = {
    "system": "system-text",
    "user": "user-text",
    "assistant": "assistant-text",
    "result": "result",
}


def _key(entry: Entry) -> tuple[object, ...]:
    return entry.role, entry.texts, tuple(call.name for call in entry.calls)


def _repaired(entries: list[Entry], repairs: frozenset[Repair], dialect: str) -> list[Entry]:
    """The entries as they read once the repairs were made. Only copies are changed."""
    told = [_copy(entry, dialect) for entry in entries]
    if "drops_blank_text" in repairs:
        told = [_without_blank(entry) for entry in told if not entry.is_empty]
    if "hoists_late_system" in repairs:
        told = [e for e in told if e.role == "system"] + [e for e in told if e.role != "system"]
    return _joined_turns(told) if "joins_turns" in repairs else told


def _without_filler(wanted: list[Entry], found: list[Entry]) -> list[Entry]:
    """A user's turn that was put before a conversation that begins with the assistant is left out."""
    first, got = (next((e for e in side if e.role != "system"), None) for side in (wanted, found))
    if first is None or got is None or first.role != "assistant" or got.role != "user":
        return found
    return [entry for entry in found if entry is not got]


def _copy(entry: Entry, dialect: str) -> Entry:
    """A copy with the extensions of the dialect alone: another's say nothing in it."""
    own = {name: dict(value) for name, value in entry.extensions.items() if name == dialect}
    return Entry(entry.role, entry.texts, entry.path, entry.name, list(entry.calls), entry.images, own)


def _without_blank(entry: Entry) -> Entry:
    kept = [bool(text.strip()) for text in entry.texts]
    entry.images = tuple(image._replace(after=sum(kept[: image.after])) for image in entry.images)
    entry.texts = tuple(text for text in entry.texts if text.strip())
    return entry


def _joined_turns(entries: list[Entry]) -> list[Entry]:
    """Turns of one role that stand together, as one. A turn whose calls were answered is closed."""
    joined: list[Entry] = []
    for entry in entries:
        before = joined[-1] if joined else None
        if before is not None and before.role == entry.role and not before.calls:
            before.name = before.name if before.name == entry.name else None
            moved = [image._replace(after=image.after + len(before.texts)) for image in entry.images]
            before.images += tuple(moved)
            before.texts += entry.texts
            before.calls += entry.calls
            for dialect, extension in entry.extensions.items():
                before.extensions[dialect] = before.extensions.get(dialect, {}) | extension
        else:
            joined.append(entry)
    return joined


def _compare_tools(expected: Expected, decoded: Decoded) -> Iterator[Difference]:
    names, sent = [tool.name for tool in expected.tools], [tool.name for tool in decoded.tools]
    if len(sent) != len(set(sent)):
        yield Difference(slot="invented", message=f"a tool stands twice: {', '.join(sent)}")
    elif sent != names and sorted(sent) == sorted(names):
        text = f"the tools stand in another order: {', '.join(sent)}"
        yield Difference(slot="tool", message=text, path="options.tools")
    found = {tool.name: (number, tool) for number, tool in enumerate(decoded.tools)}
    for number, tool in enumerate(expected.tools):
        path = f"options.tools[{number}]"
        if tool.name not in found:
            yield Difference(slot="tool", message=f"the tool {tool.name!r} is lost", path=path)
            continue
        at, twin = found.pop(tool.name)
        pointer = decoded.places.get(f"tools/{at}")
        for name, loss in _TOOL_FIELDS.items():
            own, told = _rooted(getattr(tool, name)), _rooted(getattr(twin, name))
            if not same_json(own, told):
                shown = describe_change(repr(own), repr(told))
                text = f"the {name} of the tool {tool.name!r} changed: {shown}"
                yield Difference(slot="tool", message=text, path=f"{path}.{name}", pointer=pointer, loss=loss)
    for at, twin in found.values():
        text = f"a tool that was not given: {twin.name!r}"
        yield Difference(slot="invented", message=text, pointer=decoded.places.get(f"tools/{at}"))


def _rooted(value: Any) -> Any:
    """A schema of a tool is one of an object, whether its root says so or not."""
    return {"type": "object", **value} if is_object(value) else value


_TOOL_FIELDS: Final[dict[str, Loss | None]] = {
    "description": None,
    "input_schema": None,
    "output_schema": "tool_output_schema",
}

_OPTION_LOSS: Final[dict[str, Loss]] = {
    "temperature": "sampling_option:temperature",
    "top_p": "sampling_option:top_p",
    "max_tokens": "sampling_option:max_tokens",
    "stop": "sampling_option:stop",
    "parallel_tool_calls": "sampling_option:parallel_tool_calls",
}


_NUMBERS: Final = frozenset({"temperature", "top_p"})
"""Options in which 1 and 1.0 are the same."""


def _compare_options(expected: Expected, decoded: Decoded) -> Iterator[Difference]:
    for name, value in expected.options.items():
        path, pointer = f"options.{name}", decoded.places.get(f"options/{name}")
        sent = decoded.options.get(name)
        if name not in decoded.options:
            text = f"the option {name} = {_short(repr(value))} is lost"
            yield Difference(slot="option", message=text, path=path, loss=_OPTION_LOSS.get(name))
        elif not (value == sent if name in _NUMBERS else same_json(value, sent)):
            text = f"the option {name} changed: {describe_change(repr(value), repr(sent))}"
            yield Difference(slot="option", message=text, path=path, pointer=pointer)


_SHOWN: Final = 60


def _short(text: str) -> str:
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}… ({len(text)} characters)"


def describe_change(wanted: str, found: str) -> str:
    """Both texts where they first part, short enough to read."""
    at = next((i for i, (a, b) in enumerate(zip(wanted, found, strict=False)) if a != b), min(len(wanted), len(found)))
    start = max(at - 20, 0)
    lead = "…" if start else ""
    shown = [
        f"{lead}{text[start : start + _SHOWN]}{'…' if len(text) > start + _SHOWN else ''}" for text in (wanted, found)
    ]
    return f"expected {shown[0]!r}, found {shown[1]!r}, from character {at} on"
