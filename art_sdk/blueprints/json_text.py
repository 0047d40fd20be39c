"""Reads the JSON text that a blueprint renders to: needless commas are dropped, repeated keys are errors."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn

from art_sdk.blueprints.mustache import BlueprintError, Location, clip


def read_json_text(text: str, place_of: Callable[[int], Location | None]) -> tuple[Any, str]:
    """The data, and the text it was read from, which has blanks for needless commas if it had any."""
    try:
        return _decode(text), text
    except json.JSONDecodeError:
        text = without_needless_commas(text)
    try:
        return _decode(text), text
    except json.JSONDecodeError as error:
        reason, at = error.msg, error.pos
    near = f"{text[max(0, at - 40) : at]}⟨here⟩{text[at : at + 20]}"
    raise BlueprintError(f"the rendered text is not JSON: {reason} in '{near}'", place_of(at)) from _NotJSON(reason)


class _NotJSON(ValueError):
    """The reason of a JSONDecodeError. The error itself would keep the whole text, and with it private data."""


def without_needless_commas(text: str) -> str:
    """The text with blanks for commas that separate nothing. The length stays, and so do the places."""
    return _COMMAS.sub(_blank, text)


_COMMAS: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{][ \t\r\n,]*+|,[ \t\r\n,]*+[\]}]?', re.DOTALL)
"""A string, or a run of commas with a bracket at one end. Possessive, so that it never backtracks."""


def _blank(run: re.Match[str]) -> str:
    found = run[0]
    if found[0] == '"':
        return found
    blank = found.replace(",", " ")
    return "," + blank[1:] if found[0] == "," and found[-1] not in "]}" else blank


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object, for JSON decoders. Raises BlueprintError for a repeated key: one of its values would be lost."""
    table = dict(pairs)
    if len(table) != len(pairs):
        check_unique([key for key, _ in pairs])
    return table


def check_unique(keys: list[str]) -> None:
    """Raises BlueprintError for a repeated key."""
    repeated = next((key for key, count in Counter(keys).items() if count > 1), None)
    if repeated is not None:
        raise BlueprintError(f"the key '{clip(repeated)}' appears twice in one object")


def _no_constant(name: str) -> NoReturn:
    raise BlueprintError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=object_of, parse_constant=_no_constant)


def _decode(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError as error:  # a number with more digits than Python reads
        raise BlueprintError("a number is too long") from error


_GAP: Final = re.compile(r"[ \t\r\n,]*")


def element_starts(text: str) -> Iterator[int]:
    """The offset of each element of a JSON array. The text is known to be one."""
    at = text.index("[") + 1
    while text[at := _skip(text, at)] != "]":
        yield at
        _, at = _DECODER.raw_decode(text, at)


def _skip(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    return at if gap is None else gap.end()
