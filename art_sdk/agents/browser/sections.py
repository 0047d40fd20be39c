"""The sections of one prompt: what each is made of, rendered and redacted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from msgspec import structs

from art_sdk.agents.browser.facts import Facts
from art_sdk.agents.browser.history import History, history_section, history_text
from art_sdk.agents.browser.instructions import instruction_section
from art_sdk.agents.browser.models import (
    ContextSection,
    DecisionAction,
    ExecutionHistorySection,
    InstructionSection,
    RenderedSection,
    StepContext,
    StepExecutionSummary,
    ValidationSection,
)
from art_sdk.agents.browser.options import SchemaOptions
from art_sdk.agents.browser.page_state import PageBuilder, PageState, page_text
from art_sdk.agents.browser.pages.texts import shown
from art_sdk.agents.browser.planning import Plan
from art_sdk.agents.browser.progress import budget_notice, nudges, page_facts, plan_text
from art_sdk.agents.browser.response_form import FormReader, ResponseForm
from art_sdk.agents.browser.schema import schema_text
from art_sdk.agents.browser.tools import Tools
from art_sdk.agents.browser.trace import Trace
from art_sdk.agents.browser.untrusted import UNTRUSTED_TAG, untrusted
from art_sdk.agents.browser.validation_section import criteria_for, validation_section

NO_HISTORY: Final = History((), (), ())


@dataclass(kw_only=True)
class Sections:
    """The sections of a prompt. `emit` is called with each section's text as soon as it is ready."""

    plan: Plan
    facts: Facts
    tools: Tools
    trace: Trace
    form_reader: FormReader
    nonce: str
    history_nonce: str
    emit: Callable[[RenderedSection], None]
    texts: dict[str, RenderedSection] = field(default_factory=dict[str, RenderedSection])

    async def system(self) -> str:
        """The system message, and what contributors add to it."""
        text = self._render("system_message", {"untrustedTag": UNTRUSTED_TAG})
        texts: Sequence[str]
        try:
            async with asyncio.timeout(self.tools.config.timeouts.context_ms / 1000):
                texts = await self.tools.system_texts(text)
        except TimeoutError:
            self.trace.warnings.append("the contributors took too long; left out")
            texts = (text,)
        for at, one in enumerate(texts):
            self._add("system_message" if at == 0 else "system_message_changing", one, role="system")
        return "\n\n".join(texts)

    async def form(self, decisions: Sequence[DecisionAction]) -> ResponseForm:
        """The form of the reply, which may take these decisions."""
        options = SchemaOptions(include_examples=self.plan.options.include_examples)
        form = await self.form_reader.read(options, decisions)
        self._add("schema", self._render("schema", _schema_values(form)))
        return form

    async def context(self) -> tuple[ContextSection, PageState]:
        """Step, history and page states; and the page states as they were compared."""
        options, config = self.plan.options, self.tools.config.context_config
        stage = self.trace.stage
        facts = self.facts
        metadata = self.tools.redactor.redact_data(
            {key: value for key, value in facts.gathered.session.metadata.items() if key in self.tools.metadata_keys}
        )
        with stage("context.history"):
            keeps_history = options.include_execution_history and not self.trace.skip_if_late()
            history = facts.history if keeps_history else NO_HISTORY
        with stage("context.events"):
            section = history_section(
                history,
                self.tools.redactor.redact,
                most_steps=options.max_history_steps,
                most_events=config.max_history_items,
            )
        with stage("context.pages"):
            pages = PageBuilder(config, options, self.tools.redactor.redact_all, self.trace)
            current = pages.read(facts.gathered.current, "current")
            is_same = facts.gathered.previous is not None and facts.gathered.previous == facts.gathered.current
            previous = current if is_same else pages.read(facts.gathered.previous, "previous")
        with stage("context.filter"):
            summary = await self._summary(history)
        with stage("context.changes"):
            changes = pages.compare(previous, current)
        with stage("context.compress"):
            state = pages.section(previous, current, changes, self.plan.step)
        with stage("context.format"):
            context = ContextSection(
                current_step=self._step_context(),
                execution_history=_with_all_counts(section, facts.history),
                page_states=state.section,
                session_metadata=metadata or None,
            )
            self._add(
                "context", self._render("context", self._context_values(context, state, history, metadata, summary))
            )
        return context, state

    async def _summary(self, history: History) -> str:
        missing = len(history.steps) - self.plan.options.max_history_steps
        if self.tools.summarize is None or missing <= 0 or self.trace.skip_if_late():
            return ""
        try:
            async with asyncio.timeout(self.tools.config.timeouts.context_ms / 1000):
                summary = await self.tools.summarize(history.steps[1 : 1 + missing])
        except TimeoutError:
            self.trace.warnings.append("the summary of earlier steps took too long; left out")
            return ""
        return untrusted("summary", self.tools.redactor.redact(shown(summary)), self.nonce)

    def _step_context(self) -> StepContext:
        session = self.facts.gathered.session
        known = max((one.step_index + 1 for one in self.facts.history.steps), default=0)
        total = session.total_steps if session.total_steps is not None else max(known, self.plan.step_index + 1)
        return StepContext(
            step_index=self.plan.step_index,
            step_content=self.tools.redactor.redact(self.plan.step),
            step_type=self.plan.step_type,
            total_steps=max(total, self.plan.step_index + 1),
        )

    def _context_values(
        self,
        context: ContextSection,
        state: PageState,
        history: History,
        metadata: Mapping[str, Any],
        summary: str,
    ) -> dict[str, Any]:
        config = self.tools.config.context_config
        past = history_text(context.execution_history, history, timestamps=config.include_timestamps)
        page = page_text(state, page_facts(metadata), self.facts.last_error)
        if self.facts.extracted is not None:
            page += f"\n\nextracted: {self.facts.extracted}"
        step = context.current_step
        is_counted = self.facts.gathered.session.total_steps is not None
        budget = budget_notice(step.step_index, step.total_steps) if is_counted else None
        notices = nudges(context.execution_history.chronological_events, self.facts.unchanged_pages)
        return {
            "history": untrusted("history", past, self.history_nonce) if past else "",
            "summary": summary,
            "plan": untrusted("plan", plan, self.nonce) if (plan := plan_text(metadata.get("plan"))) else "",
            "page": untrusted("page", page, self.nonce) if page else "",
            "notices": [*notices, *([budget] if budget else [])],
        }

    def validation(self, state: PageState) -> ValidationSection:
        """What to look at to see whether the completed step did what was expected. It is not rendered yet."""
        last = self._last_step()
        lines = [] if state.changes is None else [state.changes.result.summary]
        lines += [f"title: {state.page.title}"] if state.page is not None else []
        lines += page_facts({"url": self.facts.gathered.session.metadata.get("url")})
        lines += [f"new message: {one}" for one in (state.changes.messages[:3] if state.changes else ())]
        lines += [f"the executor's error: {self.facts.last_error}"] if self.facts.last_error else []
        redact = self.tools.redactor.redact
        method = last.executor_method.lower() if last else ""
        return validation_section(
            step_name=redact(shown(last.step_name)) if last else f"step {(self.plan.completed or 0) + 1}",
            expected=None if self.plan.expected is None else redact(self.plan.expected),
            actual=redact("\n".join(lines)) or "The page is not known.",
            method=method,
            with_analysis=self.tools.config.validation_config.enable_result_analysis and not self.trace.skip_if_late(),
            indicators=self.tools.indicators,
            criteria=criteria_for(method, self.tools.rules),
        )

    def _last_step(self) -> StepExecutionSummary | None:
        of_index = [one for one in self.facts.history.steps if one.step_index == self.plan.completed]
        return of_index[-1] if of_index else None

    def render_validation(self, section: ValidationSection) -> None:
        """Adds the text of the validation section."""
        values = _builtins(section.last_action_validation)
        values = {
            "expectedOutcome": values["expectedOutcome"],
            "actualState": untrusted("state", values["actualState"], self.nonce),
            "criteria": values["validationCriteria"],
            "successIndicators": values["successIndicators"],
            "failureIndicators": values["failureIndicators"],
            "analysis": _builtins(section.result_analysis) if section.result_analysis else None,
            "decisionOptions": _builtins(section.decision_framework)["decisionOptions"],
            "decisionCriteria": [*section.decision_framework.decision_criteria],
        }
        self._add("validation", self._render("validation", values))

    def instruction(self) -> InstructionSection:
        """The step to do, or to decide on."""
        redact = self.tools.redactor.redact
        options = self.plan.options
        custom = None if options.custom_instructions is None else redact(options.custom_instructions)
        section = instruction_section(redact(self.plan.step), custom, options)
        step = self._step_context()
        values: dict[str, Any] = {
            "guidelines": [*section.guidelines],
            "reasoningRequirement": section.reasoning_requirement,
            "customInstructions": custom or "",
            "stepNumber": step.step_index + 1,
            "totalSteps": step.total_steps,
            "stepContent": section.step_instruction,
            "completedNumber": (self.plan.completed or 0) + 1,
        }
        self._add("instruction", self._render(self.plan.template_id, values))
        return section

    def _render(self, template_id: str, values: Mapping[str, Any]) -> str:
        text, fallback = self.tools.templates.render(template_id, values)
        if fallback is not None:
            self.trace.fall_back(fallback)
        return text.strip("\n")

    def _add(self, name: str, text: str, *, role: Any = "user") -> None:
        redacted, found = self.tools.redactor.count_redacted(text)
        if role == "user":  # the system message explains what a secret looks like
            self.trace.redactions += found + text.count("<secret>")
        section = RenderedSection(name=name, role=role, text=redacted)
        self.texts[name] = section
        self.emit(section)


def _with_all_counts(section: ExecutionHistorySection, history: History) -> ExecutionHistorySection:
    """Counts of all steps, also if the history is left out."""
    statuses = [str(one.status) for one in history.steps]
    return structs.replace(
        section, successful_actions=statuses.count("SUCCESS"), failed_actions=statuses.count("FAILED")
    )


def _schema_values(form: ResponseForm) -> dict[str, Any]:
    examples = [] if form.examples is None else [_builtins(one) for one in form.examples.examples]
    return {
        "formatInstructions": form.section.format_instructions,
        "schemaText": schema_text(form.schema),
        "rules": [*form.section.rules],
        "examples": examples,
    }


def _builtins(value: Any) -> dict[str, Any]:
    built: dict[str, Any] = msgspec.to_builtins(value)
    return built
