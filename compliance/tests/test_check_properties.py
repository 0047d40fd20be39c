"""How a law over generated prompts is judged: which checks speak, what is shrunk by what, and what is told."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from art_compliance.checks import NotApplicable
from art_compliance.checks.base import Check, check
from art_compliance.checks.properties import exploring
from art_compliance.checks.properties import laws as properties
from art_compliance.checks.properties.exploring import Exploration, Law
from art_compliance.checks.response import reading as response
from art_compliance.checks.stream import answers as stream
from art_compliance.dialects import DIALECTS
from art_compliance.findings import Example, Finding, Problem
from art_compliance.generating.processes import ProcessFailed
from art_compliance.generating.profiles import Profile, Search
from art_compliance.generating.requests import Request
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.observations import Sent

PROFILE = Profile(name="exam", examples=3, seconds=60.0, shrink_seconds=2.5)
FIRST, SECOND = (Request([{"role": "user", "content": text}], {}) for text in ("first", "second"))


def finds(name: str, *severities: str, needs: Any = ()) -> Check:
    @check(f"translation.{name}", clause="It finds what it is told to.", needs=needs)
    def run(trial: Any) -> Any:
        if "silent" in severities:
            raise NotApplicable("nothing to say")
        yield from (Problem(name, one) for one in severities)

    return run


def trial(*needs: str, dialect: Any = None, family: str = "generated-conversations", **more: Any) -> Any:
    scenario = SimpleNamespace(id=family, needs=needs)
    subject = SimpleNamespace(dialect=dialect, name="one")
    return SimpleNamespace(
        scenario=scenario, subject=subject, search=Search(profile=PROFILE), seed=1, require=lambda *_: None, **more
    )


OPENAI = DIALECTS["openai-chat"]


@pytest.mark.parametrize(
    ("law", "needs", "dialect", "told"),
    [
        (Law("l", (finds("a"),)), (), OPENAI, []),
        (Law("l", (finds("a", "reject", "note"), finds("b", "reject"))), (), OPENAI, ["a", "b"]),
        (Law("l", (finds("a", "silent"),)), (), OPENAI, None),
        (Law("l", (finds("a", "silent"), finds("b", "reject"))), (), OPENAI, ["b"]),
        (Law("l", (finds("a", "reject", needs=("tools",)),)), (), OPENAI, None),
        (Law("l", (finds("a", "reject", needs=("tools",)),)), ("tools", "system"), OPENAI, ["a"]),
        (Law("l", (finds("a", "reject"),), (finds("b", "reject"),)), (), OPENAI, ["a"]),
        (Law("l", (finds("a", "reject"),), (finds("b", "reject"),)), (), None, ["a", "b"]),
        (Law("l", ()), (), OPENAI, None),
    ],
)
def test_a_law_counts_what_its_checks_reject(law: Law, needs: tuple[str, ...], dialect: Any, told: list[str] | None):
    found = law.findings(trial(*needs, dialect=dialect))
    assert (found if found is None else [one.message for one in found]) == told


def explored(
    monkeypatch: pytest.MonkeyPatch, *laws: Law, only: frozenset[str] = frozenset(), seconds: float = 60.0
) -> Any:
    made = (FIRST, SECOND, FIRST)
    asked: list[Any] = []
    monkeypatch.setattr(exploring, "make_requests", lambda *given: (asked.append(given), made)[1])
    one = trial()
    one.search = Search(profile=Profile(name="exam", examples=3, seconds=seconds, shrink_seconds=0.1), only=only)
    sent = Sent({}, "")
    monkeypatch.setattr(
        exploring, "_trial_of", lambda _, request: trial(dialect=OPENAI, request=request, observation=sent)
    )
    seen = exploring.explore(one, laws)
    assert asked == [("generated-conversations", 1, 3)]
    return seen


def failing_on(name: str, *requests: Request) -> Law:
    @check(f"translation.{name}", clause="It fails on some.")
    def run(one: Any) -> Any:
        if one.request in requests:
            yield Problem("no")

    return Law(name, (run,))


def test_each_law_is_run_until_it_fails_first(monkeypatch: pytest.MonkeyPatch):
    seen = explored(monkeypatch, failing_on("a", SECOND), failing_on("b"), Law("c", (finds("c", "silent"),)))
    assert (seen.judged, seen.sent) == (3, 3)
    assert (seen.first, seen.applied) == ({"a": 1}, {"a": 2, "b": 3, "c": 0})


def test_where_every_law_has_failed_no_more_is_tried(monkeypatch: pytest.MonkeyPatch):
    seen = explored(monkeypatch, failing_on("a", FIRST), failing_on("b", SECOND))
    assert (seen.judged, seen.first) == (2, {"a": 0, "b": 1})


def test_only_the_laws_that_are_asked_for_are_run(monkeypatch: pytest.MonkeyPatch):
    seen = explored(monkeypatch, failing_on("a"), failing_on("b"), only=frozenset({"b"}))
    assert seen.applied == {"b": 3}


def test_without_time_nothing_is_tried(monkeypatch: pytest.MonkeyPatch):
    assert explored(monkeypatch, failing_on("a"), seconds=-1.0).judged == 0


@pytest.mark.parametrize(
    ("family", "alone"),
    [("generated-conversations", False), ("generated-broken-conversations", True), ("generated-answers", False)],
)
def test_what_fails_shrinks_by_the_check_that_failed_first(monkeypatch: pytest.MonkeyPatch, family: str, alone: bool):  # noqa: FBT001
    failing = {"first": {"a"}, "second": {"b"}, "third": set[str](), "fourth": {"a"}}
    monkeypatch.setattr(exploring, "_failing_checks", lambda _, __, request: failing[request.prompt[0]["content"]])
    asked: list[Any] = []

    def shrink(first: Request, fails: Any, **given: Any) -> Request:
        asked.append((first, given))
        return Request([{"fails": [name for name in failing if fails(Request([{"content": name}], {}))]}], {})

    monkeypatch.setattr(exploring, "shrink", shrink)
    seen = Exploration((SECOND, FIRST), first={"l": 1})
    least = exploring._shrunk(Law("l", ()), trial(family=family), seen)
    assert least.prompt == [{"fails": ["first", "fourth"]}]
    assert asked == [(FIRST, {"seconds": 2.5, "alone": alone})]


def test_the_first_check_that_fails_is_the_one_that_shrinks(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exploring, "_trial_of", lambda one, _: one)
    law = Law("l", (finds("a"), finds("b", "reject"), finds("c", "reject")))
    assert exploring._failing_checks(law, trial(dialect=OPENAI), FIRST) == {"translation.b"}
    assert exploring._failing_checks(Law("l", (finds("a"),)), trial(dialect=OPENAI), FIRST) == set()


def told(monkeypatch: pytest.MonkeyPatch, law: Law, fallback: Request | None = None) -> list[tuple[str, str, Any]]:
    monkeypatch.setattr(exploring, "_trial_of", lambda _, request: trial(dialect=OPENAI, request=request))
    monkeypatch.setattr(exploring, "_example_of", lambda one: Example(prompt=one.request.prompt, options={}))
    found = exploring._problems(law, trial(), FIRST, fallback)
    return [(law.id, one.message, one.example and one.example.prompt) for one in found]


def test_a_finding_is_the_laws_and_names_its_check_and_the_first_one_has_the_prompt(monkeypatch: pytest.MonkeyPatch):
    assert told(monkeypatch, Law("l", (finds("a", "reject", "reject"),))) == [
        ("l", "translation.a: a", FIRST.prompt),
        ("l", "translation.a: a", None),
    ]
    assert told(monkeypatch, Law("translation.a", (finds("a", "reject"),))) == [("translation.a", "a", FIRST.prompt)]


def test_what_does_not_fail_again_is_not_pure(monkeypatch: pytest.MonkeyPatch):
    text = "it failed on a generated prompt, and passed when that was tried again: it is not pure"
    assert told(monkeypatch, Law("l", (finds("a"),)), SECOND) == [("l", text, SECOND.prompt)]
    assert told(monkeypatch, Law("l", (finds("a"),))) == []


def test_an_answer_loses_its_reasoning_where_the_dialect_has_no_place_for_it():
    plain = WrittenAnswer(content="a")
    thought = WrittenAnswer(content="a", thinking="Hm.", signature="c2ln", thinking_tokens=3)
    assert exploring._sayable(OPENAI, plain) is plain
    assert exploring._sayable(OPENAI, thought) == WrittenAnswer(content="a")
    assert exploring._sayable(DIALECTS["anthropic-messages"], thought) is thought


@pytest.mark.parametrize(
    ("family", "dialect", "thinking"),
    [
        ("generated-answers", OPENAI, ""),
        ("generated-answers", DIALECTS["anthropic-messages"], "Hm."),
        ("generated-answers", None, "Hm."),
        ("generated-dialogues", OPENAI, "Hm."),
    ],
)
def test_of_generated_answers_alone_what_cannot_be_said_is_left_out(family: str, dialect: Any, thinking: str):
    answer = {"answer": {"content": "a", "thinking": "Hm.", "signature": "c2ln"}}
    made = exploring._trial_of(trial(family=family, dialect=dialect), FIRST._replace(turns=[answer]))
    assert (made.scenario.answer.content, made.scenario.answer.thinking) == ("a", thinking)
    assert exploring._trial_of(trial(family=family, dialect=dialect), FIRST).scenario.answer is None


NOTHING = Law("l", ())


def holding(
    monkeypatch: pytest.MonkeyPatch, family: str = "generated-conversations", law: Law = NOTHING, **seen: Any
) -> Any:
    monkeypatch.setattr(exploring, "_shrunk", lambda *_: FIRST)
    monkeypatch.setattr(exploring, "_problems", lambda _, __, request, fallback=None: iter([(request, fallback)]))
    one = trial(family=family, once=lambda _: Exploration((SECOND, FIRST), **seen))
    return one, lambda: list(exploring.holds(law, one, properties._explore))


@pytest.mark.parametrize(("failing", "told"), [((FIRST, SECOND), FIRST), ((SECOND,), SECOND), ((), None)])
def test_what_is_kept_is_tried_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, failing: Any, told: Any):
    one, hold = holding(monkeypatch, law=failing_on("l", *failing), judged=1, sent=1, applied={"l": 1})
    one.search = Search(profile=PROFILE, kept=tmp_path)
    monkeypatch.setattr(exploring, "kept_for", lambda folder, law, family: iter((FIRST, SECOND)))
    monkeypatch.setattr(exploring, "_trial_of", lambda _, request: trial(dialect=OPENAI, request=request))
    assert hold() == ([] if told is None else [(told, None)])


@pytest.mark.parametrize("kept", [True, False])
def test_what_failed_is_kept_where_there_is_a_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kept: bool):  # noqa: FBT001
    one, hold = holding(monkeypatch, judged=2, sent=2, applied={"l": 2}, first={"l": 1})
    one.search = Search(profile=PROFILE, kept=tmp_path if kept else None)
    hold()
    assert len(list(tmp_path.rglob("l-*.json"))) == kept


def test_what_failed_is_told_shrunk_and_as_it_was(monkeypatch: pytest.MonkeyPatch):
    _, hold = holding(monkeypatch, judged=2, sent=2, applied={"l": 2}, first={"l": 1})
    assert hold() == [(FIRST, FIRST)]
    _, hold = holding(monkeypatch, judged=2, sent=2, applied={"l": 2}, first={"l": 0})
    assert hold() == [(FIRST, SECOND)]


@pytest.mark.parametrize(
    ("family", "seen", "why"),
    [
        (
            "generated-conversations",
            {"judged": 7, "sent": 0, "applied": {"l": 7}},
            "all of 7 generated prompts were",
        ),
        ("generated-conversations", {"judged": 7, "sent": 1}, "none of 7 generated prompts exercised this law"),
        ("generated-answers", {"judged": 7, "sent": 0}, "none of 7 generated prompts exercised this law"),
        ("generated-answers", {"judged": 7, "sent": 0, "applied": {"l": 1}}, None),
        ("generated-conversations", {"judged": 7, "sent": 1, "applied": {"l": 1}}, None),
    ],
)
def test_a_law_that_nothing_was_judged_by_does_not_apply(monkeypatch, family: str, seen: Any, why: str | None):
    _, hold = holding(monkeypatch, family, **seen)
    if why is None:
        assert hold() == []
    else:
        with pytest.raises(NotApplicable, match=why):
            hold()


class Prompt(SimpleNamespace):
    prompt: Any
    options: Any

    def call_options(self) -> Any:
        return {**self.options, "thread_id": "t"}


def test_prompts_that_differ_elsewhere_are_counted_and_the_shortest_is_shown(monkeypatch: pytest.MonkeyPatch):
    prompts: Any = [
        Prompt(prompt=["x" * size], options={"o": "y" * more}) for size, more in ((9, 0), (3, 9), (5, 0), (1, 0))
    ]
    digests = [("a", "b"), ("a", "b"), ("a", "b"), ("a", "a")]
    monkeypatch.setattr(properties, "digests_in_other_processes", lambda _, asked: digests[: len(asked)])
    (found,) = properties._disagreements(trial(), prompts)
    assert found.message == "3 of 4 prompts gave another request under another PYTHONHASHSEED"
    assert (found.example.prompt, found.example.options) == (["xxxxx"], {"o": "", "thread_id": "t"})
    monkeypatch.setattr(properties, "digests_in_other_processes", lambda *_: [("a", "a")] * 4)
    assert list(properties._disagreements(trial(), prompts)) == []


def test_an_adapter_that_no_other_process_can_make_is_not_judged_so(monkeypatch: pytest.MonkeyPatch):
    def fail(*_: Any) -> Any:
        raise ProcessFailed("it is of no module")

    monkeypatch.setattr(properties, "digests_in_other_processes", fail)
    with pytest.raises(NotApplicable, match="it is of no module"):
        list(properties._disagreements(trial(), []))


def test_other_processes_are_sent_two_hundred_prompts_at_most(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(properties, "make_requests", lambda *_: (FIRST,) * 250)
    sent: list[Any] = []
    monkeypatch.setattr(properties, "_disagreements", lambda _, scenarios: iter(sent.append(scenarios) or ()))
    assert list(properties.other_processes_agree.run(trial())) == []
    assert [len(one) for one in sent] == [200]
    assert {(one.id, one.prompt[0]["content"]) for one in sent[0]} == {("generated-conversations", "first")}


def test_a_law_is_judged_alone_on_one_prompt(monkeypatch: pytest.MonkeyPatch):
    law = next(one for one in properties.CHECKS if one.id in properties.LAWS)
    found = [Finding(check=law.id, message="no")]
    monkeypatch.setattr(properties, "LAWS", {law.id: SimpleNamespace(findings=lambda _: found)})
    assert properties.judge_alone(law, trial()) == found
    monkeypatch.setattr(properties, "LAWS", {law.id: SimpleNamespace(findings=lambda _: None)})
    assert properties.judge_alone(law, trial()) == []
    monkeypatch.setattr(properties, "_disagreements", lambda _, scenarios: map(Problem, scenarios))
    one = trial()
    assert [told.message for told in properties.judge_alone(properties.other_processes_agree, one)] == [one.scenario]
    assert [told.message for told in properties.judge_alone(finds("a", "reject"), one)] == ["a"]


JUDGED_BY = {
    "properties.answers-are-read-whole": (
        "response.answer-is-read",
        {"response.answer-can-be-appended", "response.signatures-go-back"},
        response.HELD_BY_LAWS,
    ),
    "properties.streams-say-what-answers-say": (
        "stream.answer-is-read",
        {"stream.says-what-the-whole-answer-says"},
        stream.HELD_BY_LAWS,
    ),
}


@pytest.mark.parametrize("name", JUDGED_BY)
def test_generated_answers_are_judged_by_the_laws_of_answers_but_for_their_ids(name: str):
    first, others, held = JUDGED_BY[name]
    told = [one.id for one in properties.LAWS[name].judged_by]
    ids = f"{first.partition('.')[0]}.events-carry-their-ids"
    assert told[0] == first
    assert ids in {one.id for one in held}
    assert set(told) == {first, *others, *(one.id for one in held)} - {ids}
    assert len(told) == len(set(told)) > 8
