"""Other forms of OpenRouter's answers: reasoning without a text, which goes back.

Source: `ReasoningDetailEncrypted` in openrouter 1.3, and answers recorded from Google's and OpenAI's models behind it.
"""

from __future__ import annotations

from typing import Any, Final

from art_compliance.dialects.framing import data_frame
from art_compliance.dialects.variations import Events, Variation, read_data

_DATA: Final = ("ZW5jcnlwdGVkIHJlYXNvbmluZw==", "bW9yZSByZWFzb25pbmc=")
_DETAILS: Final = [
    {"type": "reasoning.encrypted", "data": data, "format": "google-gemini-v1", "index": index}
    for index, data in enumerate(_DATA)
]
"""Their order must be kept: openrouter.ai/docs/guides/best-practices/reasoning-tokens."""


def _encrypted(body: dict[str, Any]) -> dict[str, Any]:
    (choice,) = body["choices"]
    return {**body, "choices": [{**choice, "message": {**choice["message"], "reasoning_details": _DETAILS}}]}


def _encrypted_first(events: Events) -> Events:
    at = next(at for at, event in enumerate(events) if read_data(event) is not None)
    first = read_data(events[at]) or {}
    (choice,) = first["choices"]
    deltas = [{"role": "assistant", "content": "", "reasoning_details": [one]} for one in _DETAILS]
    opening = [{**first, "choices": [{**choice, "delta": delta, "finish_reason": None}]} for delta in deltas]
    return (*events[:at], *map(data_frame, opening), *events[at:])


VARIATIONS: Final = (
    Variation(words="two encrypted details", whole=_encrypted, events=_encrypted_first, goes_back=_DATA),
)
