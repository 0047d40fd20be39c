"""A whole prompt as JSON: each part has the names of the design, in camelCase, and something in it."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from art_sdk.agents.browser import GeneratedPrompt, PromptValidator
from art_sdk.json_data import is_array, is_object
from browser_agent import HOME, LOGIN, Contexts, Executor, event, manager, reflection, step

FIELDS = {
    "": "promptId sessionId stepIndex promptType content schema generatedAt metadata sections",
    "content": "systemMessage contextSection instructionSection validationSection schemaSection examplesSection",
    "content.contextSection": "currentStep executionHistory pageStates sessionMetadata",
    "content.contextSection.currentStep": "stepIndex stepContent stepType totalSteps",
    "content.contextSection.executionHistory": "previousSteps chronologicalEvents successfulActions failedActions",
    "content.contextSection.executionHistory.previousSteps.0": (
        "stepIndex stepName reasoning executorMethod status timestamp"
    ),
    "content.contextSection.executionHistory.chronologicalEvents.0": (
        "stepIndex reasoning executorMethod outcome timestamp"
    ),
    "content.contextSection.pageStates": "previousPageDom currentPageDom domComparison relevantElements",
    "content.contextSection.pageStates.domComparison": (
        "hasChanges addedElements removedElements modifiedElements summary"
    ),
    "content.contextSection.pageStates.relevantElements.0": (
        "selector elementType textContent attributes relevanceScore"
    ),
    "content.validationSection": "lastActionValidation resultAnalysis decisionFramework",
    "content.validationSection.lastActionValidation": (
        "expectedOutcome actualState validationCriteria successIndicators failureIndicators"
    ),
    "content.validationSection.lastActionValidation.validationCriteria.0": (
        "criterion evaluationMethod weight description"
    ),
    "content.validationSection.resultAnalysis": (
        "analysisInstructions comparisonPoints domAnalysisGuidance errorDetectionGuidance"
    ),
    "content.validationSection.decisionFramework": (
        "decisionOptions decisionCriteria proceedConditions retryConditions abortConditions"
    ),
    "content.validationSection.decisionFramework.decisionOptions.0": "action description conditions consequences",
}
"""By place, the names of the design. `sections` is ours: the text that these parts become."""


@pytest.fixture(scope="module")
def prompt() -> GeneratedPrompt:
    """A prompt with every part."""
    session: dict[str, Any] = {"events": [event(0)], "total_steps": 4, "metadata": {"url": "http://x/"}}
    contexts = Contexts(HOME, LOGIN, **session)
    contexts.steps = [step(0)]
    made = manager(contexts, executor=Executor())
    return asyncio.run(made.generate_reflection_prompt(reflection(prompt_options={"includeExamples": True})))


def at(data: Any, place: str) -> Any:
    for name in filter(None, place.split(".")):
        data = data[int(name)] if is_array(data) else data[name]
    return data


@pytest.mark.parametrize("place", FIELDS)
def test_each_part_of_a_prompt_has_its_fields(prompt: GeneratedPrompt, place: str):
    part = at(msgspec.json.decode(msgspec.json.encode(prompt)), place)
    assert is_object(part)
    assert set(part) == set(FIELDS[place].split())
    assert not [name for name, value in part.items() if value in (None, "", [], {})] or place.endswith("domComparison")


def test_all_three_decisions_are_options_and_values_of_the_schema(prompt: GeneratedPrompt):
    section = prompt.content.validation_section
    assert section is not None
    options = [str(one.action) for one in section.decision_framework.decision_options]
    assert options == ["PROCEED", "RETRY", "ABORT"]
    assert prompt.schema.json_schema["properties"]["decision"]["enum"] == options


def test_what_is_said_of_a_prompt_has_the_names_of_the_design_too(prompt: GeneratedPrompt):
    broken = msgspec.structs.replace(prompt, sections=prompt.sections[1:])
    result = msgspec.to_builtins(PromptValidator().validate_prompt_structure(broken))
    assert set(result) == {"isValid", "errors", "warnings", "qualityScore", "suggestions"}
    assert set(result["errors"][0]) == {"field", "message", "severity", "code"}
    scores = "clarityScore completenessScore contextRelevanceScore schemaAlignmentScore overallScore improvements"
    assert set(msgspec.to_builtins(PromptValidator().assess_prompt_quality(broken))) == set(scores.split())


def test_a_prompt_survives_json(prompt: GeneratedPrompt):
    assert msgspec.json.decode(msgspec.json.encode(prompt), type=GeneratedPrompt) == prompt
