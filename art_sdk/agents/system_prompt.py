"""The system prompt of a question: a text as it is, or what contributors make of their configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from art_sdk.contributors import (
    BuildOptions,
    DynamicContributorContext,
    SystemPromptConfig,
    build_system_prompt,
    load_contributors,
)
from art_sdk.contributors.registry import source_handler_registry
from art_sdk.contributors.validation import parse_system_prompt

ConfiguredPrompt = str | Mapping[str, Any] | SystemPromptConfig


async def build_blocks(configured: ConfiguredPrompt, context: DynamicContributorContext) -> tuple[str, ...]:
    """The texts of the leading system messages: one, or two if a part of the prompt changes from turn to turn.

    None if contributors give nothing. Raises InvalidConfig and PromptAssemblyFailed, as contributors do.
    """
    if isinstance(configured, str):
        return (configured,) if configured else ()
    config = parse_system_prompt(configured, registry=source_handler_registry)
    contributors = load_contributors(config, root=context.workspace)
    prompt = await build_system_prompt(contributors, context, options=BuildOptions.of(config))
    return prompt.blocks()
