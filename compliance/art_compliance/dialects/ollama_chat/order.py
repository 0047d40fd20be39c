"""The order of Ollama's lines: pieces, and a last one with `done`. Or an error, after which nothing comes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from art_compliance.dialects.order import Event, StreamOrder
from art_sdk.json_data import is_object


def _kind(event: Event) -> str:
    if event.body.get("error"):
        return "an error"
    return "the end" if event.body.get("done") is True else "a piece"


def _look(events: tuple[Event, ...]) -> Iterator[str]:
    """Every line is an object with a message, or an error."""
    for number, event in enumerate(events, 1):
        if event.name is not None or not (is_object(event.body.get("message")) or event.body.get("error")):
            yield f"line {number}: it is neither an answer nor an error"


ORDER: Final = StreamOrder(
    kind=_kind,
    start="open",
    table={"open": {"a piece": "open", "the end": "ended", "an error": "failed"}},
    ends=frozenset({"ended", "failed"}),
    look=_look,
)
