"""The parts of a prompt. Fields are snake_case in Python and camelCase in JSON; reading takes both."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct

from art_sdk.messages import ArtStandardPrompt, ImagePart, SystemMessage, TextPart, UserMessage


class Model(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, rename="camel"):
    """The base of all of them."""


class PromptType(StrEnum):
    """What a prompt asks for: a first action, or one after looking at what the last one did."""

    INITIAL_ACTION = "INITIAL_ACTION"
    ACTION_WITH_VALIDATION = "ACTION_WITH_VALIDATION"
    REFLECTION_AND_ACTION = "REFLECTION_AND_ACTION"


class ExecutionStatus(StrEnum):
    """What became of a step."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    SKIPPED = "SKIPPED"


class DecisionAction(StrEnum):
    """What to do after looking at the last action's result."""

    PROCEED = "PROCEED"
    RETRY = "RETRY"
    ABORT = "ABORT"


StepType = Literal["initial", "continuation", "validation"]


class StepContext(Model, frozen=True, kw_only=True, omit_defaults=False):
    """The step that the prompt is for. Indexes begin at 0."""

    step_index: int
    step_content: str
    step_type: StepType
    total_steps: int


class StepExecutionSummary(Model, frozen=True, kw_only=True):
    """A step that was executed. The timestamp is aware."""

    step_index: int
    step_name: str
    reasoning: str
    executor_method: str
    status: ExecutionStatus
    timestamp: datetime


class ExecutionEventSummary(Model, frozen=True, kw_only=True):
    """One thing that happened. The timestamp is aware."""

    step_index: int
    reasoning: str
    executor_method: str
    outcome: str
    timestamp: datetime


class ExecutionHistorySection(Model, frozen=True, kw_only=True, omit_defaults=False):
    """What happened so far. The counts are of all steps, also of those that are not listed."""

    previous_steps: tuple[StepExecutionSummary, ...] = ()
    chronological_events: tuple[ExecutionEventSummary, ...] = ()
    successful_actions: int = 0
    failed_actions: int = 0


class DomComparisonResult(Model, frozen=True, kw_only=True, omit_defaults=False):
    """What changed on the page: each item is a selector, the element's text, and what is different."""

    has_changes: bool
    added_elements: tuple[str, ...]
    removed_elements: tuple[str, ...]
    modified_elements: tuple[str, ...]
    summary: str


class ElementContext(Model, frozen=True, kw_only=True):
    """An element that matters to the step. The score is from 0 to 1."""

    selector: str
    element_type: str
    text_content: str | None = None
    attributes: dict[str, str] | None = None
    relevance_score: float


class PageStateSection(Model, frozen=True, kw_only=True):
    """The page now and before: outlines, not HTML."""

    previous_page_dom: str | None = None
    current_page_dom: str | None = None
    dom_comparison: DomComparisonResult | None = None
    relevant_elements: tuple[ElementContext, ...] | None = None


class ContextSection(Model, frozen=True, kw_only=True):
    """The session: the step, what happened before it, and the page."""

    current_step: StepContext
    execution_history: ExecutionHistorySection
    page_states: PageStateSection
    session_metadata: dict[str, Any] | None = None


class InstructionSection(Model, frozen=True, kw_only=True):
    """What to do now."""

    step_instruction: str
    guidelines: tuple[str, ...]
    reasoning_requirement: str
    custom_instructions: str | None = None


class ResponseSchema(Model, frozen=True, kw_only=True):
    """The JSON Schema (draft 2020-12) of a reply, and example replies."""

    schema_id: str
    version: str
    json_schema: dict[str, Any]
    examples: tuple[dict[str, Any], ...] = ()


class SchemaSection(Model, frozen=True, kw_only=True):
    """The response schema, and how the prompt explains it."""

    schema: ResponseSchema
    schema_version: str
    format_instructions: str
    rules: tuple[str, ...]


class PromptExample(Model, frozen=True, kw_only=True):
    """An example of an answer."""

    input: str
    output: str
    explanation: str | None = None


class ExamplesSection(Model, frozen=True, kw_only=True):
    """Examples of answers."""

    examples: tuple[PromptExample, ...]


class ValidationCriteria(Model, frozen=True, kw_only=True):
    """A criterion, and its weight: the weights of all criteria sum to 1."""

    criterion: str
    evaluation_method: str
    weight: float
    description: str


class ActionValidationPrompt(Model, frozen=True, kw_only=True):
    """How to tell whether the last action succeeded."""

    expected_outcome: str
    actual_state: str
    validation_criteria: tuple[ValidationCriteria, ...]
    success_indicators: tuple[str, ...]
    failure_indicators: tuple[str, ...]


class ResultAnalysisPrompt(Model, frozen=True, kw_only=True):
    """How to look at the result."""

    analysis_instructions: str
    comparison_points: tuple[str, ...]
    dom_analysis_guidance: str
    error_detection_guidance: str


class DecisionOption(Model, frozen=True, kw_only=True):
    """One decision, when to take it, and what follows."""

    action: DecisionAction
    description: str
    conditions: tuple[str, ...]
    consequences: tuple[str, ...]


class DecisionFrameworkPrompt(Model, frozen=True, kw_only=True):
    """How to decide between going on, trying again and giving up."""

    decision_options: tuple[DecisionOption, ...]
    decision_criteria: tuple[str, ...]
    proceed_conditions: tuple[str, ...]
    retry_conditions: tuple[str, ...]
    abort_conditions: tuple[str, ...]


class ValidationSection(Model, frozen=True, kw_only=True):
    """How to validate the last action."""

    last_action_validation: ActionValidationPrompt
    result_analysis: ResultAnalysisPrompt | None = None
    decision_framework: DecisionFrameworkPrompt


class PromptContent(Model, frozen=True, kw_only=True):
    """The sections of a prompt."""

    system_message: str
    context_section: ContextSection
    instruction_section: InstructionSection
    validation_section: ValidationSection | None = None
    schema_section: SchemaSection
    examples_section: ExamplesSection | None = None


class RenderedSection(Model, frozen=True, kw_only=True):
    """The text of a section. `role` is the role of its message."""

    name: str
    role: Literal["system", "user"]
    text: str


class GeneratedPrompt(Model, frozen=True, kw_only=True):
    """A prompt, made for one step of one session.

    `sections` are the texts that the templates made of `content`, in the prompt's order: what changes least comes
    first, so that a provider's cache keeps the beginning from step to step.
    """

    prompt_id: str
    session_id: str
    step_index: int
    prompt_type: PromptType
    content: PromptContent
    schema: ResponseSchema
    generated_at: datetime
    metadata: dict[str, Any] | None = None
    sections: tuple[RenderedSection, ...] = ()

    def to_art_prompt(self) -> ArtStandardPrompt:
        """The prompt as messages: one or two system messages, then one of the user, with its screenshots."""
        system = tuple(SystemMessage(one.text) for one in self.sections if one.role == "system")
        text = "\n\n".join(one.text for one in self.sections if one.role == "user")
        images = tuple(ImagePart(**one) for one in (self.metadata or {}).get("screenshots", ()))
        return (*system, UserMessage((TextPart(text), *images) if images else text))

    def __repr__(self) -> str:
        return f"GeneratedPrompt({self.prompt_id!r}, {self.prompt_type}, step {self.step_index})"
