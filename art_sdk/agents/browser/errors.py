"""The errors of the browser agent's prompts. No error contains text of a page.

PromptManagerError
├── TemplateNotFound           TEMPLATE_NOT_FOUND           no template has this id
├── ContextUnavailable         CONTEXT_UNAVAILABLE          the context manager failed or took too long
├── SchemaGenerationFailed     SCHEMA_GENERATION_FAILED     the schema manager returned no usable schema
├── ValidationFailed           VALIDATION_FAILED            a request, setting, template or prompt is invalid
├── DomTooLarge                DOM_TOO_LARGE                the page is too large, and compressing is off
├── HistoryCorrupted           HISTORY_CORRUPTED            every entry of the history is invalid
├── TemplateRenderingFailed    TEMPLATE_RENDERING_FAILED    a template cannot be rendered
└── AccessRefused              ACCESS_REFUSED               the guard refused access to a session or a template
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from art_sdk.errors import ARTError, ErrorCode


class PromptManagerErrorType(StrEnum):
    """The types of errors that a fallback may handle. `AccessRefused` has no type here: it is always raised."""

    TEMPLATE_NOT_FOUND = "TEMPLATE_NOT_FOUND"
    CONTEXT_UNAVAILABLE = "CONTEXT_UNAVAILABLE"
    SCHEMA_GENERATION_FAILED = "SCHEMA_GENERATION_FAILED"
    VALIDATION_FAILED = "VALIDATION_FAILED"
    DOM_TOO_LARGE = "DOM_TOO_LARGE"
    HISTORY_CORRUPTED = "HISTORY_CORRUPTED"
    TEMPLATE_RENDERING_FAILED = "TEMPLATE_RENDERING_FAILED"


class PromptManagerError(ARTError):
    """The base of the manager's errors. `context` says where it went wrong, as JSON data without texts of a page."""

    def __init__(
        self,
        message: str,
        *,
        session_id: str | None = None,
        step_index: int | None = None,
        context: dict[str, Any] | None = None,
        cause: BaseException | None = None,
    ) -> None:
        self.session_id = session_id
        self.step_index = step_index
        self.context = context
        facts: dict[str, Any] = {"session_id": session_id, "step_index": step_index, "context": context}
        super().__init__(message, cause=cause, details={k: v for k, v in facts.items() if v is not None})

    @property
    def type(self) -> PromptManagerErrorType | None:
        """The type. None for `AccessRefused`."""
        return PromptManagerErrorType(self.code) if self.code in PromptManagerErrorType.__members__ else None


class TemplateNotFound(PromptManagerError):
    """No template has this id."""

    code = ErrorCode.TEMPLATE_NOT_FOUND


class ContextUnavailable(PromptManagerError):
    """The context manager failed, took too long, or returned invalid data."""

    code = ErrorCode.CONTEXT_UNAVAILABLE


class SchemaGenerationFailed(PromptManagerError):
    """The schema manager failed, took too long, or returned a schema that cannot be used."""

    code = ErrorCode.SCHEMA_GENERATION_FAILED


class ValidationFailed(PromptManagerError):
    """A request, a setting or a template is invalid, or the quality of a prompt is too low."""

    code = ErrorCode.VALIDATION_FAILED


class DomTooLarge(PromptManagerError):
    """The page exceeds `max_dom_size`, and `compress_large_dom` is off."""

    code = ErrorCode.DOM_TOO_LARGE


class HistoryCorrupted(PromptManagerError):
    """Every entry of the history is malformed or out of order."""

    code = ErrorCode.HISTORY_CORRUPTED


class TemplateRenderingFailed(PromptManagerError):
    """A template lacks a value, has one of the wrong type, or is malformed."""

    code = ErrorCode.TEMPLATE_RENDERING_FAILED


class AccessRefused(PromptManagerError, PermissionError):
    """The guard does not allow this principal to read the session or to change templates."""

    code = ErrorCode.ACCESS_REFUSED
