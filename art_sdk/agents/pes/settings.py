"""How a PES agent works: its system prompt, its bounds, and what it does about errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeGuard

from msgspec import Struct

from art_sdk.agents.pes.blueprints import DEFAULT_SYSTEM_PROMPT
from art_sdk.contributors import SystemPromptConfig
from art_sdk.errors import ARTError, InvalidConfig, LLMProviderError

Policy = Literal["propagate", "retry", "answer"]
POLICIES: Final = ("propagate", "retry", "answer")
LONGEST_PAUSE: Final = 60.0
"""Seconds that a retry waits at most, whatever the provider asks for."""


class PESSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`default_system_prompt` is that of threads without their own: a text, or the configuration of contributors.

    `max_rounds` bounds the rounds of tool calls for one question: with 1, the model answers after the tools of its
    plan; with more, it may call tools again instead of answering. `history_limit` bounds the stored messages that a
    prompt repeats.

    `on_error` says what follows an error: it is raised (`propagate`), the step is taken again, up to `retries` times,
    if the error may pass, and else raised (`retry`), or `error_answer` is the answer (`answer`). A function decides
    by the error.
    """

    default_system_prompt: str | SystemPromptConfig = DEFAULT_SYSTEM_PROMPT
    max_rounds: int = 1
    history_limit: int = 50
    on_error: Policy | Callable[[ARTError], Policy] = "propagate"
    retries: int = 2
    error_answer: str = "Something went wrong, and I cannot answer this now."

    def __post_init__(self) -> None:
        if isinstance(self.default_system_prompt, str) and not self.default_system_prompt.strip():
            raise InvalidConfig("default_system_prompt must not be blank")
        for name, least in (("max_rounds", 1), ("history_limit", 0), ("retries", 0)):
            if getattr(self, name) < least:
                raise InvalidConfig(f"{name} must be at least {least}")
        if not callable(self.on_error) and self.on_error not in POLICIES:
            raise InvalidConfig(f"on_error must be one of {', '.join(POLICIES)}, or a function of the error")

    def policy(self, error: ARTError) -> Policy:
        """What to do about the error."""
        return self.on_error(error) if callable(self.on_error) else self.on_error


def may_pass(error: Exception) -> TypeGuard[LLMProviderError]:
    """Whether taking the same step again may help."""
    return isinstance(error, LLMProviderError) and error.is_retryable


def pause_before_retry(error: LLMProviderError) -> float:
    """Seconds to wait, as the provider asks."""
    return min(error.retry_after or 0.0, LONGEST_PAUSE)
