"""Looking at what the last action did: what was expected, what is there now, and how to decide."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

from msgspec import structs

from art_sdk.agents.browser.errors import ValidationFailed
from art_sdk.agents.browser.models import (
    ActionValidationPrompt,
    DecisionAction,
    DecisionFrameworkPrompt,
    DecisionOption,
    ResultAnalysisPrompt,
    ValidationCriteria,
    ValidationSection,
)


class Indicators(NamedTuple):
    """Signs that an action worked, and that it did not."""

    success: tuple[str, ...]
    failure: tuple[str, ...]


_ANY: Final = Indicators(
    ("The page shows what the step was meant to bring about.",),
    ("The page shows an error message.", "The page did not change."),
)

INDICATORS: Final[Mapping[str, Indicators]] = MappingProxyType(
    {
        "click": Indicators(
            (
                "What the element leads to is there: another page, a dialog, a changed list.",
                "The element's state changed.",
            ),
            ("Nothing changed.", "The element is disabled or gone, and nothing took its place."),
        ),
        "fill": Indicators(
            ("The field has the value that was typed.", "No message about the field is shown."),
            ("The field is empty or has another value.", "The field is marked as invalid."),
        ),
        "select": Indicators(
            ("The option is selected.", "What depends on it was updated."),
            ("Another option is selected, or none.",),
        ),
        "navigate": Indicators(
            ("Address and title are those of the page that was asked for.",),
            ("The page says that it was not found, or asks to log in.", "The address did not change."),
        ),
        "wait": Indicators(
            ("What was waited for is there.",),
            ("The page still loads, or an error is shown.",),
        ),
        "scroll": Indicators(("Other elements are visible.",), ("The page did not scroll.",)),
    }
)
"""The signs for each of the executor's methods. A manager may be given others."""

CRITERIA: Final = (
    ValidationCriteria(
        criterion="effect",
        evaluation_method="Compare the expected outcome with what is there now.",
        weight=0.5,
        description="The action did what it was meant to do.",
    ),
    ValidationCriteria(
        criterion="errors",
        evaluation_method="Look for new messages, fields marked as invalid, and the executor's error.",
        weight=0.3,
        description="Nothing says that the action failed.",
    ),
    ValidationCriteria(
        criterion="readiness",
        evaluation_method="Look for the elements that the next step needs.",
        weight=0.2,
        description="The next step can be done on this page.",
    ),
)

_PROCEED: Final = DecisionOption(
    action=DecisionAction.PROCEED,
    description="The last action had its effect.",
    conditions=("the signs of success outweigh the signs of failure",),
    consequences=("your action does the next step",),
)
_RETRY: Final = DecisionOption(
    action=DecisionAction.RETRY,
    description="The last action failed, and another way may work.",
    conditions=("there is a sign of failure, and the element can still be used",),
    consequences=("your action does the last step again, in another way",),
)
_ABORT: Final = DecisionOption(
    action=DecisionAction.ABORT,
    description="The last action failed, and nothing that you can do would help.",
    conditions=("the page refuses the action, or what it needs does not exist",),
    consequences=("the session ends: your reasoning says why",),
)
_FRAMEWORK: Final = DecisionFrameworkPrompt(
    decision_options=(_PROCEED, _RETRY, _ABORT),
    decision_criteria=(
        "What the page shows counts more than what was expected.",
        "A page that did not change is a sign of failure, unless the step was only to look.",
        "Do not retry in the same way more than twice.",
    ),
    proceed_conditions=_PROCEED.conditions,
    retry_conditions=_RETRY.conditions,
    abort_conditions=_ABORT.conditions,
)

_ANALYSIS: Final = ResultAnalysisPrompt(
    analysis_instructions="Before you decide, compare the page before the action with the page now.",
    comparison_points=(
        "what was added, removed and modified",
        "address and title",
        "messages that are new",
    ),
    dom_analysis_guidance="Lines marked * are new or changed; an element that moved is not listed as a change.",
    error_detection_guidance="Roles alert, dialog and status, and aria-invalid, often say what went wrong.",
)


class ValidatorRule(Protocol):
    """A rule of the application's own: adds criteria to those that are given."""

    def __call__(self, method: str) -> Sequence[ValidationCriteria]:
        """The criteria for a method of the executor. The weights of all are scaled to sum to 1."""
        ...


def criteria_for(method: str, rules: Sequence[ValidatorRule]) -> tuple[ValidationCriteria, ...]:
    """The criteria for a method of the executor: the given ones and those of the rules, weights scaled to sum to 1."""
    criteria = [*CRITERIA, *(one for rule in rules for one in rule(method))]
    total = sum(one.weight for one in criteria)
    return tuple(structs.replace(one, weight=one.weight / total) for one in criteria) if rules else CRITERIA


def check_criteria(criteria: Sequence[ValidationCriteria]) -> None:
    """Raises ValidationFailed unless every weight is from 0 to 1 and all sum to 1."""
    for one in criteria:
        if not 0 <= one.weight <= 1:
            raise ValidationFailed(f"the weight of the criterion '{one.criterion}' must be from 0 to 1")
    if not math.isclose(sum(one.weight for one in criteria), 1, abs_tol=1e-6):
        raise ValidationFailed("the weights of the criteria must sum to 1")


def validation_section(
    *,
    step_name: str,
    expected: str | None,
    actual: str,
    method: str,
    with_analysis: bool,
    indicators: Mapping[str, Indicators] = INDICATORS,
    criteria: Sequence[ValidationCriteria] = CRITERIA,
) -> ValidationSection:
    """The section for the last step. `actual` is what is there now."""
    check_criteria(criteria)
    signs = indicators.get(method, _ANY)
    return ValidationSection(
        last_action_validation=ActionValidationPrompt(
            expected_outcome=expected or f"The step '{step_name}' has had its intended effect",
            actual_state=actual,
            validation_criteria=tuple(criteria),
            success_indicators=signs.success,
            failure_indicators=signs.failure,
        ),
        result_analysis=_ANALYSIS if with_analysis else None,
        decision_framework=_FRAMEWORK,
    )
