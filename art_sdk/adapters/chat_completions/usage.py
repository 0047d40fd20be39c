"""The token counts of the chat completions family."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from art_sdk.adapters.answers import Usage


class _CompletionDetails(Struct):
    reasoning_tokens: int | None = None


class _PromptDetails(Struct):
    cached_tokens: int | None = None


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    completion_tokens_details: _CompletionDetails | None = None
    prompt_tokens_details: _PromptDetails | None = None


def read_usage(raw: dict[str, Any] | None) -> Usage:
    """The counts of the object `usage`."""
    if raw is None:
        return Usage()
    usage = msgspec.convert(raw, _Usage)
    details, cached = usage.completion_tokens_details, usage.prompt_tokens_details
    thinking = details.reasoning_tokens if details else None
    taken, given = usage.prompt_tokens or 0, usage.completion_tokens
    if given is not None and thinking and usage.total_tokens == taken + given + thinking:
        given += thinking  # xAI counts thoughts apart from the completion, as its total shows
    return Usage(
        input_tokens=usage.prompt_tokens,
        output_tokens=given,
        thinking_tokens=thinking,
        cached_tokens=cached.cached_tokens if cached else None,
        raw=raw,
    )
