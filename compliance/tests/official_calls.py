"""Calls by the official clients, with the answer that their transport gives."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from urllib3 import HTTPResponse

from recorded_traffic import (
    official,
)


def ask_openai(http_client: Any) -> Any:
    """A chat completion."""
    client = official("openai").OpenAI(api_key="no-key", http_client=http_client, max_retries=0)
    return client.chat.completions.create(model="m", messages=[])


def ask_responses(http_client: Any) -> Any:
    """A response."""
    client = official("openai").OpenAI(api_key="no-key", http_client=http_client, max_retries=0)
    return client.responses.create(model="m", input=[])


def ask_anthropic(http_client: Any) -> Any:
    """A message."""
    client = official("anthropic").Anthropic(api_key="no-key", http_client=http_client, max_retries=0)
    return client.messages.create(model="m", messages=[], max_tokens=1)


def ask_google(http_client: Any) -> Any:
    """Generated content."""
    genai = official("google.genai")
    options = genai.types.HttpOptions(httpx_client=http_client)
    return genai.Client(api_key="no-key", http_options=options).models.generate_content(model="m", contents="hello")


def ollama_client(http_client: Any) -> Any:
    """Ollama's client, which has a transport of the older httpx, over this one."""
    httpx = official("httpx")

    def forward(request: Any) -> Any:
        answer = http_client.request(request.method, str(request.url), content=request.content)
        return httpx.Response(answer.status_code, content=answer.content, headers=dict(answer.headers))

    return official("ollama").Client(host="http://ollama.test", transport=httpx.MockTransport(forward))


def ask_ollama(http_client: Any) -> Any:
    """A chat."""
    return ollama_client(http_client).chat(model="m", messages=[])


def cohere_client(http_client: Any) -> Any:
    """Cohere's client, which has a transport of the older httpx, over this one."""
    httpx = official("httpx")

    def forward(request: Any) -> Any:
        answer = http_client.request(request.method, str(request.url), content=request.content)
        return httpx.Response(answer.status_code, content=answer.content, headers=dict(answer.headers))

    over = httpx.Client(transport=httpx.MockTransport(forward))
    settings = {"base_url": "http://cohere.test", "max_retries": 0, "httpx_client": over}
    return official("cohere").ClientV2(api_key="no-key", **settings)


def ask_cohere(http_client: Any) -> Any:
    """A chat."""
    return cohere_client(http_client).chat(model="m", messages=[])


@cache
def _converse_client() -> tuple[Any, list[Any]]:
    """A client of AWS's, which takes long to make, and what it sends its requests over."""
    made, transports = official("botocore.session").Session(), []
    config = official("botocore.config").Config(retries={"total_max_attempts": 1})
    keys = {"aws_access_key_id": "no-key", "aws_secret_access_key": "no-secret"}
    client = made.create_client("bedrock-runtime", region_name="us-east-1", config=config, **keys)

    def forward(request: Any, **_: Any) -> Any:
        answer = transports[-1].request(request.method, request.url, content=request.body)
        raw = HTTPResponse(io.BytesIO(answer.content), preload_content=False)
        return official("botocore.awsrequest").AWSResponse(request.url, answer.status_code, answer.headers, raw)

    client.meta.events.register("before-send.bedrock-runtime", forward)
    return client, transports


def converse_client(http_client: Any) -> Any:
    """AWS's client over this transport."""
    client, transports = _converse_client()
    transports[:] = [http_client]
    return client


def ask_bedrock(http_client: Any) -> Any:
    """An answer of Converse."""
    return converse_client(http_client).converse(modelId="m", messages=[])


ASK_UNSTREAMED: Mapping[str, Callable[[Any], Any]] = {
    "chat_completions": ask_openai,
    "responses": ask_responses,
    "anthropic_messages": ask_anthropic,
    "gemini_generate": ask_google,
    "ollama_chat": ask_ollama,
    "bedrock_converse": ask_bedrock,
    "cohere_v2_chat": ask_cohere,
}
