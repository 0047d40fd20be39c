"""Forms in which servers fill the fields that an answer does not need: with null, with nothing, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, Final

from msgspec.structs import replace

from art_compliance.dialects.framing import change_data, pieces
from art_compliance.dialects.openai_chat.entries import Entry, with_entries
from art_compliance.dialects.openai_chat.shared_forms import IN_PARTS, JUDGED_FIRST
from art_compliance.dialects.openai_chat.variations import Chunk, regrouped, without_details
from art_compliance.dialects.variations import Events, Variation

_UNUSED: Final = ("refusal", "function_call", "tool_calls", "audio", "reasoning_content", "annotations")


def _filled(spoken: dict[str, Any], nothing: dict[str, Any]) -> dict[str, Any]:
    """A message or a delta with something in each field that it does not have, or that is null."""
    return {**nothing, **{name: value for name, value in spoken.items() if value is not None or name not in nothing}}


_NULLS: Final[dict[str, Any]] = dict.fromkeys((*_UNUSED, "content"))
_BLANKS: Final[dict[str, Any]] = {"content": "", "refusal": "", "tool_calls": [], "reasoning_content": ""}
_BLANK_HEAD: Final[dict[str, Any]] = {
    "id": "",
    "object": "",
    "created": 0,
    "model": "",
    "service_tier": "",
    "system_fingerprint": "",
}


def _nulls(body: dict[str, Any]) -> dict[str, Any]:
    """Null, too, for details of the token counts: vLLM, https://github.com/OpenHands/OpenHands/issues/7679."""
    choices = [
        {"logprobs": None, **choice, "message": _filled(choice["message"], _NULLS)} for choice in body["choices"]
    ]
    return {"system_fingerprint": None, **without_details(body), "choices": choices}


def _streamed_nulls(chunk: Chunk) -> Chunk:
    (choice,) = chunk["choices"]
    delta = _filled(choice["delta"], {**_NULLS, "role": None})
    return with_entries({**chunk, "choices": [{"logprobs": None, **choice, "delta": delta}]}, _with_nulls)


def _with_nulls(entry: Entry) -> Entry:
    """A first piece without arguments has null for them; a later one has null for its id, type and name."""
    function = {"name": None, **entry.get("function", {})}
    function["arguments"] = function.get("arguments") or None
    return {"id": None, "type": None, **entry, "function": function}


def _blanks(body: dict[str, Any]) -> dict[str, Any]:
    choices = [{**choice, "message": _filled(choice["message"], _BLANKS)} for choice in body["choices"]]
    return {**body, **_BLANK_HEAD, "choices": choices}


def _streamed_blanks(chunk: Chunk) -> Chunk:
    (choice,) = chunk["choices"]
    reason = choice.get("finish_reason") or ""
    blank = {**choice, "delta": _filled(choice["delta"], _BLANKS), "finish_reason": reason}
    return {**chunk, **_BLANK_HEAD, "choices": [blank]}


def _bare(body: dict[str, Any]) -> dict[str, Any]:
    """Nothing but the counts, and a choice's message and finish; no content beside calls that is empty."""
    choices = [{"message": _sparse(one["message"]), "finish_reason": one["finish_reason"]} for one in body["choices"]]
    return {"choices": choices, "usage": body["usage"]}


def _sparse(message: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in message.items() if name != "content" or value or not message.get("tool_calls")
    }


def _streamed_bare(chunk: Chunk) -> Chunk:
    """No head, no role, and no field that is null; a chunk without a choice keeps its counts alone."""
    bare = {name: chunk[name] for name in ("choices", "usage") if chunk.get(name) is not None}
    return {**bare, "choices": [_bare_choice(choice) for choice in chunk["choices"]]}


def _bare_choice(choice: dict[str, Any]) -> dict[str, Any]:
    delta = {name: value for name, value in choice["delta"].items() if name != "role" and value is not None}
    reason = {"finish_reason": choice["finish_reason"]} if choice.get("finish_reason") else {}
    return {"index": choice["index"], "delta": delta, **reason}


def _each(change: Callable[[Chunk], Chunk]) -> Callable[[Events], Events]:
    """Rewrites each chunk, those without a choice, too."""
    return lambda events: tuple(change_data(event, change) for event in events)


def _each_choice(change: Callable[[Chunk], Chunk]) -> Callable[[Events], Events]:
    """Rewrites each chunk that has a choice."""
    return regrouped(lambda chunks: [*map(change, chunks)])


def _under_other_ids(events: Events) -> Events:
    """Each chunk has an id of its own, and an object without counts until they are known."""
    numbers: Iterator[int] = count()

    def change(chunk: Chunk) -> Chunk:
        return {**chunk, "id": f"chatcmpl-{next(numbers)}", "usage": chunk.get("usage") or {}}

    return _each(change)(events)


def _counted_beside_nothing(events: Events) -> Events:
    """The chunk with the counts, after the finish, has a choice: its delta is empty."""
    return _each(lambda chunk: {**chunk, "choices": chunk["choices"] or [{"index": 0, "delta": {}}]})(events)


_THOUGHT: Final = "A thought in another field."


def _thinking_in(words: str, *fields: str) -> Variation:
    """Reasoning that is in each of these fields, whole or piece by piece."""

    def whole(body: dict[str, Any]) -> dict[str, Any]:
        thought = dict.fromkeys(fields, _THOUGHT)
        return {**body, "choices": [{**one, "message": {**one["message"], **thought}} for one in body["choices"]]}

    def streamed(chunks: list[Chunk]) -> list[Chunk]:
        first, *others = chunks
        (choice,) = first["choices"]
        deltas = [dict.fromkeys(fields, piece) for piece in pieces(_THOUGHT)]
        return [first, *({**first, "choices": [{**choice, "delta": delta}]} for delta in deltas), *others]

    return Variation(words=words, some_servers=True, whole=whole, events=regrouped(streamed), thoughts=(_THOUGHT,))


EMPTY_VALUES: Final = Variation(
    words="an empty value for each field that it does not need",
    whole=_blanks,
    events=_each_choice(_streamed_blanks),
)
FIELDS: Final = (
    Variation(words="null for each field that it does not need", whole=_nulls, events=_each_choice(_streamed_nulls)),
    EMPTY_VALUES,
    Variation(words="nothing but what it says and why it ended", whole=_bare, events=_each(_streamed_bare)),
    Variation(words="another id and no counts in each chunk before the last", events=_under_other_ids),
    Variation(words="token counts beside an empty delta, after the finish", events=_counted_beside_nothing),
    JUDGED_FIRST,
    replace(IN_PARTS, some_servers=True),
    _thinking_in("its reasoning in the field reasoning", "reasoning"),
    _thinking_in("the same reasoning in two fields", "reasoning_content", "reasoning"),
)
"""In this order: as SGLang does (https://github.com/sgl-project/sglang/issues/3912 and
https://github.com/sgl-project/sglang/pull/35542), with arguments as DashScope's
(https://github.com/DataDog/dd-trace-py/issues/19031); as vLLM (https://github.com/vllm-project/vllm/issues/44104),
Ollama (https://github.com/ollama/ollama/issues/4357), GPUStack and Snowflake do, the last two recorded; as GPUStack
does, recorded; and as LiteLLM's proxy does (https://github.com/BerriAI/litellm/issues/1571 and
https://github.com/BerriAI/litellm/issues/28735). Reasoning as vLLM has it since 0.12
(https://github.com/BerriAI/litellm/issues/20246), and as StepFun has it
(https://github.com/MoonshotAI/kimi-code/issues/3928).
"""
