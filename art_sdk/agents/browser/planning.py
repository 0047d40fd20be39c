"""What a request amounts to: which type of prompt, for which step, with which sections."""

from __future__ import annotations

from typing import Any, NamedTuple

from art_sdk.agents.browser.errors import ValidationFailed
from art_sdk.agents.browser.models import PromptType, StepType
from art_sdk.agents.browser.options import (
    ActionPromptRequest,
    EffectiveOptions,
    PromptOptions,
    ReflectionPromptRequest,
    ValidationConfig,
    merge_options,
)


class Plan(NamedTuple):
    """A prompt to make. `completed` is the step that was executed, if the prompt looks at one."""

    session_id: str
    step_index: int
    step: str
    type: PromptType
    step_type: StepType
    options: EffectiveOptions
    completed: int | None
    expected: str | None
    has_validation: bool
    warnings: tuple[str, ...]

    @property
    def is_first(self) -> bool:
        """Whether nothing has happened yet: no history and no previous page is asked for."""
        return self.step_index == 0 and self.completed is None

    @property
    def template_id(self) -> str:
        """The template of the instruction."""
        return "reflection_action" if self.type is PromptType.REFLECTION_AND_ACTION else "initial_action"

    @property
    def key(self) -> tuple[Any, ...]:
        """All of it, for the key of a cache."""
        return (*self[:-1],)


def plan_action(request: ActionPromptRequest, defaults: PromptOptions, config: ValidationConfig) -> Plan:
    """The plan for an action: with a look at the last one, if that is asked for after the first step."""
    index = _checked_index("current_step_index", request.current_step_index, request.session_id)
    validates = request.include_validation and index > 0
    if config.require_explicit_validation and index > 0 and not validates:
        raise ValidationFailed(
            "require_explicit_validation is on: an action after the first step needs include_validation",
            session_id=request.session_id,
            step_index=index,
        )
    ignored = request.include_validation and index == 0
    return Plan(
        session_id=request.session_id,
        step_index=index,
        step=_checked_step("current_step_content", request.current_step_content, request.session_id, index),
        type=PromptType.ACTION_WITH_VALIDATION if validates else PromptType.INITIAL_ACTION,
        step_type="validation" if validates else "continuation" if index else "initial",
        options=merge_options(defaults, request.prompt_options),
        completed=index - 1 if index else None,
        expected=None,
        has_validation=validates and config.enable_action_validation,
        warnings=("include_validation is ignored for the first step: there is nothing to validate",) if ignored else (),
    )


def plan_reflection(request: ReflectionPromptRequest, defaults: PromptOptions, config: ValidationConfig) -> Plan:
    """The plan for a look at a completed step and the next one. The same step again means to retry it."""
    completed = _checked_index("completed_step_index", request.completed_step_index, request.session_id)
    index = _checked_index("next_step_index", request.next_step_index, request.session_id)
    if index < completed:
        raise ValidationFailed(
            f"next_step_index must be at least completed_step_index ({completed}), not {index}",
            session_id=request.session_id,
            step_index=index,
        )
    return Plan(
        session_id=request.session_id,
        step_index=index,
        step=_checked_step("next_step_content", request.next_step_content, request.session_id, index),
        type=PromptType.REFLECTION_AND_ACTION,
        step_type="validation",
        options=merge_options(defaults, request.prompt_options),
        completed=completed,
        expected=request.expected_outcome,
        has_validation=config.enable_action_validation,
        warnings=(),
    )


def _checked_index(name: str, index: int, session_id: str) -> int:
    if index < 0:
        raise ValidationFailed(f"{name} must be 0 or more, not {index}", session_id=session_id)
    return index


def _checked_step(name: str, step: str, session_id: str, index: int) -> str:
    if not step.strip():
        raise ValidationFailed(f"{name} must not be empty", session_id=session_id, step_index=index)
    return step
