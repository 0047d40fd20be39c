"""Gemini's reasoning: when an answer has some, and the signatures that come back with it."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.base import Reasoning, Signature
from art_compliance.dialects.gemini_generate.protobuf import canonical_base64
from art_compliance.dialects.ruling import Place, objects
from art_sdk.json_data import is_object

_UNCHECKED: Final = frozenset({"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"})
"""Google's documentation of thought signatures names both for turns that none of its models wrote. The field holds
bytes, so Google's own client sends their base64, which gemini-3-flash-preview took in recorded calls of Pydantic AI;
the text itself is accepted, too. The signature of another answer is refused: langchain-ai/langchain-google#1570, #1581.
"""

_UNCHECKED_BYTES: Final = frozenset(base64.b64encode(text.encode()).decode() for text in _UNCHECKED)


def stands_for_none(signature: str) -> bool:
    """Whether a signature only says that there is none."""
    return signature in _UNCHECKED or canonical_base64(signature) in _UNCHECKED_BYTES


def reasoning(payload: dict[str, Any], model: str) -> Reasoning | None:
    """Gemini 3 signs its thoughts whether or not they are requested."""
    settings: Any = payload.get("generationConfig", payload.get("generation_config"))
    thinking: Any = settings.get("thinkingConfig", settings.get("thinking_config")) if is_object(settings) else None
    if is_object(thinking) and (thinking.get("includeThoughts") or thinking.get("include_thoughts")):
        return Reasoning(text=True, signature=True)
    return Reasoning(signature=True) if is_object(thinking) or model.startswith("gemini-3") else None


def find_signatures(payload: dict[str, Any]) -> Iterator[Signature]:
    """Those of the parts. A signature may stand next to a call, so nothing ties it to a text."""
    for content in objects(Place(payload), "contents"):
        for part in objects(content, "parts"):
            value = part.value.get("thoughtSignature", part.value.get("thought_signature"))
            if value is not None and not stands_for_none(str(value)):
                yield _signature(part, str(value))


def _signature(part: Place, value: str) -> Signature:
    return Signature(
        pointer=f"{part.pointer}/thoughtSignature",
        value=canonical_base64(value),
        provider_text="Corrupted thought signature.",
        source="https://github.com/google-gemini/gemini-cli/issues/13467",
    )
