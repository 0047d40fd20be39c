"""Answers of a provider as JSON data, with the fields of a scenario's `answer`, and whole dialogues of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st

from art_compliance.generating.requests import Request
from art_compliance.generating.strategies.schemas import arguments_for, tool_lists
from art_compliance.generating.strategies.texts import plain_ids, results, texts, weighted

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

AnswerData = dict[str, Any]

_THOUGHT: Final = "I thought of this: "
"""The beginning of every reasoning, so that it never appears in an answer's text."""

_LONGEST: Final = 600
"""The most characters of a text: it is streamed a dozen at a time."""


@st.composite
def answers(draw: DrawFn, *, given: Sequence[dict[str, Any]] = (), ordinary: bool = False) -> AnswerData:
    """An answer: text, calls of the `given` tools with fitting arguments, or both; perhaps reasoning; and its end.

    `ordinary`: the dialogue goes on after it, so it is neither cut nor filtered.
    """
    calls = draw(st.lists(_calls(given), max_size=3, unique_by=lambda call: call["id"])) if given else []
    has_text = not calls or draw(st.booleans())
    answer: AnswerData = {"content": draw(_texts()) if has_text else None, "output_tokens": draw(_COUNTS)}
    if calls:
        answer |= {"tool_calls": calls, "finish": "tool_calls"}
    elif not ordinary:
        answer |= draw(_ENDS)
    answer |= {"input_tokens": draw(_COUNTS)}
    if draw(_ONE_IN_THREE):
        answer |= {
            "thinking": _THOUGHT + draw(_texts()),
            "thinking_tokens": draw(st.integers(0, answer["output_tokens"])),
        }
        answer |= {"signature": draw(_SIGNATURES)}
    return answer


_COUNTS: Final = st.integers(1, 2**20)
_ONE_IN_THREE: Final = st.sampled_from((False, False, True))
_ENDS: Final = st.sampled_from(({"finish": "stop"}, {"finish": "stop"}, {"finish": "length"}))
_SIGNATURES: Final = st.sampled_from(("c2lnbmVkLCB3cml0dGVu+/A=", "AAECAwQF"))


@cache
def _texts() -> SearchStrategy[str]:
    return texts().map(lambda text: text[:_LONGEST] if text[:_LONGEST].strip() else f"{text[: _LONGEST - 1]}a")


@st.composite
def _calls(draw: DrawFn, given: Sequence[dict[str, Any]]) -> dict[str, Any]:
    tool = draw(st.sampled_from(given))
    arguments = json.dumps(draw(arguments_for(tool["inputSchema"])), ensure_ascii=draw(st.booleans()))
    return {"id": draw(plain_ids()), "type": "function", "function": {"name": tool["name"], "arguments": arguments}}


@st.composite
def exchanges(draw: DrawFn) -> Request:
    """A question with its options and one answer."""
    given = draw(tool_lists(0, 2))
    return Request(_QUESTION, _options(given), [{"answer": draw(answers(given=given))}])


_QUESTION: Final = [{"role": "user", "content": "hello"}]


def _options(given: list[dict[str, Any]]) -> dict[str, Any]:
    return {"thread_id": "thread-1", **({"tools": given} if given else {})}


@st.composite
def turns(draw: DrawFn, given: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """A turn of a dialogue: the answer, how it is sent, and what follows.

    Its calls get the `results`, in order or reversed. If it has no calls, the `user` speaks.
    """
    return {
        "answer": draw(answers(given=given, ordinary=True)),
        "is_streamed": draw(st.booleans()),
        "user": draw(_texts()),
        "results": draw(_short_results()),
        "is_reversed": draw(st.booleans()),
    }


@cache
def _short_results() -> SearchStrategy[list[dict[str, Any]]]:
    return st.lists(results().map(_short_result), min_size=1, max_size=3)


def _short_result(result: dict[str, Any]) -> dict[str, Any]:
    return {**result, "content": result["content"][:_LONGEST]}


@cache
def _openings() -> SearchStrategy[list[dict[str, Any]]]:
    return st.lists(_texts().map(lambda text: {"role": "system", "content": text}), max_size=1)


@st.composite
def dialogues(draw: DrawFn, *, most: int = 20) -> Request:
    """A whole dialogue of up to `most` turns: its opening, its tools, and the answer of every turn."""
    given = draw(tool_lists(0, 2))
    opening = draw(_openings())
    count = draw(weighted((4, st.integers(2, 4)), (2, st.integers(5, 10)), (1, st.just(most))))
    turn = turns(given)
    drawn = [draw(turn) for _ in range(count)]
    return Request([*opening, {"role": "user", "content": draw(_texts())}], _options(given), drawn)
