"""How a law over generated prompts is judged: which checks speak, what is shrunk by what, and what is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from art_compliance import judge_scenario
from art_compliance.checks import NotApplicable
from art_compliance.checks.properties.kept import folder_of, keep
from art_compliance.findings import Finding
from art_compliance.generating.profiles import Profile, Search
from art_compliance.generating.requests import FAMILIES, Request
from art_compliance.generating.searching import make_requests
from art_compliance.miniatures import find_miniature
from art_compliance.miniatures.base import Events, change_events
from art_compliance.run.results import Result
from art_compliance.run.selection import Selection
from art_sdk import AnthropicAdapter, OpenAIAdapter
from trials import answer_events, call_of, run_check, scripted, spoiled, token_event, translating, translator

WHOLE, BROKEN, ANSWERS, DIALOGUES = (
    f"generated-{kind}" for kind in ("conversations", "broken-conversations", "answers", "dialogues")
)
OUTCOME, LOST, PURE = (
    f"properties.{law}" for law in ("every-prompt-has-an-outcome", "nothing-is-lost", "translation-is-pure")
)


def passed(
    law: str,
    make: Any,
    family: str = WHOLE,
    *,
    examples: int = 20,
    seconds: float = 60.0,
    shrink_seconds: float = 1.5,
    kept: Path | None = None,
    alone: bool = True,
) -> Result:
    """The law's result on some generated requests; `alone` without the other laws of their family."""
    profile = Profile(name="exam", examples=examples, seconds=seconds, shrink_seconds=shrink_seconds)
    selection = Selection(checks=(law,)) if alone else Selection()
    return run_check(
        law, make, FAMILIES[family], search=Search(profile=profile, kept=kept), selection=selection, seed=7
    )


def checks_named(result: Result) -> set[str]:
    """The checks that the findings of a law name."""
    return {one.message.partition(": ")[0] for one in result.findings}


def crashing(is_wrong: Callable[[Any], bool], count: list[Any] | None = None) -> Any:
    """An adapter that raises for some prompts."""

    def translate(payload: Any, prompt: Any, _: Any) -> Any:
        if count is not None:
            count.append(prompt)
        if is_wrong(prompt):
            raise OSError("no place for it")
        return payload

    return translating(translate)


def test_a_good_adapter_is_judged_on_every_prompt_that_the_law_says_something_of():
    result = passed(OUTCOME, OpenAIAdapter, examples=5)
    assert (result.verdict, result.judged) == ("pass", 5)
    some = passed("properties.result-order-does-not-matter", OpenAIAdapter, examples=20)
    assert some.verdict == "pass"
    assert 0 < (some.judged or 0) < 20


def test_without_a_dialect_a_law_is_judged_by_the_checks_that_need_none():
    empty = passed(LOST, translator(lambda *_: {"messages": []}, dialect=None), shrink_seconds=0.1)
    assert checks_named(empty)
    assert all(name.startswith("translation.canary-") for name in checks_named(empty))
    known = passed(LOST, translating(lambda payload, *_: {**payload, "messages": []}), shrink_seconds=0.1)
    assert checks_named(known)
    assert not any(name.startswith("translation.canary-") for name in checks_named(known))


def test_the_first_finding_alone_has_the_prompt_and_what_it_gave():
    result = passed(LOST, translating(lambda payload, *_: {**payload, "messages": []}))
    first, *others = [one.example for one in result.findings]
    assert first is not None
    assert first.payload["messages"] == []
    assert others == [None] * len(others)


def test_a_law_that_failed_is_not_tried_any_more():
    first: list[Any] = []
    passed(OUTCOME, crashing(lambda _: len(first) == 3, first), examples=40, shrink_seconds=0.0)
    assert len(first) < 40


def test_only_the_selected_laws_are_run():
    alone: list[Any] = []
    assert passed(OUTCOME, crashing(lambda _: False, alone), examples=5).verdict == "pass"
    among_others: list[Any] = []
    assert passed(OUTCOME, crashing(lambda _: False, among_others), examples=5, alone=False).verdict == "pass"
    assert len(alone) < len(among_others)


def test_without_time_nothing_is_tried():
    result = passed(OUTCOME, OpenAIAdapter, seconds=-1.0)
    assert (result.verdict, result.judged) == ("not applicable", 0)
    assert "all of 0 generated prompts were refused" in str(result.reason)


class Refusal(Exception):
    code = "PROMPT_TRANSLATION_FAILED"


def refuses(is_refused: Callable[[Any], bool]) -> Any:
    def translate(payload: Any, prompt: Any, _: Any) -> Any:
        if is_refused(prompt):
            raise Refusal
        return payload

    return translating(translate)


SILENT = scripted(answer_events(), capabilities={"tools"})


def has_calls(prompt: Any) -> bool:
    return any(message.get("tool_calls") or message["role"] == "tool_request" for message in prompt)


NOT_EXERCISED = "generated prompts exercised this law"


@pytest.mark.parametrize(
    ("law", "family", "make", "judged", "reason"),
    [
        (LOST, WHOLE, refuses(lambda _: True), 20, "all of 20 generated prompts were refused"),
        ("properties.tool-means-tool-result", WHOLE, refuses(has_calls), 0, f"none of 20 {NOT_EXERCISED}"),
        ("properties.chunks-change-nothing", ANSWERS, SILENT, 0, f"none of 7 {NOT_EXERCISED}"),
    ],
)
def test_a_law_that_nothing_was_judged_by_does_not_apply(law: str, family: str, make: Any, judged: int, reason: str):
    result = passed(law, make, family)
    assert (result.verdict, result.judged) == ("not applicable", judged)
    assert reason in str(result.reason)


@pytest.mark.unmeasured
def test_what_fails_shrinks_by_the_check_that_failed_first():
    """Of longer prompts the adapter loses the system text, of a single message what the user says."""

    def lose(payload: Any, prompt: Any, _: Any) -> Any:
        lost = "user" if len(prompt) == 1 else "system"
        return {**payload, "messages": [one for one in payload["messages"] if one["role"] != lost]}

    result = passed(LOST, translating(lose), examples=60)
    (example,) = [one.example for one in result.findings if one.example]
    if "translation.system-text-survives" in checks_named(result):
        assert len(example.prompt) == 2
    else:
        assert len(example.prompt) == 1


@pytest.mark.unmeasured
@pytest.mark.parametrize(("family", "roles"), [(WHOLE, 2), (BROKEN, 1)])
def test_a_result_shrinks_with_its_call_unless_the_conversation_is_broken_anyway(family: str, roles: int):
    def translate(prompt: Any, _: Any) -> Any:
        return {"text": [message["content"] for message in prompt if message["role"] != "tool_result" or int("no")]}

    result = passed(OUTCOME, translator(translate), family, examples=60)
    (example,) = [one.example for one in result.findings if one.example]
    assert len(example.prompt) == roles


def test_what_does_not_fail_again_is_not_pure():
    count: list[Any] = []
    once = crashing(lambda _: len(count) == 3, count)
    (found,) = passed(OUTCOME, once).findings
    assert "translate is not deterministic" in found.message
    assert found.example is not None
    assert found.example.prompt in [message["content"] and prompt for prompt in count[:3] for message in prompt[:1]]


def said(text: str) -> Request:
    return Request([{"role": "user", "content": text}], {})


@pytest.mark.parametrize(
    ("wrong", "example"), [({"first", "second"}, "first"), ({"second"}, "second"), (set[str](), None)]
)
def test_what_is_kept_is_tried_first(tmp_path: Path, wrong: set[str], example: str | None):
    for text in ("first", "second"):
        keep(folder_of(tmp_path, "adapter"), OUTCOME, WHOLE, said(text))
    tried: list[Any] = []
    adapter = crashing(lambda prompt: prompt[0]["content"] in wrong, tried)
    result = passed(OUTCOME, adapter, examples=3, kept=tmp_path)
    shown = [one.example.prompt[0]["content"] for one in result.findings if one.example]
    assert (result.verdict, shown in ([], [example], ["second"])) == ("fail" if wrong else "pass", True)
    assert {one[0]["content"] for one in tried[:2]} <= {"first", "second"}
    assert len(wrong) != 1 or shown == [example]


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_failing_prompt_is_kept_if_there_is_a_folder(tmp_path: Path, is_kept: bool):  # noqa: FBT001
    result = passed(OUTCOME, crashing(lambda _: True), kept=tmp_path if is_kept else None)
    paths = list(tmp_path.rglob(f"{OUTCOME}-*.json"))
    assert len(paths) == is_kept
    prompts = [json.loads(path.read_text(encoding="utf-8"))["prompt"] for path in paths]
    assert prompts == [one.example.prompt for one in result.findings if one.example][: len(paths)]


@pytest.mark.parametrize(("make", "has_reasoning"), [(OpenAIAdapter, False), (AnthropicAdapter, True)])
def test_generated_answers_lose_their_reasoning_where_the_dialect_has_no_place_for_it(make: Any, has_reasoning: bool):  # noqa: FBT001
    thoughts: list[str] = []

    def note(events: Events) -> Events:
        thoughts.extend(one["text"] for one in events if one.get("token_type") == "LLM_THINKING")
        return events

    result = passed(
        "properties.answers-are-read-whole", spoiled(lambda one: change_events(one, note), make), ANSWERS, examples=60
    )
    assert (result.verdict, result.judged) == ("pass", 20)
    assert bool(thoughts) is has_reasoning


BAD = [
    {"type": "METADATA", "metadata": {"stop_reason": "no", "input_tokens": -1}},
    token_event("Never said, thoughts and all."),
    {"type": "TOOL_CALL", "call": call_of("none", "nothing")},
    {
        "type": "END",
        "finish": "no",
        "thread_id": "another",
        "message": {"role": "user", "content": "Never said.", "tool_calls": [call_of("none", "nothing")], "name": "x"},
    },
]
OF_ANSWERS = {
    "events-keep-their-order",
    "text-is-whole",
    "calls-are-whole",
    "finish-is-reported",
    "usage-is-reported",
    "message-is-standard",
}


@pytest.mark.parametrize(
    ("law", "stage"),
    [
        ("properties.answers-are-read-whole", "response"),
        ("properties.streams-equal-answers", "stream"),
    ],
)
def test_generated_answers_are_judged_by_the_laws_of_answers_but_for_their_ids(law: str, stage: str):
    def bad(_: Any, options: Any) -> Events:
        return BAD if stage == "response" or options.get("stream") else answer_events()

    result = passed(law, scripted(bad, dialect="openai-chat"), ANSWERS, shrink_seconds=0.0)
    assert checks_named(result) == {f"{stage}.{name}" for name in OF_ANSWERS}


HASHED = find_miniature("orders-by-hash").of(OpenAIAdapter)
AGREE = "properties.other-processes-agree"


@pytest.mark.unmeasured
def test_prompts_that_differ_in_other_processes_are_counted_and_the_shortest_is_shown():
    (found,) = passed(AGREE, HASHED, examples=20).findings
    (count,) = re.findall(r"(\d+) of 20 prompts", found.message)
    assert found.example is not None
    sizes = sorted(len(str(one.prompt)) + len(str(one.options)) for one in make_requests(WHOLE, 7, 20))
    thread = len(str({"thread_id": "scenario-generated-conversations"}))
    least = len(str(found.example.prompt)) + len(str(found.example.options))
    assert least <= sizes[20 - int(count)] + thread


def test_an_adapter_that_no_other_process_can_make_is_not_judged_there():
    class Local(OpenAIAdapter):
        pass

    assert "another process" in str(passed(AGREE, Local, examples=1).reason)


def judged_alone(check: str, make: Any, path: Path) -> list[Finding]:
    scenario = {
        "purpose": "What an adapter stumbles over.",
        "prompt": [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}],
        "options": {"temperature": 0.5, "top_p": 0.5, "max_tokens": 9, "stop": ["z"]},
        "outcomes": {"default": ["exact"]},
    }
    (path / "one.json").write_text(json.dumps(scenario), encoding="utf-8")
    return judge_scenario(make, path / "one.json", check=check)


def test_a_law_is_judged_alone_on_one_prompt(tmp_path: Path):
    wrong = find_miniature("drops-system-messages").of(OpenAIAdapter)
    survives = "translation.system-text-survives"
    (lost,) = judged_alone(LOST, wrong, tmp_path)
    assert lost.check == LOST
    assert lost.message.startswith(f"{survives}: ")
    assert judged_alone(LOST, OpenAIAdapter, tmp_path) == []
    (found,) = judged_alone(AGREE, HASHED, tmp_path)
    assert "1 of 1 prompts" in found.message
    assert [one.check for one in judged_alone(survives, wrong, tmp_path)] == [survives]
    with pytest.raises(NotApplicable):
        judged_alone("response.answer-is-read", OpenAIAdapter, tmp_path)
