"""Writes Gemini's streams: what `write_response` says, in responses with one part each.

Source: streams recorded in 2025 and 2026: lines end with CRLF, calls are whole, the signature of a text comes with
an empty text at the end, and there is no end mark.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from art_compliance.dialects.framing import data_frame, pieces
from art_compliance.dialects.gemini_generate.answers import write_error, write_response
from art_compliance.scenarios import WrittenAnswer

UNKNOWN_EVENT: Final = data_frame(
    {
        "candidates": [{"content": {"parts": [{"weatherReport": {"sun": True}}], "role": "model"}, "index": 0}],
        "weather": "fair",
    },
    newline="\r\n",
)
"""A part of an unknown kind, and an unknown field. Inferred: protobuf's readers skip both."""


def write_stream(answer: WrittenAnswer, payload: object = None) -> tuple[bytes, ...]:
    """A streamed answer in the form of `alt=sse`. Raises CannotWrite as `write_response` does."""
    del payload
    return write_body(json.loads(write_response(answer)))


def write_body(body: dict[str, Any]) -> tuple[bytes, ...]:
    """The stream that says what this body says."""
    return tuple(data_frame(chunk, newline="\r\n") for chunk in _chunks(body))


def write_stream_error(status: int, message: str) -> bytes:
    """An error after the status 200. Inferred: it is the body of an error answer as an event."""
    return data_frame(json.loads(write_error(status, message)), newline="\r\n")


def wants_stream(payload: object, target: str) -> bool:
    """Whether the URL names the method that streams."""
    del payload
    return urlsplit(target).path.endswith(":streamGenerateContent")


def wants_array(target: str) -> bool:
    """Whether `alt=sse` is missing; the answer is a JSON array then (Google's documentation of REST streaming)."""
    return parse_qs(urlsplit(target).query).get("alt") != ["sse"]


def _chunks(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    candidates = body.pop("candidates", None)
    if not candidates:
        yield body
        return
    usage = body.pop("usageMetadata")
    begun = _counted_so_far(usage)
    candidate, last = candidates[0], {"text": ""}
    candidate.pop("finishMessage", None)
    for part in candidate["content"].get("parts", [{"text": ""}]):
        signature = part.pop("thoughtSignature", None) if "functionCall" not in part else None
        if signature is not None:
            last["thoughtSignature"] = signature
        for piece in _part_pieces(part):
            yield {"candidates": [{"content": _content(piece), "index": 0}], "usageMetadata": begun, **body}
    ended = {**candidate, "content": _content(last)}
    yield {"candidates": [ended], "usageMetadata": usage, **body}


def _counted_so_far(usage: dict[str, Any]) -> dict[str, Any]:
    """What responses before the last one count: as recorded, the counts of prompt and answer grow."""
    prompt, spoken = (usage["promptTokenCount"] + 1) // 2, min(1, usage["candidatesTokenCount"])
    counts = {
        "promptTokenCount": prompt,
        "candidatesTokenCount": spoken,
        "totalTokenCount": prompt + spoken + usage.get("thoughtsTokenCount", 0),
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt}],
    }
    return {**usage, **counts}


def _content(part: dict[str, Any]) -> dict[str, Any]:
    return {"parts": [part], "role": "model"}


def _part_pieces(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "text" not in part:
        yield part
        return
    yield from ({**part, "text": piece} for piece in pieces(part["text"]))
