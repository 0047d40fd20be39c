"""What happened in a session: checked, counted, shortened, and written as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeVar, cast

from msgspec import Struct, structs

from art_sdk.agents.browser.errors import HistoryCorrupted, ValidationFailed
from art_sdk.agents.browser.models import (
    ExecutionEventSummary,
    ExecutionHistorySection,
    ExecutionStatus,
    StepExecutionSummary,
)
from art_sdk.agents.browser.pages.texts import clip, clip_middle, shown
from art_sdk.agents.browser.reading import read_model

REASONING_LIMIT: Final = 500
OUTCOME_LIMIT: Final = 300
ERROR_SIDE: Final = 100
"""Characters of an error's beginning and end that are kept."""

_BACKWARDS: Final = timedelta(seconds=1)

E = TypeVar("E", StepExecutionSummary, ExecutionEventSummary)
Redact = Callable[[str], str]


class History(NamedTuple):
    """The valid steps and events, and a warning for each entry that was dropped."""

    steps: tuple[StepExecutionSummary, ...]
    events: tuple[ExecutionEventSummary, ...]
    warnings: tuple[str, ...]


def read_history(steps: Sequence[Any], events: Sequence[Any]) -> History:
    """The valid entries. Raises HistoryCorrupted if there are steps, or events, and none of them is valid."""
    warnings: list[str] = []
    good_steps = _check_order(_read_all(steps, StepExecutionSummary, warnings), warnings, lambda one: one.step_index)
    good_events = _read_all(events, ExecutionEventSummary, warnings)
    for given, good, what in ((steps, good_steps, "step"), (events, good_events, "event")):
        if given and not good:
            raise HistoryCorrupted(f"no {what} of the history is valid", context={"warnings": warnings[:20]})
    ordered = sorted(enumerate(good_events), key=lambda one: (one[1].timestamp, one[1].step_index, one[0]))
    return History(tuple(good_steps), tuple(event for _, event in ordered), tuple(warnings))


def _read_all(entries: Sequence[Any], kind: type[E], warnings: list[str]) -> list[E]:
    good: list[E] = []
    for at, entry in enumerate(entries):
        try:
            read = read_model(entry if isinstance(entry, Struct) else _plain(entry), kind, what=f"entry {at}")
        except ValidationFailed as error:
            warnings.append(f"history: {error.message}; left out")
            continue
        if read.timestamp.tzinfo is None:
            warnings.append(f"history: entry {at}: the timestamp has no time zone; left out")
        else:
            good.append(read)
    return good


def _plain(entry: Any) -> Any:
    return dict(cast("Mapping[str, Any]", entry)) if isinstance(entry, Mapping) else entry


def _check_order(
    steps: Sequence[StepExecutionSummary], warnings: list[str], index_of: Callable[[StepExecutionSummary], int]
) -> list[StepExecutionSummary]:
    """The steps whose index and time do not go back. The same index twice is a retry."""
    good: list[StepExecutionSummary] = []
    for at, step in enumerate(steps):
        last = good[-1] if good else None
        if index_of(step) < 0 or (last is not None and index_of(step) < index_of(last)):
            warnings.append(f"history: entry {at}: the step index goes back; left out")
        elif last is not None and step.timestamp < last.timestamp - _BACKWARDS:
            warnings.append(f"history: entry {at}: the time goes back; left out")
        else:
            good.append(step)
    return good


def history_section(history: History, redact: Redact, *, most_steps: int, most_events: int) -> ExecutionHistorySection:
    """The history for a prompt: redacted and shortened. The counts include all steps."""
    statuses = [step.status for step in history.steps]
    return ExecutionHistorySection(
        previous_steps=tuple(_short_step(one, redact) for one in first_and_last(history.steps, most_steps)),
        chronological_events=tuple(_short_event(one, redact) for one in first_and_last(history.events, most_events)),
        successful_actions=statuses.count(ExecutionStatus.SUCCESS),
        failed_actions=statuses.count(ExecutionStatus.FAILED),
    )


T = TypeVar("T")


def first_and_last(items: Sequence[T], most: int) -> tuple[T, ...]:
    """The first item and the last ones, `most` in all."""
    if len(items) <= most:
        return tuple(items)
    return (items[0], *items[len(items) - most + 1 :])


def _short_step(step: StepExecutionSummary, redact: Redact) -> StepExecutionSummary:
    return structs.replace(
        step,
        step_name=clip(redact(shown(step.step_name)), OUTCOME_LIMIT),
        reasoning=clip(redact(shown(step.reasoning)), REASONING_LIMIT),
        executor_method=clip(redact(shown(step.executor_method)), 100),
    )


def _short_event(event: ExecutionEventSummary, redact: Redact) -> ExecutionEventSummary:
    return structs.replace(
        event,
        reasoning=clip(redact(shown(event.reasoning)), REASONING_LIMIT),
        executor_method=clip(redact(shown(event.executor_method)), 100),
        outcome=_short_outcome(redact(shown(event.outcome))),
    )


def _short_outcome(outcome: str) -> str:
    is_error = outcome[:40].casefold().find("error") >= 0
    return clip_middle(outcome, ERROR_SIDE) if is_error else clip(outcome, OUTCOME_LIMIT)


def history_text(section: ExecutionHistorySection, history: History, *, timestamps: bool) -> str:
    """The history as lines, in the order in which it happened, so that it only grows at its end."""
    if not history.steps and not history.events:
        return ""
    steps = [_step_line(one, timestamps=timestamps) for one in section.previous_steps]
    events = [_event_line(one, timestamps=timestamps) for one in section.chronological_events]
    lines = _with_omitted(steps, len(history.steps), "steps")
    if events:
        lines += ["Events:", *_with_omitted(events, len(history.events), "events")]
    counts = f"{section.successful_actions} succeeded, {section.failed_actions} failed"
    return "\n".join([*lines, f"Of {len(history.steps)} steps {counts}."])


def _with_omitted(lines: list[str], many: int, what: str) -> list[str]:
    missing = many - len(lines)
    return [lines[0], f"[{missing} {what} omitted]", *lines[1:]] if missing > 0 and lines else lines


def _at(when: datetime, *, timestamps: bool) -> str:
    return f" at {when.isoformat(timespec='seconds')}" if timestamps else ""


def _step_line(step: StepExecutionSummary, *, timestamps: bool) -> str:
    when = _at(step.timestamp, timestamps=timestamps)
    return (
        f"- step {step.step_index + 1}{when}: {step.step_name} [{step.executor_method}] {step.status}: {step.reasoning}"
    )


def _event_line(event: ExecutionEventSummary, *, timestamps: bool) -> str:
    when = _at(event.timestamp, timestamps=timestamps)
    return f"- step {event.step_index + 1}{when}: [{event.executor_method}] {event.reasoning} => {event.outcome}"
