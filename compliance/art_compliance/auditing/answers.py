"""What an answer says of its tokens, whole or streamed."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from art_compliance.cassettes.bodies import json_of, stream_items
from art_compliance.dialects import find_dialect
from art_compliance.dialects.base import Answers
from art_compliance.dialects.endpoints import find_spoken
from art_sdk.json_data import is_array, is_object

_MOST: Final = 2**40
"""Tokens that no answer has: a larger number is an error of what wrote it."""


def tokens_of(dialect: str, url: str | None, body: Any) -> tuple[int, int] | None:
    """The tokens of request and answer, 0 where they are not given; None where the body is not an answer at all."""
    items = _items(body)
    if not any(map(is_object, items)):
        return None
    counts = _answers(dialect, url).counts.read(items)
    return _plausible(counts["input_tokens"]), _plausible(counts["output_tokens"])


def _plausible(count: int) -> int:
    return count if 0 <= count < _MOST else 0


def _items(body: Any) -> list[Any]:
    """An answer's JSON value, or the events of a stream."""
    if isinstance(body, str):
        body = body.encode("utf-8", "replace")
    if isinstance(body, bytes):
        whole = json_of(body)
        if whole is None:
            return list(stream_items(body))
        body = whole
    return list(body) if is_array(body) else [body]


@lru_cache(maxsize=4096)
def _answers(dialect: str, url: str | None) -> Answers:
    """How the service that the URL names answers: its counts may stand elsewhere."""
    return find_spoken(find_dialect(dialect), url).answers
