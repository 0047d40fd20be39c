"""How two requests are compared: where they part, and what the longer one may change."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.miniatures.base import as_data
from art_sdk import AnthropicAdapter, OpenAIAdapter, parse_prompt
from trials import (
    assert_each_has,
    call_of,
    findings_of,
    messages_of,
    reason_of,
    scenario,
    suite_scenario,
    translating,
    translator,
)

SAME = "translation.same-prompt-same-request"

DRAWN = scenario(id="same")
"""One of the quarter of all scenarios that are translated on other threads, too."""


def changes_its_mind(first: Any, other: Any, *, after: int = 1) -> Any:
    """An adapter whose first requests are this one, and all later ones the other."""
    count = [0]

    def translate(*_: Any) -> Any:
        count[0] += 1
        return first if count[0] <= after else other

    return translator(translate)


@pytest.mark.parametrize(
    ("one", "other", "pointer"),
    [
        ({"a": 1}, {"a": 2}, "/a"),
        ({"a": 1}, {"a": 1, "b": 2}, "/b"),
        ({"a": 1, "b": None}, {"a": 1}, "/b"),
        ({"a/b": {"c": [1, 2, 3]}}, {"a/b": {"c": [1, 2, 4]}}, "/a~1b/c/2"),
        ([1, {"x": 1}], [1, {"x": "1"}], "/1/x"),
        ([1, 2], [1, 2, 3], ""),
        ([1], {"0": 1}, ""),
        ("a", "b", ""),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, "/b"),
    ],
)
def test_two_requests_part_at(one: Any, other: Any, pointer: str):
    for first, second in ((one, other), (other, one)):
        found = findings_of(SAME, changes_its_mind(first, second), DRAWN)
        assert [finding.pointer for finding in found] == [pointer] * 4


WHENS = ["a second time", "after another prompt", "on thread 1", "on thread 2"]


@pytest.mark.parametrize(("after", "fragments"), [(9, []), (1, WHENS), (2, WHENS[1:]), (3, WHENS[1:]), (4, WHENS[2:])])
def test_the_same_prompt_gives_the_same_request_each_time(after: int, fragments: list[str]):
    assert_each_has(messages_of(SAME, changes_its_mind({"a": 1}, {"a": 2}, after=after), DRAWN), fragments)


def test_most_prompts_are_not_translated_on_other_threads():
    make = changes_its_mind({"a": 1}, {"a": 2})
    assert_each_has(messages_of(SAME, make, scenario(id="one-of-the-others")), WHENS[:2])


def test_a_prompt_that_is_refused_the_second_time_is_found():
    count = [0]

    def translate(*_: Any) -> Any:
        count[0] += 1
        if count[0] == 2:
            raise OSError("not again")
        return {}

    assert_each_has(messages_of(SAME, translator(translate)), ["a second time it raised OSError: not again"])


def test_an_option_that_is_another_one_when_streamed_is_found():
    def change(payload: Any, _: Any, options: Any) -> Any:
        return {**payload, "temperature": 0.9} if options.get("stream") else payload

    warm = scenario(options={"temperature": 0.2, "max_tokens": 9})
    [found] = messages_of("translation.streaming-changes-nothing-else", translating(change), warm)
    assert found == "streamed, the request has temperature = 0.9, not 0.2"


STABLE = "translation.prefix-is-stable"
TWO = scenario(prompt=[{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])


def rewritten(shorter: Any, longer: Any, dialect: str = "openai-chat") -> list[str | None]:
    """Where the turns of one message are not the beginning of those of two."""
    adapter = translator(lambda prompt, _: {"messages": shorter if len(prompt) == 1 else longer}, dialect=dialect)
    return [one.pointer for one in findings_of(STABLE, adapter, TWO)]


@pytest.mark.parametrize(
    ("one", "other", "is_extended"),
    [
        ("ab", "abc", True),
        ("ab", "ab", True),
        ("ab", "bab", False),
        (1, 1, True),
        (1, "1", False),
        ("1", 1, False),
        ([1], [1, 2], True),
        ([1, 2], [1], False),
        ([2], [1, 2], False),
        ([], [1], True),
        (["a"], ["ab"], True),
        (["a", "b"], ["a", "bc", "d"], True),
        (["a", "b"], ["ab", "b"], False),
        ([{"text": "a"}], [{"text": "ab"}, {"text": "c"}], True),
        ({"a": "x"}, {"a": "xy", "b": 1}, True),
        ({"a": "x", "b": 1}, {"a": "x"}, False),
        ({"a": "x", "b": 1}, {"a": "y", "b": 1}, False),
        ({"a": [1]}, {"a": [1, 2]}, True),
        ({"a": 1}, [1], False),
        ([1], {"a": 1}, False),
        ([1], "[1]", False),
    ],
)
def test_a_turn_that_grew_at_its_end_is_extended(one: Any, other: Any, is_extended: bool):  # noqa: FBT001
    assert rewritten([one], [other]) == ([] if is_extended else ["/messages/0"])


@pytest.mark.parametrize(
    ("shorter", "longer", "at"),
    [
        ([], ["a"], None),
        (["a", "b"], ["a", "b", "c"], None),
        (["a", "b"], ["a", "bc", "d"], None),
        (["a", "b"], ["ab", "b", "c"], 0),
        (["a", "b", "c"], ["a", "x", "c"], 1),
        (["a", "b"], ["a", "x"], 1),
        (["a", "b", "c"], ["a", "b"], 2),
        (["a"], ["b"], 0),
        (["a", "b", "c"], ["a", "b", "cd"], None),
        (["a", "b", "c"], ["a", "bx", "c"], 1),
    ],
)
def test_only_the_last_turn_of_the_shorter_request_may_grow(shorter: list[str], longer: list[str], at: int | None):
    assert rewritten(shorter, longer) == ([] if at is None else [f"/messages/{at}"])


PART, MARKED = {"type": "text", "text": "a"}, {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}


@pytest.mark.parametrize(
    ("turn", "other", "is_same"),
    [
        ({"role": "user", "content": "a"}, {"role": "user", "content": [PART]}, True),
        ({"role": "user", "content": [MARKED]}, {"role": "user", "content": [PART]}, True),
        ({"role": "user", "content": [MARKED, MARKED]}, {"role": "user", "content": [PART, PART]}, True),
        ({"content": [MARKED], "prefix": True}, {"content": [PART]}, False),
        ({"content": "a", "cache_control": {}}, {"content": [PART]}, True),
        ({"content": None}, {"content": [PART]}, False),
        ({"content": ["a", MARKED]}, {"content": ["a", PART]}, True),
        ({"content": ["a", 1]}, {"content": ["b", 1]}, False),
        ({"parts": [MARKED]}, {"parts": [PART]}, False),
        ("a", [PART], False),
    ],
)
def test_a_turn_is_the_same_with_marks_and_in_parts(turn: Any, other: Any, is_same: bool):  # noqa: FBT001
    assert rewritten([turn, "z"], [other, "z"], "anthropic-messages") == ([] if is_same else ["/messages/0"])


class MarksTheLast(AnthropicAdapter):
    """The usual way to have the provider cache a conversation."""

    def translate(self, prompt: Any, options: Any) -> Any:
        payload = super().translate(prompt, options)
        *before, last = payload["messages"]
        content = last["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        marked = [*parts[:-1], {**parts[-1], "cache_control": {"type": "ephemeral"}}]
        return {**payload, "messages": [*before, {**last, "content": marked}]}


class Continues(OpenAIAdapter):
    """The usual way to have Mistral and DeepSeek continue a message."""

    def translate(self, prompt: Any, options: Any) -> Any:
        payload = super().translate(prompt, options)
        *before, last = payload["messages"]
        return {**payload, "messages": [*before, {**last, "prefix": True} if last["role"] == "assistant" else last]}


@pytest.mark.parametrize(
    ("make", "dialect", "is_stable"),
    [
        (MarksTheLast, "anthropic-messages", True),
        (Continues, "mistral-chat", True),
        (Continues, "deepseek-chat", True),
        (Continues, "openai-chat", False),
    ],
)
def test_a_mark_on_the_last_turn_rewrites_nothing(make: Any, dialect: str, is_stable: bool):  # noqa: FBT001
    names = ("multi-turn-history", "several-rounds", "parallel-calls")
    found = [one for name in names for one in findings_of(STABLE, make, suite_scenario(name), dialect=dialect)]
    assert (found == []) is is_stable


@pytest.mark.parametrize(
    ("count", "lengths"),
    [
        (1, []),
        (2, [1]),
        (9, [1, 2, 3, 4, 5, 6, 7, 8]),
        (17, [1, 3, 5, 7, 9, 11, 13, 15]),
        (18, [1, 3, 5, 7, 9, 11, 13, 15, 17]),
        (33, [1, 5, 9, 13, 17, 21, 25, 29]),
    ],
)
def test_of_a_long_prompt_a_few_beginnings_are_tried(count: int, lengths: list[int]):
    tried: list[int] = []

    def translate(prompt: Any, _: Any) -> Any:
        tried.append(len(prompt))
        return {"messages": prompt}

    prompt = [{"role": "user", "content": f"{number}"} for number in range(count)]
    assert findings_of(STABLE, translator(translate), scenario(prompt=prompt)) == ()
    assert tried == [count, *lengths]


def test_a_beginning_that_is_refused_is_passed_over():
    def translate(prompt: Any, _: Any) -> Any:
        if len(prompt) == 1:
            raise OSError("too short")
        return {"messages": prompt}

    assert findings_of(STABLE, translator(translate), TWO) == ()
    assert "/messages" in reason_of(STABLE, translator(lambda *_: {"messages": 7}), TWO)


REVERSED = "translation.result-order-does-not-matter"


def test_results_are_reversed_turn_by_turn():
    def of(*names: str) -> list[dict[str, Any]]:
        kinds = {name: name.partition("-")[0] for name in names}
        roles = {"result": "tool_result"}
        answers = {kind: {"tool_call_id": "c"} for kind in ("result", "tool")}
        return [
            {"role": roles.get(kind, kind), "content": name, **answers.get(kind, {})} for name, kind in kinds.items()
        ]

    before = of("user-1", "result-2", "tool-3", "result-4", "assistant-5", "tool-6", "user-7", "tool-8", "tool-9")
    seen: list[Any] = []

    def translate(prompt: Any, _: Any) -> Any:
        seen.append([message["content"] for message in prompt])
        return {"messages": [{"role": "user", "content": "a"}]}

    assert findings_of(REVERSED, translator(translate), scenario(prompt=before)) == ()
    after = "user-1 result-4 tool-3 result-2 assistant-5 tool-6 user-7 tool-9 tool-8"
    assert seen[-1] == after.split()


CALLS = [call_of(name, "f", "{}") for name in ("c1", "c2")]


def answering(first: str, second: str, *, role: str = "user", **more: Any) -> list[dict[str, Any]]:
    results = [
        {"role": "tool_result", "tool_call_id": f"c{at}", "content": text} for at, text in ((1, first), (2, second))
    ]
    results[0] |= more
    return [{"role": role, "content": "a"}, {"role": "assistant", "content": None, "tool_calls": CALLS}, *results]


def reversed_becomes(found: list[dict[str, Any]], prompt: list[dict[str, Any]]) -> list[str | None]:
    """Where an adapter is wrong that sends what was found in place of the prompt with its results reversed."""

    class Sends(AnthropicAdapter):
        def translate(self, given: Any, options: Any) -> Any:
            return super().translate(
                given if as_data(given) == as_data(parse_prompt(prompt)) else parse_prompt(found), options
            )

    return [one.path for one in findings_of(REVERSED, Sends, scenario(prompt=prompt))]


@pytest.mark.parametrize(
    ("found", "places"),
    [
        (answering("one", "two"), []),
        (answering("one", "two")[:2] + answering("one", "two")[:1:-1], []),
        (answering("two", "one"), ["$[1]"]),
        (answering("one", "two", status="error"), ["$[1]"]),
        (answering("one", "two", role="system"), ["$[0]"]),
    ],
)
def test_results_that_are_reversed_stay_with_their_calls(found: Any, places: list[str]):
    assert reversed_becomes(found, answering("one", "two")) == places


def test_without_several_results_in_a_turn_nothing_is_reversed():
    reason = reason_of(REVERSED, OpenAIAdapter, scenario(prompt=answering("one", "two")[:3]))
    assert "no turn has several results" in reason


@pytest.mark.parametrize(
    ("other", "fragment"),
    [(lambda: {"messages": 7}, "cannot be decoded"), (lambda: int("no"), "ValueError")],
)
@pytest.mark.parametrize(
    ("check", "asked"), [(REVERSED, scenario(prompt=answering("1", "2"))), ("translation.follows-renaming", scenario())]
)
def test_a_changed_prompt_that_gives_no_request_is_found(check: str, asked: Any, other: Any, fragment: str):
    adapter = translating(
        lambda payload, prompt, _: payload if prompt == as_data(parse_prompt(asked.prompt)) else other()
    )
    assert_each_has(messages_of(check, adapter, asked), [fragment])


RENAMED = "translation.follows-renaming"
NAMED = scenario(prompt=[{"role": "user", "content": "a", "name": "ann"}])


def renaming(before: dict[str, Any], after: dict[str, Any]) -> Any:
    """An adapter that sends these fields besides: the first with the scenario's own text, the others with any else."""
    return translating(lambda payload, prompt, _: {**payload, **(before if prompt[0]["content"] == "hello" else after)})


FIELD, OPTION = "field", "the option temperature"


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({}, {}, []),
        ({}, {"x_b": 1, "x_a": 1}, [(FIELD, "/x_a"), (FIELD, "/x_b")]),
        ({"x_a": 1}, {}, [(FIELD, "/x_a")]),
        ({"x_a": 1}, {"x_a": 1}, []),
        ({"temperature": 1}, {"temperature": 1}, []),
        ({"temperature": 2}, {"temperature": 1}, [(OPTION, "/temperature")]),
        ({"temperature": 1}, {"temperature": 2}, [(OPTION, "/temperature")]),
        ({}, {"temperature": 1}, [(OPTION, "/temperature")]),
        ({"temperature": 1}, {}, [(OPTION, "/temperature")]),
    ],
)
def test_nothing_else_changes_with_the_content(before: Any, after: Any, found: list[tuple[str, str]]):
    seen = findings_of(RENAMED, renaming(before, after))
    assert_each_has([one.message for one in seen], [fragment for fragment, _ in found])
    assert [one.pointer for one in seen] == [pointer for _, pointer in found]


def forgetting(**declared: Any) -> Any:
    """An adapter that loses the name of whoever speaks where the text is not `a`."""

    def translate(prompt: Any, _: Any) -> Any:
        kept = [{k: v for k, v in one.items() if k != "name" or one["content"] == "a"} for one in prompt]
        return {"model": "m", "messages": kept}

    return translator(translate, **declared)


def test_what_is_lost_of_other_texts_is_found_where_it_is_not_declared():
    assert_each_has(messages_of(RENAMED, forgetting(), NAMED), ["'message_name'"])
    assert messages_of(RENAMED, forgetting(losses={"message_name"}), NAMED) == []


def test_a_prompt_that_does_not_survive_is_not_renamed():
    forgets = translating(lambda payload, *_: {**payload, "messages": [{"role": "user", "content": "other"}]})
    assert "is not sent whole" in reason_of(RENAMED, forgets)


TALK = scenario(
    prompt=[{"role": role, "content": f"{role} {turn}"} for turn in range(6) for role in ("user", "assistant")][:-1]
)


@pytest.mark.parametrize("declared", [{"adds_filler_turn"}, set()])
def test_a_filler_at_the_end_rewrites_the_next_request_unless_it_is_declared(declared: set[str]):
    def fill(payload: Any, *_: Any) -> Any:
        *_, last = messages = payload["messages"]
        return {**payload, "messages": [*messages, FILLER_TURN] if last["role"] == "assistant" else messages}

    make = translating(fill)
    make.repairs |= declared
    assert bool(messages_of(STABLE, make, TALK)) != bool(declared)


FILLER_TURN = {"role": "user", "content": "Go on."}
