"""Each time limit bounds its part of a prompt, and sections are built at the same time unless that is switched off."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from art_sdk.agents.browser import GeneratedPrompt, PromptValidationResult, PromptValidator, ValidationFailed
from art_sdk.contributors import DynamicContributor
from browser_agent import HOME, LOGIN, SCHEMA, Contexts, Executor, Schemas, action, manager, step


def act(contexts: Contexts, index: int, config: Any, **more: Any) -> GeneratedPrompt:
    request = action(index, prompt_options={"maxHistorySteps": 1})

    async def run() -> GeneratedPrompt:
        async with asyncio.timeout(60):  # without its own limit, a prompt would wait for ever
            return await manager(contexts, config=config, **more).generate_action_prompt(request)

    return asyncio.run(run())


def metadata(prompt: GeneratedPrompt) -> dict[str, Any]:
    assert prompt.metadata is not None
    return prompt.metadata


def after(steps: int) -> Contexts:
    contexts = Contexts(HOME, LOGIN)
    contexts.steps = [step(at) for at in range(steps)]
    return contexts


async def never(*_: object) -> Any:
    await asyncio.Event().wait()


class Blocked(PromptValidator):
    """A validator that does not come back until the test is over."""

    def __init__(self) -> None:
        self.end = threading.Event()

    def validate_prompt_structure(self, prompt: GeneratedPrompt) -> PromptValidationResult:
        self.end.wait(60)
        return super().validate_prompt_structure(prompt)


@pytest.fixture
def blocked() -> Iterator[Blocked]:
    validator = Blocked()
    yield validator
    validator.end.set()


def generate(validator: Blocked, mode: str) -> GeneratedPrompt:
    made = manager(Contexts(), config={"validationConfig": {"validationTimeoutMs": 1}}, validator=validator)

    async def run() -> GeneratedPrompt:
        try:
            return await made.generate_action_prompt(action(prompt_options={"validation_mode": mode}))
        finally:
            validator.end.set()  # the loop waits for its threads when it is closed

    return asyncio.run(run())


def test_a_validator_that_takes_too_long_fails_a_strict_prompt(blocked: Blocked):
    with pytest.raises(ValidationFailed, match=r"not checked within 0\.001 s"):
        generate(blocked, "strict")


def test_a_validator_that_takes_too_long_is_a_warning_in_lenient_mode(blocked: Blocked):
    found = metadata(generate(blocked, "lenient"))
    assert found["quality"] is None
    assert "the prompt was not checked within 0.001 s" in found["warnings"]


def test_the_executor_s_last_error_is_not_waited_for_too_long():
    class Stuck(Executor):
        async def get_last_error(self, session_id: str) -> str | None:
            return await never()

    config = {"timeouts": {"contextMs": 50}}
    warnings = metadata(act(after(1), 1, config, executor=Stuck()))["warnings"]
    assert "the executor's last error is not known: TimeoutError" in warnings


def test_a_summary_is_not_waited_for_too_long():
    warnings = metadata(act(after(3), 3, {"timeouts": {"contextMs": 50}}, summarize=never))["warnings"]
    assert "the summary of earlier steps took too long; left out" in warnings


def test_contributors_are_not_waited_for_too_long():
    stuck = DynamicContributor("stuck", 10, never)
    prompt = act(Contexts(), 0, {"timeouts": {"contextMs": 50}}, contributors=[stuck])
    assert "the contributors took too long; left out" in metadata(prompt)["warnings"]
    assert "You control a web browser" in prompt.content.system_message


def test_a_schema_is_not_waited_for_too_long():
    class Stuck(Schemas):
        async def get_response_schema(self, options: Any = None) -> Any:
            return await never()

    prompt = act(Contexts(), 0, {"timeouts": {"schemaMs": 1}}, schemas=Stuck())
    assert metadata(prompt)["fallbacks"] == ["basic_schema"]


@pytest.mark.parametrize("at_once", [True, False])
def test_sections_are_built_at_the_same_time_unless_that_is_switched_off(at_once: bool):  # noqa: FBT001 - a parameter
    order: list[str] = []
    schema_began = asyncio.Event()

    class Noting(Schemas):
        async def get_response_schema(self, options: Any = None) -> Any:
            order.append("schema")
            schema_began.set()
            return SCHEMA

    async def date(_: object) -> str:
        order.append("system")
        if at_once:
            await schema_began.wait()
        await asyncio.sleep(0)
        order.append("system is done")
        return "Today is Monday."

    config = {"performance": {"asyncGeneration": at_once}}
    prompt = act(Contexts(), 0, config, schemas=Noting(), contributors=[DynamicContributor("date", 10, date)])
    assert (order.index("schema") < order.index("system is done")) == at_once
    assert metadata(prompt)["warnings"] == []


def test_a_section_that_fails_ends_the_others():
    class Noting(Schemas):
        cancelled = False

        async def get_response_schema(self, options: Any = None) -> Any:
            try:
                await never()
            except asyncio.CancelledError:
                self.cancelled = True
                raise

    schemas = Noting()
    config = {"contextConfig": {"compressLargeDom": False, "maxDomSize": 10}}
    with pytest.raises(Exception, match="too large"):
        act(Contexts(), 0, config, schemas=schemas)
    assert schemas.cancelled
