"""Quotes long texts in messages: their beginning, or where two of them differ."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Final

LONGEST: Final = 120
"""The default length of a quotation in characters."""

AT_LENGTH: Final = 600
"""The length for messages of others, such as a provider's, in characters."""

_WINDOW: Final = 60
_BEFORE: Final = 20


def shorten(text: str, longest: int = LONGEST) -> str:
    """The text, cut at this many characters, with an ellipsis."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def as_json(value: object) -> str:
    """The value in JSON notation, with escapes for what nobody can see. What is not JSON data is shown as its repr."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):  # an odd key, an endless integer, a value nested too deep
        return f"{with_article(type(value).__name__)} that cannot be written as JSON"
    return text if text.isprintable() else "".join(map(_escape_in_json, text))


def _escape_in_json(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]


def escape(text: str) -> str:
    """The text with everything that a terminal would act on, or not show, as an escape sequence."""
    return text if text.isprintable() else "".join(map(_escape_character, text))


def _escape_character(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def show(value: object) -> str:
    """The value in JSON notation, cut if it is long."""
    return shorten(as_json(value))


def show_both(one: object, other: object) -> tuple[str, str]:
    """Two different values in JSON notation, cut if they are long, from where the cut ones would look the same."""
    first, second = as_json(one), as_json(other)
    if shorten(first) != shorten(second):
        return shorten(first), shorten(second)
    start = max(_first_difference(first, second) - _BEFORE, 0)
    return f"…{shorten(first[start:], _WINDOW)}", f"…{shorten(second[start:], _WINDOW)}"


def with_article(word: str) -> str:
    """The word after its article: `a user`, `an assistant`."""
    return f"{'an' if word[:1].lower() in 'aeio' else 'a'} {word}"


def quote(text: str) -> str:
    """The text in quotation marks, as JSON writes it, with the length if it is cut."""
    return as_json(text) if len(text) <= _WINDOW else f"{as_json(text[:_WINDOW])}… ({len(text)} characters)"


def quote_difference(one: str, other: str) -> tuple[int, str, str]:
    """The index of the first different character, and both texts from shortly before it, in quotation marks."""
    at = _first_difference(one, other)
    return at, *_tell_apart(as_json(_window(one, at)), as_json(_window(other, at)))


def _first_difference(one: str, other: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _window(text: str, at: int) -> str:
    start = max(at - _BEFORE, 0)
    shown = shorten(text[start:], _WINDOW)
    return f"…{shown}" if start else shown


def describe_change(wanted: object, found: object) -> str:
    """Two texts, or two values in JSON notation, where they first differ; short enough to read.

    A number, true, false or null has no place where it begins to differ.
    """
    if not (_has_places(wanted) and _has_places(found)):
        return f"expected {show(wanted)}, found {show(found)}"
    if not (isinstance(wanted, str) and isinstance(found, str)):
        return describe_json_change(as_json(wanted), as_json(found))
    at, one, other = quote_difference(wanted, found)
    return f"expected {one}, found {other}, from character {at} on"


def _has_places(value: object) -> bool:
    return isinstance(value, (str, list, dict))


def describe_json_change(wanted: str, found: str) -> str:
    """As `describe_change`, for two values that are written in JSON notation already."""
    at = _first_difference(wanted, found)
    one, other = _tell_apart(_window(wanted, at), _window(found, at))
    return f"expected {one}, found {other}, from character {at} on"


def _tell_apart(one: str, other: str) -> tuple[str, str]:
    """Both texts; where they would look the same, as composed and decomposed letters do, with escapes."""
    if unicodedata.normalize("NFKC", one) != unicodedata.normalize("NFKC", other):
        return one, other
    first, second = (re.sub(r"[^\x00-\x7f]", lambda found: json.dumps(found[0])[1:-1], text) for text in (one, other))
    return first, second
