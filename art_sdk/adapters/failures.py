"""Errors of a provider's bad answers: the status, its own words, and whether trying again may help."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec

from art_sdk.errors import RAW_BODY_LIMIT, LLMProviderError
from art_sdk.http.transport import ResponseHead
from art_sdk.json_data import is_array, is_object

RETRYABLE_STATUSES: Final = frozenset({408, 409, 429, *range(500, 600)})
"""Answers after which the same request may succeed: the official OpenAI and Anthropic clients retry these.

Source: `BaseClient._should_retry` in openai 3.54 and anthropic 2.12. Cloudflare, in front of several, adds 520 to 524.
"""

SCRUBBED: Final = "[api key]"


class Words(NamedTuple):
    """A provider's own words about an error: its code, and its message."""

    code: str | None
    message: str | None


SHORTEST_SECRET: Final = 8
"""Characters. A shorter key, such as "ollama", is for servers that take any, and may be a word of their errors."""


class FailureReader:
    """Makes errors of one provider's bad answers. No part of them shows a secret, such as the API key.

    Some providers repeat it.
    """

    def __init__(self, provider: str, secrets: Iterable[str], request_id_header: str) -> None:
        self._provider = provider
        self._secrets = sorted({one for one in secrets if len(one) >= SHORTEST_SECRET}, key=len, reverse=True)
        self._request_id_header = request_id_header

    def read_refusal(self, head: ResponseHead, body: bytes) -> LLMProviderError:
        """The error of an answer outside 2xx."""
        words, status = self._words(head, body), head.status
        return self._error(
            f"{self._provider} answered {status}{self._redirect(head) or _quote(words)}",
            *(head, body, words),
            retry_after=read_retry_after(head.headers),
            is_retryable=status in RETRYABLE_STATUSES,
        )

    def _redirect(self, head: ResponseHead) -> str | None:
        """Where an answer redirects to, without its query, which may have secrets."""
        location = head.headers.get("location") if 300 <= head.status < 400 else None
        if not location:
            return None
        to = self._scrub(location.partition("?")[0].partition("#")[0])
        return f", a redirect to {to!r}, which is not followed; correct base_url"

    def read_no_answer(self, head: ResponseHead, body: bytes, cause: Exception) -> LLMProviderError:
        """The error of a body with status 2xx that is not an answer: it has an error, or cannot be read.

        Azure answers 200 with an error where it filtered the prompt: recorded.
        """
        if not has_error(body) and _code_of_headers(head) is None:
            return self.read_unreadable(head, body, cause)
        return self._read_error_in_answer(head, body, cause, " with an error")

    def read_unreadable(self, head: ResponseHead, body: bytes, cause: Exception) -> LLMProviderError:
        """The error of an answer with status 2xx whose body is not what the provider sends.

        Some providers answer 200 with an error in the body: its words are the provider's then.
        """
        words = self._words(head, body) if b'"error"' in body else Words(None, None)
        kind, cause = self._scrub(head.headers.get("content-type", "no content type")), self._scrub_cause(cause)
        return self._error(
            f"{self._provider} answered {head.status} with a body that cannot be read ({kind}): {cause}",
            *(head, body, words),
            cause=cause,
        )

    def read_stream_error(
        self, head: ResponseHead, data: bytes, cause: Exception, *, code: str | None = None
    ) -> LLMProviderError:
        """The error that a provider sends in a stream that began with a status of 2xx; `code` is not in its data."""
        return self._read_error_in_answer(head, data, cause, ", then sent an error in the stream", code)

    def _read_error_in_answer(
        self, head: ResponseHead, data: bytes, cause: Exception, how: str, code: str | None = None
    ) -> LLMProviderError:
        """The error of an answer that began well. Trying again may help as after a status that says the same."""
        words = self._words(head, data)
        words = words if code is None else words._replace(code=self._scrub(code))
        codes = {code.lower() for code in (*read_codes(data), words.code or "")}
        return self._error(
            f"{self._provider} answered {head.status}{how}{_quote(words)}",
            *(head, data, words),
            retry_after=read_retry_after(head.headers),
            is_retryable=not codes.isdisjoint(RETRYABLE_CODES),
            cause=self._scrub_cause(cause),
        )

    def read_broken_stream(
        self, head: ResponseHead, data: bytes, cause: Exception, *, is_retryable: bool
    ) -> LLMProviderError:
        """The error of a stream that is not the provider's format, or that stops before its end."""
        cause = self._scrub_cause(cause)
        return self._error(
            f"{self._provider} answered {head.status} with a stream that cannot be read: {cause}",
            *(head, data, Words(None, None)),
            is_retryable=is_retryable,
            cause=cause,
        )

    def read_cut_off(self, head: ResponseHead, data: bytes, cut: LLMProviderError) -> LLMProviderError:
        """The error of an answer whose body the network or a limit cut off: what its head says is kept.

        `data` is what came of the body. A refusal stays a refusal, and is retried only if its status is.
        """
        is_refusal = not 200 <= head.status < 300
        words = self._words(head, data) if is_refusal else Words(None, None)
        quoted = f": {words.message}" if words.message else ""
        return self._error(
            f"{self._provider} answered {head.status}{quoted}; {cut.message}",
            *(head, data, words),
            retry_after=read_retry_after(head.headers),
            is_retryable=head.status in RETRYABLE_STATUSES if is_refusal else cut.is_retryable,
            cause=cut.__cause__ or cut,
        )

    def _error(self, message: str, head: ResponseHead, body: bytes, words: Words, **more: Any) -> LLMProviderError:
        request_id = head.headers.get(self._request_id_header)
        return LLMProviderError(
            message,
            provider=self._provider,
            status=head.status,
            provider_code=words.code,
            provider_message=words.message,
            request_id=request_id and self._scrub(request_id),
            raw_body=self._scrub_body(body),
            **more,
        )

    def _words(self, head: ResponseHead, body: bytes) -> Words:
        """The words without the key, which JSON may have escaped in the body. They are cut after it is removed."""
        code, message = read_words(body)
        words = (code or _code_of_headers(head), message)
        return Words(*(word and self._scrub(word)[:RAW_BODY_LIMIT] for word in words))

    def _scrub(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, SCRUBBED)
        return text

    def _scrub_body(self, body: bytes) -> bytes:
        for secret in self._secrets:
            body = body.replace(secret.encode(), SCRUBBED.encode())
        return body

    def _scrub_cause(self, cause: Exception) -> Exception:
        """The exception itself, or its text alone if it shows a secret: a UnicodeDecodeError shows all bytes."""
        shown = f"{cause} {cause!r}"
        return cause if self._scrub(shown) == shown else ValueError(self._scrub(str(cause)))


def _quote(words: Words) -> str:
    return f": {words.message}" if words.message else " without a readable message"


RETRYABLE_CODES: Final = frozenset(
    {
        *("api_error", "overloaded_error", "rate_limit_error", "timeout_error"),
        # Anthropic's names of its statuses 500, 529, 429, 504: docs.anthropic.com/en/api/errors
        *("server_error", "rate_limit_exceeded"),  # `openai.types.responses.ResponseError`
        *("server_is_overloaded", "service_unavailable", "slow_down"),  # OpenAI's, observed: holon-run/holon#2089
        "internal_server_error",  # Groq's 503, observed: console.groq.com/docs/errors
        *("ratelimitreached", "timeout"),  # Azure's 429: recorded; its 408: langgenius/dify-official-plugins#2199
        *("deadline_exceeded", "internal", "resource_exhausted", "unavailable"),
        # Google's names of 504, 500, 429, 503: google.rpc.Code
        *("internalserverexception", "modelstreamerrorexception", "serviceunavailableexception", "throttlingexception"),
        # Bedrock's in a stream, where its types say "retry your request" or have a status above: botocore 1.44
        *map(str, RETRYABLE_STATUSES),
        # OpenRouter's and Gemini's numbers are statuses: openrouter.ai/docs/api-reference/errors, and recorded.
        # Mistral's have four digits: raycast/extensions#31107
    }
)
"""Codes, in lower case, of errors in an answer whose status is good, after which trying again may help."""


def read_words(body: bytes) -> Words:
    """Code and message out of an error body of any shape that providers are known to use.

    `{"error": {...}}` (OpenAI, Anthropic, Gemini, OpenRouter), the same in a list (Gemini, when
    streaming), `{"error": "text"}` (Ollama, xAI), `{"message"}` (Bedrock, Cohere), `{"detail"}` (Mistral);
    plain text, and the title of an HTML page, which come from proxies in front of the provider.
    """
    try:
        outer = _outer(msgspec.json.decode(body))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return Words(None, _plain_message(body))
    if not is_object(outer):
        return Words(None, outer if isinstance(outer, str) and outer else None)
    fault = _fault(outer)
    return Words(next(iter(_codes(fault)), None), _message(fault))


def read_codes(body: bytes) -> list[str]:
    """All codes of an error body: some providers have a word and a status."""
    try:
        outer = _outer(msgspec.json.decode(body))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return []
    return _codes(_fault(outer)) if is_object(outer) else []


def has_error(body: bytes) -> bool:
    """Whether a body has an error: its own, that of its first choice or its response, or that of an object in its list.

    Mistral's is the body itself: `{"object": "error", "message": ...}`.
    """
    try:
        outer = _outer(msgspec.json.decode(body))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return is_object(outer) and (_has_error(outer) or outer.get("object") == "error")


def _outer(data: Any) -> Any:
    """The object of an error body: of a list, the first one with an error."""
    if not is_array(data) or not data:
        return data
    return next((one for one in data if is_object(one) and _has_error(one)), data[0])


def _has_error(body: dict[str, Any]) -> bool:
    return bool(body.get("error") or _error_of_choice(body) or _error_of_response(body))


def _fault(outer: dict[str, Any]) -> dict[str, Any]:
    inner = outer.get("error") or _error_of_choice(outer) or _error_of_response(outer)
    for name in _HOLDERS if inner is None else ():
        holder = outer.get(name)
        if is_object(holder) and holder.get("error"):
            return holder
    return inner if is_object(inner) else outer


_HOLDERS: Final = ("delta", "x_groq")
"""Fields of an event that may have an error, which is a text: Cohere's in `message-end` (`ChatMessageEndEventDelta` in
cohere 7.3), and Groq's (`XGroq` in groq 1.7)."""


def _error_of_choice(body: dict[str, Any]) -> Any:
    """OpenRouter's, for a model that failed: openrouter.ai/docs/api-reference/overview."""
    choices: Any = body.get("choices")
    first: Any = choices[0] if is_array(choices) and choices else None
    return first.get("error") if is_object(first) else None


def _error_of_response(event: dict[str, Any]) -> Any:
    """OpenAI's, of the event `response.failed`: `openai.types.responses.ResponseFailedEvent`."""
    response: Any = event.get("response")
    return response.get("error") if is_object(response) else None


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `retry-after` (seconds, or an HTTP date: RFC 9110, 10.2.3)."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
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


_CODE_NAMES: Final = ("code", "status", "type", "error_type")  # the last is Cohere's; AWS's own is `__type`
_MESSAGE_NAMES: Final = ("message", "Message", "error", "detail")  # the second is AWS's own, before Bedrock


def _codes(fault: dict[str, Any]) -> list[str]:
    """Words before numbers: Gemini's `code` repeats the HTTP status, its `status` says what happened."""
    values = [fault.get(name) for name in _CODE_NAMES]
    aws = fault.get("__type")
    values += [aws.rpartition("#")[2]] if isinstance(aws, str) else []
    words = [value for value in values if isinstance(value, str) and value]
    return words + [str(value) for value in values if isinstance(value, int)]


def _code_of_headers(head: ResponseHead) -> str | None:
    """Bedrock's code, which is not in its body: `ValidationException:http://...`."""
    return head.headers.get("x-amzn-errortype", "").partition(":")[0] or None


def _message(fault: dict[str, Any]) -> str | None:
    values = [fault.get(name) for name in _MESSAGE_NAMES]
    message = next((value for value in values if value), None)
    if message is None:
        return None
    return message if isinstance(message, str) else msgspec.json.encode(message).decode()


_HEADING: Final = re.compile(r"<(?:title|h1)\b[^<>]*>([^<>]+)<", re.IGNORECASE)


def _plain_message(body: bytes) -> str | None:
    """The words of a body that is not JSON. Broken JSON and bytes that are not text have none."""
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
