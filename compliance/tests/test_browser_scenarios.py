from __future__ import annotations

import pytest

from art_sdk.agents.browser import GeneratedPrompt, PromptType
from browser_scenarios import FOLDER, file_text, scenarios

FALLBACKS = {
    "browser-minimal-context": ["minimal_context"],
    "browser-simplified": ["simplified_prompt"],
    "browser-basic-schema": ["basic_schema"],
    "browser-initial-large": ["truncated_page"],
    "browser-validated-large": ["truncated_page"],
    "browser-reflection-large": ["truncated_page"],
}
TYPES = {
    "browser-initial": PromptType.INITIAL_ACTION,
    "browser-continuation": PromptType.INITIAL_ACTION,
    "browser-validated": PromptType.ACTION_WITH_VALIDATION,
    "browser-reflection": PromptType.REFLECTION_AND_ACTION,
    "browser-initial-large": PromptType.INITIAL_ACTION,
    "browser-validated-large": PromptType.ACTION_WITH_VALIDATION,
    "browser-reflection-large": PromptType.REFLECTION_AND_ACTION,
}

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # other tests run the same lines


@pytest.fixture(scope="module")
def built() -> dict[str, tuple[str, GeneratedPrompt]]:
    return {name: (purpose, prompt) for name, purpose, prompt in scenarios()}


def test_the_scenarios_are_the_prompts_that_the_manager_builds(built: dict[str, tuple[str, GeneratedPrompt]]):
    for name, (purpose, prompt) in built.items():
        assert (FOLDER / f"{name}.json").read_text("utf-8") == file_text(purpose, prompt), "run make payloads"


def test_the_fallbacks_are_those_that_the_scenarios_are_about(built: dict[str, tuple[str, GeneratedPrompt]]):
    found = {name: (prompt.metadata or {})["fallbacks"] for name, (_, prompt) in built.items()}
    assert found == {name: FALLBACKS.get(name, []) for name in found}


def test_each_type_of_prompt_is_there_small_and_with_100_000_characters(
    built: dict[str, tuple[str, GeneratedPrompt]],
):
    assert {name: built[name][1].prompt_type for name in TYPES} == TYPES
    sizes = {name: sum(len(one.text) for one in built[name][1].sections) for name in TYPES}
    assert {name for name, size in sizes.items() if 100_000 <= size < 110_000} == {
        name for name in TYPES if name.endswith("-large")
    }
    assert max(size for name, size in sizes.items() if not name.endswith("-large")) < 10_000
