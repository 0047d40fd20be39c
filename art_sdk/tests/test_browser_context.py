from __future__ import annotations

import asyncio
from typing import Any

import pytest

from art_sdk.agents.browser import GeneratedPrompt
from art_sdk.agents.browser.errors import ValidationFailed
from art_sdk.agents.browser.models import ValidationCriteria
from art_sdk.agents.browser.progress import page_facts
from art_sdk.agents.browser.validation_section import INDICATORS, check_criteria, validation_section
from browser_agent import FAILED, HOME, LOGIN, Contexts, Executor, action, event, manager, reflection, step


def act(contexts: Contexts, request: Any = None, **more: Any) -> GeneratedPrompt:
    return asyncio.run(manager(contexts, **more).generate_action_prompt(request or action(1)))


def text(prompt: GeneratedPrompt) -> str:
    return str(prompt.to_art_prompt()[-1].content)


def after(many: int, **session: Any) -> Contexts:
    contexts = Contexts(HOME, LOGIN, **session)
    contexts.steps = [step(at, "FAILED" if at % 4 == 3 else "SUCCESS") for at in range(many)]
    return contexts


def test_a_long_history_keeps_the_first_step_and_the_last_ones_and_counts_all():
    prompt = act(after(20), action(20, prompt_options={"maxHistorySteps": 4}))
    history = prompt.content.context_section.execution_history
    assert [one.step_index for one in history.previous_steps] == [0, 17, 18, 19]
    assert (history.successful_actions, history.failed_actions) == (15, 5)
    assert "do thing 0 [click] SUCCESS: because of 0\n[16 steps omitted]\n- step 18" in text(prompt)


def test_steps_that_are_not_shown_are_counted_too():
    prompt = act(after(8), action(8, prompt_options={"includeExecutionHistory": False}))
    history = prompt.content.context_section.execution_history
    assert (history.previous_steps, history.successful_actions, history.failed_actions) == ((), 6, 2)


@pytest.mark.parametrize(("known", "total", "expected"), [(5, None, 5), (0, None, 3), (5, 9, 9), (5, 1, 3)])
def test_the_number_of_steps_is_the_context_s_or_that_of_the_steps_that_are_known(
    known: int, total: int | None, expected: int
):
    session = {} if total is None else {"total_steps": total}
    assert act(after(known, **session), action(2)).content.context_section.current_step.total_steps == expected


def test_events_of_one_moment_are_in_the_order_of_their_steps_then_as_they_came():
    now = event(0)["timestamp"]
    given = [event(2, "c", timestamp=now), event(1, "a", timestamp=now), event(1, "b", timestamp=now)]
    shown = act(after(3, events=given)).content.context_section.execution_history.chronological_events
    assert [one.outcome for one in shown] == ["a", "b", "c"]


def test_events_are_in_order_and_bounded():
    events = [event(2), event(0), event(1, outcome="Error: " + "x" * 400), event(0)]
    contexts = after(1, events=events)
    prompt = act(contexts, config={"contextConfig": {"maxHistoryItems": 3}})
    shown = prompt.content.context_section.execution_history.chronological_events
    assert [one.step_index for one in shown] == [0, 1, 2]
    assert len(shown[1].outcome) == 201
    assert "[1 events omitted]" in text(prompt)


def test_long_reasonings_and_outcomes_are_cut():
    contexts = after(1, events=[event(0, "z" * 600)])
    contexts.steps = [step(0, reasoning="y" * 600)]
    history = act(contexts).content.context_section.execution_history
    assert len(history.previous_steps[0].reasoning) == 500
    assert len(history.chronological_events[0].outcome) == 300


def test_times_are_left_out_if_not_wanted():
    contexts = after(1, events=[event(0)])
    assert text(act(contexts)).count("at 2026-05-04T12:00:00") == 2
    assert "2026" not in text(act(contexts, config={"contextConfig": {"includeTimestamps": False}}))


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"includeExecutionHistory": False}, "## History"),
        ({"includeDomComparison": False}, "changes: "),
        ({"includeElementContext": False}, "relevant elements:"),
    ],
)
def test_what_is_not_wanted_is_left_out(option: dict[str, Any], words: str):
    request = action(1, "Open your orders")
    assert words in text(act(after(1), request))
    assert words not in text(act(after(1), request | {"prompt_options": option}))
    assert words not in text(act(after(1), request, config={"defaultPromptOptions": option}))


def test_a_request_s_options_come_before_those_of_the_configuration_field_by_field():
    config = {"default_prompt_options": {"reasoning_depth": "basic", "max_history_steps": 1}}
    prompt = act(after(5), action(5, prompt_options={"maxHistorySteps": 3}), config=config)
    assert len(prompt.content.context_section.execution_history.previous_steps) == 3
    assert prompt.content.instruction_section.reasoning_requirement == "one sentence."


def test_no_previous_page_means_no_comparison():
    contexts = after(1)
    contexts.previous = None
    states = act(contexts).content.context_section.page_states
    assert (states.previous_page_dom, states.dom_comparison) == (None, None)


def test_the_page_before_has_a_tenth_of_the_room():
    contexts = Contexts(HOME, "<ul>" + "<li>an entry of the list</li>" * 50)
    contexts.steps = [step(0)]
    states = act(contexts, config={"contextConfig": {"maxDomSize": 1_000}}).content.context_section.page_states
    assert states.previous_page_dom is not None
    assert len(states.previous_page_dom) <= 100


def test_the_same_page_again_is_no_change():
    contexts = after(1)
    contexts.previous = contexts.current
    comparison = act(contexts).content.context_section.page_states.dom_comparison
    assert comparison is not None
    assert not comparison.has_changes


def test_only_allowed_metadata_is_shown():
    contexts = after(1, metadata={"url": "http://x/", "account": "4711"})
    prompt = act(contexts)
    assert prompt.content.context_section.session_metadata == {"url": "http://x/"}
    assert "4711" not in text(prompt)
    assert "url: http://x/" in text(prompt)


def test_position_tabs_and_requests_are_shown():
    tabs = [{"title": "T" * 40, "url": "u", "active": at == 1} for at in range(22)]
    position = {"scrollTop": 800, "viewportHeight": 400, "pageHeight": 1600}
    facts = page_facts({"tabs": tabs, "position": position, "pendingRequests": 2})
    assert facts[0] == "position: 2.0 screens above, 1.0 screens below"
    assert facts[2] == f"tab 2: {'T' * 29}… u (this one)"
    assert facts[-2:] == ["[2 more tabs]", "requests under way: 2"]


def test_long_addresses_are_cut():
    address, tab = page_facts({"url": "u" * 300, "tabs": [{"title": "t", "url": "v" * 300}]})
    assert (len(address), len(tab)) == (len("url: ") + 200, len("tab 1: t ") + 200)


@pytest.mark.parametrize(
    "metadata", [{"tabs": 5, "position": [], "pendingRequests": "x"}, {"position": {"scrollTop": "a"}}]
)
def test_odd_metadata_does_no_harm(metadata: dict[str, Any]):
    assert act(after(1, metadata=metadata))


def test_a_plan_is_shown_with_marks():
    plan = [{"text": "a", "status": "done"}, {"text": "b", "status": "current"}, {"text": "c"}]
    assert "[x] a\n[>] b\n[ ] c" in text(act(after(1, metadata={"plan": plan})))


@pytest.mark.parametrize(
    ("many", "words"), [(4, ""), (5, "Try another way."), (8, "does not work"), (12, "Stop repeating")]
)
def test_a_repeated_action_is_pointed_out(many: int, words: str):
    shown = text(act(after(1, events=[event(0) for _ in range(many)])))
    assert ("The same action (click) was done" in shown) == bool(words)
    assert words in shown


def test_only_the_last_twenty_actions_are_searched_for_repeats():
    others = [event(at, executorMethod="fill") for at in range(1, 17)]
    assert "The same action" not in text(act(after(1, events=[*[event(0) for _ in range(5)], *others])))


def test_a_page_that_does_not_change_is_pointed_out():
    contexts = after(1)
    made = manager(contexts)

    async def run() -> list[str]:
        return [text(await made.generate_action_prompt(action(at))) for at in range(1, 7)]

    texts = asyncio.run(run())
    assert ["has not changed" in one for one in texts] == [False] * 5 + [True]


@pytest.mark.parametrize(("index", "words"), [(0, ""), (2, "1 of 4 steps are left"), (3, "This is the last step")])
def test_the_end_of_the_steps_is_pointed_out(index: int, words: str):
    shown = text(act(after(index, total_steps=4), action(index)))
    assert words in shown
    assert (" left" in shown or "last step" in shown) == bool(words)


def test_no_end_is_pointed_out_if_the_number_of_steps_is_not_known():
    assert "last step" not in text(act(after(3), action(3)))


def test_a_page_that_shows_nothing_says_so():
    assert "outline:\n[no element is visible]" in text(act(Contexts("<p hidden>x</p>"), action(0)))


def test_extracted_content_is_shown_once():
    contexts = after(1, metadata={"extractedContent": "price: 5"})
    made = manager(contexts)

    async def run() -> list[str]:
        return [text(await made.generate_action_prompt(action(at))) for at in (1, 2)]

    assert ["extracted: price: 5" in one for one in asyncio.run(run())] == [True, False]


def test_steps_that_are_left_out_may_be_summarised():
    async def summarize(steps: Any) -> str:
        return f"{len(steps)} steps\nof nothing"

    shown = text(act(after(20), action(20), summarize=summarize))
    assert "## Summary of earlier steps (unverified)" in shown
    assert "10 steps of nothing" in shown


def test_the_executor_s_commands_are_branches_of_the_schema():
    schema = act(after(1), executor=Executor()).schema.json_schema
    assert schema["properties"]["action"]["enum"] == ["click", "fill"]
    assert schema["oneOf"][0]["properties"]["parameters"]["required"] == ["selector"]


def test_examples_are_shown_if_wanted_and_valid():
    prompt = act(after(1), action(1, prompt_options={"includeExamples": True}))
    assert prompt.content.examples_section is not None
    assert '{"reasoning":"The form is filled."' in text(prompt)
    made = manager(after(1), executor=Executor())
    reflected = asyncio.run(made.generate_reflection_prompt(reflection(prompt_options={"includeExamples": True})))
    assert reflected.content.examples_section is not None
    assert '"decision":"PROCEED"' in reflected.content.examples_section.examples[0].output


def test_analysis_and_validation_can_be_switched_off():
    request = action(1, include_validation=True)
    prompt = act(after(1), request, config={"validationConfig": {"enableResultAnalysis": False}})
    assert prompt.content.validation_section is not None
    assert prompt.content.validation_section.result_analysis is None
    config = {"validation_config": {"enable_action_validation": False}}
    prompt = act(after(1), request | {"prompt_options": {"validationMode": "lenient"}}, config=config)
    assert prompt.content.validation_section is None


def test_signs_depend_on_the_method_and_can_be_replaced():
    made = validation_section(step_name="x", expected=None, actual="y", method="fill", with_analysis=True)
    assert made.last_action_validation.success_indicators == INDICATORS["fill"].success
    assert made.last_action_validation.expected_outcome == "The step 'x' has had its intended effect"
    other = validation_section(
        step_name="x", expected="z", actual="y", method="fill", with_analysis=True, indicators={}
    )
    assert other.last_action_validation.success_indicators != INDICATORS["fill"].success
    assert other.last_action_validation.expected_outcome == "z"


def test_the_state_after_an_action_says_what_changed_where_it_is_and_what_went_wrong():
    contexts = Contexts(FAILED, LOGIN, metadata={"url": "http://x/login"})
    contexts.steps = [step(0)]
    made = manager(contexts, executor=Executor("Element not clickable"))
    section = asyncio.run(made.generate_reflection_prompt(reflection(0, 0))).content.validation_section
    assert section is not None
    first, *others = section.last_action_validation.actual_state.split("\n")
    assert first.startswith("1 added, 0 removed, 0 modified")
    assert others == [
        "title: Log in",
        "url: http://x/login",
        "new message: Wrong password",
        "the executor's error: Element not clickable",
    ]


def test_a_rule_adds_criteria_whose_weights_are_scaled():
    def speed(method: str) -> list[ValidationCriteria]:
        return [ValidationCriteria(criterion=f"{method} time", evaluation_method="m", weight=1.0, description="d")]

    section = act(after(1), action(1, include_validation=True), rules=[speed]).content.validation_section
    assert section is not None
    criteria = section.last_action_validation.validation_criteria
    assert [(one.criterion, one.weight) for one in criteria] == [
        ("effect", 0.25),
        ("errors", 0.15),
        ("readiness", 0.1),
        ("click time", 0.5),
    ]


@pytest.mark.parametrize("weights", [(0.5, 0.4), (1.5, -0.5), (0.5, 0.5, 0.5)])
def test_the_weights_of_criteria_sum_to_one(weights: tuple[float, ...]):
    criteria = [
        ValidationCriteria(criterion="a", evaluation_method="b", weight=one, description="c") for one in weights
    ]
    with pytest.raises(ValidationFailed, match="weight"):
        check_criteria(criteria)
