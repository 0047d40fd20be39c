"""The second opinion on our server: the providers' own clients read its answers, streamed and not, and its errors."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import cohere
import cohere.core
import httpx
import httpx2
import ollama
import openai
import pytest
from google import genai
from google.genai import errors as genai_errors

from art_compliance.dialects import DIALECTS
from art_compliance.provider import StrictProvider
from art_compliance.provider.faults import FAULTS, KEPT_ALIVE, Fault, find_fault
from art_compliance.scenarios import WrittenAnswer
from art_sdk import FunctionCall, ToolCall
from reading_clients import CLIENTS, Cohere, Gemini, Ollama, OpenAI, using
from row_tables import table

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

ARGUMENTS = ('{"at": "\u2713 \\"x\\"", "n": 12345678901234567890}', "{}", '{"at": ["a", null]}')
CALLS = tuple(
    ToolCall(f"call{number}", FunctionCall(name, arguments))
    for number, (name, arguments) in enumerate(zip(("look", "see", "look"), ARGUMENTS, strict=True))
)
TEXT = "Sunny, \u2713 and \U0001f31e.\n\n  Twice. "
THOUGHT = "Let me think.\nWell\u2026"
ANSWERS = {
    "text": WrittenAnswer(content=TEXT, input_tokens=30, output_tokens=12, cached_tokens=8),
    "parallel calls": WrittenAnswer(content="I look.", tool_calls=CALLS, finish="tool_calls"),
    "calls alone": WrittenAnswer(tool_calls=CALLS, finish="tool_calls"),
    "reasoning": WrittenAnswer(
        content="Yes.", thinking=THOUGHT, signature="c2ln", output_tokens=40, thinking_tokens=25
    ),
    "reasoning and a call": WrittenAnswer(
        tool_calls=CALLS[:1], thinking="Hm.", signature="c2ln", thinking_tokens=5, finish="tool_calls"
    ),
    "refusal": WrittenAnswer(content="I cannot help with that.", is_refusal=True, finish="content_filter"),
    "length": WrittenAnswer(content="It was a dark and", finish="length"),
}


clients = pytest.mark.parametrize("make", CLIENTS, ids=lambda make: make.dialect)
PAIRS = [
    pytest.param(make, name, id=f"{make.dialect}-{name}")  # type: ignore[attr-defined]
    for make in CLIENTS
    for name, said in ANSWERS.items()
    if not (make is OpenAI and said.thinking)
    if not (make in (Ollama, Cohere) and (said.is_refusal or said.signature))
]


@pytest.mark.parametrize("how", ["ask", "stream"])
@table(("make", "name"), PAIRS)
def test_the_official_client_reads_what_was_written(make: Any, name: str, how: str):
    said = ANSWERS[name]
    with StrictProvider(make.dialect, answer=lambda _: said) as provider, using(make, provider.url) as client:
        assert getattr(client, how)() == client.expected(said)
        assert provider.seen()[0].findings == ()


# Errors.

OPENAI_ERRORS: dict[int, type[Exception]] = {
    400: openai.BadRequestError,
    401: openai.AuthenticationError,
    403: openai.PermissionDeniedError,
    404: openai.NotFoundError,
    422: openai.UnprocessableEntityError,
    429: openai.RateLimitError,
    500: openai.InternalServerError,
    503: openai.InternalServerError,
    529: openai.InternalServerError,
}
ANTHROPIC_ERRORS: dict[int, type[Exception]] = {
    400: anthropic.BadRequestError,
    401: anthropic.AuthenticationError,
    403: anthropic.PermissionDeniedError,
    404: anthropic.NotFoundError,
    422: anthropic.UnprocessableEntityError,
    429: anthropic.RateLimitError,
    500: anthropic.InternalServerError,
    503: anthropic.InternalServerError,
    529: anthropic.InternalServerError,
}
GEMINI_ERRORS: dict[int, type[Exception]] = {
    status: genai_errors.ClientError if status < 500 else genai_errors.ServerError for status in OPENAI_ERRORS
}
ERRORS = {
    "openai-chat": OPENAI_ERRORS,
    "anthropic-messages": ANTHROPIC_ERRORS,
    "gemini-generate": GEMINI_ERRORS,
    "ollama-chat": dict.fromkeys(OPENAI_ERRORS, ollama.ResponseError),
    "cohere-chat-v2": dict.fromkeys(OPENAI_ERRORS, cohere.core.ApiError),
    "openai-responses": OPENAI_ERRORS,
}


@pytest.mark.parametrize("how", ["ask", "stream"])
@table("status", OPENAI_ERRORS)
@clients
def test_the_official_client_raises_its_own_error_for_every_status(make: Any, status: int, how: str):
    raises, fault = pytest.raises(ERRORS[make.dialect][status]), find_fault(f"status-{status}")
    with StrictProvider(make.dialect, fault=fault) as provider, using(make, provider.url) as client, raises as caught:
        getattr(client, how)()
    assert f"written error {status}" in str(caught.value)
    assert {getattr(caught.value, "status_code", None), getattr(caught.value, "code", None)} >= {status}


REFUSED = (
    openai.AuthenticationError,
    anthropic.AuthenticationError,
    genai_errors.ClientError,
    ollama.ResponseError,
    cohere.core.ApiError,
)


@clients
def test_the_official_client_reads_the_providers_words_in_a_refusal(make: Any):
    with StrictProvider(make.dialect) as provider, using(make, provider.url, "no key") as client:
        with pytest.raises(REFUSED) as caught:
            client.ask()
        (exchange,) = provider.seen()
    assert exchange.findings[0].provider_text in str(caught.value)


IN_STREAM = {
    "openai-chat": openai.APIError,
    "openai-responses": openai.APIError,
    "anthropic-messages": anthropic.APIStatusError,
    "gemini-generate": genai_errors.ServerError,
    "ollama-chat": ollama.ResponseError,
    "cohere-chat-v2": RuntimeError,
}


@clients
def test_the_official_client_raises_on_an_error_inside_a_stream(make: Any):
    raises, fault = pytest.raises(IN_STREAM[make.dialect], match="written error 503"), FAULTS["error-in-stream"]
    with StrictProvider(make.dialect, fault=fault) as provider, using(make, provider.url) as client, raises:
        client.stream()


# Benign faults are benign to those who wrote the clients.

BENIGN = [
    pytest.param(make, fault, id=f"{make.dialect}-{fault.id}")  # type: ignore[attr-defined]
    for make in CLIENTS
    for fault in (*FAULTS.values(), KEPT_ALIVE)
    if fault.is_benign and fault.is_for(DIALECTS[make.dialect])  # type: ignore[attr-defined]
]


@table(("make", "fault"), BENIGN)
def test_the_official_client_reads_the_answer_despite_a_benign_fault(make: Any, fault: Fault):
    said = ANSWERS["parallel calls"]
    with StrictProvider(make.dialect, answer=lambda _: said, fault=fault) as provider:
        with using(make, provider.url) as client:
            assert client.ask() == client.expected(said)
            assert reads(client, said) is (fault.id not in DIALECTS[make.dialect].streams.client_failures)
        assert fault.id in {exchange.fault for exchange in provider.seen()}


def reads(client: Any, said: WrittenAnswer) -> bool:
    """Whether the stream is read right; some versions lose its first event without a word."""
    try:
        return client.stream() == client.expected(said)
    except (genai_errors.APIError, genai_errors.UnknownApiResponseError, AssertionError, json.JSONDecodeError):
        return False


BROKEN = (openai.APIError, anthropic.APIError, genai_errors.APIError, httpx2.TransportError, httpx.TransportError)


@pytest.mark.parametrize("name", ["reset-before-head", "reset-mid-body", "cut-body", "close-before-head"])
@clients
def test_a_broken_connection_is_an_error_to_the_official_client(make: Any, name: str):
    with StrictProvider(make.dialect, fault=FAULTS[name]) as provider:
        for how in ("ask", "stream"):
            with using(make, provider.url) as client, pytest.raises(BROKEN):
                getattr(client, how)()


# Models.


@pytest.mark.parametrize("of", ["one dialect", "every dialect"])
def test_ollamas_client_lists_the_models(of: str):
    with StrictProvider(Ollama.dialect if of == "one dialect" else None) as provider:
        with using(Ollama, provider.url) as client:
            listed = [model.model for model in client.client.list().models]
        assert listed == [*DIALECTS[Ollama.dialect].answers.models.names]
        assert not any(exchange.is_refused for exchange in provider.seen())


@pytest.mark.parametrize("of", ["one dialect", "every dialect"])
@pytest.mark.parametrize("make", CLIENTS[:3], ids=lambda make: make.dialect)
def test_the_official_client_lists_the_models_and_gets_one(make: Any, of: str):
    names = DIALECTS[make.dialect].answers.models.names
    with StrictProvider(make.dialect if of == "one dialect" else None) as provider:
        with using(make, provider.url) as client:
            listed = [name_of(model) for model in client.client.models.list()]
            got = client.client.models.get(model="x") if make is Gemini else client.client.models.retrieve("x")
        assert (listed, name_of(got)) == ([*names], "x")
        assert not any(exchange.is_refused for exchange in provider.seen())


def name_of(model: Any) -> str:
    return model.name.removeprefix("models/") if isinstance(model, genai.types.Model) else model.id
