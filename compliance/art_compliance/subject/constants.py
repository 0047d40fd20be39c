"""Learns the texts that an adapter adds when it repairs a prompt, from what it makes of a few small prompts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any, Final

from art_compliance.comparison import Constants, Filler, Frame, Notes
from art_compliance.comparison.constants import LONGEST_NOTE
from art_compliance.comparison.normal_form import Entry, Role, normal_form
from art_compliance.dialects import DecodeFailed, Dialect
from art_compliance.subject.observations import Observation, Sent
from art_sdk.json_data import is_object

Prompt = list[dict[str, Any]]
Translate = Callable[[Prompt, dict[str, Any]], Observation]


def learn_constants(translate: Translate, dialect: Dialect) -> Constants:
    """What the adapter adds to prompts that need a repair. A prompt that it refuses teaches nothing."""

    def entries_of(prompt: Prompt, **options: Any) -> list[Entry]:
        seen = translate(prompt, {"thread_id": "learning", **options})
        if not isinstance(seen, Sent):
            return []
        try:
            return normal_form(dialect.requests.decode(seen.payload, url=seen.url).prompt)
        except DecodeFailed:
            return []

    result, failed = (_frame_of_result(entries_of(_loop(status), tools=[_TOOL])) for status in ("success", "error"))
    demoted = [entries_of(prompt) for prompt in _DEMOTED]
    return Constants(
        demoted=next(filter(any, (_frame_of(entries, "user", _SYSTEM) for entries in demoted)), Frame()),
        beside_demoted=next(filter(any, map(_notes_beside, demoted)), Notes()),
        result=result,
        failed=failed,
        fillers=frozenset(filler for prompt in _GAPS for filler in _fillers(entries_of(prompt))),
        arguments_key=_only_key(entries_of(_loop("success", arguments=_BROKEN), tools=[_TOOL])),
        blanks={role: text for role, prompt in _BLANKS.items() for text in _placeholder(entries_of(prompt), role)},
    )


_USER: Final = "Words of a user."
_OTHER: Final = "Other words of a user."
_SAID: Final = "Words of an assistant."
_SAID_NEXT: Final = "Other words of an assistant."
_SYSTEM: Final = "Words of a system message."
_RESULT: Final = "Words of a result."
_OWN: Final = (_USER, _OTHER, _SAID, _SAID_NEXT, _SYSTEM, _RESULT)


def _say(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


_DEMOTED: Final = (
    [
        _say("user", _USER),
        _say("assistant", _SAID),
        _say("system", _SYSTEM),
        _say("assistant", _SAID_NEXT),
        _say("user", _OTHER),
    ],
    [_say("system", _SYSTEM), _say("assistant", _SAID), _say("user", _USER)],
)

_TOOL: Final[dict[str, Any]] = {"name": "look", "description": "Looks.", "inputSchema": {"type": "object"}}


_BROKEN: Final = '{"cut off": '


def _loop(status: str, arguments: str = "{}") -> Prompt:
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": arguments}}
    return [
        _say("user", _USER),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool_result", "tool_call_id": "call_1", "content": _RESULT, "status": status},
    ]


_GAPS: Final = (
    [_say("system", _SYSTEM)],
    [_say("assistant", _SAID), _say("user", _USER)],
    [_say("user", _USER), _say("assistant", _SAID)],
    [_say("user", _USER), _say("user", _OTHER)],
    [_say("user", _USER), _say("assistant", _SAID), _say("assistant", _SAID_NEXT), _say("user", _OTHER)],
    [*_loop("success"), _say("user", _OTHER)],
)

_BLANKS: Final[dict[Role, Prompt]] = {
    "user": [_say("user", " "), _say("assistant", _SAID), _say("user", _USER)],
    "assistant": [_say("user", _USER), _say("assistant", " "), _say("user", _OTHER)],
    "system": [_say("system", " "), _say("user", _USER)],
}


def _frame_of(entries: list[Entry], role: Role, text: str) -> Frame:
    """What is around the text in a turn of this role."""
    wholes = [whole for entry in entries if entry.role == role for whole in entry.texts if text in whole]
    return _around(wholes[0], text) if wholes else Frame()


def _notes_beside(entries: list[Entry]) -> Notes:
    """The texts of their own next to the system text in a user's turn."""
    for entry in entries:
        at = next((at for at, text in enumerate(entry.texts) if _SYSTEM in text), None)
        if entry.role == "user" and at is not None:
            before = tuple(takewhile(_is_foreign, reversed(entry.texts[:at])))[::-1]
            after = tuple(takewhile(_is_foreign, entry.texts[at + 1 :]))
            return Notes(before, after) if sum(map(len, before + after)) <= LONGEST_NOTE else Notes()
    return Notes()


def _is_foreign(text: str) -> bool:
    return not any(own in text for own in _OWN)


def _frame_of_result(entries: list[Entry]) -> Frame:
    wholes = [call.result.text for entry in entries for call in entry.calls if call.result is not None]
    return _around(wholes[0], _RESULT) if wholes and _RESULT in wholes[0] else Frame()


def _only_key(entries: list[Entry]) -> str | None:
    """The only field of the arguments, if it has the broken text."""
    found = [call.arguments for entry in entries for call in entry.calls if is_object(call.arguments)]
    return next((key for one in found for key in one if one == {key: _BROKEN}), None)


def _around(whole: str, text: str) -> Frame:
    before, _, after = whole.partition(text)
    is_note = len(before) + len(after) <= LONGEST_NOTE and _is_foreign(before + after)
    return Frame(before, after) if is_note else Frame()


def _fillers(entries: list[Entry]) -> Iterator[Filler]:
    for entry in entries:
        text = "".join(entry.texts)
        is_plain = entry.role in ("user", "assistant") and not (entry.calls or entry.images)
        if is_plain and len(text) <= LONGEST_NOTE and _is_foreign(text):
            yield Filler(entry.role, text)


def _placeholder(entries: list[Entry], role: Role) -> Iterator[str]:
    """What stands in place of the blank text. The turns of the probe are as many as without a repair."""
    found = [entry for entry in entries if entry.role == role and _is_foreign("".join(entry.texts))]
    for entry in found[:1]:
        text = "".join(entry.texts)
        if text.strip() and len(text) <= LONGEST_NOTE:
            yield text
