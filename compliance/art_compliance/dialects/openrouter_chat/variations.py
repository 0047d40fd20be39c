"""Other forms of OpenRouter's answers: reasoning without a text, and with signatures, which go back.

Source: `ReasoningDetailEncrypted` in openrouter 1.3, and answers recorded from Google's and OpenAI's models behind it.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from art_compliance.dialects.framing import data_frame
from art_compliance.dialects.openai_chat.variations import CITED
from art_compliance.dialects.variations import Events, Variation, read_data

_DATA: Final = ("ZW5jcnlwdGVkIHJlYXNvbmluZw==", "bW9yZSByZWFzb25pbmc=")
_DETAILS: Final = [
    {"type": "reasoning.encrypted", "data": data, "format": "google-gemini-v1", "index": index}
    for index, data in enumerate(_DATA)
]
"""Their order must be kept: openrouter.ai/docs/guides/best-practices/reasoning-tokens."""


def _with_details(details: list[dict[str, Any]], body: dict[str, Any]) -> dict[str, Any]:
    (choice,) = body["choices"]
    return {**body, "choices": [{**choice, "message": {**choice["message"], "reasoning_details": details}}]}


def _details_first(details: list[dict[str, Any]], events: Events) -> Events:
    at = next(at for at, event in enumerate(events) if read_data(event) is not None)
    first = read_data(events[at]) or {}
    (choice,) = first["choices"]
    deltas = [{"role": "assistant", "content": "", "reasoning_details": [one]} for one in details]
    opening = [{**first, "choices": [{**choice, "delta": delta, "finish_reason": None}]} for delta in deltas]
    return (*events[:at], *map(data_frame, opening), *events[at:])


_CLAUDE: Final = "anthropic-claude-v1"
_SIGNED: Final = ("Zmlyc3Qgc2lnbmF0dXJl", "c2Vjb25kIHNpZ25hdHVyZQ==")
_THOUGHTS: Final = [
    {"type": "reasoning.text", "text": f"Thought {index}.", "signature": one, "format": _CLAUDE, "index": index}
    for index, one in enumerate(_SIGNED)
]
"""`ReasoningDetailText` of openrouter 1.3. Those of one type have different indexes: pydantic/pydantic-ai#7214."""


_IN_PIECES: Final = [
    {name: value for name, value in one.items() if name not in left_out}
    for one in _THOUGHTS
    for left_out in (("signature",), ("text",))
]

_SUMMARY: Final = "What was asked for, in short."
_MIXED: Final = [
    {"type": "reasoning.summary", "summary": _SUMMARY, "format": "openai-responses-v1", "index": 0},
    {"type": "reasoning.encrypted", "data": _DATA[0], "format": "openai-responses-v1", "id": "rs_written", "index": 0},
]
"""Those of two types may have the same index: https://github.com/OpenRouterTeam/ai-sdk-provider/issues/519."""

VARIATIONS: Final = (
    CITED,
    Variation(
        words="two encrypted details",
        whole=partial(_with_details, _DETAILS),
        events=partial(_details_first, _DETAILS),
        goes_back=("reasoning.encrypted", *_DATA),
    ),
    Variation(
        words="a summary and an encrypted detail with the same index",
        whole=partial(_with_details, _MIXED),
        events=partial(_details_first, _MIXED),
        goes_back=("reasoning.summary", "reasoning.encrypted", _DATA[0]),
    ),
    Variation(
        words="two signed details, whose signatures come last",
        whole=partial(_with_details, _THOUGHTS),
        events=partial(_details_first, _IN_PIECES),
        goes_back=_SIGNED,
    ),
)
