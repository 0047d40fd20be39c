"""Other forms of Bedrock's answers. Recorded answers have several texts and reasoning, and texts before calls.

Source of redacted content and of what must go back: `ReasoningContentBlock` of botocore 1.44.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from art_compliance.dialects.variations import Variation, in_halves

_REDACTED: Final = "cmVkYWN0ZWQgb24gcHVycG9zZQ=="
_FIRST: Final = "Zmlyc3Qgc2lnbmF0dXJl"
_SECOND: Final = "c2Vjb25kIHNpZ25hdHVyZQ=="

_Blocks = list[dict[str, Any]]


def _rewriting(change: Callable[[_Blocks], _Blocks]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def rewrite(body: dict[str, Any]) -> dict[str, Any]:
        message = body["output"]["message"]
        return {**body, "output": {"message": {**message, "content": change(message["content"])}}}

    return rewrite


def _two_texts(blocks: _Blocks) -> _Blocks:
    content: _Blocks = []
    for block in blocks:
        halves = in_halves(block["text"]) if "text" in block else ()
        content += [{"text": half} for half in halves] if all(halves) and halves else [block]
    return content


def _text_last(blocks: _Blocks) -> _Blocks:
    return sorted(blocks, key=lambda block: "text" in block)


def _redacted(blocks: _Blocks) -> _Blocks:
    return [{"reasoningContent": {"redactedContent": _REDACTED}}, *blocks]


def _two_thoughts(blocks: _Blocks) -> _Blocks:
    thoughts = [{"reasoningText": {"text": f"A thought {one}.", "signature": one}} for one in (_FIRST, _SECOND)]
    return [*({"reasoningContent": thought} for thought in thoughts), *blocks]


VARIATIONS: Final = (
    Variation(words="its text in two blocks", whole=_rewriting(_two_texts)),
    Variation(words="its text behind its calls", whole=_rewriting(_text_last)),
    Variation(words="redacted reasoning", whole=_rewriting(_redacted), goes_back=(_REDACTED,)),
    Variation(
        words="two thoughts, each with a signature", whole=_rewriting(_two_thoughts), goes_back=(_FIRST, _SECOND)
    ),
)
