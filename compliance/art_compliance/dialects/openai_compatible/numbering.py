"""Forms in which servers number the calls of a stream, and say which call a piece belongs to."""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.openai_chat.entries import Entry, with_entries
from art_compliance.dialects.openai_chat.shared_forms import WITHOUT_INDEXES
from art_compliance.dialects.openai_chat.variations import Chunk, regrouped
from art_compliance.dialects.variations import Variation


def _with_gaps(chunks: list[Chunk]) -> list[Chunk]:
    """The calls have the numbers 1, 3, 5: those of the blocks of an answer that a gateway translates."""
    return [with_entries(chunk, lambda entry: {**entry, "index": 2 * entry["index"] + 1}) for chunk in chunks]


def _with_ids(chunks: list[Chunk]) -> list[Chunk]:
    """Each piece of a call has its id and type."""
    ids: dict[int, str] = {}

    def change(entry: Entry) -> Entry:
        return {**entry, "id": ids.setdefault(entry["index"], entry.get("id") or ""), "type": "function"}

    return [with_entries(chunk, change) for chunk in chunks]


NUMBERS: Final = (
    WITHOUT_INDEXES,
    Variation(words="calls that are numbered 1, 3 and 5", events=regrouped(_with_gaps)),
    Variation(words="a call's id and type in each of its pieces", events=regrouped(_with_ids)),
)
"""The second as gateways number the calls of Claude (https://github.com/vercel/ai/issues/18333 and
https://github.com/aws-samples/bedrock-access-gateway/issues/134), and with gaps
(https://github.com/binaricat/Netcatty/pull/3434); the third as LiteLLM's proxy does
(https://github.com/BerriAI/litellm/issues/20480).
"""
