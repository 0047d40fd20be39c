"""Reasoning at Bedrock: when an answer has some, and the signatures that come back with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from art_compliance.dialects.base import Reasoning, Signature
from art_compliance.dialects.ruling import Place, child, objects


def reasoning(payload: dict[str, Any], model: str) -> Reasoning | None:
    """Where the request turns the model's thinking on, its text comes with a signature."""
    del model
    fields = child(Place(payload), "additionalModelRequestFields")
    thinking = child(fields, "thinking", "reasoning_config", "reasoningConfig").value
    return Reasoning(text=True, signature=True) if thinking.get("type") in ("enabled", "adaptive") else None


def find_signatures(payload: dict[str, Any]) -> Iterator[Signature]:
    """Those of the reasoning blocks: each signs its block's text."""
    for message in objects(Place(payload), "messages"):
        for block in objects(message, "content"):
            text = child(child(block, "reasoningContent"), "reasoningText")
            if "signature" in text.value:
                yield _signature(text, block)


def _signature(text: Place, block: Place) -> Signature:
    place = block.pointer.removeprefix("/").replace("/", ".")
    words = f"{place}: Invalid `signature` in `thinking` block"
    return Signature(
        pointer=f"{text.pointer}/signature",
        value=text.value.get("signature"),
        thinking=str(text.value.get("text")),
        provider_text=f"The model returned the following errors: {words}",
        source="https://github.com/microsoft/vscode/issues/322138; how Bedrock quotes a model's errors: recorded",
    )
