"""Tools whose names a provider rejects: sent under other names, and given back under their own."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from art_sdk import (
    BUILT_IN,
    BaseAdapter,
    EndEvent,
    OpenAIAdapter,
    PromptTranslationFailed,
    ToolCallEvent,
)
from art_sdk.adapters.rules import NameRule
from built_in import adapter_of, answer_of, read
from row_tables import table
from short_messages import Refusal

USER = {"role": "user", "content": "Go."}
LONG = "search.it" + "s" * 191
ODD = [
    "server/tool",
    "server_tool",
    "server tool",
    LONG,
    "\N{GREEK SMALL LETTER ALPHA}",
    "1st\n",
    "\N{WOMAN}\u200d",
    ".",
]
NAMES = [*ODD, f"{LONG}!"]
TOOLS = [{"name": name, "description": "d", "inputSchema": {"type": "object"}} for name in NAMES]
RULE = NameRule(re.compile(r"[a-zA-Z0-9_-]{1,64}"), "acme.names")
RENAMING = [name for name in BUILT_IN if adapter_of(name).tool_names is not None]
"""Ollama and servers that nobody knows take every name."""


@pytest.fixture(params=RENAMING)
def adapter(request: pytest.FixtureRequest) -> BaseAdapter:
    return adapter_of(request.param)


def _names(payload: Any) -> list[str]:
    """The names of tools in a request, wherever they stand."""
    found: list[str] = []
    if isinstance(payload, dict):
        if "name" in payload:
            found.append(payload["name"])
        found += payload.get("allowedFunctionNames", [])
    children = payload.values() if isinstance(payload, dict) else payload if isinstance(payload, list) else ()
    return found + [name for child in children for name in _names(child)]


def _can_choose(adapter: BaseAdapter, translate: Callable[..., Any]) -> bool:
    """Whether one tool can be chosen at all."""
    tool = TOOLS[0] | {"name": "look_up"}
    try:
        translate(adapter, [USER], tools=[tool], tool_choice="look_up")
    except PromptTranslationFailed as refusal:
        return "a single tool cannot be chosen" not in refusal.message
    return True


def test_tools_choice_calls_and_results_have_one_name_each(
    adapter: BaseAdapter, call: Any, result: Any, translate: Callable[..., Any]
) -> None:
    rule = adapter.tool_names
    assert rule is not None
    history = [USER, *(turn for at, name in enumerate(NAMES) for turn in (call(f"c{at}", name=name), result(f"c{at}")))]
    for chosen in NAMES if _can_choose(adapter, translate) else [None]:
        payload = translate(adapter, history, tools=TOOLS, tool_choice=chosen)
        sent = dict.fromkeys(_names(payload))
        assert len(sent) == len(NAMES)
        assert all(rule.pattern.fullmatch(name) for name in sent)
        if chosen is None:
            continue
        alone = translate(adapter, [USER], tools=TOOLS, tool_choice=chosen)
        del (alone if "tools" in alone else alone["toolConfig"])["tools"]
        assert _names(alone) == [adapter.map_tool_names([chosen]).get(chosen, chosen)]


def test_a_name_that_fits_is_sent_as_it_is(adapter: BaseAdapter, translate: Callable[..., Any]) -> None:
    payload = translate(adapter, [USER], tools=[TOOLS[0] | {"name": "look_Up2"}])
    assert _names(payload) == ["look_Up2"]


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), unique=True))
def test_no_two_names_become_one(names: list[str]) -> None:
    sent = RULE.map(names)
    every = [sent.get(name, name) for name in names]
    assert len(set(every)) == len(every)
    assert all(map(RULE.pattern.fullmatch, every))
    assert all(RULE.map([name]).get(name, name) == one for name, one in zip(names, every, strict=True))


def test_a_name_that_looks_renamed_is_renamed() -> None:
    [renamed] = RULE.map(["a.b"]).values()
    assert renamed.startswith("a_b_")
    again = RULE.map([renamed])
    assert again[renamed] != renamed


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("place", ["tools", "history"])
@table("name", BUILT_IN)
def test_a_call_of_an_answer_has_the_caller_s_own_name(
    name: str, place: str, call: Any, result: Any, *, streamed: bool
) -> None:
    adapter = adapter_of(name)
    history = [turn for at, own in enumerate(NAMES) for turn in (call(f"c{at}", name=own), result(f"c{at}"))]
    prompt = [USER, *history] if place == "history" else [USER]
    info = adapter.prepare(prompt, {"thread_id": "t", "tools": TOOLS if place == "tools" else TOOLS[:1]}).info
    for own in [*NAMES, "unknown_to_the_prompt"]:
        answer = answer_of(adapter, streamed=streamed, tool=adapter.map_tool_names([own]).get(own, own))
        events = read(adapter, answer, streamed=streamed, info=info)
        [came] = [event.call.function.name for event in events if isinstance(event, ToolCallEvent)]
        assert came == own
        end = events[-1]
        assert isinstance(end, EndEvent)
        assert end.message is not None
        assert [one.function.name for one in end.message.tool_calls] == [own]


class Strict(OpenAIAdapter):
    """Renames nothing."""

    repairs = OpenAIAdapter.repairs - {"renames_tools"}


def test_an_adapter_that_does_not_declare_the_repair_refuses_such_names(
    refusal: Refusal, call: Any, result: Any
) -> None:
    adapter = Strict(api_key="k")
    for tool in TOOLS:
        if tool["name"] != "server_tool":
            assert refusal(adapter, [USER], tools=[tool]).details["rule"] == "openai.tool-name-pattern"
    request = {"role": "tool_request", "content": {"id": "b", "name": "a b", "arguments": {}}}
    error = refusal(adapter, [USER, call("a"), request, result("a"), result("b")])
    assert (error.details["index"], error.details["rule"]) == (2, "openai.tool-name-pattern")
    calls = [turn for n in range(9) for turn in (call(f"c{n}", name=f"{n} {n}"), result(f"c{n}"))]
    assert refusal(adapter, [USER, *calls]).details["index"] == 1


def test_a_name_is_refused_if_the_provider_would_refuse_the_other_one_too(refusal: Refusal) -> None:
    class Short(OpenAIAdapter):
        tool_names = NameRule(re.compile("[a-z]{1,8}"), "acme.names")

    assert refusal(Short(api_key="k"), [USER], tools=[TOOLS[0]]).details["rule"] == "acme.names"
