"""One prompt in the making: its stages in the order of the flows, its sections as they are ready.

An action prompt goes through receive, step, templates, schema, context, instruction, combine and validate; one that
looks at a completed step through receive, execution context, page states, templates, context, validation, decision,
instruction, schema and validate.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from msgspec import structs

from art_sdk.agents.browser.errors import ValidationFailed
from art_sdk.agents.browser.metadata import metadata_of
from art_sdk.agents.browser.models import (
    ContextSection,
    ExamplesSection,
    GeneratedPrompt,
    InstructionSection,
    PromptContent,
    ValidationSection,
)
from art_sdk.agents.browser.quality import PromptValidationResult
from art_sdk.agents.browser.response_form import ResponseForm
from art_sdk.agents.browser.section_order import SECTION_ORDER
from art_sdk.agents.browser.sections import Sections

T = TypeVar("T")


@dataclass(kw_only=True)
class Generation(Sections):
    """One prompt in the making: its sections, built in the order of its flow, and the whole that is made of them."""

    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self, prompt_id: str, now: datetime) -> GeneratedPrompt:
        """The prompt. Raises PromptManagerError."""
        if self.plan.completed is not None and self.plan.has_validation:
            return await self._run_with_validation(prompt_id, now)
        system, form, context = (
            self._begin(self.system, "templates"),
            self._begin(partial(self.form, ()), "schema"),
            self._begin(self.context, "context"),
        )
        await _all_of(system, form, context)
        with self.trace.stage("instruction"):
            instruction = self.instruction()
        return await self._combine(
            prompt_id, now, system.result(), form.result(), context.result()[0], instruction, None
        )

    async def _run_with_validation(self, prompt_id: str, now: datetime) -> GeneratedPrompt:
        system, gathered = self._begin(self.system, "templates"), self._begin(self.context, "context")
        await _all_of(system, gathered)
        context, state = gathered.result()
        with self.trace.stage("validation"):
            validation = self.validation(state)
        with self.trace.stage("decision"):
            self.render_validation(validation)
            decisions = [one.action for one in validation.decision_framework.decision_options]
        with self.trace.stage("instruction"):
            instruction = self.instruction()
        with self.trace.stage("schema"):
            form = await self.form(decisions)
        return await self._combine(prompt_id, now, system.result(), form, context, instruction, validation)

    def _begin(self, build: Callable[[], Awaitable[T]], stage: str) -> asyncio.Task[T]:
        """Builds a section: at once with `async_generation`, else after those that were begun before it."""

        async def run() -> T:
            async with nullcontext() if self.tools.config.performance.async_generation else self._turn:
                with self.trace.stage(stage):
                    return await build()

        return asyncio.create_task(run())

    async def _combine(
        self,
        prompt_id: str,
        now: datetime,
        system: str,
        form: ResponseForm,
        context: ContextSection,
        instruction: InstructionSection,
        validation: ValidationSection | None,
    ) -> GeneratedPrompt:
        with self.trace.stage("combine"):
            prompt = GeneratedPrompt(
                prompt_id=prompt_id,
                session_id=self.plan.session_id,
                step_index=self.plan.step_index,
                prompt_type=self.plan.type,
                content=_content(system, form, context, instruction, validation),
                schema=form.schema,
                generated_at=now,
                sections=tuple(self.texts[name] for name in SECTION_ORDER if name in self.texts),
            )
        with self.trace.stage("validate"):
            await self._validate(prompt)
        return structs.replace(
            prompt, metadata=metadata_of(prompt, self.plan, self.facts, self.trace, self.tools.templates.versions)
        )

    async def _validate(self, prompt: GeneratedPrompt) -> None:
        """Raises ValidationFailed in strict mode for a prompt that is not good enough, or not checked in time."""
        result = await self._check(prompt)
        if result is None:
            return
        self.trace.sizes["quality_percent"] = round(100 * result.quality_score)
        if result.is_valid:
            return
        reasons = "; ".join(one.message for one in result.errors)
        if self.plan.options.validation_mode == "strict":
            codes = [one.code for one in result.errors]
            raise ValidationFailed(f"the prompt is not good enough: {reasons}", context={"codes": codes})
        self.trace.warnings += [one.message for one in result.errors]

    async def _check(self, prompt: GeneratedPrompt) -> PromptValidationResult | None:
        """What the validator says. None, with a warning, if it takes too long: it runs in its own thread."""
        limit = self.tools.config.validation_config.validation_timeout_ms / 1000
        try:
            async with asyncio.timeout(limit):
                return await asyncio.to_thread(self.tools.validator.validate_prompt_structure, prompt)
        except TimeoutError as error:
            reason = f"the prompt was not checked within {limit:g} s"
            if self.plan.options.validation_mode == "strict":
                raise ValidationFailed(reason, cause=error) from error
            self.trace.warnings.append(reason)
            return None


async def _all_of(*tasks: asyncio.Task[Any]) -> None:
    """Waits for all tasks. If one fails, the others are cancelled."""
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def _content(
    system: str,
    form: ResponseForm,
    context: ContextSection,
    instruction: InstructionSection,
    validation: ValidationSection | None,
) -> PromptContent:
    examples: ExamplesSection | None = form.examples
    return PromptContent(
        system_message=system,
        context_section=context,
        instruction_section=instruction,
        validation_section=validation,
        schema_section=form.section,
        examples_section=examples,
    )
