"""Every error of the SDK, one class and one stable code each.

ARTError
├── PromptValidationFailed    PROMPT_VALIDATION_FAILED    yours: the prompt is malformed
├── PromptAssemblyFailed      PROMPT_ASSEMBLY_FAILED      yours: blueprint and context do not make a prompt
├── PromptTranslationFailed   PROMPT_TRANSLATION_FAILED   yours: this provider cannot take this prompt
├── InvalidConfig             INVALID_CONFIG              yours: options, keys, names, settings
└── LLMProviderError          LLM_PROVIDER_ERROR          theirs: network, status, or an unreadable answer

A message says what is wrong and where, and ends with what to do about it if that is known. `details` says the same
as JSON data. Neither ever contains an API key.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar, Final

RAW_BODY_LIMIT: Final = 4096
"""The most bytes of a provider's raw error body that an `LLMProviderError` keeps."""


class ErrorCode(StrEnum):
    """The stable codes. A code is never reused with another meaning."""

    PROMPT_VALIDATION_FAILED = "PROMPT_VALIDATION_FAILED"
    PROMPT_ASSEMBLY_FAILED = "PROMPT_ASSEMBLY_FAILED"
    PROMPT_TRANSLATION_FAILED = "PROMPT_TRANSLATION_FAILED"
    INVALID_CONFIG = "INVALID_CONFIG"
    LLM_PROVIDER_ERROR = "LLM_PROVIDER_ERROR"
    # of the browser agent's prompts: see art_sdk/agents/browser/errors.py
    TEMPLATE_NOT_FOUND = "TEMPLATE_NOT_FOUND"
    CONTEXT_UNAVAILABLE = "CONTEXT_UNAVAILABLE"
    SCHEMA_GENERATION_FAILED = "SCHEMA_GENERATION_FAILED"
    VALIDATION_FAILED = "VALIDATION_FAILED"
    DOM_TOO_LARGE = "DOM_TOO_LARGE"
    HISTORY_CORRUPTED = "HISTORY_CORRUPTED"
    TEMPLATE_RENDERING_FAILED = "TEMPLATE_RENDERING_FAILED"
    ACCESS_REFUSED = "ACCESS_REFUSED"


class ARTError(Exception):
    """The base of every error of the SDK.

    `code` is stable, `message` is for people, `details` is the same as JSON data for programs, and `cause` becomes
    `__cause__`.
    """

    code: ClassVar[ErrorCode]

    def __init__(
        self, message: str, *, cause: BaseException | None = None, details: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, Any] = details or {}
        self.__cause__ = cause

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def __reduce__(self) -> tuple[Any, ...]:
        # exceptions are unpickled by calling __init__, which here takes keywords
        return _bare, (type(self), self.message), self.__dict__


def _bare(kind: type[ARTError], message: str) -> ARTError:
    return kind.__new__(kind, message)


class PromptValidationFailed(ARTError):
    """A prompt that is not an `ArtStandardPrompt`.

    `details["violations"]` lists everything that is wrong, each as `{"path", "message"}`; a path looks like
    `$[3].tool_calls[0].function.arguments`. `details["layer"]` is `shape` or `conversation`.
    """

    code = ErrorCode.PROMPT_VALIDATION_FAILED


class PromptAssemblyFailed(ARTError):
    """A blueprint that is malformed, or that does not render to an `ArtStandardPrompt` with this context.

    `details` has, as far as they apply, `blueprint`, `tag`, `line` (from 1), `within` (the partial, or the text of an
    object blueprint, in which the line is counted), `index` (of the message) and `violations` (as in
    `PromptValidationFailed`). It quotes at most 60 characters of a prompt in a row. For a system prompt whose
    contributor failed, `details` has `contributor` (its id), `level` and `reason`.
    """

    code = ErrorCode.PROMPT_ASSEMBLY_FAILED


class PromptTranslationFailed(ARTError):
    """A well-formed prompt that this adapter's provider does not accept.

    `details` has `adapter` (the class), `provider` (its name), `reason` (what is wrong, and what to do) and, as far as
    they apply, `index` and `role` of the message, `call_id`, and `rule` (the provider's rule that forbids it).
    """

    code = ErrorCode.PROMPT_TRANSLATION_FAILED


class InvalidConfig(ARTError):
    """An adapter, its options, a file or a name that cannot be used as given."""

    code = ErrorCode.INVALID_CONFIG


class LLMProviderError(ARTError):
    """The provider, or the network on the way to it, gave no usable answer.

    `status` is the HTTP status (None if no answer came), `provider_code` and `provider_message` are the provider's
    own, `retry_after` is in seconds, and `raw_body` has at most `RAW_BODY_LIMIT` bytes of the answer.
    """

    code = ErrorCode.LLM_PROVIDER_ERROR

    def __init__(
        self,
        message: str,
        *,
        provider: str,
        status: int | None = None,
        provider_code: str | None = None,
        provider_message: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        is_retryable: bool = False,
        raw_body: bytes = b"",
        cause: BaseException | None = None,
    ) -> None:
        self.provider = provider
        self.status = status
        self.provider_code = provider_code
        self.provider_message = provider_message
        self.request_id = request_id
        self.retry_after = retry_after
        self.is_retryable = is_retryable
        self.raw_body = raw_body[:RAW_BODY_LIMIT]
        facts = {
            "provider": provider,
            "status": status,
            "provider_code": provider_code,
            "provider_message": provider_message,
            "request_id": request_id,
            "retry_after": retry_after,
            "is_retryable": is_retryable,
        }
        super().__init__(message, cause=cause, details={k: v for k, v in facts.items() if v is not None})
