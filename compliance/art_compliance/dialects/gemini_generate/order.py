"""The order of Gemini's responses: parts, and a last one with the finish reason. There is no end mark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from art_compliance.dialects.order import PASSED, Event, StreamOrder
from art_compliance.dialects.ruling import Place, objects
from art_sdk.json_data import is_object


def _kind(event: Event) -> str:
    if is_object(event.body.get("error")):
        return "an error"
    candidates = tuple(objects(Place(event.body), "candidates"))
    if candidates:
        return "finish" if candidates[0].value.get("finishReason") else "a part"
    feedback = event.body.get("promptFeedback")
    return "finish" if is_object(feedback) and feedback.get("blockReason") else PASSED


def _look(events: tuple[Event, ...]) -> Iterator[str]:
    """Every event is a whole response, without a name."""
    for number, event in enumerate(events, 1):
        if event.name is not None or not event.body:
            yield f"event {number}: it is not a response"


ORDER: Final = StreamOrder(
    kind=_kind,
    start="open",
    table={"open": {"a part": "open", "finish": "ended", "an error": "failed"}, "ended": {"an error": "failed"}},
    ends=frozenset({"ended", "failed"}),
    look=_look,
)
