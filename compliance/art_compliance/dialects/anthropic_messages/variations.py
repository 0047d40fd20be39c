"""Other forms of Anthropic's answers. Recorded answers have several texts, thoughts, and texts between calls.

Source of redacted thinking and of what must go back: Anthropic's documentation of extended thinking. Its own client
reads what a block begins with (`accumulate_event` in anthropic 2.12), and servers that speak its API send that:
Yeachan-Heo/gajae-code#1895.
"""

from __future__ import annotations

import json
from typing import Any, Final

from art_compliance.dialects.anthropic_messages.stream_forms import STREAM_FORMS, framed, is_piece, read_events
from art_compliance.dialects.variations import Events, Variation, as_it_is, before_calls, in_halves

_REDACTED: Final = "cmVkYWN0ZWQgb24gcHVycG9zZQ=="
_FIRST: Final = "Zmlyc3Qgc2lnbmF0dXJl"
_SECOND: Final = "c2Vjb25kIHNpZ25hdHVyZQ=="
_SEARCH: Final = "srvtoolu_01written"
_SEARCHED: Final = "what was asked"
_FOUND: Final = "d2hhdCB3YXMgZm91bmQ="


def _two_texts(body: dict[str, Any]) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    for block in body["content"]:
        halves = in_halves(block["text"]) if block["type"] == "text" else ()
        content += [{**block, "text": half} for half in halves] if all(halves) and halves else [block]
    return {**body, "content": content}


def _text_last(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "content": sorted(body["content"], key=lambda block: block["type"] == "text")}


def _redacted(body: dict[str, Any]) -> dict[str, Any]:
    """An empty text cannot go back, so that it has no place: https://github.com/experientiallabs/experiential/issues/840."""
    blocks = [{"type": "text", "text": ""}, {"type": "redacted_thinking", "data": _REDACTED}]
    return {**body, "content": [*blocks, *body["content"]]}


def _searched(body: dict[str, Any]) -> dict[str, Any]:
    """A search by Anthropic's own tool, which goes back whole: can1357/oh-my-pi#6495, agno-agi/agno#7766."""
    call = {"type": "server_tool_use", "id": _SEARCH, "name": "web_search", "input": {"query": _SEARCHED}}
    found = {
        "type": "web_search_result",
        "title": "A page",
        "url": "https://example.com/page",
        "encrypted_content": _FOUND,
        "page_age": None,
    }
    result = {"type": "web_search_tool_result", "tool_use_id": _SEARCH, "content": [found]}
    return {**body, "content": [call, result, *body["content"]]}


def _two_thoughts(body: dict[str, Any]) -> dict[str, Any]:
    """The second one is thought between the text and the calls, if there are any."""
    first, second = (
        {"type": "thinking", "thinking": f"A thought {one}.", "signature": one} for one in (_FIRST, _SECOND)
    )
    content = before_calls(body["content"], second, lambda block: block["type"] == "tool_use")
    return {**body, "content": [first, *content]}


def _thought_left_out(body: dict[str, Any]) -> dict[str, Any]:
    """As with `display: "omitted"`: a thought without its text, which must go back nevertheless."""
    return {**body, "content": [{"type": "thinking", "thinking": "", "signature": _FIRST}, *body["content"]]}


def _closed_with_output(events: Events) -> Events:
    """Its last counts are those of its output alone, as before 2025: the others came with `message_start`."""
    changed = read_events(events)
    for data in changed:
        if data["type"] == "message_delta":
            data["usage"] = {name: count for name, count in data["usage"].items() if name.startswith("output_tokens")}
    return framed(changed)


def _begun_with_text(events: Events) -> Events:
    """Each block of text begins with the first of its pieces."""
    changed: list[dict[str, Any]] = []
    for data in read_events(events):
        block: dict[str, Any] = changed[-1].get("content_block", {}) if changed else {}
        if is_piece(data, "text_delta") and block.get("text") == "":
            block["text"] = data["delta"]["text"]
        else:
            changed.append(data)
    return framed(changed)


def _begun_with_input(events: Events) -> Events:
    """Each call is whole when it begins, and has no pieces."""
    changed: list[dict[str, Any]] = []
    inputs: dict[int, str] = {}
    for data in read_events(events):
        if is_piece(data, "input_json_delta"):
            inputs[data["index"]] = inputs.get(data["index"], "") + data["delta"]["partial_json"]
        else:
            changed.append(data)
    for data in changed:
        if data["type"] == "content_block_start" and data["index"] in inputs:
            data["content_block"]["input"] = json.loads(inputs[data["index"]])
    return framed(changed)


def _empty_first(events: Events) -> Events:
    """An empty piece before each, as a call without arguments has: https://github.com/agentjido/req_llm/issues/761."""
    return framed([one for data in read_events(events) for one in _with_empty(data)])


def _with_empty(data: dict[str, Any]) -> list[dict[str, Any]]:
    field = _FIELDS.get(data["delta"]["type"]) if data["type"] == "content_block_delta" else None
    return [data] if field is None else [{**data, "delta": {**data["delta"], field: ""}}, data]


_FIELDS: Final = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


def _cited(body: dict[str, Any]) -> dict[str, Any]:
    content = [{**block, "citations": [_CITATION]} if block["type"] == "text" else block for block in body["content"]]
    return {**body, "content": content}


def _cited_in_pieces(events: Events) -> Events:
    """Each block of text has a citation behind its pieces."""
    changed: list[dict[str, Any]] = []
    for data in read_events(events):
        if changed and data["type"] == "content_block_stop" and is_piece(changed[-1], "text_delta"):
            delta = {"type": "citations_delta", "citation": _CITATION}
            changed.append({"type": "content_block_delta", "index": data["index"], "delta": delta})
        changed.append(data)
    return framed(changed)


_CITATION: Final = {
    "type": "char_location",
    "cited_text": "What the document says.",
    "document_index": 0,
    "document_title": "A document",
    "start_char_index": 0,
    "end_char_index": 23,
    "file_id": None,
}
"""As in `anthropic.types.CitationCharLocation`, version 2.12."""

VARIATIONS: Final = (
    Variation(words="its text in two blocks", whole=_two_texts),
    Variation(words="its text behind its calls", whole=_text_last),
    Variation(words="the first piece of its text in the event that begins the block", events=_begun_with_text),
    Variation(words="whole calls in the events that begin them", events=_begun_with_input),
    Variation(words="an empty piece before each", events=_empty_first),
    Variation(words="a citation of a document", whole=_cited, events=_cited_in_pieces),
    Variation(
        words="a search by the provider's own tool",
        whole=_searched,
        goes_back=(_SEARCH, _SEARCHED, _FOUND),
        text_goes_back=as_it_is,
        needs=frozenset({"reasoning", "provider_fields"}),  # nobody else can ask for one, or send its blocks back
    ),
    Variation(words="the counts of its prompt in its first event alone", events=_closed_with_output, counts=True),
    Variation(words="a thought without its text", whole=_thought_left_out, goes_back=(_FIRST,)),
    Variation(
        words="redacted thinking behind an empty text",
        whole=_redacted,
        goes_back=(_REDACTED,),
        text_goes_back=as_it_is,
    ),
    Variation(words="two thoughts, each with a signature", whole=_two_thoughts, goes_back=(_FIRST, _SECOND)),
    *STREAM_FORMS,
)
