"""What is wrong with a turn of a dialogue, shown by dialogues that are kept and tried again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import httpx2
import pytest

from art_compliance import judge_scenario
from art_compliance.checks.properties.kept import folder_of, keep
from art_compliance.findings import Finding
from art_compliance.generating.profiles import Profile, Search
from art_compliance.generating.requests import FAMILIES, Request
from art_compliance.miniatures.base import Events, as_data, change_events
from art_compliance.provider import WRITTEN_TEXT
from art_compliance.run.selection import Selection
from art_sdk import AnthropicAdapter, GeminiAdapter, OpenAIAdapter
from trials import (
    Event,
    answer_events,
    assert_each_has,
    call_of,
    failure_events,
    ids_of,
    run_check,
    scripted,
    spoiled,
)

GO_ON, FAMILY = "properties.conversations-go-on", "generated-dialogues"
OPENING = [{"role": "user", "content": "hello"}]
TOOLS = [{"name": name, "description": f"It {name}s.", "inputSchema": {"type": "object"}} for name in ("look", "see")]


def turn(content: str | None = "said", *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = {"content": content, "tool_calls": list(calls), "finish": "tool_calls" if calls else "stop"}
    return {"answer": {**answer, **more.pop("answer", {})}, **more}


LAST = turn("That was it.")


@pytest.fixture
def talk(tmp_path: Path) -> Callable[..., list[Finding]]:
    """Has an adapter go through a dialogue of these turns, and gives what is found."""

    def go_through(make: Any, *turns: dict[str, Any]) -> list[Finding]:
        keep(
            folder_of(tmp_path, "adapter"),
            GO_ON,
            FAMILY,
            Request(OPENING, {"thread_id": "t", "tools": TOOLS}, list(turns)),
        )
        nothing_made = Profile(name="none", examples=1, seconds=-1.0, shrink_seconds=0.0)
        search, selection = Search(profile=nothing_made, kept=tmp_path), Selection(checks=(GO_ON,))
        result = run_check(GO_ON, make, FAMILIES[FAMILY], search=search, selection=selection)
        assert result.verdict in {"fail", "not applicable"}, result.reason
        return list(result.findings)

    return go_through


def ends_with(change: Callable[[Any], Any], make: type = AnthropicAdapter) -> Any:
    """An adapter that changes END's message."""

    def change_end(events: Events) -> Events:
        return [*events[:-1], {**events[-1], "message": change(events[-1]["message"])}]

    return spoiled(lambda adapter: change_events(adapter, change_end), make)


def with_calls(change: Callable[[list[Any]], list[Any]]) -> Callable[[Any], Any]:
    return lambda message: (
        {**message, "tool_calls": change(message["tool_calls"])} if message.get("tool_calls") else message
    )


def with_function(at: int, **fields: Any) -> Callable[[Any], Any]:
    """The message with a call whose function has other fields."""

    def change(calls: list[Any]) -> list[Any]:
        calls[at]["function"].update(fields)
        return calls

    return with_calls(change)


TWO_CALLS = turn(None, call_of("c1"), call_of("c2", "see"))


@pytest.mark.parametrize(
    ("change", "first", "fragments"),
    [
        (lambda message: message, turn("a"), []),
        (lambda message: message, TWO_CALLS, []),
        (lambda message: {**message, "content": "b"}, turn("a"), ['the answer\'s text was read as "b"']),
        (lambda message: {**message, "content": "a"}, turn("b"), ['the answer\'s text was read as "a"']),
        (lambda message: {**message, "content": None}, turn("b"), ["the answer's text was read as null"]),
        (with_calls(lambda calls: calls[:1]), TWO_CALLS, ["the answer's calls were read as"]),
        (with_calls(lambda calls: calls[::-1]), TWO_CALLS, ["the answer's calls were read as"]),
        (with_function(1, name="x"), TWO_CALLS, ["the answer's calls were read as"]),
        (with_function(0, arguments="{}"), TWO_CALLS, ["the arguments of c1_1"]),
        (with_function(1, arguments="{"), TWO_CALLS, ["the arguments of c2_1"]),
        (with_function(1, arguments=7), TWO_CALLS, ["the arguments of c2_1"]),
    ],
)
def test_an_answer_that_is_read_otherwise_ends_the_dialogue(talk: Any, change: Any, first: Any, fragments: list[str]):
    found = talk(ends_with(change), first, LAST)
    assert_each_has([one.message for one in found], [f"turn 1: {fragment}" for fragment in fragments])


THOUGHT = turn("a", answer={"thinking": "Hm.", "thinking_tokens": 3})


def forgets(make: type) -> Any:
    """An adapter whose messages are without what goes back to the provider."""
    return ends_with(lambda message: {**message, "extensions": None}, make)


@pytest.mark.parametrize(
    ("make", "count"),
    [
        (AnthropicAdapter, 0),
        (GeminiAdapter, 0),
        (forgets(OpenAIAdapter), 0),
        (forgets(AnthropicAdapter), 2),
        (forgets(GeminiAdapter), 1),
    ],
)
def test_what_the_provider_wants_back_with_its_reasoning_goes_back(talk: Any, make: Any, count: int):
    found = [one.message for one in talk(make, THOUGHT, LAST)]
    assert_each_has(found, ["turn 2: "] * count)
    assert [one for one in found if "not sent back" not in one] == []


def prompts_of(make: type) -> tuple[Any, list[Any]]:
    """An adapter that notes the prompts and options it is called with."""
    called: list[Any] = []

    def spoil(adapter: Any) -> None:
        own = adapter.call
        adapter.call = lambda prompt, options: (
            called.append((as_data(prompt), as_data(options))),
            own(prompt, options),
        )[1]

    return spoiled(spoil, make), called


def test_calls_are_answered_in_turn_and_without_calls_the_user_speaks(talk: Any):
    make, called = prompts_of(AnthropicAdapter)
    calls = [call_of(f"c{number}") for number in (1, 2, 3)]
    answered = turn(None, *calls, results=[{"content": "x"}, {"content": "y"}], is_reversed=True)
    assert talk(make, answered, turn("a", user="Well?"), turn(None, call_of("c1")), LAST) == []
    prompts = [prompt for prompt, _ in called]
    results = [(one["tool_call_id"], one["content"]) for one in prompts[1][2:]]
    assert results == [("c3_1", "x"), ("c2_1", "y"), ("c1_1", "x")]
    assert prompts[2][-1] == {"role": "user", "content": "Well?"}
    assert prompts[3][-1] == {"role": "tool_result", "tool_call_id": "c1_3", "content": "done"}
    assert [len(prompt) for prompt in prompts] == [1, 5, 7, 9]
    assert all(longer[: len(shorter)] == shorter for shorter, longer in pairwise(prompts))


class Silent(AnthropicAdapter):
    capabilities = frozenset(AnthropicAdapter.capabilities - {"streaming"})


@pytest.mark.parametrize(("make", "streams"), [(AnthropicAdapter, [False, True, False]), (Silent, [False] * 3)])
def test_a_turn_is_requested_whole_or_streamed(talk: Any, make: type, streams: list[bool]):
    noting, called = prompts_of(make)
    assert talk(noting, turn("a"), turn("b", is_streamed=True), turn("c", is_streamed=False)) == []
    assert [options.get("stream", False) for _, options in called] == streams


FAILURES: dict[str, tuple[Any, str]] = {
    "crashed": (scripted(OSError("no line")), "turn 1: the call gave no answer: "),
    "refused": (scripted(failure_events(message="no", other=1)), "turn 1: the request is refused: {"),
    "unread": (
        scripted(failure_events(code="X", message="no", status=None)),
        'turn 1: the answer is not read: {"code": "X", "message": "no"}',
    ),
    "at length": (
        scripted(failure_events(code="X", message="ü" * 700)),
        f'turn 1: the answer is not read: {{"code": "X", "message": "{"ü" * 500}',
    ),
    "nothing asked": (scripted(answer_events("said")), "turn 1: no request has arrived"),
}


@pytest.mark.parametrize("what", FAILURES)
def test_a_turn_that_fails_is_found_with_its_error(talk: Any, what: str):
    make, wanted = FAILURES[what]
    (found,) = talk(make, turn("said"), LAST)
    assert found.message.startswith(wanted)
    assert "other" not in found.message
    assert (found.example.prompt, found.example.answer) == (OPENING, None)


class Posts:
    """It sends what it is made to, and gives a good answer whatever comes."""

    dialect = "openai-chat"
    payload: ClassVar[Any] = None

    def __init__(self, *, base_url: str, **_: Any) -> None:
        self.url = f"{base_url}/chat/completions"

    def call(self, prompt: Any, options: Any) -> Iterator[Event]:
        httpx2.post(self.url, json={"model": "m", **self.payload}, timeout=60)
        return iter([{**ids_of(options), **event} for event in answer_events("said")])


class PostsNoList(Posts):
    payload: ClassVar[Any] = {"messages": 7}


class PostsAnother(Posts):
    payload: ClassVar[Any] = {"messages": [{"role": "user", "content": "other"}], "tools": []}


def test_what_of_the_dialogue_is_not_in_the_request_is_found(talk: Any):
    assert_each_has([one.message for one in talk(PostsNoList, turn("said"), LAST)], ["cannot be decoded"])
    lost = [one.message for one in talk(PostsAnother, turn("said"), LAST)]
    assert any(one.startswith("turn 1: $[0]") for one in lost)


class Fails(AnthropicAdapter):
    """It has no second turn."""

    def call(self, prompt: Any, options: Any) -> Any:
        if len(prompt) > 1:
            raise OSError("no line")
        return super().call(prompt, options)


def test_a_dialogue_ends_with_the_first_turn_that_is_wrong_and_the_turn_before_is_shown(talk: Any):
    make, called = prompts_of(Fails)
    (found,) = talk(make, turn("first"), turn("second"), turn("third"))
    assert found.message.startswith("turn 2: the call gave no answer")
    assert [len(prompt) for prompt, _ in called] == [1, 3] * 2  # as it is tried, and as it is shown
    assert (found.example.prompt, found.example.answer["content"]) == (OPENING, "first")
    assert found.example.payload["messages"] == OPENING


class Poor(AnthropicAdapter):
    capabilities = frozenset({"tools"})


class NoTools(AnthropicAdapter):
    capabilities = frozenset({"system"})


@pytest.mark.parametrize(
    ("make", "ids", "thinking", "text"),
    [
        (AnthropicAdapter, ["c1_1", "c2_1"], "Hm.", None),
        (Poor, ["c1_1"], "", None),
        (NoTools, [], "", WRITTEN_TEXT),
    ],
)
def test_an_answer_is_fitted_to_what_is_declared(
    talk: Any, make: type, ids: list[str], thinking: str, text: str | None
):
    streams: list[Events] = []
    noting = spoiled(lambda adapter: change_events(adapter, lambda events: (streams.append(events), events)[1]), make)
    answer = {"thinking": "Hm.", "thinking_tokens": 3}
    assert talk(noting, turn(None, call_of("c1"), call_of("c2", "see"), answer=answer), LAST) == []
    end = streams[0][-1]
    assert [call["id"] for call in end["message"].get("tool_calls") or []] == ids
    assert (end["message"]["content"] or None) == text
    assert end["finish"] == ("tool_calls" if ids else "stop")
    assert "".join(one["text"] for one in streams[0] if one.get("token_type") == "LLM_THINKING") == thinking


@pytest.mark.parametrize(("answer", "text"), [({"answer": {"content": "own"}}, "own"), ({}, WRITTEN_TEXT)])
def test_a_scenario_is_a_dialogue_of_two_turns(tmp_path: Path, answer: Any, text: str):
    make, called = prompts_of(AnthropicAdapter)
    body = {"purpose": "A dialogue of one's own.", "prompt": OPENING, "outcomes": {"default": ["exact"]}, **answer}
    (tmp_path / "one.json").write_text(json.dumps(body), encoding="utf-8")
    assert judge_scenario(make, tmp_path / "one.json", check=GO_ON) == []
    assert [prompt[1:] for prompt, _ in called] == [
        [],
        [{"role": "assistant", "content": text}, {"role": "user", "content": "Go on."}],
    ]
