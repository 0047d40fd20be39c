"""A form of DeepSeek's answers: calls before which the model did not think."""

from __future__ import annotations

from typing import Any, Final

from art_compliance.dialects.openai_chat.variations import Chunk, regrouped
from art_compliance.dialects.variations import Variation

_UNTHOUGHT: Final = {"reasoning_content": ""}


def _whole(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "choices": [{**one, "message": {**one["message"], **_UNTHOUGHT}} for one in body["choices"]]}


def _streamed(chunks: list[Chunk]) -> list[Chunk]:
    """In the first delta, as the empty content is."""
    first, *others = chunks
    choices = [{**one, "delta": {**one["delta"], **_UNTHOUGHT}} for one in first["choices"]]
    return [{**first, "choices": choices}, *others]


UNTHOUGHT_CALLS: Final = Variation(
    words="an empty text as the reasoning before its calls",
    whole=_whole,
    events=regrouped(_streamed),
    goes_back_in=("reasoning_content",),
)
"""Recorded in requests; `deepseek.reasoning-back` asks for the field, not for a text in it."""
