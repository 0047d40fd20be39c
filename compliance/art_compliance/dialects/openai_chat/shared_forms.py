"""Forms that several relatives have in common, each of them at some services only."""

from __future__ import annotations

from typing import Any, Final

from art_compliance.dialects.framing import data_frame
from art_compliance.dialects.openai_chat.entries import Entry, entries_of, put_entries, whole_call
from art_compliance.dialects.openai_chat.variations import Chunk, regrouped
from art_compliance.dialects.variations import Events, Variation, read_data


def _whole_without_index(chunks: list[Chunk]) -> list[Chunk]:
    """Calls come whole and without numbers: the first two in one chunk, the others where they began."""
    pieces = [entry for chunk in chunks for entry in entries_of(chunk)]
    begun = [[whole_call(entry, pieces) for entry in entries_of(chunk) if entry.get("id")] for chunk in chunks]
    first, second = ([at for at, calls in enumerate(begun) if calls] + [0, 0])[:2]
    if second > first:
        begun[second], begun[first] = begun[first] + begun[second], []
    changed: list[Chunk] = []
    for chunk, calls in zip(chunks, begun, strict=True):
        if calls:
            changed.append(put_entries(chunk, [*map(_unnumbered, calls)]))
        elif not entries_of(chunk):
            changed.append(chunk)
    return changed


def _unnumbered(entry: Entry) -> Entry:
    return {name: value for name, value in entry.items() if name != "index"}


def _unnumbered_whole(body: dict[str, Any]) -> dict[str, Any]:
    for choice in body["choices"]:
        if choice["message"].get("tool_calls"):
            choice["message"]["tool_calls"] = [*map(_unnumbered, choice["message"]["tool_calls"])]
    return body


WITHOUT_INDEXES: Final = Variation(
    words="calls without an index", whole=_unnumbered_whole, events=regrouped(_whole_without_index)
)
"""As Google's compatible endpoint streams them (https://github.com/openai/openai-python/issues/2806), and as Mistral
was recorded to in 2024."""


def _judged_first(events: Events) -> Events:
    """A chunk without a choice comes before all others: the verdict on the prompt."""
    at = next(at for at, event in enumerate(events) if read_data(event) is not None)
    return (*events[:at], _VERDICT_FIRST, *events[at:])


_SAFE: Final = {"hate": {"filtered": False, "severity": "safe"}}
_VERDICT_FIRST: Final = data_frame(
    {
        "id": "",
        "object": "",
        "created": 0,
        "model": "",
        "choices": [],
        "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": _SAFE}],
    }
)

JUDGED_FIRST: Final = Variation(
    words="the verdict on its prompt in a first chunk without choices", events=_judged_first
)
"""As Azure opens its streams: https://github.com/openai/openai-agents-js/issues/92."""


def _in_parts(body: dict[str, Any]) -> dict[str, Any]:
    choices = [{**choice, "message": _with_parts(choice["message"])} for choice in body["choices"]]
    return {**body, "choices": choices}


def _streamed_in_parts(chunk: Chunk) -> Chunk:
    (choice,) = chunk["choices"]
    return {**chunk, "choices": [{**choice, "delta": _with_parts(choice["delta"])}]}


def _with_parts(spoken: dict[str, Any]) -> dict[str, Any]:
    text = spoken.get("content")
    if not isinstance(text, str) or not text:
        return spoken
    middle = len(text) // 2
    parts = [{"type": "text", "text": one} for one in (text[:middle], text[middle:]) if one]
    return {**spoken, "content": parts}


IN_PARTS: Final = Variation(
    words="its text in a list of parts",
    whole=_in_parts,
    events=regrouped(lambda chunks: [*map(_streamed_in_parts, chunks)]),
)
"""As Databricks serves gpt-oss and Claude (https://github.com/databricks/appkit/pull/559 and
https://github.com/cline/cline/issues/3032), and as Mistral's published types allow: `content` of `AssistantMessage` and
of `DeltaMessage` is a text or a list of parts."""


def thought_beside(field: str, *, some_servers: bool) -> Variation:
    """The end of the reasoning, which is in this field, in the chunk with the first piece of the answer.

    As vLLM and what relays it send it (https://github.com/BerriAI/litellm/issues/27492,
    https://github.com/vllm-project/vllm/pull/42691); the published types of the others allow it.
    """

    def end_late(chunks: list[Chunk]) -> list[Chunk]:
        deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
        first = next((at for at, delta in enumerate(deltas) if delta.get("content") or delta.get("tool_calls")), 0)
        (choice,) = chunks[first]["choices"]
        late = {**chunks[first], "choices": [{**choice, "delta": {**choice["delta"], field: _THOUGHT}}]}
        return [*chunks[:first], late, *chunks[first + 1 :]]

    return Variation(
        words="reasoning beside the first piece of the answer",
        events=regrouped(end_late),
        thoughts=(_THOUGHT,),
        some_servers=some_servers,
    )


_THOUGHT: Final = "A thought in passing."
