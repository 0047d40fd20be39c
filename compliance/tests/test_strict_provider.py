"""The strict provider rejects what the real provider would, in its words and format, and serves many clients."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx2
import pytest

from art_compliance.dialects import DIALECTS
from art_compliance.findings import HarnessError
from art_compliance.judging import judge
from art_compliance.provider import LoopbackProvider, Response, StrictProvider
from art_compliance.provider.composing import ANSWERS
from art_compliance.provider.faults import find_fault
from art_compliance.scenarios import load_scenarios
from art_compliance.subject.factories import find_factory
from art_sdk import BUILT_IN, ARTError, parse_options, parse_prompt
from row_tables import table
from strict_requests import HELLO, KEYS, PATHS, SCHEMA, TOOLS, each, post, words

pytestmark = pytest.mark.unmeasured  # other tests run the same lines


@pytest.fixture(scope="module")
def provider() -> Iterator[StrictProvider]:
    with StrictProvider() as opened:
        yield opened


@each
def test_a_good_request_is_answered_and_the_same_one_the_same_way(provider: StrictProvider, dialect: str):
    first, second = (post(provider, dialect, HELLO[dialect] | TOOLS[dialect]) for _ in range(2))
    assert (first.status_code, first.content) == (200, second.content)
    unknown = post(provider, dialect, HELLO[dialect] | TOOLS[dialect] | {"x": 1})
    assert unknown.status_code == (200 if dialect == "ollama-chat" else 400)  # Ollama drops what it does not know


RESULT = {"type": "tool_result", "tool_use_id": "x", "content": "y"}


BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "openai-chat": ({"messages": []}, "Invalid 'messages': empty array.", "/messages"),
    "openai-responses": (
        {"input": [{"type": "function_call_output", "call_id": "x", "output": "y"}]},
        "No tool call found for function call output with call_id",
        "/input/0",
    ),
    "anthropic-messages": (
        {"messages": [{"role": "user", "content": [RESULT]}]},
        "unexpected `tool_use_id` found in `tool_result` blocks",
        "/messages/0/content/0",
    ),
    "gemini-generate": (
        {"contents": [{"role": "assistant", "parts": [{"text": "hi"}]}]},
        "Please use a valid role: user, model.",
        "/contents/0/role",
    ),
    "ollama-chat": (
        {"messages": [{"role": "user", "content": "hi", "images": ["data:image/png;base64,AAAA"]}]},
        "illegal base64 data at input byte",
        "/messages/0/images/0",
    ),
    "cohere-chat-v2": (
        {"messages": [{"role": "tool", "tool_call_id": "x", "content": "y"}]},
        "tool call id not found in previous tool calls",
        "/messages/0/tool_call_id",
    ),
}


@each
def test_a_bad_request_is_refused_in_the_providers_words_with_the_place(provider: StrictProvider, dialect: str):
    change, said, place = BAD[dialect]
    response = post(provider, dialect, HELLO[dialect] | change)
    seen = provider.seen()[-1]
    assert response.status_code == 400
    assert said in words(dialect, response)
    assert place in words(dialect, response)
    assert seen.is_refused
    assert list(seen.findings) == judge(dialect, HELLO[dialect] | change, url=PATHS[dialect])


TOO_LARGE = b" " * (33 << 20)

REFUSED: list[tuple[str, dict[str, Any], int, str]] = [
    ("openai-chat", {"headers": {}}, 401, "You didn't provide an API key"),
    ("openai-chat", {"headers": {"authorization": "Basic abc"}}, 401, "You didn't provide an API key"),
    ("openai-chat", {"headers": {"authorization": "Bearer two words"}}, 401, "Incorrect API key provided"),
    ("anthropic-messages", {"headers": {"anthropic-version": "x"}}, 401, "x-api-key header is required"),
    ("anthropic-messages", {"headers": {"x-api-key": "", "anthropic-version": "x"}}, 401, "invalid x-api-key"),
    ("anthropic-messages", {"headers": {"x-api-key": "any"}}, 400, "anthropic-version"),
    ("gemini-generate", {"headers": {}}, 403, "unregistered callers"),
    ("gemini-generate", {"headers": {"x-goog-api-key": "a b"}}, 400, "API key not valid"),
    ("gemini-generate", {"headers": {}, "path": f"{PATHS['gemini-generate']}?key=any"}, 200, ""),
    ("anthropic-messages", {"headers": {"authorization": "Bearer any", "anthropic-version": "x"}}, 200, ""),
    ("ollama-chat", {"headers": {}}, 401, "unauthorized"),
    ("cohere-chat-v2", {"headers": {}}, 401, "no api key supplied"),
    ("cohere-chat-v2", {"headers": {"authorization": "Bearer two words"}}, 401, "Incorrect API key provided"),
    *((name, {"payload": b"{"}, 400, "JSON") for name in PATHS),
    *((name, {"payload": b"\xff"}, 400, "JSON") for name in PATHS),
    *((name, {"payload": TOO_LARGE}, 413, "bytes; the limit is") for name in PATHS),
]


@table(("dialect", "settings", "status", "said"), REFUSED)
def test_a_request_that_is_wrong_before_its_body_is_refused_with_its_status(
    provider: StrictProvider, dialect: str, settings: dict[str, Any], status: int, said: str
):
    response = post(provider, dialect, **({"payload": HELLO[dialect]} | settings))
    assert response.status_code == status
    assert provider.seen()[-1].is_refused is (status != 200)
    if said:
        assert said in words(dialect, response)
        assert provider.seen()[-1].findings[0].message


def test_unknown_paths_and_methods_are_refused(provider: StrictProvider):
    assert httpx2.post(provider.url + "/v1/poems", timeout=60).status_code == 404
    assert "unknown path POST /v1/poems; known paths:" in provider.seen()[-1].findings[0].message
    got = httpx2.get(provider.url + PATHS["openai-chat"], headers=KEYS["openai-chat"], timeout=60)
    assert (got.status_code, got.headers["allow"]) == (405, "POST")


def test_a_provider_of_one_dialect_knows_no_other_path():
    with StrictProvider("anthropic-messages") as one:
        response = httpx2.post(one.url + PATHS["openai-chat"], json=HELLO["openai-chat"], timeout=60)
        assert (response.status_code, response.json()["error"]["type"]) == (404, "not_found_error")
        assert one.base_url == one.url + "/v1"


@pytest.mark.parametrize(
    "make",
    [lambda: StrictProvider("poems"), lambda: StrictProvider(answer="poem"), lambda: StrictProvider(fault="rain")],
)
def test_unknown_names_fail_with_the_known_ones(make: Any):
    with pytest.raises(HarnessError, match=r"known: |unknown fault 'rain'"):
        make()


def test_a_provider_of_all_dialects_has_no_single_base_url(provider: StrictProvider):
    with pytest.raises(HarnessError, match=r"use `url` and the dialect's `service\.base_path`"):
        _ = provider.base_url


RELATIVES = [name for name, dialect in DIALECTS.items() if dialect.service.shape is None]


@pytest.mark.parametrize("dialect", RELATIVES)
@table("answer", ANSWERS)
def test_a_relative_of_openais_is_served_under_its_name(dialect: str, answer: str):
    with StrictProvider(dialect, answer=answer) as one:
        for more in ({}, {"stream": True}, TOOLS["openai-chat"]):
            payload = HELLO["openai-chat"] | more
            response = httpx2.post(
                f"{one.base_url}/chat/completions", json=payload, headers=KEYS["openai-chat"], timeout=60
            )
            assert (response.status_code, one.seen()[-1].dialect) == (200, dialect), response.text
        refused = httpx2.post(f"{one.base_url}/chat/completions", json=HELLO["openai-chat"], timeout=60)
        assert refused.status_code == 401
        assert refused.content == DIALECTS[dialect].answers.write_error(
            401, one.seen()[-1].findings[0].provider_text or ""
        )


@pytest.mark.parametrize("fault", ["missing-end", find_fault("missing-end")], ids=["by name", "itself"])
def test_a_fault_spoils_the_answers_that_it_applies_to(fault: Any):
    with StrictProvider("openai-chat", fault=fault) as one:
        whole = post(one, "openai-chat", HELLO["openai-chat"])
        cut = post(one, "openai-chat", HELLO["openai-chat"] | {"stream": True})
        assert whole.json()["choices"]
        assert b"[DONE]" not in cut.content
        assert [exchange.fault for exchange in one.seen()] == [None, "missing-end"]


def requests_of(name: str, url: str) -> Iterator[Any]:
    """What the adapter sends for every scenario; those with reasoning have signatures of other providers."""
    make = find_factory(name)
    adapter = make(api_key="any", base_url=url, model="written" if make.default_model == "" else None)
    for scenario in load_scenarios():
        if "reasoning" in scenario.needs or scenario.group == "reasoning":
            continue
        with suppress(ARTError):
            prompt, options = parse_prompt(scenario.prompt), parse_options(scenario.call_options())
            yield adapter.request(adapter.translate(prompt, options), options)


@pytest.mark.parametrize("name", BUILT_IN)
def test_whatever_the_reference_adapters_send_is_answered(name: str):
    make = find_factory(name)
    services = {"xai": "xai", "ollama": "ollama", "azure": "azure-v1"}
    with StrictProvider(make.dialect, service=services.get(name)) as one, httpx2.Client(timeout=60) as client:
        for request in requests_of(name, one.base_url):
            client.request(request.method, request.url, content=request.body, headers=dict(request.headers))
        refused = [exchange for exchange in one.seen() if exchange.response.status != 200]
        assert len(one.seen()) > 60
        assert [(exchange.response.body, exchange.findings) for exchange in refused] == []


def test_a_handler_that_raises_answers_500_and_the_server_goes_on():
    with LoopbackProvider() as server, httpx2.Client(timeout=60) as client:
        with server.answering(lambda _: Response(200, 1 // 0)):
            answer = client.post(server.url + PATHS["openai-chat"], json={})
        assert (answer.status_code, "ZeroDivisionError" in answer.text) == (500, True)
        assert client.post(server.url + PATHS["openai-chat"], json={}).status_code == 200


def test_many_simultaneous_requests_get_their_own_answers():
    async def ask(client: httpx2.AsyncClient, number: int) -> Any:
        tool = {"type": "function", "function": {"name": f"tool{number}", "parameters": SCHEMA}}
        payload = HELLO["openai-chat"] | {"tools": [tool], "stream": number % 2 == 0}
        return (await client.post("/v1/chat/completions", json=payload)).text

    async def ask_all(url: str) -> list[str]:
        limits = httpx2.Limits(max_connections=None)
        async with httpx2.AsyncClient(base_url=url, headers=KEYS["openai-chat"], limits=limits, timeout=30) as client:
            return await asyncio.gather(*(ask(client, number) for number in range(200)))

    with StrictProvider("openai-chat") as one:
        answers = asyncio.run(ask_all(one.url))
        assert len(one.seen()) == 200
    assert [re.findall(r"tool\d+", text) for text in answers] == [[f"tool{number}"] for number in range(200)]
