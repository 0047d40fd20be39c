"""The error of a prompt that an adapter cannot translate, in words and as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final, TypeVar, cast

from art_sdk.errors import PromptTranslationFailed
from art_sdk.messages import (
    ArtStandardPrompt,
    AssistantMessage,
    SystemMessage,
    ToolRequestMessage,
    ToolResultMessage,
    UserMessage,
)
from art_sdk.options import CallOptions

_ROLES: Final[Mapping[type[object], str]] = {
    SystemMessage: "system",
    UserMessage: "user",
    AssistantMessage: "assistant",
    ToolRequestMessage: "tool_request",
    ToolResultMessage: "tool_result",
}

_Method = TypeVar("_Method", bound=Callable[..., Any])


def refusal(**facts: Any) -> PromptTranslationFailed:
    """The error with these facts, as `PromptTranslationFailed` lists them. None stands for one that does not apply."""
    details = {name: fact for name, fact in facts.items() if fact is not None}
    return PromptTranslationFailed(_explain(details), details=details)


def naming_roles(method: _Method) -> _Method:
    """Decorates a method of a prompt and options, as `translate`: a refusal of a message names its role."""

    @wraps(method)
    def named(self: object, prompt: ArtStandardPrompt, options: CallOptions) -> Any:
        try:
            return method(self, prompt, options)
        except PromptTranslationFailed as error:
            name_role(error, prompt)
            raise

    return cast("_Method", named)


def name_role(error: PromptTranslationFailed, prompt: ArtStandardPrompt) -> None:
    """Adds the role of the message that a refusal is about, unless it is about none or names it already."""
    details = error.details
    if "index" in details and "reason" in details and "role" not in details:
        index: int = details["index"]
        details["role"] = _role_of(prompt[index])
        error.message = _explain(details)
        error.args = (error.message,)


def _role_of(message: object) -> str:
    return next(role for kind, role in _ROLES.items() if isinstance(message, kind))


def _explain(facts: Mapping[str, Any]) -> str:
    """The refusal in words. The provider is named where the adapter's class does not say it."""
    index, role, call_id, rule = (facts.get(name) for name in ("index", "role", "call_id", "rule"))
    message = "a message" if role is None else f"message with role {role!r}"
    place = "the prompt" if index is None else f"{message} at $[{index}]"
    call = "" if call_id is None else f" (call {call_id!r})"
    source = "" if rule is None else f" [{rule}]"
    adapter, provider = facts["adapter"], facts["provider"]
    server = "" if provider in adapter.lower() else f" ({provider})"
    return f"Adapter {adapter!r}{server} cannot translate {place}{call}: {facts['reason']}{source}"
