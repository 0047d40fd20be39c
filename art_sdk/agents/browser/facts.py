"""What a generation knows before it begins: the session, its history and its pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from art_sdk.agents.browser.context import ContextReader, Gathered
from art_sdk.agents.browser.history import History, read_history
from art_sdk.agents.browser.pages.texts import clip_middle, shown
from art_sdk.agents.browser.planning import Plan
from art_sdk.agents.browser.trace import Trace


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What was found out for a generation before it began: all that its result depends on, but for the nonces."""

    gathered: Gathered
    history: History
    last_error: str | None
    unchanged_pages: int
    extracted: str | None


def shortened_error(error: str, redact: Callable[[str], str]) -> str:
    """An executor's error as a prompt shows it."""
    return clip_middle(redact(shown(error)), 100)


def read_facts(gathered: Gathered, last_error: str | None, unchanged: int, extracted: str | None) -> Facts:
    """The facts, with the history read. Raises HistoryCorrupted."""
    steps = gathered.steps or gathered.session.steps
    history = read_history(steps, gathered.session.events)
    return Facts(
        gathered=gathered,
        history=history,
        last_error=last_error,
        unchanged_pages=unchanged,
        extracted=extracted,
    )


async def gather(reader: ContextReader, plan: Plan, trace: Trace) -> Gathered:
    """All that the context manager knows, in the stages of the flows."""
    reader.begin(
        plan.session_id,
        plan.step_index,
        with_history=not plan.is_first,
        previous_of=None if plan.is_first else plan.completed if plan.completed is not None else plan.step_index,
    )
    try:
        with trace.stage("step" if plan.completed is None else "execution_context"):
            session = await reader.session(plan.session_id)
            steps = await reader.steps()
        with trace.stage("page_states"):
            previous = await reader.page("previous")
            current = await reader.page("current")
    finally:
        reader.cancel()
    return Gathered(session, steps, current, previous)
