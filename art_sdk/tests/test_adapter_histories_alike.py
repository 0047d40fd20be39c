"""A prompt of which the adapter knows a part is sent as if it knew nothing."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from art_sdk import BUILT_IN, ArtStandardPrompt, CallOptions, parse_prompt
from built_in import adapter_of
from known_histories import IMAGE, OPTIONS, TOOL, Message, keeping, outcome

pytestmark = pytest.mark.once

OTHER_OPTIONS = (
    CallOptions(thread_id="t", trace_id="other", tools=(TOOL,), stream=True),
    CallOptions(thread_id="t", tools=(TOOL,), temperature=0.5),
    CallOptions(thread_id="t", late_system="hoist", tools=(TOOL,)),
    CallOptions(thread_id="t"),
)


def _mostly(usual: Any, *rare: Any) -> st.SearchStrategy[Any]:
    """The usual value, and now and then one that may be refused."""
    return st.sampled_from([usual] * 12 + [*rare])


TEXTS = _mostly("hello", "", " ", "\u2028\U0001f600")
NUMBERS = st.sampled_from([1, True, 1.0, 0, False, 0.0, -0.0, None])
IDS = st.uuids().map(str) | _mostly("a", "b", "c d", "e" * 70)


@st.composite
def _free(draw: st.DrawFn) -> Message:
    """Extensions of some dialect: most adapters ignore it."""
    dialect = draw(st.sampled_from(["anthropic-messages", "gemini-generate", "openrouter-chat", "bedrock-converse"]))
    block = {"type": "thinking", "thinking": "hm", "signature": "s", "n": draw(NUMBERS)}
    return {dialect: {"blocks": [{"at": 0, "block": block}]}}


@st.composite
def _question(draw: st.DrawFn) -> list[Message]:
    parts = [{"type": "text", "text": "see"}, *draw(_mostly([], [IMAGE]))]
    asked = {"role": "user", "content": draw(TEXTS | st.just(parts))}
    late = draw(_mostly([], [{"role": "system", "content": "Be brief."}]))
    return [asked, *late] if draw(st.booleans()) else [*late, asked]


@st.composite
def _answer(draw: st.DrawFn) -> list[Message]:
    message: Message = {"role": "assistant", "content": draw(TEXTS)}
    message |= {"extensions": draw(_free())} if draw(st.integers(0, 3)) == 0 else {}
    return [message, *draw(_question())]


@st.composite
def _lookup(draw: st.DrawFn) -> list[Message]:
    ids = draw(st.lists(IDS, min_size=1, max_size=3))
    arguments = draw(_mostly('{"a": 1}', "", "[]"))
    calls = [{"id": one, "type": "function", "function": {"name": "look", "arguments": arguments}} for one in ids]
    results = [{"role": "tool_result", "tool_call_id": one, "content": "found"} for one in draw(st.permutations(ids))]
    if draw(st.integers(0, 3)):
        return [{"role": "assistant", "content": draw(_mostly(None, "", "I look.")), "tool_calls": calls}, *results]
    content = {"id": ids[0], "name": "look", "arguments": {"a": draw(NUMBERS)}}
    begun: Message = {"role": "assistant", "content": "I look."}
    return [begun, {"role": "tool_request", "content": content}, results[0] | {"tool_call_id": ids[0]}]


STEPS = st.lists(_answer() | _lookup(), min_size=4, max_size=7)


def _change_a_text(prompt: list[Message], place: int) -> None:
    message = prompt[place % len(prompt)]
    if isinstance(message["content"], str):
        message["content"] += "!"


def _change_free_json(prompt: list[Message], place: int) -> None:
    """In place, to an equal value."""
    del place
    equal = {"1": True, "true": 1.0, "1.0": 1, "0.0": -0.0, "-0.0": 0}
    for message in prompt:
        for extension in (message.get("extensions") or {}).values():
            block = extension["blocks"][0]["block"]
            block["n"] = equal.get(json.dumps(block["n"]), block["n"])
        content = message["content"]
        if message["role"] == "tool_request" and isinstance(content["arguments"], dict):
            content["arguments"] = {"a": equal.get(json.dumps(content["arguments"]["a"]), 7)}


def _drop(prompt: list[Message], place: int) -> None:
    if len(prompt) > 2:
        del prompt[place % len(prompt)]


CHANGES: tuple[Callable[[list[Message], int], None], ...] = (
    *[lambda prompt, place: None] * 12,
    _change_a_text,
    _change_free_json,
    _drop,
)


@pytest.mark.parametrize("name", BUILT_IN)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_is_known_is_sent_as_if_it_were_not(name: str, data: st.DataObject) -> None:
    kept, fresh = keeping(name), adapter_of(name)
    prompt: list[Message] = [*data.draw(st.sampled_from([[], [{"role": "system", "content": "s"}]]))]
    prompt += [{"role": "user", "content": "hello"}]
    typed: ArtStandardPrompt = ()
    for step in data.draw(STEPS):
        options = data.draw(st.sampled_from([OPTIONS] * 12 + [*OTHER_OPTIONS]))
        data.draw(st.sampled_from(CHANGES))(prompt, data.draw(st.integers(0, 20)))
        form = data.draw(st.sampled_from(["data", "typed", "same values"]))
        given_prompt: Any = prompt
        if form != "data":
            parsed = parse_prompt(prompt)
            known = typed if form == "same values" and parsed[: len(typed)] == typed else ()
            given_prompt = typed = known + parsed[len(known) :]
        assert outcome(kept, given_prompt, options) == outcome(fresh, copy.deepcopy(given_prompt), options)
        prompt = [*prompt, *copy.deepcopy(step)]
