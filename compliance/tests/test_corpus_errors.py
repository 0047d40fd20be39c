"""Recorded error answers are read with the provider's own words, as the official clients read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from art_sdk import (
    EndEvent,
    ErrorEvent,
    LLMProviderError,
)
from art_sdk.adapters.failures import RETRYABLE_STATUSES
from official_calls import ASK_UNSTREAMED
from recorded_readings import read_answer, recorded_errors
from recorded_traffic import (
    FAMILY,
    READERS,
    Recorded,
    official,
    params,
    replaying,
)
from row_tables import table

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # recorded traffic says the same to every Python


def spoken(data: Any) -> tuple[str | None, str]:
    """Code and message of an error, read by the shapes that were recorded. A new shape is a failure."""
    match data:
        case {"error": {"message": str(message), "status": str(code)}}:  # Gemini, Vertex
            said = code, message
        case {"error": {"message": str(message), "code": str(code)}}:  # OpenAI and most relatives
            said = code, message
        case {"error": {"message": str(message), "type": str(code)}}:  # Anthropic; Ollama, Perplexity
            said = code, message
        case {"error": {"message": str(message), "code": int(code)}}:  # OpenRouter
            said = str(code), message
        case {"error": str(message), "code": str(code)}:  # xAI
            said = code, message
        case {"error": str(message)}:  # Ollama
            said = None, message
        case {"message": str(message), "error_type": str(code)}:  # Cohere
            said = code, message
        case {"message": str(message)}:  # Bedrock, whose code is a header; Cohere
            said = None, message
        case {"detail": str(message)}:  # Mistral, Voyage
            said = None, message
        case _:
            pytest.fail(f"an error of a shape that this reading does not know: {data}")
    return said


def failures(one: Recorded) -> Iterator[LLMProviderError]:
    """The error as each adapter reads it: the reader is shared."""
    headers = {} if one.retry_after is None else {"retry-after": one.retry_after}
    for reader in {*READERS.values(), *FAMILY.values()}:
        first, last = read_answer(reader, one.answer, status=one.status, headers=headers)
        assert isinstance(first, ErrorEvent)
        assert isinstance(last, EndEvent)
        assert (last.message, last.finish) == (None, "error")
        assert isinstance(first.error, LLMProviderError)
        yield first.error


@table("one", params(recorded_errors()))
def test_an_error_is_read_with_the_providers_own_words(one: Recorded):
    code, message = spoken(one.data)
    assert message
    for error in failures(one):
        assert error.code == "LLM_PROVIDER_ERROR"
        assert (error.status, error.provider_code, error.provider_message) == (one.status, code, message)
        assert error.is_retryable is (one.status in RETRYABLE_STATUSES)
        assert error.retry_after == (None if one.retry_after is None else float(one.retry_after))
        assert message in str(error)
        assert error.raw_body == one.answer[:4096]


def openai_words(error: Any) -> tuple[int, str | None, str | None]:
    words = error.body
    return error.status_code, words.get("code") or words.get("type"), words.get("message")


def anthropic_words(error: Any) -> tuple[int, str | None, str | None]:
    words = error.body["error"]
    return error.status_code, words["type"], words["message"]


def google_words(error: Any) -> tuple[int, str | None, str | None]:
    return error.code, error.status, error.message


def ollama_words(error: Any) -> tuple[int, str | None, str | None]:
    return error.status_code, None, error.error


def bedrock_words(error: Any) -> tuple[int, str | None, str | None]:
    """botocore's code is the status where the recording has no header with the name."""
    return error.response["ResponseMetadata"]["HTTPStatusCode"], None, error.response["Error"]["Message"]


def cohere_words(error: Any) -> tuple[int, str | None, str | None]:
    return error.status_code, error.body.get("error_type"), error.body["message"]


WORDS: Mapping[str, tuple[str, str, Callable[[Any], tuple[int, str | None, str | None]]]] = {
    "chat_completions": ("openai", "APIStatusError", openai_words),
    "anthropic_messages": ("anthropic", "APIStatusError", anthropic_words),
    "gemini_generate": ("google.genai.errors", "APIError", google_words),
    "ollama_chat": ("ollama", "ResponseError", ollama_words),
    "bedrock_converse": ("botocore.exceptions", "ClientError", bedrock_words),
    "cohere_v2_chat": ("cohere.core", "ApiError", cohere_words),
}
"""By shape, the error that the official client raises, and what it says."""


def is_of_the_client_s_own_provider(one: Recorded) -> bool:
    """Relatives put their words where the official client does not look."""
    return one.provider in {"openai", "azure", "anthropic", "gemini", "vertex", "ollama", "bedrock", "cohere"}


@table("one", params(one for one in recorded_errors() if one.shape in WORDS and is_of_the_client_s_own_provider(one)))
def test_an_error_says_what_the_official_client_raises(one: Recorded):
    package, name, words = WORDS[one.shape]
    with (
        replaying(one.answer, {"content-type": "application/json"}, status=one.status) as http_client,
        pytest.raises(getattr(official(package), name)) as raised,
    ):
        ASK_UNSTREAMED[one.shape](http_client)
    for error in failures(one):
        assert (error.status, error.provider_code, error.provider_message) == words(raised.value)
