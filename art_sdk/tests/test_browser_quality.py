from __future__ import annotations

import asyncio
from sys import getsizeof
from typing import Any

import pytest
from msgspec import structs

from art_sdk.agents.browser import GeneratedPrompt, PromptValidator, ValidationFailed
from browser_agent import HOME, LOGIN, Contexts, action, manager, reflection, step


def prompt_of(content: str = "Open your orders", page: str = HOME) -> GeneratedPrompt:
    return asyncio.run(manager(Contexts(page)).generate_action_prompt(action(0, content)))


def reflected() -> GeneratedPrompt:
    contexts = Contexts(HOME, LOGIN)
    contexts.steps = [step(0)]
    return asyncio.run(manager(contexts).generate_reflection_prompt(reflection()))


def without(prompt: GeneratedPrompt, name: str) -> GeneratedPrompt:
    return structs.replace(prompt, sections=tuple(one for one in prompt.sections if one.name != name))


def with_instruction(prompt: GeneratedPrompt, text: str) -> GeneratedPrompt:
    sections = [structs.replace(one, text=text) if one.name == "instruction" else one for one in prompt.sections]
    return structs.replace(prompt, sections=tuple(sections))


def test_a_good_prompt_has_full_marks():
    result = PromptValidator().validate_prompt_structure(reflected())
    assert (result.is_valid, result.errors, result.quality_score) == (True, (), 1.0)


@pytest.mark.parametrize("name", ["system_message", "context", "instruction", "schema"])
def test_a_missing_section_costs_completeness(name: str):
    result = PromptValidator().validate_prompt_structure(without(prompt_of(), name))
    quality = PromptValidator().assess_prompt_quality(without(prompt_of(), name))
    assert quality.completeness_score == 0.75
    assert not result.is_valid
    assert {"MISSING_SECTION", "LOW_COMPLETENESS"} <= {one.code for one in result.errors}
    assert any(one.startswith("LOW_COMPLETENESS: ") for one in result.suggestions)


@pytest.mark.parametrize(
    ("text", "clarity"),
    [
        ("Open your orders and look. " * 2, 1.0),
        ("Open your orders {{unresolved}}", 0.5),
        ("Open it.", 0.8),
        ("Open your orders. " * 300, 0.8),
        ("open " * 60 + "your orders", 0.9),
        ("Open your orders now.\n\n" * 3, 0.8),
    ],
)
def test_what_makes_an_instruction_hard_to_follow_costs_clarity(text: str, clarity: float):
    assert PromptValidator().assess_prompt_quality(with_instruction(prompt_of(), text)).clarity_score == clarity


def test_braces_in_the_step_itself_are_no_unresolved_tag():
    assert PromptValidator().assess_prompt_quality(prompt_of("Type {{name}} into the field")).clarity_score == 1.0


def test_relevance_is_the_share_of_the_step_s_words_on_the_page():
    scores = [
        PromptValidator().assess_prompt_quality(prompt_of(step_)).context_relevance_score
        for step_ in ("Open your orders", "Open your invoices", "Delete accounts", "Click it")
    ]
    assert scores[0] == scores[3] == 1.0
    assert 0 < scores[1] < 1
    assert scores[2] == 0


def test_the_scores_have_their_weights():
    clear = PromptValidator().assess_prompt_quality(with_instruction(prompt_of(), "Open it."))
    assert (clear.clarity_score, clear.overall_score) == (0.8, 0.95)
    whole = PromptValidator().assess_prompt_quality(without(prompt_of("Delete accounts"), "system_message"))
    assert (whole.completeness_score, whole.context_relevance_score, whole.overall_score) == (0.75, 0, 0.725)


def test_a_prompt_without_the_text_of_its_schema_is_not_aligned_with_it():
    prompt = prompt_of()
    sections = [structs.replace(one, text='reasoning, action, parameters: "type"') for one in prompt.sections]
    changed = structs.replace(prompt, sections=tuple(sections))
    assert PromptValidator().assess_prompt_quality(changed).schema_alignment_score == 0.7


def test_a_decision_that_the_schema_lacks_is_a_mismatch():
    prompt = reflected()
    bare = structs.replace(prompt.schema, json_schema={"type": "object"})
    section = structs.replace(prompt.content.schema_section, schema=bare)
    changed = structs.replace(prompt, schema=bare, content=structs.replace(prompt.content, schema_section=section))
    assert not PromptValidator().validate_schema_integration(changed)
    assert PromptValidator().validate_schema_integration(prompt)
    assert not PromptValidator().validate_schema_integration(structs.replace(prompt, schema=bare))


@pytest.mark.parametrize(
    ("schema", "score"), [({"type": "nonsense"}, 0.3), ({"type": "object", "required": ["nowhere_in_the_prompt"]}, 0.6)]
)
def test_a_schema_that_does_not_fit_costs_alignment(schema: dict[str, Any], score: float):
    prompt = prompt_of()
    changed = structs.replace(prompt, schema=structs.replace(prompt.schema, json_schema=schema))
    assert PromptValidator().assess_prompt_quality(changed).schema_alignment_score == score


@pytest.mark.parametrize("mode", ["strict", "lenient"])
def test_a_prompt_that_is_not_good_enough_fails_or_warns(mode: str):
    made = manager(Contexts(HOME))
    template = made.get_prompt_templates().action_prompt_template
    text = template.template.replace("Choose the one action", "{{=<% %>=}}{{<%={{ }}=%>" + "Choose the one action")
    made.update_prompt_template("initial_action", structs.replace(template, template=text, version="1.1.0"))
    request = action(0, "Open your orders", prompt_options={"validation_mode": mode})
    if mode == "strict":
        with pytest.raises(ValidationFailed, match=r"clarity_score is 0\.50, below 0\.7") as caught:
            asyncio.run(made.generate_action_prompt(request))
        assert caught.value.context == {"codes": ["LOW_CLARITY"]}
    else:
        prompt = asyncio.run(made.generate_action_prompt(request))
        assert "clarity_score is 0.50" in str((prompt.metadata or {})["warnings"])
        assert not made.validate_prompt_structure(prompt).is_valid


def test_sizes_and_tokens_are_in_the_metadata():
    prompt = prompt_of()
    metadata = prompt.metadata or {}
    assert metadata["promptChars"] == sum(len(one.text) for one in prompt.sections)
    assert metadata["estTokens"]["schema"] == -(-len(prompt.sections[1].text) // 4)
    assert metadata["sizes"]["current_html"] == len(HOME)
    assert getsizeof(HOME) < metadata["sizes"]["current_bytes"] < 100 * len(HOME)
    assert metadata["quality"] == 1.0
