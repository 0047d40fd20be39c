"""Other forms of Anthropic's answers. Recorded answers have several texts, thoughts, and texts between calls.

Source of redacted thinking and of what must go back: Anthropic's documentation of extended thinking.
"""

from __future__ import annotations

from typing import Any, Final

from art_compliance.dialects.variations import Variation, in_halves

_REDACTED: Final = "cmVkYWN0ZWQgb24gcHVycG9zZQ=="
_FIRST: Final = "Zmlyc3Qgc2lnbmF0dXJl"
_SECOND: Final = "c2Vjb25kIHNpZ25hdHVyZQ=="


def _two_texts(body: dict[str, Any]) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    for block in body["content"]:
        halves = in_halves(block["text"]) if block["type"] == "text" else ()
        content += [{**block, "text": half} for half in halves] if all(halves) and halves else [block]
    return {**body, "content": content}


def _text_last(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "content": sorted(body["content"], key=lambda block: block["type"] == "text")}


def _redacted(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "content": [{"type": "redacted_thinking", "data": _REDACTED}, *body["content"]]}


def _two_thoughts(body: dict[str, Any]) -> dict[str, Any]:
    thoughts = [{"type": "thinking", "thinking": f"A thought {one}.", "signature": one} for one in (_FIRST, _SECOND)]
    return {**body, "content": [*thoughts, *body["content"]]}


VARIATIONS: Final = (
    Variation(words="its text in two blocks", whole=_two_texts),
    Variation(words="its text behind its calls", whole=_text_last),
    Variation(words="redacted thinking", whole=_redacted, goes_back=(_REDACTED,)),
    Variation(words="two thoughts, each with a signature", whole=_two_thoughts, goes_back=(_FIRST, _SECOND)),
)
