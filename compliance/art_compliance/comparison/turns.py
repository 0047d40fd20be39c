"""Compares the turns of a prompt with those that were found, and what is in each."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Final

from art_compliance.comparison.difference import Comparison, Difference, Expected, Slot
from art_compliance.comparison.normal_form import Entry, EntryCall, Image, normal_form, same_json
from art_compliance.comparison.repairs import repaired, without_filler
from art_compliance.dialects import Decoded
from art_compliance.quoting import describe_change, quote
from art_sdk.adapters.capabilities import Loss, Repair

_TEXT_SLOT: Final[dict[str, Slot]] = {
    "system": "system-text",
    "user": "user-text",
    "assistant": "assistant-text",
    "result": "result",
}


def compare_turns(expected: Expected, decoded: Decoded, repairs: frozenset[Repair]) -> Comparison:
    """The differences that are left if the adapter made these repairs."""
    return _TurnComparison(expected, decoded, repairs).compare()


class _TurnComparison:
    """One comparison: the wanted turns after the repairs, against those that were found."""

    def __init__(self, expected: Expected, decoded: Decoded, repairs: frozenset[Repair]) -> None:
        self._wanted = repaired(normal_form(expected.prompt), repairs, expected.dialect)
        self._found = repaired(normal_form(decoded.prompt), repairs, expected.dialect)
        if "adds_filler_turn" in repairs:
            self._found = without_filler(self._wanted, self._found)
        self._places = decoded.places
        self._dialect = expected.dialect
        self._repairs = repairs
        self._ids: list[tuple[EntryCall, EntryCall]] = []
        self._differences: list[Difference] = []

    def compare(self) -> Comparison:
        """The differences, and the repairs including `maps_call_ids` if ids were mapped."""
        matcher = SequenceMatcher(None, [_key(e) for e in self._wanted], [_key(e) for e in self._found], autojunk=False)
        for _, low, high, start, end in matcher.get_opcodes():
            self._block(self._wanted[low:high], self._found[start:end])
        mapped: frozenset[Repair] = frozenset({"maps_call_ids"} if self._ids_are_mapped() else ())
        repairs = self._repairs | mapped
        return Comparison(tuple(self._differences), repairs)

    def _block(self, wanted: list[Entry], found: list[Entry]) -> None:
        """Pairs turns of the same role in order, as changed versions of each other. The rest is lost or invented."""
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
            shown = entry.texts[0] if entry.texts else ", ".join(call.name for call in entry.calls)
            self._add("invented", f"a {entry.role} turn that the prompt does not have: {quote(shown)}", found=entry)

    def _lost(self, entry: Entry, near: list[Entry]) -> None:
        slot = _TEXT_SLOT[entry.role] if entry.texts else "call"
        shown = entry.texts[0] if entry.texts else ", ".join(call.id for call in entry.calls)
        if self._is_moved(entry):
            twin = next(other for other in self._found if _key(other) == _key(entry))
            self._add("turns", f"the {entry.role} turn {quote(shown)} moved: the order changed", entry, twin)
        else:
            self._add(slot, f"the {entry.role} turn is lost: {quote(shown)}", entry, near[0] if near else None)

    def _is_moved(self, entry: Entry) -> bool:
        """Whether both have the turn equally often. Then it is neither lost nor invented."""
        wanted, found = (sum(_key(e) == _key(entry) for e in side) for side in (self._wanted, self._found))
        return wanted == found

    def _pair(self, wanted: Entry, found: Entry) -> None:
        if wanted.texts != found.texts and not self._joined(wanted, found):
            self._compare_texts(wanted, found)
        if not _same_images(wanted.images, found.images):
            before, after = (", ".join(map(_describe_image, side.images)) or "no image" for side in (wanted, found))
            self._add("image", f"the images changed: expected {before}; found {after}", wanted, found)
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
        """Whether the joined text contains the texts whole and in order."""
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

    def _compare_calls(self, wanted: EntryCall, found: EntryCall, entry: Entry) -> None:
        self._ids.append((wanted, found))
        if wanted.name != found.name:
            text = f"the called tool {wanted.name!r} became {found.name!r}"
            self._add("call", text, found=entry, call=found, path=wanted.path)
        if not same_json(wanted.arguments, found.arguments):
            shown = describe_change(repr(wanted.arguments), repr(found.arguments))
            text = f"the arguments of the call {wanted.id!r} changed: {shown}"
            self._add("arguments", text, found=entry, call=found, path=f"{wanted.path}.function.arguments")
        self._compare_results(wanted, found, entry)

    def _compare_results(self, wanted: EntryCall, found: EntryCall, entry: Entry) -> None:
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
        """Whether ids changed one to one. Ids that changed in another way are differences."""
        changed = [(wanted, found) for wanted, found in self._ids if wanted.id != found.id]
        pairs = {(wanted.id, found.id) for wanted, found in self._ids}
        one_to_one = len(pairs) == len({own for own, _ in pairs}) == len({sent for _, sent in pairs})
        if changed and not one_to_one:
            for wanted, found in changed:
                text = f"the call id {wanted.id!r} became {found.id!r}; ids were not mapped one to one"
                self._add("call-id", text, call=found, path=f"{wanted.path}.id", loss="call_ids")
        return bool(changed) and one_to_one

    def _add(
        self,
        slot: Slot,
        message: str,
        wanted: Entry | None = None,
        found: Entry | None = None,
        *,
        call: EntryCall | None = None,
        path: str | None = None,
        loss: Loss | None = None,
    ) -> None:
        place = self._pointer(call.path) if call is not None and slot != "call" else None
        if place is None and found is not None:
            place = self._pointer(found.path)
        where = path or (wanted.path if wanted is not None else None)
        self._differences.append(Difference(slot=slot, message=message, path=where, pointer=place, loss=loss))

    def _pointer(self, path: str) -> str | None:
        """The place in the payload of a path like `$[2].tool_calls[0]` of the decoded prompt."""
        key = path.replace("$[", "prompt/", 1).replace("].", "/").replace("[", "/").replace("]", "")
        return self._places.get(key)


def _same_images(wanted: tuple[Image, ...], found: tuple[Image, ...]) -> bool:
    """Whether the images are the same. Some formats have no place for the type of an image that is given as a URL."""
    return len(wanted) == len(found) and all(
        one._replace(mime_type=other.mime_type) == other and other.mime_type in (one.mime_type, "image/*")
        for one, other in zip(wanted, found, strict=True)
    )


def _describe_image(image: Image) -> str:
    return f"{image.mime_type} {quote(image.data)} after {image.after} texts"


def _key(entry: Entry) -> tuple[object, ...]:
    return entry.role, entry.texts, tuple(call.name for call in entry.calls)
