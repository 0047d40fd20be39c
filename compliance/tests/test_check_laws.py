"""How the laws of translation compare two requests: where they part, and what a longer one may change."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from art_compliance.checks import NotApplicable
from art_compliance.checks.translation import laws
from art_compliance.checks.translation.laws import (
    _extends,
    _first_rewritten,
    _prefix_lengths,
    _results_reversed,
    _said,
    first_difference,
)
from art_compliance.checks.trial import Trial
from art_compliance.comparison import Difference
from art_compliance.scenarios import load_scenarios
from art_compliance.subject.observations import Sent
from art_compliance.subject.opening import open_subject
from art_sdk import AnthropicAdapter, OpenAIAdapter, parse_prompt


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
    assert first_difference(one, other) == pointer
    assert first_difference(other, one) == pointer


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
    assert _extends(one, other) is is_extended


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
def test_only_the_last_turn_of_the_shorter_may_grow(shorter: list[str], longer: list[str], at: int | None):
    assert _first_rewritten(shorter, longer) == at


PART, MARKED = {"type": "text", "text": "a"}, {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        ({"role": "user", "content": "a"}, {"role": "user", "content": [PART]}),
        ({"role": "user", "content": [MARKED]}, {"role": "user", "content": [PART]}),
        ({"role": "user", "content": [MARKED, MARKED]}, {"role": "user", "content": [PART, PART]}),
        ({"content": "a", "prefix": True}, {"content": [PART], "prefix": True}),
        ({"content": "a", "cache_control": {}}, {"content": [PART]}),
        ({"content": None}, {"content": None}),
        ({"parts": [MARKED]}, {"parts": [MARKED]}),
        ({"content": ["a", 1]}, {"content": ["a", 1]}),
        ("a", "a"),
    ],
)
def test_what_a_turn_says_is_said_without_marks_and_in_parts(turn: Any, said: Any):
    assert _said(turn, ("cache_control",)) == said


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
        told = {**last, "prefix": True} if last["role"] == "assistant" else last
        return {**payload, "messages": [*before, told]}


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
    tried = [one for one in load_scenarios() if one.id in ("multi-turn-history", "several-rounds", "parallel-calls")]
    with open_subject(make, name="one", dialect=dialect) as subject:
        found = [finding for one in tried for finding in laws.prefix_is_stable.run(Trial(subject, one, 1))]
    assert (found == []) is is_stable


@pytest.mark.parametrize(
    ("count", "lengths"),
    [
        (0, []),
        (1, []),
        (2, [1]),
        (9, [1, 2, 3, 4, 5, 6, 7, 8]),
        (17, [1, 3, 5, 7, 9, 11, 13, 15]),
        (18, [1, 3, 5, 7, 9, 11, 13, 15, 17]),
        (33, [1, 5, 9, 13, 17, 21, 25, 29]),
    ],
)
def test_of_a_long_prompt_a_few_beginnings_are_tried(count: int, lengths: list[int]):
    assert _prefix_lengths([{}] * count) == lengths


_ROLES = {"result": "tool_result"}


def test_results_are_reversed_turn_by_turn():
    def of(*roles: str) -> list[dict[str, Any]]:
        told = [role.partition("-")[0] for role in roles]
        return [{"role": _ROLES.get(one, one), "n": role} for one, role in zip(told, roles, strict=True)]

    before = of("user-1", "result-2", "tool-3", "result-4", "assistant-5", "tool-6", "user-7", "tool-8", "tool-9")
    after = of("user-1", "result-4", "tool-3", "result-2", "assistant-5", "tool-6", "user-7", "tool-9", "tool-8")
    assert _results_reversed(before) == after


CALLED = [{"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in ("c1", "c2")]


def answering(first: str, second: str, *, role: str = "user", **more: Any) -> list[dict[str, Any]]:
    results = [
        {"role": "tool_result", "tool_call_id": f"c{at}", "content": text} for at, text in ((1, first), (2, second))
    ]
    results[0] |= more
    return [{"role": role, "content": "a"}, {"role": "assistant", "content": None, "tool_calls": CALLED}, *results]


@pytest.mark.parametrize(("first", "told"), [({"a": 2}, 0), ({"a": 1}, 2), ({"a": 3}, 2), ({"b": 2}, 2)])
def test_the_same_prompt_gives_no_other_request(first: Any, told: int):
    subject = SimpleNamespace(has_translate=False)
    trial: Any = SimpleNamespace(
        sent=Sent(first, None),
        scenario=SimpleNamespace(prompt=[]),
        subject=subject,
        observe=lambda *_: Sent({"a": 2}, None),
    )
    found = [one.message for one in laws.same_prompt_same_request.run(trial)]
    ways = ["a second time", "after another prompt"]
    assert found == [f"{way} the request is another one" for way in ways[:told]]


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (answering("one", "two"), []),
        (answering("one", "two")[:2] + answering("one", "two")[:1:-1], []),
        (answering("two", "one"), [("with the results reversed, a call has another result", "$[1]")]),
        (answering("one", "two", status="error"), [("with the results reversed, a call has another result", "$[1]")]),
        (answering("one", "two", role="system"), [("with the results reversed, a call has another result", "$[0]")]),
    ],
)
def test_results_that_are_reversed_stay_with_their_calls(found: Any, told: list[Any]):
    assert found_reversed(answering("one", "two"), found) == told


@pytest.mark.parametrize(("role", "other"), [("system", "user"), ("user", "system")])
def test_a_turn_of_another_role_is_another_turn(role: str, other: str):
    seen = found_reversed(answering("one", "two", role=role), answering("one", "two", role=other))
    assert seen == [("with the results reversed, a call has another result", "$[0]")]


def found_reversed(prompt: list[dict[str, Any]], found: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    """What is told where the prompt with its results reversed is decoded to what was found."""
    decoded = SimpleNamespace(prompt=parse_prompt(found))
    scenario, sent = SimpleNamespace(prompt=prompt), Sent({}, None)
    seen: list[Any] = []
    trial: Any = SimpleNamespace(
        scenario=scenario,
        comparison=None,
        decoded=SimpleNamespace(prompt=parse_prompt(prompt)),
        observe=lambda permuted: (seen.append(permuted), sent)[1],
        decode=lambda _: decoded,
    )
    told = [(one.message, one.path) for one in laws.order_of_answers_means_nothing.run(trial)]
    assert seen == [_results_reversed(prompt)]
    return told


def test_where_no_turn_has_several_results_nothing_is_reversed():
    prompt = answering("one", "two")[:3]
    with pytest.raises(NotApplicable, match="no turn has several results"):
        found_reversed(prompt, prompt)


def renamed(
    opaque: Any = (), options: Any = None, *, before: Any = None, differences: Any = (), losses: Any = ()
) -> list[tuple[str, str | None]]:
    """What is told where the renamed request decodes to these fields and options, and the first one to `before`."""
    places = {"options/seed": "/seed"}
    one, other = (
        SimpleNamespace(opaque=dict.fromkeys(fields), options=told, places=places)
        for fields, told in (before or ((), {}), (opaque, options or {}))
    )
    trial: Any = SimpleNamespace(
        comparison=SimpleNamespace(differences=()),
        scenario=SimpleNamespace(id="one", prompt=[{"role": "user", "content": "a"}], call_options=dict),
        subject=SimpleNamespace(losses=losses),
        seed=1,
        decoded=one,
        observe=lambda *_: Sent({}, None),
        decode=lambda _: other,
        compare=lambda *_: SimpleNamespace(differences=differences),
    )
    return [(found.message, found.pointer) for found in laws.follows_renaming.run(trial)]


FIELD, OPTION = "a field comes or goes with the content", "the option seed changes with the content"


@pytest.mark.parametrize(
    ("opaque", "options", "before", "told"),
    [
        ((), {}, None, []),
        (("/b", "/a"), {}, None, [(FIELD, "/a"), (FIELD, "/b")]),
        ((), {}, (("/a",), {}), [(FIELD, "/a")]),
        (("/a",), {}, (("/a",), {}), []),
        ((), {"seed": 1}, ((), {"seed": 1}), []),
        ((), {"seed": 1}, ((), {"seed": 2}), [(OPTION, "/seed")]),
        ((), {"seed": 2}, ((), {"seed": 1}), [(OPTION, "/seed")]),
        ((), {"seed": 1}, None, [(OPTION, "/seed")]),
        ((), {}, ((), {"seed": 1}), [(OPTION, "/seed")]),
        ((), {"tool_choice": "a"}, ((), {"tool_choice": "b"}), []),
    ],
)
def test_nothing_else_changes_with_the_content(opaque: Any, options: Any, before: Any, told: Any):
    assert renamed(opaque, options, before=before) == told


LOST = Difference(slot="user", message="the user turn is lost", loss="message_name")


def test_what_is_lost_of_other_texts_is_told_where_it_is_not_declared():
    told = "the user turn is lost; declare the loss 'message_name' if the provider has no place for it"
    assert renamed(differences=(LOST, LOST)) == [(told, None)] * 2
    assert renamed(differences=(LOST,), losses=("message_name",)) == []
