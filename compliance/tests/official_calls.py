"""Calls by the official clients, with the answer that their transport gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

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


ASK_UNSTREAMED: Mapping[str, Callable[[Any], Any]] = {
    "chat_completions": ask_openai,
    "responses": ask_responses,
    "anthropic_messages": ask_anthropic,
    "gemini_generate": ask_google,
    "ollama_chat": ask_ollama,
}
