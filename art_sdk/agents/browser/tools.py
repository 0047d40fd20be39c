"""What every generation of a manager works with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from art_sdk.agents.browser.models import StepExecutionSummary
from art_sdk.agents.browser.options import AIPromptManagerConfig
from art_sdk.agents.browser.quality import IPromptValidator
from art_sdk.agents.browser.redaction import Redactor
from art_sdk.agents.browser.templates import TemplateStore
from art_sdk.agents.browser.validation_section import Indicators, ValidatorRule

SystemTexts = Callable[[str], Awaitable[Sequence[str]]]
"""Makes one or two system messages around the text of the system template."""

Summarize = Callable[[Sequence[StepExecutionSummary]], Awaitable[str]]
"""Makes a summary of the steps that a prompt leaves out."""


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What a generation works with."""

    config: AIPromptManagerConfig
    templates: TemplateStore
    redactor: Redactor
    validator: IPromptValidator
    indicators: Mapping[str, Indicators]
    rules: Sequence[ValidatorRule]
    metadata_keys: frozenset[str]
    system_texts: SystemTexts
    summarize: Summarize | None
