"""How good a prompt is: its structure, and four scores of 0 to 1 that are computed, not asked of a model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol

import msgspec

from art_sdk.agents.browser.errors import TemplateRenderingFailed
from art_sdk.agents.browser.models import GeneratedPrompt, Model, PromptType
from art_sdk.agents.browser.options import QUALITY_THRESHOLDS, PromptTemplate
from art_sdk.agents.browser.pages.relevant import Relevance
from art_sdk.agents.browser.schema import explain_schema, schema_text, violations
from art_sdk.agents.browser.templates import check_values


class QualityAssessment(Model, frozen=True, kw_only=True, omit_defaults=False):
    """The scores, from 0 to 1, and what would make the prompt better."""

    clarity_score: float
    completeness_score: float
    context_relevance_score: float
    schema_alignment_score: float
    overall_score: float
    improvements: tuple[str, ...] = ()


class PromptValidationError(Model, frozen=True, kw_only=True):
    """A problem of a prompt."""

    field: str
    message: str
    severity: Literal["error", "warning"]
    code: str


class PromptValidationResult(Model, frozen=True, kw_only=True, omit_defaults=False):
    """The problems of a prompt. It is valid unless one has the severity `error`."""

    is_valid: bool
    errors: tuple[PromptValidationError, ...]
    warnings: tuple[str, ...]
    quality_score: float
    suggestions: tuple[str, ...]


class IPromptValidator(Protocol):
    """Checks prompts and templates. A manager may be given another one."""

    def validate_prompt_structure(self, prompt: GeneratedPrompt) -> PromptValidationResult:
        """What is wrong with the prompt."""
        ...

    def validate_template_variables(self, template: PromptTemplate, variables: Mapping[str, Any]) -> bool:
        """Whether the template can be rendered with these values."""
        ...

    def validate_schema_integration(self, prompt: GeneratedPrompt) -> bool:
        """Whether the prompt asks for answers of the form that it gives."""
        ...

    def assess_prompt_quality(self, prompt: GeneratedPrompt) -> QualityAssessment:
        """The scores."""
        ...


CONTEXT_BUDGET: Final = 200_000
"""Characters of a prompt's context that are searched for the words of its step."""

_SECTIONS: Final = MappingProxyType(
    {
        PromptType.INITIAL_ACTION: ("system_message", "context", "instruction", "schema"),
        PromptType.ACTION_WITH_VALIDATION: ("system_message", "context", "validation", "instruction", "schema"),
        PromptType.REFLECTION_AND_ACTION: ("system_message", "context", "validation", "instruction", "schema"),
    }
)
"""The sections that each type needs."""

_LIMITS: Final = (
    ("clarity_score", "MIN_CLARITY_SCORE", "LOW_CLARITY", "Say the step in one or two short sentences."),
    ("completeness_score", "MIN_COMPLETENESS_SCORE", "LOW_COMPLETENESS", "Give the sections that are missing."),
    ("overall_score", "MIN_OVERALL_SCORE", "LOW_QUALITY", "Give more context: page, history, expected outcome."),
)
_SENTENCES: Final = re.compile(r"[.!?]\s+|\n")


class PromptValidator:
    """The default validator."""

    def validate_prompt_structure(self, prompt: GeneratedPrompt) -> PromptValidationResult:
        """What is wrong with the prompt: missing sections, a schema that does not fit, low scores."""
        quality = self.assess_prompt_quality(prompt)
        errors = [
            _error(name, f"the section '{name}' is missing or empty", "MISSING_SECTION") for name in _missing(prompt)
        ]
        if not self.validate_schema_integration(prompt):
            errors.append(_error("schema", "the schema does not fit the rest of the prompt", "SCHEMA_MISMATCH"))
        for field, threshold, code, _ in _LIMITS:
            score, least = getattr(quality, field), QUALITY_THRESHOLDS[threshold]
            if score < least:
                errors.append(_error(field, f"{field} is {score:.2f}, below {least}", code))
        return PromptValidationResult(
            is_valid=not any(one.severity == "error" for one in errors),
            errors=tuple(errors),
            warnings=tuple(one.message for one in errors if one.severity == "warning"),
            quality_score=quality.overall_score,
            suggestions=quality.improvements,
        )

    def validate_template_variables(self, template: PromptTemplate, variables: Mapping[str, Any]) -> bool:
        """Whether each required variable is given, and all are of their types."""
        try:
            check_values(template, variables)
        except TemplateRenderingFailed:
            return False
        return True

    def validate_schema_integration(self, prompt: GeneratedPrompt) -> bool:
        """Whether the schema is one, is in the prompt, and has the decisions that the prompt offers."""
        schema = prompt.schema.json_schema
        if explain_schema(schema) is not None or prompt.content.schema_section.schema != prompt.schema:
            return False
        section = prompt.content.validation_section
        if section is None:
            return True
        offered = {str(one.action) for one in section.decision_framework.decision_options}
        decision = schema.get("properties", {}).get("decision", {})
        return "decision" in schema.get("required", ()) and set(decision.get("enum", ())) == offered

    def assess_prompt_quality(self, prompt: GeneratedPrompt) -> QualityAssessment:
        """The scores: overall is 0.25 clarity, 0.30 completeness, 0.20 context relevance, 0.25 schema alignment."""
        needed = _SECTIONS[prompt.prompt_type]
        clarity = _clarity(prompt)
        completeness = 1 - len(_missing(prompt)) / len(needed)
        relevance = _relevance(prompt)
        alignment = _alignment(prompt)
        scores = {
            "clarity_score": round(clarity, 4),
            "completeness_score": round(completeness, 4),
            "context_relevance_score": round(relevance, 4),
            "schema_alignment_score": round(alignment, 4),
            "overall_score": round(0.25 * clarity + 0.30 * completeness + 0.20 * relevance + 0.25 * alignment, 4),
        }
        improvements = tuple(
            f"{code}: {advice}" for field, name, code, advice in _LIMITS if scores[field] < QUALITY_THRESHOLDS[name]
        )
        return QualityAssessment(**scores, improvements=improvements)


def _error(field: str, message: str, code: str) -> PromptValidationError:
    return PromptValidationError(field=field, message=message, severity="error", code=code)


def _texts(prompt: GeneratedPrompt) -> dict[str, str]:
    return {one.name: one.text for one in prompt.sections}


def _missing(prompt: GeneratedPrompt) -> list[str]:
    texts = _texts(prompt)
    empty = {name for name in _SECTIONS[prompt.prompt_type] if not texts.get(name, "").strip()}
    if not prompt.content.instruction_section.step_instruction.strip():
        empty.add("instruction")
    return sorted(empty)


def _clarity(prompt: GeneratedPrompt) -> float:
    """1, less what makes the instruction hard to follow. What it quotes of the step is not searched for tags."""
    step = prompt.content.instruction_section.step_instruction
    instruction = _texts(prompt).get("instruction", "")
    own = instruction.replace(step, "") if step else instruction
    sentences = [one.split() for one in _SENTENCES.split(instruction) if one.split()]
    mean = sum(map(len, sentences)) / len(sentences) if sentences else 0
    paragraphs = Counter(one.strip() for one in instruction.split("\n\n") if one.strip())
    repeated = sum(many - 1 for many in paragraphs.values())
    score = 1 - 0.5 * ("{{" in own) - 0.2 * (not 20 <= len(instruction) <= 4_000) - 0.1 * (mean > 40) - 0.1 * repeated
    return max(0.0, score)


def _relevance(prompt: GeneratedPrompt) -> float:
    """The weighted share of the step's words that page, history and elements have."""
    context = prompt.content.context_section
    if not any((context.page_states.current_page_dom, context.execution_history.previous_steps)):
        return 1.0  # nothing was asked for
    lines = _texts(prompt).get("context", "")[:CONTEXT_BUDGET].split("\n")
    relevance = Relevance(context.current_step.step_content, lines)
    return relevance.share(frozenset[str]().union(*relevance.found))


def _alignment(prompt: GeneratedPrompt) -> float:
    schema = prompt.schema.json_schema
    text = _texts(prompt).get("schema", "")
    if explain_schema(schema) is not None:
        return 0.3 * bool(text.strip())
    examples = prompt.content.examples_section
    outputs = [] if examples is None else [one.output for one in examples.examples]
    return (
        0.4
        + 0.3 * (schema_text(prompt.schema) in text)
        + 0.2 * all(not violations(msgspec.json.decode(one), prompt.schema) for one in outputs)
        + 0.1 * all(str(name) in text for name in schema.get("required", ()))
    )
