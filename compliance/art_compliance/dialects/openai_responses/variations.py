"""Other forms of answers of the Responses API: recorded answers have several messages, phases and reasoning items."""

from __future__ import annotations

from typing import Any, Final

from art_compliance.dialects.framing import change_data, data_frame
from art_compliance.dialects.openai_responses.streams import number_again, write_body
from art_compliance.dialects.variations import Events, Variation, before_calls, in_halves, read_data

_FIRST: Final = "Zmlyc3QgcmVhc29uaW5n"
_READABLE: Final = "A thought in plain words."
_SECOND: Final = "c2Vjb25kIHJlYXNvbmluZw=="
_SUMMARIES: Final = ("**First**\n\nWhat was asked for.", "**Then**\n\nWhat is known of it.")


def _two_parts(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "output": [_in_parts(item) for item in body["output"]]}


def _in_parts(item: dict[str, Any]) -> dict[str, Any]:
    if item["type"] != "message":
        return item
    (part,) = item["content"]
    halves = in_halves(part.get("text", ""))
    return {**item, "content": [{**part, "text": half} for half in halves]} if all(halves) else item


def _two_messages(body: dict[str, Any]) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    for item in body["output"]:
        split = _in_parts(item)
        parts = split["content"] if split is not item else ()
        phases = ("commentary", "final_answer")
        output += [
            {**item, "id": f"{item['id']}_{phase}", "phase": phase, "content": [part]}
            for phase, part in zip(phases, parts, strict=False)
        ] or [item]
    return {**body, "output": output}


def _text_last(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "output": sorted(body["output"], key=lambda item: item["type"] == "message")}


def _two_thoughts(body: dict[str, Any]) -> dict[str, Any]:
    """The second one is thought between the text and the calls, if there are any."""
    first, second = (_thought(f"rs_{at}", one) for at, one in enumerate((_FIRST, _SECOND)))
    output = before_calls(body["output"], second, lambda item: item["type"] == "function_call")
    return {**body, "output": [first, *output]}


def _thoughts_between(body: dict[str, Any]) -> dict[str, Any]:
    """Each call is thought of by itself: https://github.com/QwenLM/qwen-code/issues/8169."""
    encrypted = iter((_FIRST, _SECOND))
    output: list[dict[str, Any]] = []
    for item in body["output"]:
        if item["type"] == "function_call" and (text := next(encrypted, None)):
            output.append(_thought(f"rs_{len(output)}", text))
        output.append(item)
    return {**body, "output": output}


def _thought(name: str, encrypted: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": f"A thought {encrypted}."}]
    return {"id": name, "type": "reasoning", "encrypted_content": encrypted, "summary": summary}


def _two_summaries(body: dict[str, Any]) -> dict[str, Any]:
    """As most recorded ones: a summary has as many parts as the model has thoughts."""
    summary = [{"type": "summary_text", "text": text} for text in _SUMMARIES]
    return {**body, "output": [{**_thought("rs_parts", _FIRST), "summary": summary}, *body["output"]]}


def _readable_thought(body: dict[str, Any]) -> dict[str, Any]:
    """As DeepSeek's and gpt-oss's: recorded."""
    content = [{"type": "reasoning_text", "text": _READABLE}]
    thought = {"id": "rs_readable", "type": "reasoning", "summary": [], "content": content}
    return {**body, "output": [thought, *body["output"]]}


def _letters(events: Events) -> Events:
    return number_again(tuple(one for event in events for one in _spelled(event)))


def _spelled(event: bytes) -> Events:
    data = read_data(event) or {}
    text = data.get("delta")
    if data.get("type") != "response.output_text.delta" or not isinstance(text, str):
        return (event,)
    return tuple(data_frame({**data, "delta": letter}, event=data["type"]) for letter in text)


def _empty_first(events: Events) -> Events:
    """An empty piece before each, as recorded of calls: https://github.com/BerriAI/litellm/issues/40069."""
    return number_again(tuple(one for event in events for one in _with_empty(event)))


def _with_empty(event: bytes) -> Events:
    data = read_data(event) or {}
    is_piece = str(data.get("type")).endswith(".delta") and isinstance(data.get("delta"), str)
    return (data_frame({**data, "delta": ""}, event=data["type"]), event) if is_piece else (event,)


def _kept_alive(events: Events) -> Events:
    """An event that keeps the connection open before each but the first: openai/openai-node#1964."""
    first, *others = events
    alive = data_frame({"type": "keepalive", "sequence_number": 0}, event="keepalive")
    return number_again((first, *(one for event in others for one in (alive, event))))


def _unsummarized(body: dict[str, Any]) -> dict[str, Any]:
    """As recorded at Azure: reasoning without a word that can be read."""
    return {**body, "output": [{**_thought("rs_closed", _FIRST), "summary": []}, *body["output"]]}


def _cited(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "output": [_with_citations(item) for item in body["output"]]}


def _with_citations(item: dict[str, Any]) -> dict[str, Any]:
    if item["type"] != "message":
        return item
    return {**item, "content": [{**part, "annotations": [_CITATION]} for part in item["content"]]}


def _streamed_citations(events: Events) -> Events:
    """An event with the citation after the pieces of each text."""
    return number_again(tuple(one for event in events for one in _with_citation(event)))


def _with_citation(event: bytes) -> Events:
    data = read_data(event) or {}
    if data.get("type") != "response.output_text.done":
        return (event,)
    place = {name: data[name] for name in ("item_id", "output_index", "content_index", "sequence_number")}
    added = "response.output_text.annotation.added"
    return (data_frame({"type": added, "annotation": _CITATION, "annotation_index": 0, **place}, event=added), event)


_CITATION: Final = {
    "type": "url_citation",
    "start_index": 0,
    "end_index": 4,
    "title": "A page",
    "url": "https://example.com/page",
}
"""As in `ResponseOutputTextAnnotationAddedEvent` and `AnnotationURLCitation` of openai 3.54."""


def _searched(body: dict[str, Any]) -> dict[str, Any]:
    """A search by OpenAI's own tool: `ResponseFunctionWebSearch` of openai 3.54."""
    search = {
        "id": "ws_searched",
        "type": "web_search_call",
        "status": "completed",
        "action": {"type": "search", "query": "what was asked"},
    }
    return {**body, "output": [search, *body["output"]]}


def _compacted(body: dict[str, Any]) -> dict[str, Any]:
    """What was said before, in a form that OpenAI alone can read: `ResponseCompactionItem` of openai 3.54."""
    item = {"id": "cmp_written", "type": "compaction", "encrypted_content": _FIRST}
    return {**body, "output": [item, *body["output"]]}


def _encrypted_early(events: Events) -> Events:
    """What is encrypted is there when an item begins, and longer when it is done: recorded, CopilotKit/aimock#342."""
    *_, last = events
    body: dict[str, Any] = (read_data(last) or {})["response"]
    return tuple(change_data(event, _with_a_beginning) for event in write_body(_unsummarized(body)))


def _with_a_beginning(data: dict[str, Any]) -> dict[str, Any]:
    item: dict[str, Any] = data.get("item", {})
    if data["type"] != "response.output_item.added" or "encrypted_content" not in item:
        return data
    return {**data, "item": {**item, "encrypted_content": _FIRST[:12]}}


def _unnamed(events: Events) -> Events:
    """The event that ends a call's arguments does not repeat its name: recorded at xAI."""
    return tuple(change_data(event, _without_name) for event in events)


def _without_name(data: dict[str, Any]) -> dict[str, Any]:
    is_end = data["type"] == "response.function_call_arguments.done"
    return {name: value for name, value in data.items() if not (is_end and name == "name")}


def _at_once(events: Events) -> Events:
    """A call's arguments come whole, as gpt-5.3-codex-spark sends them: https://github.com/BerriAI/litellm/pull/27797."""
    return _without(events, "response.function_call_arguments.delta")


def _text_at_once(events: Events) -> Events:
    """As servers before others send it: https://github.com/pipecat-ai/pipecat/issues/5309."""
    return _without(events, "response.output_text.delta")


def _without(events: Events, kind: str) -> Events:
    return number_again(tuple(event for event in events if (read_data(event) or {}).get("type") != kind))


VARIATIONS: Final = (
    Variation(words="its text in two parts", whole=_two_parts),
    Variation(
        words="its text in two messages, each with a phase",
        whole=_two_messages,
        goes_back=("commentary",),
        text_goes_back=in_halves,
    ),
    Variation(words="its text behind its calls", whole=_text_last),
    Variation(words="two encrypted thoughts", whole=_two_thoughts, goes_back=(_FIRST, _SECOND)),
    Variation(
        words="a thought before each of two calls",
        whole=_thoughts_between,
        goes_back=(_FIRST, _SECOND),
        before_calls=True,
    ),
    Variation(
        words="a thought in two summaries", whole=_two_summaries, goes_back=(_FIRST, *_SUMMARIES), thoughts=_SUMMARIES
    ),
    Variation(
        words="a thought that can be read", whole=_readable_thought, goes_back=(_READABLE,), thoughts=(_READABLE,)
    ),
    Variation(words="one letter per event", events=_letters),
    Variation(words="an empty piece before each", events=_empty_first),
    Variation(words="a keepalive before each event", events=_kept_alive),
    Variation(
        words="an encrypted thought without a summary",
        whole=_unsummarized,
        goes_back=(_FIRST,),
        goes_back_in=("summary",),  # `ResponseReasoningItemParam` of openai 3.54 requires it
    ),
    Variation(words="an encrypted thought that grows until it is done", events=_encrypted_early, goes_back=(_FIRST,)),
    Variation(words="a citation of a page", whole=_cited, events=_streamed_citations),
    Variation(
        words="a search by the provider's own tool",
        whole=_searched,
        goes_back=("what was asked",),
        needs=frozenset({"reasoning", "provider_fields"}),  # nobody else can ask for one, or send its item back
    ),
    Variation(words="a conversation that was compacted", whole=_compacted, goes_back=(_FIRST,)),
    Variation(words="no name beside a call's whole arguments", events=_unnamed),
    Variation(words="no pieces of a call's arguments", events=_at_once),
    Variation(words="no pieces of its text", events=_text_at_once, may_fail=True),
)
