"""OpenAI's reasoning: when an answer has some, and what of it comes back.

Encrypted reasoning comes by default, whether or not `include` asks for it: docstring of
`ResponseReasoningItem.encrypted_content` in openai 3.54, and developers.openai.com/api/docs/guides/reasoning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.base import Reasoning, Signature
from art_compliance.dialects.ruling import Place, child, objects
from art_sdk.json_data import is_array

_REASONS: Final = re.compile(r"(^|[/.])(o\d|gpt-[5-9](?!\S*-chat))")
_ENCRYPTED: Final = "reasoning.encrypted_content"


def reasoning(payload: dict[str, Any], model: str) -> Reasoning | None:
    """A summary is shown if it is asked for, the encrypted reasoning in any case."""
    asked = child(Place(payload), "reasoning").value
    include: Any = payload.get("include")
    is_included = is_array(include) and _ENCRYPTED in include
    if not (_REASONS.search(model) or asked.get("effort") not in (None, "none") or is_included):
        return None
    return Reasoning(text=asked.get("summary") is not None, signature=True)


def find_signatures(payload: dict[str, Any]) -> Iterator[Signature]:
    """The encrypted reasoning. It need not come with a text."""
    for item in objects(Place(payload), "input"):
        if item.value.get("type") == "reasoning" and item.value.get("encrypted_content") is not None:
            yield Signature(
                pointer=f"{item.pointer}/encrypted_content",
                value=item.value["encrypted_content"],
                provider_text="The encrypted content … could not be verified.",
                source="https://github.com/openai/codex/issues/8145",
            )
