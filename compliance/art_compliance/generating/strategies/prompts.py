"""Prompts as JSON data: whole conversations that keep every rule. `broken.py` breaks the rules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hypothesis import strategies as st
from msgspec import Struct

from art_compliance.generating.call_ids import ids_called, rename_call_ids
from art_compliance.generating.strategies.schemas import arguments_for, tools
from art_compliance.generating.strategies.texts import blank_texts, call_ids, plain_ids, results, texts, weighted

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

MessageData = dict[str, Any]
Prompt = list[MessageData]

_PIXEL: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
_FOREIGN: Final = {"a-dialect-of-nobody": {"opaque": ["back", {"unchanged": True}]}}


class Flavor(Struct, frozen=True, kw_only=True):
    """What a prompt is made of. Providers refuse some of these, so a prompt has at most one of them."""

    text: SearchStrategy[str]
    ids: SearchStrategy[str]
    has_images: bool = False
    has_late_system: bool = False
    has_prefill: bool = False
    may_start_anywhere: bool = False


FLAVORS: Final[dict[str, Flavor]] = {
    "plain": Flavor(text=texts(), ids=plain_ids()),
    "odd ids": Flavor(text=texts(), ids=call_ids()),
    "blank texts": Flavor(text=texts() | blank_texts(), ids=plain_ids()),
    "images": Flavor(text=texts(), ids=plain_ids(), has_images=True),
    "late system": Flavor(text=texts(), ids=plain_ids(), has_late_system=True),
    "prefill": Flavor(text=texts(), ids=plain_ids(), has_prefill=True),
    "any start": Flavor(text=texts(), ids=plain_ids(), may_start_anywhere=True),
}
"""Kinds of prompts by name."""


@st.composite
def prompts(
    draw: DrawFn,
    *,
    given: Sequence[dict[str, Any]] | None = None,
    flavor: str | None = None,
    min_rounds: int = 0,
    max_pieces: int = 5,
) -> Prompt:
    """A prompt that keeps every rule of a conversation, as JSON data.

    `given` are the tools to call and `flavor` is one of `FLAVORS`; both are drawn if they are None. `min_rounds` is the
    least number of rounds of calls and results.
    """
    known = draw(st.lists(tools(), min_size=1, max_size=2)) if given is None else list(given)
    taste = FLAVORS[draw(st.sampled_from(sorted(FLAVORS, key="plain".__ne__))) if flavor is None else flavor]
    opening = draw(_openings(taste))
    if not (taste.may_start_anywhere and draw(st.booleans())):
        opening.append(draw(_users(taste)))
    rounds = _rounds(known, taste)
    pieces = draw(st.lists(_pieces(rounds if known else None, taste), max_size=max_pieces))
    prompt = _joined([opening, *(draw(rounds) for _ in range(min_rounds)), *pieces])
    return _ended(prompt, prefilled=taste.has_prefill) or [draw(_users(taste))]


def _joined(pieces: Sequence[Prompt]) -> Prompt:
    """The pieces as one prompt in which every call has its own id."""
    used: set[str] = set()
    prompt: Prompt = []
    for piece in pieces:
        own = list(dict.fromkeys(call_id for message in piece for call_id in ids_called(message)))
        renamed: dict[str, str] = {}
        for call_id in own:
            fresh = call_id
            while fresh in used:
                fresh = f"{call_id}_{len(used)}"
            used.add(fresh)
            renamed[call_id] = fresh
        prompt += rename_call_ids(piece, renamed)
    return prompt


def _ended(prompt: Prompt, *, prefilled: bool) -> Prompt:
    """The prompt without assistant texts at its end, unless it is a prefill."""
    while prompt and not prefilled and prompt[-1]["role"] == "assistant":
        prompt = prompt[:-1]
    return prompt


def _pieces(rounds: SearchStrategy[Prompt] | None, taste: Flavor) -> SearchStrategy[Prompt]:
    kinds = [(1, _alone(_users(taste))), (1, _alone(_answers(taste)))]
    if rounds is not None:
        kinds.append((2, rounds))
    if taste.has_late_system:
        kinds.append((1, _alone(_systems(taste))))
    return weighted(*kinds)


@cache
def _alone(messages: SearchStrategy[MessageData]) -> SearchStrategy[Prompt]:
    return messages.map(lambda one: [one])


@cache
def _openings(taste: Flavor) -> SearchStrategy[Prompt]:
    return st.lists(_systems(taste), max_size=2)


@cache
def _systems(taste: Flavor) -> SearchStrategy[MessageData]:
    return st.fixed_dictionaries({"role": st.just("system"), "content": taste.text})


@cache
def _users(taste: Flavor) -> SearchStrategy[MessageData]:
    content: SearchStrategy[Any] = taste.text
    if taste.has_images:
        content = content | st.lists(_parts(taste), min_size=1, max_size=3)
    return st.fixed_dictionaries(
        {"role": st.just("user"), "content": content}, optional={"name": st.sampled_from(("ann", "bo"))}
    )


@cache
def _parts(taste: Flavor) -> SearchStrategy[dict[str, Any]]:
    image = {"type": "image", "mime_type": "image/png"}
    return st.one_of(
        taste.text.map(lambda text: {"type": "text", "text": text}),
        st.just({**image, "data": _PIXEL}),
        st.just({**image, "url": "https://example.org/a.png"}),
    )


@cache
def _answers(taste: Flavor) -> SearchStrategy[MessageData]:
    return st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": taste.text}, optional={"extensions": st.just(_FOREIGN)}
    )


def _rounds(known: Sequence[dict[str, Any]], taste: Flavor) -> SearchStrategy[Prompt]:
    """The calls of one turn with all their results, in any order."""
    made = _answered_calls(_calls(_called(known), taste))
    return _rounds_of(st.lists(made, min_size=1, max_size=3, unique_by=lambda one: one.call["id"]), taste)


@st.composite
def _rounds_of(draw: DrawFn, answered_calls: SearchStrategy[list[_AnsweredCall]], taste: Flavor) -> Prompt:
    made = draw(answered_calls)
    answers = [one.answer for one in sorted(made, key=lambda one: one.turn)]
    return [*draw(_asking([one.call for one in made], taste)), *answers]


class _AnsweredCall(NamedTuple):
    """A call with its result, drawn together so that they shrink together. Results are ordered by `turn`."""

    call: MessageData
    answer: MessageData
    turn: int


@st.composite
def _answered_calls(draw: DrawFn, calls: SearchStrategy[MessageData]) -> _AnsweredCall:
    call = draw(calls)
    answer = {"role": draw(_RESULT_ROLES), "tool_call_id": call["id"], **draw(results())}
    named = {"name": call["function"]["name"]} if draw(st.booleans()) else {}
    return _AnsweredCall(call, answer | named, draw(_TURNS))


_TURNS: Final = st.integers(0, 2)
_RESULT_ROLES: Final = st.sampled_from(("tool_result", "tool"))


@st.composite
def _asking(draw: DrawFn, calls: list[dict[str, Any]], taste: Flavor) -> Prompt:
    """The turn that makes the calls: an assistant message, with or without text, or explicit requests."""
    form = draw(_FORMS)
    if form == "requests":
        return [{"role": "tool_request", "content": _as_request(call)} for call in calls]
    content = None if form == "calls" else draw(taste.text)
    return [{"role": "assistant", "content": content, "tool_calls": calls}]


_FORMS: Final = st.sampled_from(("calls", "calls beside text", "requests"))


def _as_request(call: dict[str, Any]) -> dict[str, Any]:
    return {"id": call["id"], **call["function"]}


class _Called(NamedTuple):
    """A tool that may be called, and its arguments."""

    name: str
    arguments: SearchStrategy[Any]


def _called(known: Sequence[dict[str, Any]]) -> SearchStrategy[_Called]:
    return st.sampled_from([_Called(tool["name"], arguments_for(tool["inputSchema"])) for tool in known])


@st.composite
def _calls(draw: DrawFn, tools_called: SearchStrategy[_Called], taste: Flavor) -> MessageData:
    tool = draw(tools_called)
    arguments = draw(tool.arguments)
    written = draw(_WRITINGS)
    text = "" if written is None and not arguments else json.dumps(arguments, **(written or {}))
    return {"id": draw(taste.ids), "type": "function", "function": {"name": tool.name, "arguments": text}}


_WRITINGS: Final[SearchStrategy[dict[str, Any] | None]] = st.sampled_from(
    ({}, {"ensure_ascii": False}, {"indent": 1}, {"separators": (",", ":")}, None)
)
"""Ways to write the same object as text. None writes an empty object as empty text."""
