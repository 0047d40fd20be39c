"""The strict provider plays the provider itself, or a service that speaks its format with other paths and keys."""

from __future__ import annotations

from typing import Any

import anthropic
import httpx2
import openai
import pytest

from art_compliance.dialects import DIALECTS, Dialect
from art_compliance.dialects.endpoints import ENDPOINTS, find_spoken, own_endpoint
from art_compliance.findings import HarnessError
from art_compliance.provider import StrictProvider
from art_sdk import OpenAICompatibleAdapter, ResponseHead
from strict_requests import HELLO, KEYS, PATHS

BEARER = {"authorization": "Bearer any"}
CHAT = {"messages": HELLO["openai-chat"]["messages"]}
MESSAGES = {"max_tokens": 99, "messages": CHAT["messages"]}
GOOGLE = "/v1/projects/p/locations/l/publishers"

GOOD: list[tuple[str, str, str, dict[str, str], dict[str, Any]]] = [
    ("openai-chat", "azure", "/openai/deployments/d/chat/completions?api-version=2024-10-21", {"api-key": "any"}, CHAT),
    ("openai-chat", "azure", "/openai/deployments/d/chat/completions", BEARER, CHAT),
    (
        "anthropic-messages",
        "bedrock",
        "/model/anthropic.claude-x-v1%3A0/invoke",
        BEARER,
        MESSAGES | {"anthropic_version": "bedrock-2023-05-31"},
    ),
    (
        "anthropic-messages",
        "bedrock",
        "/model/us.anthropic.claude-x/invoke",
        {"authorization": "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/bedrock/aws4_request, Signature=0a1b"},
        MESSAGES | {"anthropic_version": "bedrock-2023-05-31"},
    ),
    (
        "anthropic-messages",
        "vertex",
        f"{GOOGLE}/anthropic/models/claude-x@1:rawPredict",
        BEARER,
        MESSAGES | {"anthropic_version": "vertex-2023-10-16"},
    ),
    (
        "gemini-generate",
        "vertex",
        f"{GOOGLE}/google/models/gemini-x:generateContent",
        BEARER,
        HELLO["gemini-generate"],
    ),
]


@pytest.mark.parametrize(("dialect", "service", "path", "headers", "payload"), GOOD)
def test_a_service_answers_at_its_own_path_with_its_own_keys(
    dialect: str, service: str, path: str, headers: dict[str, str], payload: dict[str, Any]
):
    with StrictProvider(dialect, service=service) as provider:
        answered = httpx2.post(provider.url + path, json=payload, headers=headers, timeout=60)
        assert (answered.status_code, provider.seen()[-1].findings) == (200, ())
        without_key = httpx2.post(provider.url + path, json=payload, timeout=60)
        assert without_key.status_code in {401, 403}
        own_path = httpx2.post(provider.url + PATHS[dialect], json=payload, headers=headers, timeout=60)
        assert own_path.status_code == 404
        assert "known paths: " in own_path.text
        assert "{model}" in own_path.text


RESPONSES = [
    ("azure-responses", "/openai/responses?api-version=2025-04-01-preview", {"api-key": "any"}, 401),
    ("azure-v1-responses", "/openai/v1/responses", {"api-key": "any"}, 401),
    ("xai-responses", "/v1/responses", BEARER, 400),
]


@pytest.mark.parametrize(("service", "path", "headers", "of_a_wrong_key"), RESPONSES)
def test_the_responses_api_is_served_as_azure_and_xai_serve_it(
    service: str, path: str, headers: dict[str, str], of_a_wrong_key: int
):
    payload = HELLO["openai-responses"]
    with StrictProvider("openai-responses", service=service) as provider:
        answered = httpx2.post(provider.url + path, json=payload, headers=headers, timeout=60)
        assert (answered.status_code, provider.seen()[-1].findings) == (200, ())
        refused = httpx2.post(provider.url + path, json=payload, timeout=60)
        assert refused.status_code == 401
        assert isinstance(refused.json()["error"], str) == (service == "xai-responses")
        assert (
            httpx2.post(f"{provider.url}/v1/embeddings", json=payload, headers=headers, timeout=60).status_code == 404
        )
    [endpoint] = [one for one in ENDPOINTS if one.service == service]
    assert endpoint.access.wrong_key.status == of_a_wrong_key


@pytest.mark.parametrize(("dialect", "service", "path", "headers", "payload"), GOOD)
def test_what_a_service_alone_accepts_is_refused_by_the_provider_itself(
    dialect: str, service: str, path: str, headers: dict[str, str], payload: dict[str, Any]
):
    del service, path, headers
    with StrictProvider(dialect) as provider:
        refused = httpx2.post(provider.url + PATHS[dialect], json=payload, headers=KEYS[dialect], timeout=60)
        is_same_body = dialect == "gemini-generate"  # its URLs name the model everywhere
        assert refused.status_code == (200 if is_same_body else 400)
        if not is_same_body:
            assert "the field 'model' is missing" in refused.text


@pytest.mark.parametrize(("dialect", "service", "path", "headers", "payload"), GOOD)
def test_a_provider_of_every_dialect_plays_the_service_of_the_path(
    dialect: str, service: str, path: str, headers: dict[str, str], payload: dict[str, Any]
):
    with StrictProvider() as provider:
        assert httpx2.post(provider.url + path, json=payload, headers=headers, timeout=60).status_code == 200
        assert provider.seen()[-1].dialect == dialect
        assert service in {one.service for one in provider.endpoints}
        faulty = httpx2.post(provider.url + path, json={**payload, **EMPTY[dialect]}, headers=headers, timeout=60)
        assert faulty.status_code == 400


EMPTY = {"openai-chat": {"messages": []}, "anthropic-messages": {"messages": []}, "gemini-generate": {"contents": []}}

SHARED = {"reasoning": {"effort": "low"}}
"""Accepted at OpenRouter and other relatives; OpenAI says "Unknown parameter: 'reasoning'."

Source: https://github.com/teabranch/open-responses-server/issues/41.
"""


def test_where_dialects_share_a_path_only_a_named_one_refuses_what_its_relatives_accept():
    for dialect, status, severity in (
        (None, 200, "note"),
        ("openai-chat", 400, "reject"),
        ("openrouter-chat", 200, ""),
    ):
        with StrictProvider(dialect) as provider:
            url = provider.url + PATHS["openai-chat"]
            answer = httpx2.post(url, json=HELLO["openai-chat"] | SHARED, headers=BEARER, timeout=60)
            assert answer.status_code == status
            assert [finding.severity for finding in provider.seen()[-1].findings] == ([severity] if severity else [])
            assert httpx2.post(url, json=CHAT, headers=BEARER, timeout=60).status_code == (
                200 if dialect == "openrouter-chat" else 400
            )


@pytest.mark.parametrize(
    ("dialect", "service", "said"),
    [
        (
            None,
            "azur",
            "unknown service 'azur'; known: azure (openai-chat), azure-v1 (openai-chat), azure-responses (openai-re",
        ),
        ("anthropic-messages", "azure", "unknown service of anthropic-messages 'azure'; known: bedrock, vertex"),
        ("mistral-chat", "azure", "unknown service of mistral-chat 'azure'; known: none"),
        (None, "vertex", "the service 'vertex' speaks anthropic-messages and gemini-generate; name the dialect, too"),
        ("poems", "azure", "unknown dialect 'poems'; known: anthropic-messages, "),
    ],
)
def test_an_unknown_service_fails_with_the_known_ones(dialect: str | None, service: str, said: str):
    with pytest.raises(HarnessError) as caught:
        StrictProvider(dialect, service=service)
    assert said in str(caught.value)


def test_a_service_that_speaks_one_dialect_needs_no_other_name():
    with StrictProvider(service="azure") as provider:
        assert provider.base_url == f"{provider.url}/openai"
        assert [one.dialect for one in provider.endpoints] == ["openai-chat"]


NAMES = {"model": "anthropic.claude-x", "project": "p", "location": "l"}


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_whatever_service_a_url_names_the_format_stays_the_same(dialect: Dialect):
    hosts = {one.host for one in ENDPOINTS if one.host is not None}
    assert {host for host in hosts if find_spoken(dialect, f"https://{host}/x").name != dialect.name} == set()


def test_every_endpoint_takes_its_own_paths_and_no_other():
    for endpoint in (*ENDPOINTS, *map(own_endpoint, DIALECTS.values())):
        assert DIALECTS[endpoint.dialect].service.takes(endpoint.paths[0].format_map(NAMES))
        for path in endpoint.paths:
            assert endpoint.takes(path)
            assert not endpoint.takes(f"{path}/more")
            assert not endpoint.takes(path[:-1])


def test_the_official_clients_for_services_are_answered():
    hello: Any = CHAT["messages"]
    with StrictProvider("openai-chat", service="azure") as provider:
        azure = openai.AzureOpenAI(azure_endpoint=provider.url, api_key="any", api_version="2024-10-21", max_retries=0)
        with azure as client:
            answer = client.chat.completions.create(model="gpt-4o", messages=hello)
        assert answer.choices[0].finish_reason == "stop"
    with StrictProvider("anthropic-messages", service="vertex") as provider:
        vertex = anthropic.AnthropicVertex(
            base_url=f"{provider.url}/v1", project_id="p", region="us-east5", access_token="any", max_retries=0
        )
        with vertex as anthropic_client:
            message = anthropic_client.messages.create(model="claude-x@1", max_tokens=9, messages=hello)
            with anthropic_client.messages.stream(model="claude-x@1", max_tokens=9, messages=hello) as stream:
                streamed = stream.get_final_message()
        assert message.content[0].to_dict(exclude_none=True) == streamed.content[0].to_dict(exclude_none=True)


TWICE = {"model": "sonar", "messages": [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}]}
EMPTY_CHAT = {"model": "m", "messages": []}
REFUSED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "cerebras": ("/v1", EMPTY_CHAT, {"type": "invalid_request_error", "param": None, "code": "wrong_api_format"}),
    "fireworks": ("/inference/v1", EMPTY_CHAT, {"object": "error", "type": "invalid_request_error"}),
    "huggingface": ("/v1", EMPTY_CHAT, {"error": str}),
    "perplexity": ("", TWICE, {"type": "invalid_message", "code": 400}),
    "together": ("/v1", EMPTY_CHAT, {"type": "invalid_request_error", "param": None}),
}


@pytest.mark.parametrize("service", REFUSED)
def test_a_service_of_chat_completions_refuses_in_its_own_form(service: str):
    base_path, payload, said = REFUSED[service]
    with StrictProvider(service=service) as provider:
        assert provider.base_url == provider.url + base_path
        url = f"{provider.base_url}/chat/completions"
        answered = httpx2.post(url, json=CHAT | {"model": "m"}, headers=BEARER, timeout=60)
        assert (answered.status_code, provider.seen()[-1].findings) == (200, ())
        refused = httpx2.post(url, json=payload, headers=BEARER, timeout=60)
        body = refused.json()
        error = {"message": body["error"], "error": str} if said == {"error": str} else body.get("error", body)
        assert (refused.status_code, error | said, type(error["message"])) == (400, error, str)
        adapter = OpenAICompatibleAdapter(api_key="any", base_url=f"{provider.base_url}/", model="m", name=service)
        read = adapter.read_error(ResponseHead(400, {}), refused.content)
        assert (read.provider, read.provider_message) == (service, error["message"])
