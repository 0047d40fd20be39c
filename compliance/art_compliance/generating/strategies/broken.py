"""Well-formed prompts that break a rule of a conversation, each in one named way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from art_compliance.generating.call_ids import ids_called, rename_call_ids
from art_compliance.generating.strategies.prompts import MessageData, Prompt, prompts

Break = Callable[[DrawFn, Prompt], Prompt]
"""Breaks a prompt that has calls and results."""

_ROLES: Final = frozenset({"tool", "tool_result"})


def broken_prompts(kind: str | None = None, *, given: Sequence[dict[str, Any]] | None = None) -> SearchStrategy[Prompt]:
    """A well-formed prompt that is broken in the named way: one of `BREAKS`, drawn if it is None.

    Raises ValueError for an unknown name.
    """
    if kind is not None and kind not in BREAKS:
        raise ValueError(f"unknown kind {kind!r}; known kinds: {', '.join(BREAKS)}")
    return _broken(kind, given)


@st.composite
def _broken(draw: DrawFn, kind: str | None, given: Sequence[dict[str, Any]] | None) -> Prompt:
    name = draw(_ANY_BREAK) if kind is None else kind
    least = 2 if name == "id reused in a later round" else 1
    return BREAKS[name](draw, draw(prompts(given=given, min_rounds=least, max_pieces=1)))


def _results(prompt: Prompt) -> list[int]:
    return [at for at, message in enumerate(prompt) if message["role"] in _ROLES]


def _asking(prompt: Prompt) -> list[int]:
    return [at for at, message in enumerate(prompt) if ids_called(message)]


def _call_of(prompt: Prompt, at: int) -> int:
    """The index of the message with the call that the result at `at` answers."""
    return next(place for place in _asking(prompt) if prompt[at]["tool_call_id"] in ids_called(prompt[place]))


def _inserted(prompt: Prompt, at: int, message: MessageData) -> Prompt:
    return [*prompt[:at], message, *prompt[at:]]


def _unanswered(draw: DrawFn, prompt: Prompt) -> Prompt:
    at = draw(st.sampled_from(_results(prompt)))
    return [*prompt[:at], *prompt[at + 1 :], {"role": "user", "content": "go on"}]


def _pending(draw: DrawFn, prompt: Prompt) -> Prompt:
    return prompt[: draw(st.sampled_from(_asking(prompt))) + 1]


def _orphan(draw: DrawFn, prompt: Prompt) -> Prompt:
    at = draw(st.integers(0, len(prompt)))
    return _inserted(prompt, at, {"role": "tool_result", "tool_call_id": "call_of_nobody", "content": "here"})


def _doubled(draw: DrawFn, prompt: Prompt) -> Prompt:
    at = draw(st.sampled_from(_results(prompt)))
    again = {**prompt[at], "content": draw(st.sampled_from((prompt[at]["content"], "another")))}
    return _inserted(prompt, draw(st.integers(at + 1, len(prompt))), again)


def _before_its_call(draw: DrawFn, prompt: Prompt) -> Prompt:
    at = draw(st.sampled_from(_results(prompt)))
    moved = [*prompt[:at], *prompt[at + 1 :]]
    return _inserted(moved, draw(st.integers(0, _call_of(prompt, at))), prompt[at])


def _between(message: MessageData) -> Break:
    def insert(draw: DrawFn, prompt: Prompt) -> Prompt:
        return _inserted(prompt, draw(st.sampled_from(_results(prompt))), message)

    return insert


def _one_id_in_one_turn(draw: DrawFn, prompt: Prompt) -> Prompt:
    at = draw(st.sampled_from(_asking(prompt)))
    if prompt[at]["role"] == "tool_request":
        return _inserted(prompt, at, prompt[at])
    calls = prompt[at]["tool_calls"]
    return [*prompt[:at], {**prompt[at], "tool_calls": [*calls, calls[0]]}, *prompt[at + 1 :]]


def _one_id_in_two_rounds(draw: DrawFn, prompt: Prompt) -> Prompt:
    first, *later = [call_id for at in _asking(prompt) for call_id in ids_called(prompt[at])]
    renamed = {draw(st.sampled_from(later)): first}
    return rename_call_ids(prompt, renamed)


def _another_tools_name(draw: DrawFn, prompt: Prompt) -> Prompt:
    at = draw(st.sampled_from(_results(prompt)))
    return [*prompt[:at], {**prompt[at], "name": "tool_of_nobody"}, *prompt[at + 1 :]]


def _bad_arguments(draw: DrawFn, prompt: Prompt) -> Prompt:
    at, text = draw(st.sampled_from(_asking(prompt))), draw(st.sampled_from(BAD_ARGUMENTS))
    message = prompt[at]
    if message["role"] == "tool_request":
        broken = {**message, "content": {**message["content"], "arguments": text}}
    else:
        first, *others = message["tool_calls"]
        broken = {**message, "tool_calls": [{**first, "function": {**first["function"], "arguments": text}}, *others]}
    return [*prompt[:at], broken, *prompt[at + 1 :]]


BAD_ARGUMENTS: Final = ("[]", "null", "1", '"text"', "not json", '{"cut": "off', "{'a': 1}", '{"a": 1} {}', "NaN")
"""Texts that are not JSON objects."""


def _empty_request(draw: DrawFn, prompt: Prompt) -> Prompt:
    return _inserted(prompt, draw(st.integers(0, len(prompt))), {"role": "tool_request", "content": None})


BREAKS: Final[Mapping[str, Break]] = {
    "unanswered call": _unanswered,
    "pending call": _pending,
    "orphan result": _orphan,
    "doubled result": _doubled,
    "result before its call": _before_its_call,
    "user between call and result": _between({"role": "user", "content": "wait"}),
    "assistant between call and result": _between({"role": "assistant", "content": "still at it"}),
    "id twice in one turn": _one_id_in_one_turn,
    "id reused in a later round": _one_id_in_two_rounds,
    "result of another tool": _another_tools_name,
    "bad arguments": _bad_arguments,
    "empty request": _empty_request,
}
"""Every way to break a prompt, by name."""

_ANY_BREAK: Final = st.sampled_from(tuple(BREAKS))
