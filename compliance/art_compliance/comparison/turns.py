"""Compares the turns of a prompt with those that were found, and what is in each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import cached_property
from itertools import starmap, zip_longest
from typing import Any, Final

from msgspec.structs import replace

from art_compliance.comparison.constants import Frame
from art_compliance.comparison.difference import Comparison, Difference, Expected, Slot
from art_compliance.comparison.ids import wrong_mappings
from art_compliance.comparison.normal_form import (
    Entry,
    EntryCall,
    EntryResult,
    Image,
    arguments_text,
    is_json_of,
    is_marked,
    keeps_arguments,
    keeps_last_keys,
    same_json,
)
from art_compliance.comparison.repairs import explanations, found_after, wanted_after
from art_compliance.dialects import Decoded
from art_compliance.quoting import describe_change, describe_json_change, quote, quote_difference, show, with_article
from art_sdk.adapters.capabilities import Loss, Repair
from art_sdk.json_data import is_object

_Key = tuple[object, ...]
"""What makes two turns the same: role, texts, names of the called tools."""

_TEXT_SLOT: Final[dict[str, Slot]] = {
    "system": "system-text",
    "user": "user-text",
    "assistant": "assistant-text",
    "result": "result",
}


def compare_turns(expected: Expected, decoded: Decoded, wanted: list[Entry], found: list[Entry]) -> Comparison:
    """The explanation of the decoded turns with the fewest differences, and then the fewest repairs."""

    def explained_by(repairs: frozenset[Repair]) -> Comparison:
        return _TurnComparison(expected, decoded, wanted, found, repairs).compare()

    best = explained_by(frozenset())
    if best.differences:
        for same_count in explanations(wanted, expected.dialect, expected.constants):
            best = min(best, *map(explained_by, same_count), key=lambda one: one.weight(expected.declared))
            if not best.differences:
                break
    return best


class _TurnComparison:
    """One comparison: the wanted turns after the repairs, against those that were found."""

    def __init__(
        self,
        expected: Expected,
        decoded: Decoded,
        wanted: list[Entry],
        found: list[Entry],
        repairs: frozenset[Repair],
    ) -> None:
        self._constants, self._dialect = expected.constants, expected.dialect
        self._has_own_form, self._text_names = expected.has_own_form, expected.text_names
        self._wanted = wanted_after(wanted, repairs, self._dialect, self._constants)
        self._found = found_after(self._wanted, found, repairs, self._dialect, self._constants)
        self._places = decoded.places
        self._wrapped = decoded.wrapped
        self._has_ids = decoded.has_ids
        self._wanted_keys, self._found_keys = [*map(_key, self._wanted)], [*map(_key, self._found)]
        self._json_results = decoded.json_results
        self._repairs = set(repairs)
        self._ids: list[tuple[EntryCall, EntryCall]] = []
        self._differences: list[Difference] = []

    def compare(self) -> Comparison:
        """The differences, and the repairs, those of calls and results included."""
        matcher = SequenceMatcher(None, self._wanted_keys, self._found_keys, autojunk=False)
        for _, low, high, start, end in matcher.get_opcodes():
            self._block(self._wanted[low:high], self._found[start:end])
        if self._ids_are_mapped():
            self._repairs.add("maps_call_ids")
        return Comparison(tuple(self._differences), frozenset(self._repairs))

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
            if self._is_moved(entry) or _is_empty_system(entry):
                continue
            shown = entry.texts[0] if entry.texts else ", ".join(call.name for call in entry.calls)
            text = f"{with_article(entry.role)} turn that the prompt does not have: {quote(shown)}"
            self._add("invented", text, found=entry)

    def _lost(self, entry: Entry, near: list[Entry]) -> None:
        slot = _TEXT_SLOT[entry.role] if entry.texts else "call"
        shown = entry.texts[0] if entry.texts else ", ".join(call.id for call in entry.calls)
        if self._is_moved(entry):
            twin = self._found[self._found_keys.index(_key(entry))]
            self._add("turns", f"the {entry.role} turn {quote(shown)} moved: the order changed", entry, twin)
        else:
            self._add(slot, f"the {entry.role} turn is lost: {quote(shown)}", entry, near[0] if near else None)

    def _is_moved(self, entry: Entry) -> bool:
        """Whether both have the turn equally often. Then it is neither lost nor invented."""
        wanted, found = self._often
        key = _key(entry)
        return wanted[key] == found[key]

    @cached_property
    def _often(self) -> tuple[Counter[_Key], Counter[_Key]]:
        """How often each turn is wanted, and found: counted where something differs."""
        return Counter(self._wanted_keys), Counter(self._found_keys)

    def _with_text(self, wanted: Entry, found: Entry) -> Entry:
        """What was found, with the text of a message with calls that is in a field beside them."""
        own, sent = (one.extensions.get(self._dialect, {}) for one in (wanted, found))
        name = next((one for one in self._text_names if one in sent and one not in own), None)
        if name is None or not found.calls or any(text.strip() for text in found.texts):
            return found
        others = {key: value for key, value in sent.items() if key != name}
        extensions = {**found.extensions, self._dialect: others} if others else {}
        return replace(found, texts=(str(sent[name]),), extensions=extensions)

    def _pair(self, wanted: Entry, found: Entry) -> None:
        found = self._with_text(wanted, found)
        is_kept = wanted.texts == found.texts or self._joined(wanted, found) or self._is_kept_result(wanted, found)
        if not is_kept:
            self._compare_texts(wanted, found)
        if not _same_images(wanted.images, found.images):
            before, after = _describe_images(wanted.images, found.images)
            self._add("image", f"the images changed: expected {before}; found {after}", wanted, found)
        if (wanted.name or None) != (found.name or None):  # an empty name names nobody
            text = f"the message's name {show(wanted.name)} became {show(found.name)}"
            self._add("message-name", text, wanted, found, loss="message_name")
        own, sent = wanted.extensions.get(self._dialect), found.extensions.get(self._dialect)
        if not same_json(own, sent) and not (own and self._has_own_form):
            text = f"the extensions changed: {describe_change(own, sent)}"
            self._add("extensions", text, wanted, found)
        for call, twin in self._twins(wanted, found):
            if call is None and twin is not None:
                self._add(
                    "invented", f"a call of {show(twin.name)} that the prompt does not have", found=found, call=twin
                )
            elif call is not None and twin is None:
                self._add("call", f"the call {show(call.id)} of {show(call.name)} is lost", wanted, found, call=call)
            elif call is not None and twin is not None:
                self._compare_calls(call, twin, found)

    def _twins(self, wanted: Entry, found: Entry) -> Iterable[tuple[EntryCall | None, EntryCall | None]]:
        """The calls with those that were sent for them: by place, or by id where they are the same in another order."""
        sent = {call.id: call for call in found.calls}
        by_id = [(call, sent[call.id]) for call in wanted.calls if call.id in sent]
        by_place = [*zip_longest(wanted.calls, found.calls)]
        is_whole = len(by_id) == len(by_place) == len(sent)
        if not is_whole or sum(starmap(_is_same_call, by_id)) <= sum(starmap(_is_same_call, by_place)):
            return by_place
        self._add("call", f"the order of the calls changed: {', '.join(sent)}", wanted, found)
        return by_id

    def _joined(self, wanted: Entry, found: Entry) -> bool:
        """Whether the joined text contains the texts whole and in order, and something short between turns alone."""
        if "joins_turns" not in self._repairs:
            return False
        whole, at = "".join(found.texts), 0
        for text in wanted.texts:
            at = whole.find(text, at)
            if at < 0:
                return False
            at += len(text)
        return len(whole) - sum(map(len, wanted.texts)) <= 2 * (wanted.turns - 1)

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
            text = f"the called tool {show(wanted.name)} became {show(found.name)}"
            self._add("call", text, found=entry, call=found, path=wanted.path)
        given, sent = wanted.arguments, found.arguments
        if not (keeps_arguments(given, sent) or self._are_wrapped(given, sent)):
            shown = describe_json_change(arguments_text(given), arguments_text(sent))
            text = f"the arguments of the call {show(wanted.id)} changed: {shown}"
            self._add(
                "arguments",
                text,
                found=entry,
                call=found,
                path=f"{wanted.path}.function.arguments",
                is_last_of_keys=keeps_last_keys(given, sent),
            )
        self._compare_results(wanted, found, entry)

    def _are_wrapped(self, wanted: Any, found: Any) -> bool:
        """Whether arguments that are not an object are sent as the text of an object's only field; notes the repair."""
        if is_object(wanted) or not is_object(found) or len(found) != 1:
            return False
        ((key, inside),) = found.items()
        is_text = inside == wanted[1] if is_marked(wanted) else isinstance(inside, str) and is_json_of(inside, wanted)
        if is_text and key == self._constants.arguments_key:
            self._repairs.add("wraps_arguments")
            return True
        return False

    def _compare_results(self, wanted: EntryCall, found: EntryCall, entry: Entry) -> None:
        if wanted.result is None or found.result is None:
            if wanted.result is not None:
                text = f"the result of the call {show(wanted.id)} is lost, or answers another call"
                self._add("result", text, found=entry, call=found, path=wanted.result.path)
            elif found.result is not None:
                text = f"a result of the call {show(wanted.id)} that the prompt does not have"
                self._add("invented", text, found=entry, call=found)
            return
        pointer = self._pointer(found.result.path)
        frame = self._frame(wanted.result, found.result)
        is_same = wanted.result.text == found.result.text or self._is_parsed(wanted.result, found.result)
        if not is_same and frame is None:
            shown = describe_change(wanted.result.text, found.result.text)
            text = f"the result of the call {show(wanted.id)} changed: {shown}"
            self._differences.append(Difference(slot="result", message=text, path=wanted.result.path, pointer=pointer))
        if found.result.name not in (None, found.name, wanted.result.name):
            text = f"the result of the call {show(wanted.id)} of {show(found.name)} is named {show(found.result.name)}"
            self._differences.append(Difference(slot="result", message=text, path=wanted.result.path, pointer=pointer))
        if wanted.result.status != found.result.status and frame in (None, self._constants.result):
            text = f"the result's status {show(wanted.result.status)} became {show(found.result.status)}"
            self._differences.append(
                Difference(
                    slot="result-status", message=text, path=wanted.result.path, pointer=pointer, loss="result_status"
                )
            )

    def _frame(self, wanted: EntryResult, found: EntryResult) -> Frame | None:
        """The frame that the adapter put around the result, whose repair it notes."""
        known = self._constants
        frames = (known.failed, known.result) if wanted.status == "error" else (known.result,)
        frame = next((one for one in frames if any(one) and one.has(wanted.text, found.text)), None)
        if frame is not None:
            self._repairs.add("wraps_result" if frame == known.result else "marks_failed_result")
        elif found.path in self._wrapped:
            self._repairs.add("wraps_result")
        return frame

    def _ids_are_mapped(self) -> bool:
        """Whether ids changed one to one. Ids that changed in another way, or are not sent, are differences."""
        if not self._has_ids and self._ids:
            first, sent = self._ids[0]
            self._add("call-id", "calls are sent without ids", call=sent, path=f"{first.path}.id", loss="call_ids")
            return False
        if all(wanted.id == found.id for wanted, found in self._ids):
            return False
        wrong = [*wrong_mappings(self._ids)]
        for message, (wanted, found) in wrong:
            text = f"{message}; ids must be mapped one to one"
            self._add("call-id", text, call=found, path=f"{wanted.path}.id", loss="call_ids")
        return not wrong

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
        is_last_of_keys: bool = False,
    ) -> None:
        place = self._pointer(call.path) if call is not None and slot != "call" else None
        if place is None and found is not None:
            place = self._pointer(found.path)
        where = path or (wanted.path if wanted is not None else None)
        self._differences.append(
            Difference(
                slot=slot, message=message, path=where, pointer=place, loss=loss, is_last_of_keys=is_last_of_keys
            )
        )

    def _pointer(self, path: str) -> str | None:
        """The place in the payload of a path like `$[2].tool_calls[0]` of the decoded prompt."""
        key = path.replace("$[", "prompt/", 1).replace("].", "/").replace("[", "/").replace("]", "")
        return self._places.get(key)

    def _is_kept_result(self, wanted: Entry, found: Entry) -> bool:
        """Whether the turns are a result that is no call's, or its second, and it was sent as a call's may be."""
        if wanted.role != "result":
            return False
        own, sent = (EntryResult("".join(entry.texts), "success", entry.path) for entry in (wanted, found))
        return self._frame(own, sent) is not None or self._is_parsed(own, sent)

    def _is_parsed(self, wanted: EntryResult, found: EntryResult) -> bool:
        """Whether the result was sent as the JSON value that its text is."""
        return any(is_json_of(wanted.text, value) for value in self._json_results.get(found.path, ()))


def _is_empty_system(entry: Entry) -> bool:
    """Whether it is the empty system prompt that clients send for none. Blanks would be a text."""
    return entry.role == "system" and not any(entry.texts)


def _is_same_call(wanted: EntryCall, found: EntryCall) -> bool:
    """Whether both call the same tool with the same arguments."""
    return wanted.name == found.name and keeps_arguments(wanted.arguments, found.arguments)


def _same_images(wanted: tuple[Image, ...], found: tuple[Image, ...]) -> bool:
    """Whether the images are the same. Some formats have no place for the type of an image that is given as a URL."""
    return len(wanted) == len(found) and all(
        one._replace(mime_type=other.mime_type) == other and other.mime_type in (one.mime_type, "image/*")
        for one, other in zip(wanted, found, strict=True)
    )


def _describe_images(wanted: tuple[Image, ...], found: tuple[Image, ...]) -> tuple[str, str]:
    """Both lists in words; from where their data differ if the beginnings are the same, as those of one format are."""
    before, after = (", ".join(map(_describe_image, images)) or "no image" for images in (wanted, found))
    if before != after:
        return before, after
    one, other = next((a, b) for a, b in zip(wanted, found, strict=True) if a.data != b.data)
    _, first, second = quote_difference(one.data, other.data)
    return f"{one.mime_type} {first}", f"{other.mime_type} {second}"


def _describe_image(image: Image) -> str:
    return f"{image.mime_type} {quote(image.data)} after {image.after} texts"


def _key(entry: Entry) -> _Key:
    return entry.role, entry.texts, tuple(call.name for call in entry.calls)
