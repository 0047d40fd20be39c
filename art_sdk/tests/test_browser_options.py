"""What is configured and asked for: the values that hold if nobody says otherwise, and what the others do."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec import structs

from art_sdk import Blueprint
from art_sdk.agents import browser
from art_sdk.agents.browser import AIPromptManager, AIPromptManagerConfig, GeneratedPrompt, PromptOptions
from browser_agent import HOME, LOGIN, Contexts, action, manager, step

CONSTANTS = {
    "PROMPT_MANAGER_VERSION": "1.0.0",
    "DEFAULT_MAX_DOM_SIZE": 100_000,
    "DEFAULT_MAX_HISTORY_STEPS": 10,
    "DEFAULT_CACHE_TTL_MS": 900_000,
    "DEFAULT_MAX_CACHE_SIZE": 50,
    "TEMPLATE_IDS": {
        "SYSTEM_MESSAGE": "system_message",
        "INITIAL_ACTION": "initial_action",
        "REFLECTION_ACTION": "reflection_action",
        "VALIDATION": "validation",
        "CONTEXT": "context",
        "SCHEMA": "schema",
    },
    "QUALITY_THRESHOLDS": {"MIN_CLARITY_SCORE": 0.7, "MIN_COMPLETENESS_SCORE": 0.8, "MIN_OVERALL_SCORE": 0.75},
}
DEFAULTS: dict[str, dict[str, Any]] = {
    "template_config": {
        "enable_custom_templates": True,
        "template_cache_enabled": True,
        "template_validation_enabled": True,
        "fallback_to_default": True,
    },
    "context_config": {
        "max_dom_size": 100_000,
        "max_history_items": 50,
        "include_timestamps": True,
        "compress_large_dom": True,
        "highlight_relevant_elements": True,
    },
    "validation_config": {
        "enable_action_validation": True,
        "enable_result_analysis": True,
        "validation_timeout_ms": 5_000,
        "require_explicit_validation": False,
    },
    "performance": {
        "prompt_cache_enabled": True,
        "cache_ttl_ms": 900_000,
        "max_cache_size": 50,
        "async_generation": True,
    },
    "logging": {"level": "INFO", "log_prompts": False},
    "timeouts": {"context_ms": 5_000, "schema_ms": 5_000, "total_ms": 15_000},
}
PROMPT_DEFAULTS = {
    "include_execution_history": True,
    "max_history_steps": 10,
    "include_dom_comparison": True,
    "include_element_context": True,
    "validation_mode": "strict",
    "reasoning_depth": "detailed",
    "include_examples": False,
    "custom_instructions": None,
}


def act(request: Any = None, config: Any = None) -> GeneratedPrompt:
    contexts = Contexts(HOME, LOGIN)
    contexts.steps = [step(0)]
    return asyncio.run(manager(contexts, config=config).generate_action_prompt(request or action(1)))


def text(prompt: GeneratedPrompt) -> str:
    return str(prompt.to_art_prompt()[-1].content)


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_constant_has_the_value_of_the_design_and_cannot_be_changed(name: str):
    value: Any = getattr(browser, name)
    assert value == CONSTANTS[name]
    if not isinstance(value, str | int):
        with pytest.raises(TypeError):
            value["x"] = "y"


@pytest.mark.parametrize("part", DEFAULTS)
def test_a_configuration_that_says_nothing_has_the_defaults(part: str):
    assert structs.asdict(getattr(AIPromptManagerConfig(), part)) == DEFAULTS[part]


def test_options_that_say_nothing_have_the_defaults():
    assert structs.asdict(browser.DEFAULT_PROMPT_OPTIONS) == PROMPT_DEFAULTS
    assert {one.name for one in structs.fields(PromptOptions)} == PROMPT_DEFAULTS.keys()


def test_no_default_is_shared_between_two_models():
    first, second = (browser.AIContextJson(session_id="s") for _ in range(2))
    first.metadata["url"] = "x"
    assert second.metadata == {}
    command = browser.CommandDefinition(name="a")
    command.parameters["type"] = "x"
    assert browser.CommandDefinition(name="a").parameters == {}


@pytest.mark.parametrize(
    ("depth", "words"),
    [
        ("basic", "one sentence."),
        ("detailed", "why this action brings it about."),
        ("comprehensive", "which other actions would do, what could go wrong with this one"),
    ],
)
def test_the_depth_of_reasoning_is_one_of_three_texts(depth: str, words: str):
    prompt = act(action(1, prompt_options={"reasoning_depth": depth}))
    assert words in prompt.content.instruction_section.reasoning_requirement
    assert words in text(prompt)


def test_custom_instructions_stand_beside_the_step():
    prompt = act(action(1, prompt_options={"custom_instructions": "Prefer links."}))
    assert prompt.content.instruction_section.custom_instructions == "Prefer links."
    assert text(prompt).count("Prefer links.") == 1


@pytest.mark.parametrize(("highlights", "line"), [(True, '*> <a href="/orders">'), (False, '<a href="/orders">')])
def test_new_and_relevant_lines_are_marked_if_that_is_wanted(*, highlights: bool, line: str):
    request = action(1, "Open your orders")
    prompt = act(request, {"context_config": {"highlight_relevant_elements": highlights}})
    dom = prompt.content.context_section.page_states.current_page_dom or ""
    assert [one.lstrip().startswith(line) for one in dom.split("\n")].count(True) == 1
    assert ("*" in dom) == highlights


@pytest.mark.parametrize(("is_kept", "compilations"), [(True, 4), (False, 8)])
def test_templates_are_compiled_once_unless_that_is_switched_off(
    *, is_kept: bool, compilations: int, monkeypatch: pytest.MonkeyPatch
):
    names: list[str] = []
    compile_ = Blueprint.compile

    def count(*given: Any, **more: Any) -> Blueprint:
        names.append(more["name"])
        return compile_(*given, **more)

    monkeypatch.setattr(Blueprint, "compile", count)
    switches = {"template_config": {"template_cache_enabled": is_kept}, "performance": {"prompt_cache_enabled": False}}
    made = manager(Contexts(), config=switches)
    _twice(made)
    assert (len(names), set(names)) == (compilations, {"system_message", "schema", "context", "initial_action"})


def _twice(made: AIPromptManager) -> None:
    async def run() -> None:
        for _ in range(2):
            await made.generate_action_prompt(action())

    asyncio.run(run())
