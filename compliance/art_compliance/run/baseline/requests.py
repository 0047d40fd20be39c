"""Generated requests as the JSON text that an entry of a baseline keeps."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from msgspec import Struct

from art_compliance.findings import Example
from art_compliance.generating.requests import Request


class _Kept(Struct, frozen=True, forbid_unknown_fields=True):
    prompt: list[dict[str, Any]]
    options: dict[str, Any] = {}
    turns: tuple[dict[str, Any], ...] = ()


def read_request(text: str) -> Request:
    """The request. Raises ValueError for a text that is not one."""
    kept = msgspec.convert(json.loads(text), _Kept)  # a lone surrogate is valid for json alone
    if any("answer" not in turn for turn in kept.turns):
        raise ValueError("each of `turns` must have an `answer`")
    return Request(kept.prompt, kept.options, kept.turns)


def write_request(example: Example) -> str:
    """The text for a generated prompt that failed."""
    turns = {} if example.answer is None else {"turns": [{"answer": example.answer}]}
    return json.dumps({"prompt": example.prompt, "options": example.options, **turns})
