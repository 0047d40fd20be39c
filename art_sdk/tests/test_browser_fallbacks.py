"""Each error of the manager, where it comes from, and what takes its place."""

from __future__ import annotations

import asyncio
import pickle
from datetime import timedelta
from typing import Any

import pytest
from msgspec import structs

from art_sdk import ARTError
from art_sdk.agents.browser import (
    AccessRefused,
    ContextUnavailable,
    DomTooLarge,
    GeneratedPrompt,
    HistoryCorrupted,
    PromptManagerErrorType,
    SchemaGenerationFailed,
    TemplateNotFound,
    ValidationFailed,
    check_reply,
    read_reply,
)
from browser_agent import HOME, LOGIN, SCHEMA, Contexts, Executor, Schemas, action, manager, reflection, step


def act(contexts: Contexts | None = None, request: Any = None, **more: Any) -> GeneratedPrompt:
    return asyncio.run(manager(contexts, **more).generate_action_prompt(request or action()))


def fallbacks(prompt: GeneratedPrompt) -> list[str]:
    return (prompt.metadata or {})["fallbacks"]


def after(steps: list[Any]) -> Contexts:
    contexts = Contexts(HOME, LOGIN)
    contexts.steps = steps
    return contexts


@pytest.mark.parametrize("part", ["session", "current", "previous", "steps"])
@pytest.mark.parametrize("bad", [RuntimeError("page text"), 5])
def test_without_a_part_of_the_context_the_prompt_is_minimal(part: str, bad: Any):
    contexts = after([step(0)])
    setattr(contexts, part, bad)
    prompt = act(contexts, action(1))
    assert fallbacks(prompt) == ["minimal_context"]
    with pytest.raises((ContextUnavailable, ValidationFailed)) as caught:
        act(contexts, action(1), falls_back=False)
    assert (caught.value.session_id, caught.value.step_index) == ("s1", 1)
    assert "page text" not in str(caught.value)


def test_without_any_context_there_is_still_a_prompt():
    contexts = Contexts(RuntimeError())
    contexts.session = RuntimeError()
    prompt = act(contexts)
    assert "The page is not known." in str(prompt.to_art_prompt()[-1].content)


def test_context_that_takes_too_long_is_not_waited_for():
    contexts = Contexts()
    contexts.delay = 60
    assert fallbacks(act(contexts, config={"timeouts": {"contextMs": 1}})) == ["minimal_context"]
    with pytest.raises(ContextUnavailable, match=r"within 0\.001 s"):
        act(contexts, config={"timeouts": {"contextMs": 1}}, falls_back=False)


def test_a_context_of_another_session_is_refused():
    with pytest.raises(ContextUnavailable, match="belongs to another session"):
        act(Contexts(session_id="s2"), falls_back=False)


@pytest.mark.parametrize(
    ("schemas", "words"),
    [
        (Schemas(RuntimeError("secret")), "RuntimeError"),
        (Schemas(compatible=False), "not compatible"),
        (Schemas({"schema_id": "x"}), "version"),
        (Schemas(structs.replace(SCHEMA, json_schema={"type": "wrong"})), "not a JSON Schema: at '/type'"),
        (Schemas(structs.replace(SCHEMA, json_schema={"type": "array"})), "of the type object"),
    ],
    ids=range(5),
)
def test_without_a_usable_schema_the_basic_one_takes_its_place(schemas: Schemas, words: str):
    prompt = act(schemas=schemas)
    assert fallbacks(prompt) == ["basic_schema"]
    assert prompt.schema.schema_id == "basic-action"
    with pytest.raises(SchemaGenerationFailed, match=words) as caught:
        act(schemas=schemas, falls_back=False)
    assert "secret" not in str(caught.value)


def test_an_executor_that_fails_makes_the_basic_schema_take_its_place():
    class Broken(Executor):
        async def get_command_definitions(self) -> Any:
            raise RuntimeError

    assert fallbacks(act(executor=Broken())) == ["basic_schema"]


def test_the_basic_schema_of_a_reflection_has_the_decision():
    made = manager(after([step(0)]), Schemas(compatible=False))
    prompt = asyncio.run(made.generate_reflection_prompt(reflection()))
    assert prompt.schema.json_schema["required"] == ["reasoning", "action", "parameters", "decision"]
    reply = '```json\n{"reasoning": "", "action": "a", "parameters": {}, "decision": "RETRY"}\n```'
    assert check_reply(reply, prompt.schema) == ()
    assert check_reply("{", prompt.schema)[0].startswith("not JSON")
    assert check_reply(reply.replace("RETRY", "WAIT"), prompt.schema) == (
        '$.decision: breaks \'enum\': ["PROCEED","RETRY","ABORT"]',
    )


@pytest.mark.parametrize("reply", ['{"a": 1}', '```json\n{"a": 1}\n```', '```\n{"a": 1}\n``` '])
def test_a_reply_is_read_fenced_or_not(reply: str):
    assert read_reply(reply) == {"a": 1}


@pytest.mark.parametrize(("reply", "words"), [("I think", "Expecting value"), ("[" * 100_000, "nested too deep")])
def test_a_reply_that_is_not_json_is_a_value_error(reply: str, words: str):
    with pytest.raises(ValueError, match=words):
        read_reply(reply)


LARGE = "<ul>" + "".join(f'<li id="i{at}">{"word " * 30}</li>' for at in range(100)) + "</ul>"


def test_a_page_beyond_the_limit_is_compressed_then_truncated():
    small = {"contextConfig": {"maxDomSize": 1_000}}
    assert fallbacks(act(Contexts(LARGE), config=small)) == ["truncated_page"]
    assert fallbacks(act(Contexts(LARGE), config={"contextConfig": {"maxDomSize": 5_000}})) == ["compressed_page"]
    assert fallbacks(act(Contexts(LARGE))) == []


def test_a_page_beyond_the_parsing_bound_is_cut_first():
    prompt = act(Contexts(LARGE), config={"contextConfig": {"maxDomSize": 100}})
    assert fallbacks(prompt) == ["cut_current_page", "truncated_page"]
    twenty_times = {"contextConfig": {"maxDomSize": len(LARGE) // 20}}
    assert "cut_current_page" in fallbacks(act(Contexts(f"{LARGE}{'x' * 30}"), config=twenty_times))
    assert "cut_current_page" not in fallbacks(act(Contexts(LARGE[:-30]), config=twenty_times))


def test_a_page_that_is_nested_too_deep_is_flattened_with_a_warning():
    prompt = act(Contexts("<div>" * 600 + "x"))
    assert (prompt.metadata or {})["warnings"] == [
        "the current page is nested too deep: its deepest elements became siblings"
    ]


@pytest.mark.parametrize("limit", [1_000, 100])
def test_a_page_that_must_not_be_compressed_is_an_error(limit: int):
    config = {"contextConfig": {"maxDomSize": limit, "compressLargeDom": False}}
    with pytest.raises(DomTooLarge, match="the current page is too large") as caught:
        act(Contexts(LARGE), config=config)
    assert (caught.value.context or {})["characters"] == len(LARGE)
    assert "word" not in repr(caught.value.details)


@pytest.mark.parametrize(
    "bad",
    [
        step(0, "DONE"),
        {name: value for name, value in step(0).items() if name != "timestamp"},
        step(-1),
        step(0, timestamp="2026-05-04T12:00:00"),
        step(0, surprise=1),
        5,
    ],
)
def test_a_malformed_entry_of_the_history_is_left_out_with_a_warning(bad: Any):
    prompt = act(after([bad, step(1)]), action(2))
    assert [one.step_index for one in prompt.content.context_section.execution_history.previous_steps] == [1]
    assert "left out" in (prompt.metadata or {})["warnings"][0]


def test_entries_that_go_back_are_left_out():
    late = step(1)
    prompt = act(after([late, step(0), step(2, timestamp=step(0)["timestamp"]), step(3)]), action(4))
    assert [one.step_index for one in prompt.content.context_section.execution_history.previous_steps] == [1, 3]


def test_a_clock_may_go_back_by_a_second():
    first = step(0)["timestamp"]
    steps = [step(at, timestamp=first - timedelta(seconds=late)) for at, late in enumerate((0, 1, 3))]
    prompt = act(after(steps), action(3))
    assert [one.step_index for one in prompt.content.context_section.execution_history.previous_steps] == [0, 1]


def test_a_history_without_one_good_entry_is_an_error():
    with pytest.raises(HistoryCorrupted, match="no step of the history"):
        act(after([step(0, "DONE")]), action(1))


def test_optional_parts_are_dropped_when_the_time_is_over():
    now = 0.0

    def timer() -> float:
        nonlocal now
        now += 10
        return now

    contexts = after([step(0)])
    prompt = act(contexts, action(1), timer=timer)
    assert fallbacks(prompt) == ["simplified_prompt"]
    context = prompt.content.context_section
    assert (context.execution_history.previous_steps, context.page_states.dom_comparison) == ((), None)
    assert context.page_states.current_page_dom
    assert context.execution_history.successful_actions == 1
    assert context.page_states.relevant_elements is None
    request = reflection(prompt_options={"includeExamples": True})
    content = asyncio.run(manager(contexts, timer=timer).generate_reflection_prompt(request)).content
    assert content.examples_section is None
    assert content.validation_section is not None
    assert content.validation_section.result_analysis is None


class Refusing:
    def may_read(self, principal: str | None, session_id: str) -> bool:
        return principal == "alice"

    def may_modify_templates(self, principal: str | None) -> bool:
        return principal == "root"


def test_a_refusal_is_an_error_of_its_own_and_nothing_falls_back_from_it():
    contexts = Contexts()
    made = manager(contexts, guard=Refusing())
    with pytest.raises(AccessRefused, match="may not read the session") as caught:
        asyncio.run(made.generate_action_prompt(action(), principal="bob"))
    assert isinstance(caught.value, PermissionError)
    assert caught.value.type is None
    assert contexts.calls == []
    assert asyncio.run(made.generate_action_prompt(action(), principal="alice"))
    with pytest.raises(AccessRefused, match="may not change templates"):
        made.update_prompt_template("schema", made.get_prompt_templates().schema_template, principal="alice")


def test_explicit_validation_can_be_required():
    config = {"validationConfig": {"requireExplicitValidation": True}}
    with pytest.raises(ValidationFailed, match="needs include_validation"):
        act(after([step(0)]), action(1), config=config)
    assert act(after([step(0)]), action(1, include_validation=True), config=config)


@pytest.mark.parametrize(
    "config",
    [
        {"module_id": "other"},
        {"performanceConfig": {}},
        {"contextConfig": {"maxDomSize": 0}},
        {"timeouts": {"totalMs": -1}},
        {"contextConfig": 5},
        5,
    ],
)
def test_a_bad_configuration_is_refused(config: Any):
    with pytest.raises(ValidationFailed):
        manager(config=config)


@pytest.mark.parametrize(
    "kind",
    [TemplateNotFound, ContextUnavailable, SchemaGenerationFailed, ValidationFailed, DomTooLarge, HistoryCorrupted],
)
def test_each_error_is_of_its_type_and_survives_pickling(kind: type[Any]):
    error = kind("it broke", session_id="s", step_index=3, context={"a": 1}, cause=KeyError())
    assert isinstance(error, ARTError)
    assert error.type == PromptManagerErrorType(error.code)
    copied = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (str(copied), copied.details) == (str(error), {"session_id": "s", "step_index": 3, "context": {"a": 1}})
