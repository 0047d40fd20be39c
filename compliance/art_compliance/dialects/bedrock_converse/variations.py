"""Other forms of Bedrock's answers. Recorded answers have several texts and reasoning, and texts before calls.

Source of redacted content and of what must go back: `ReasoningContentBlock` of botocore 1.44. Citations: recorded,
whole and streamed (langchain-aws 1.9.1, test_citations).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from art_compliance.dialects.framing import change_data
from art_compliance.dialects.variations import Events, Variation, as_it_is, before_calls, in_halves, read_data

_REDACTED: Final = "cmVkYWN0ZWQgb24gcHVycG9zZQ=="
_FIRST: Final = "Zmlyc3Qgc2lnbmF0dXJl"
_SECOND: Final = "c2Vjb25kIHNpZ25hdHVyZQ=="

_READABLE: Final = "A thought that nobody signed."

_CITATION: Final = {
    "location": {"documentChar": {"documentIndex": 0, "end": 58, "start": 0}},
    "sourceContent": [{"text": "What the document says."}],
    "title": "a document",
}

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
    return [{"text": ""}, {"reasoningContent": {"redactedContent": _REDACTED}}, *blocks]


def _two_thoughts(blocks: _Blocks) -> _Blocks:
    """The second one is thought between the text and the calls, if there are any."""
    first, second = (
        {"reasoningContent": {"reasoningText": {"text": f"A thought {one}.", "signature": one}}}
        for one in (_FIRST, _SECOND)
    )
    return [first, *before_calls(blocks, second, lambda block: "toolUse" in block)]


def _signed_alone(blocks: _Blocks) -> _Blocks:
    """A signature without its thought, as adaptive thinking leaves it: 0xPlaygrounds/rig#1684."""
    return [{"reasoningContent": {"reasoningText": {"text": "", "signature": _FIRST}}}, *blocks]


def _unsigned(blocks: _Blocks) -> _Blocks:
    """As Amazon's and MiniMax's models think: they refuse a signature that they did not give."""
    return [{"reasoningContent": {"reasoningText": {"text": _READABLE}}}, *blocks]


def _cited(blocks: _Blocks) -> _Blocks:
    return [_with_citation(block) if "text" in block else block for block in blocks]


def _with_citation(block: dict[str, Any]) -> dict[str, Any]:
    return {"citationsContent": {"citations": [_CITATION], "content": [block]}}


def _empty_first(events: Events) -> Events:
    """An empty piece before each: recorded before texts."""
    return tuple(one for event in events for one in _with_empty(event))


def _with_empty(event: bytes) -> Events:
    delta: dict[str, Any] = (read_data(event) or {}).get("contentBlockDelta", {}).get("delta", {})
    if "text" not in delta and "toolUse" not in delta:
        return (event,)
    nothing = {"text": ""} if "text" in delta else {"toolUse": {"input": ""}}
    return (change_data(event, lambda data: {**data, "delta": nothing}), event)


def _without_empty_input(events: Events) -> Events:
    """A call without arguments has no pieces."""
    texts: dict[int, str] = {}
    for index, text in map(_input_of, events):
        texts[index] = texts.get(index, "") + (text or "")
    return tuple(event for event in events if _input_of(event)[1] is None or texts[_input_of(event)[0]] != "{}")


def _input_of(event: bytes) -> tuple[int, str | None]:
    """The block and the text of a piece of a call's input; None for another event."""
    piece: dict[str, Any] = (read_data(event) or {}).get("contentBlockDelta", {})
    return piece.get("contentBlockIndex", -1), piece.get("delta", {}).get("toolUse", {}).get("input")


def _without_caches(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "usage": {name: count for name, count in body["usage"].items() if "cache" not in name}}


VARIATIONS: Final = (
    Variation(words="its text in two blocks", whole=_rewriting(_two_texts)),
    Variation(words="its text behind its calls", whole=_rewriting(_text_last)),
    Variation(words="its text in a block with a citation", whole=_rewriting(_cited)),
    Variation(
        words="redacted reasoning behind an empty text",
        whole=_rewriting(_redacted),
        goes_back=(_REDACTED,),
        text_goes_back=as_it_is,
    ),
    Variation(
        words="a thought without a signature",
        whole=_rewriting(_unsigned),
        thoughts=(_READABLE,),
        lacks=("signature",),
    ),
    Variation(
        words="two thoughts, each with a signature", whole=_rewriting(_two_thoughts), goes_back=(_FIRST, _SECOND)
    ),
    Variation(words="a signature without its thought", whole=_rewriting(_signed_alone), goes_back=(_FIRST,)),
    Variation(words="an empty piece before each", events=_empty_first),
    Variation(words="no pieces of a call's empty input", events=_without_empty_input),
    Variation(words="no counts of caches", whole=_without_caches),
)
"""A thought without a signature: https://github.com/maximhq/bifrost/issues/6942. It may go back, and need not: Amazon's
Nova takes none, https://github.com/can1357/oh-my-pi/pull/9086. Calls without a piece:
https://github.com/0xPlaygrounds/rig/pull/989. Counts of caches are optional in the types."""
