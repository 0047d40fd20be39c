"""A provider's error answer, read: status, its own words, and whether trying again may help."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec

from art_sdk.errors import RAW_BODY_LIMIT, LLMProviderError
from art_sdk.http.transport import ResponseHead
from art_sdk.json_data import is_array, is_object

RETRYABLE_STATUSES: Final = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
"""Answers after which the same request may succeed; the official OpenAI and Anthropic clients retry these."""

SCRUBBED: Final = "[api key]"


class Words(NamedTuple):
    """What a provider says of an error: its code, and its message."""

    code: str | None
    message: str | None


class FailedAnswer(NamedTuple):
    """An answer that is no good, the key struck out of all of it: some providers repeat it in their error text.

    `words` is struck out for itself, since JSON may write a key's characters as escapes.
    """

    provider: str
    head: ResponseHead
    body: bytes
    words: Words
    request_id: str | None


def strike_out(text: str, api_key: str) -> str:
    """The text without the key."""
    return text.replace(api_key, SCRUBBED)


def strike_out_of_answer(head: ResponseHead, body: bytes, api_key: str) -> tuple[ResponseHead, bytes, Words]:
    """Head, body and words of an answer without the key. What is cut is cut last: no half of a key is left."""
    headers = {name: strike_out(value, api_key) for name, value in head.headers.items()}
    code, message = read_words(body)
    said = (code or _code_of_headers(head), message)
    words = Words(*(word and strike_out(word, api_key)[:RAW_BODY_LIMIT] for word in said))
    return ResponseHead(head.status, headers), body.replace(api_key.encode(), SCRUBBED.encode()), words


def strike_out_of_error(error: Exception, api_key: str) -> Exception:
    """The error itself, or, where it shows the key (a UnicodeDecodeError shows all bytes), its text without it."""
    if api_key in f"{error} {error!r}":
        return ValueError(strike_out(str(error), api_key))
    return error


def describe_failure(answer: FailedAnswer) -> LLMProviderError:
    """The error that an answer outside 2xx stands for."""
    words = answer.words
    status = answer.head.status
    said = f": {words.message}" if words.message else " without a message that can be read"
    return LLMProviderError(
        f"{answer.provider} answered {status}{said}",
        provider=answer.provider,
        status=status,
        provider_code=words.code,
        provider_message=words.message,
        request_id=answer.request_id,
        retry_after=read_retry_after(answer.head),
        is_retryable=status in RETRYABLE_STATUSES,
        raw_body=answer.body,
    )


def describe_unreadable(answer: FailedAnswer, error: Exception) -> LLMProviderError:
    """The error that an answer of status 2xx stands for when its body is not what the provider sends.

    Some providers say 200 and put an error into the body: its words are theirs then.
    """
    words = answer.words if b'"error"' in answer.body else Words(None, None)
    kind = answer.head.headers.get("content-type", "no content type")
    return LLMProviderError(
        f"{answer.provider} answered {answer.head.status} with a body that cannot be read ({kind}): {error}",
        provider=answer.provider,
        status=answer.head.status,
        provider_code=words.code,
        provider_message=words.message,
        request_id=answer.request_id,
        raw_body=answer.body,
        cause=error,
    )


RETRYABLE_CODES: Final = frozenset(
    {
        "api_error",
        "overloaded_error",
        "rate_limit_error",
        "timeout_error",  # Anthropic's names of its statuses 500, 529, 429, 504: docs.anthropic.com/en/api/errors
        "server_error",
        "rate_limit_exceeded",  # `openai.types.responses.ResponseError`
        "DEADLINE_EXCEEDED",
        "INTERNAL",
        "RESOURCE_EXHAUSTED",
        "UNAVAILABLE",  # Google's names of 504, 500, 429, 503: google.rpc.Code
        *map(str, RETRYABLE_STATUSES),
    }
)
"""What a provider calls an error in mid-stream, where there is no status, after which trying again may help."""


def describe_error_in_stream(answer: FailedAnswer, error: Exception) -> LLMProviderError:
    """The error that a provider tells in a stream that began with a status of 2xx."""
    words = answer.words
    said = words.message or "without a message that can be read"
    return LLMProviderError(
        f"{answer.provider} answered {answer.head.status} and told an error in the stream: {said}",
        provider=answer.provider,
        status=answer.head.status,
        provider_code=words.code,
        provider_message=words.message,
        request_id=answer.request_id,
        retry_after=read_retry_after(answer.head),
        is_retryable=words.code in RETRYABLE_CODES,
        raw_body=answer.body,
        cause=error,
    )


def describe_broken_stream(answer: FailedAnswer, error: Exception, *, is_retryable: bool) -> LLMProviderError:
    """The error that a stream stands for which is none of the provider's, or stops before its end."""
    return LLMProviderError(
        f"{answer.provider} answered {answer.head.status} with a stream that cannot be read: {error}",
        provider=answer.provider,
        status=answer.head.status,
        request_id=answer.request_id,
        is_retryable=is_retryable,
        raw_body=answer.body,
        cause=error,
    )


def read_words(body: bytes) -> Words:
    """Code and message out of an error body of any shape that providers are known to use.

    `{"error": {...}}` (OpenAI, Anthropic, Gemini, OpenRouter), the same in a list (Gemini, when
    streaming), `{"error": "text"}` (Ollama, xAI), `{"message"}` (Bedrock, Cohere), `{"detail"}` (Mistral);
    plain text, and an HTML page's title, of what stands before the provider.
    """
    try:
        data: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return Words(None, _plain_message(body))
    outer = data[0] if is_array(data) and data else data
    if not is_object(outer):
        return Words(None, outer if isinstance(outer, str) and outer else None)
    inner = outer.get("error")
    fault = inner if is_object(inner) else outer
    return Words(_code(fault), _message(fault))


def read_retry_after(head: ResponseHead) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `retry-after` (seconds, or an HTTP date: RFC 9110, 10.2.3)."""
    milliseconds = _number(head.headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = head.headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - slow to import, and a date is rare

    try:
        when = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    aware = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max((aware - datetime.now(UTC)).total_seconds(), 0.0)


_CODE_NAMES: Final = ("code", "status", "type", "error_type")  # the last is Cohere's
_MESSAGE_NAMES: Final = ("message", "Message", "error", "detail")  # the second is AWS's own, before Bedrock


def _code(fault: dict[str, Any]) -> str | None:
    """A word before a number: Gemini's `code` repeats the HTTP status, its `status` says what happened."""
    values = [fault.get(name) for name in _CODE_NAMES]
    words = [value for value in values if isinstance(value, str) and value]
    numbers = [str(value) for value in values if isinstance(value, int)]
    return next(iter(words + numbers), None)


def _code_of_headers(head: ResponseHead) -> str | None:
    """Bedrock's code, which is no part of its body: `ValidationException:http://...`."""
    return head.headers.get("x-amzn-errortype", "").partition(":")[0] or None


def _message(fault: dict[str, Any]) -> str | None:
    values = [fault.get(name) for name in _MESSAGE_NAMES]
    said = next((value for value in values if value), None)
    if said is None:
        return None
    return said if isinstance(said, str) else msgspec.json.encode(said).decode()


_HEADING: Final = re.compile(r"<(?:title|h1)\b[^<>]*>([^<>]+)<", re.IGNORECASE)


def _plain_message(body: bytes) -> str | None:
    """The words of a body that is no JSON. Broken JSON says nothing, nor does what is no text."""
    try:
        text = " ".join(body.decode().split())
    except UnicodeDecodeError:
        return None
    if text.startswith("<"):
        heading = _HEADING.search(text)
        return heading[1].strip() or None if heading else None
    return text if text and text[0] not in "{[" and text.isprintable() else None


def _number(text: str | None) -> float | None:
    try:
        number = math.nan if text is None else float(text)
    except ValueError:
        return None
    return max(number, 0.0) if math.isfinite(number) else None
