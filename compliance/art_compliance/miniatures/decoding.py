"""Adapters that decode once more what an answer says, or take it for what it looks like."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from typing import Any, Final

from art_compliance.miniatures.answers import with_arguments, with_texts
from art_compliance.miniatures.base import change_events, miniature
from art_sdk.json_data import is_object

_UNUSUAL: Final = ("response.unusual-answers-are-read", "stream.unusual-answers-are-read")


@miniature(*_UNUSUAL, around=("openai",))
def reads_escapes_as_line_ends(adapter: Any) -> None:
    """A backslash and an `n` in a text become a line end."""
    change_events(adapter, lambda events: with_texts(events, lambda text: text.replace(r"\n", "\n")))


@miniature(*_UNUSUAL, around=("anthropic",))
def parses_strings_in_arguments(adapter: Any) -> None:
    """A string in a call's arguments that is JSON becomes the value that it says."""
    change_events(adapter, lambda events: with_arguments(events, lambda text: _changed(text, _with_parsed)))


@miniature(*_UNUSUAL, around=("gemini",))
def unwraps_arguments(adapter: Any) -> None:
    """Arguments with one object in them become that object."""
    change_events(adapter, lambda events: with_arguments(events, lambda text: _changed(text, _unwrapped)))


def _changed(text: str, change: Callable[[dict[str, Any]], Any]) -> str:
    try:
        given = json.loads(text)
    except ValueError:
        return text
    changed = change(given) if is_object(given) else given
    return text if changed == given else json.dumps(changed)


def _with_parsed(given: dict[str, Any]) -> dict[str, Any]:
    return {
        name: json.loads(item) if isinstance(item, str) and item[:1] in ("{", "[") else item
        for name, item in given.items()
    }


def _unwrapped(given: dict[str, Any]) -> Any:
    inner = [*given.values()]
    return inner[0] if len(inner) == 1 and is_object(inner[0]) else given


@miniature(*_UNUSUAL, around=("cohere", "gemini"))
def composes_letters(adapter: Any) -> None:
    """Letters and their accents are put together in texts and arguments, as in names of files."""

    def composed(text: str) -> str:
        return unicodedata.normalize("NFC", text)

    change_events(adapter, lambda events: with_arguments(with_texts(events, composed), composed))
