"""Anthropic's reasoning: when an answer has some, and the signatures that come back with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from art_compliance.dialects.base import Reasoning, Signature
from art_compliance.dialects.ruling import Place, objects
from art_sdk.json_data import is_object


def reasoning(payload: dict[str, Any], model: str) -> Reasoning | None:
    """Where the request turns thinking on, its text comes with a signature."""
    del model
    thinking = payload.get("thinking")
    is_on = is_object(thinking) and thinking.get("type") in ("enabled", "adaptive")
    return Reasoning(text=True, signature=True) if is_on else None


def find_signatures(payload: dict[str, Any]) -> Iterator[Signature]:
    """Those of the thinking blocks: each signs its block's text."""
    for message in objects(Place(payload), "messages"):
        for block in objects(message, "content"):
            if block.value.get("type") == "thinking":
                yield _signature(block)


def _signature(block: Place) -> Signature:
    place = block.pointer.removeprefix("/").replace("/", ".")
    return Signature(
        pointer=f"{block.pointer}/signature",
        value=block.value.get("signature"),
        thinking=str(block.value.get("thinking")),
        provider_text=f"{place}: Invalid `signature` in `thinking` block",
        source="https://github.com/microsoft/vscode/issues/322138",
    )
