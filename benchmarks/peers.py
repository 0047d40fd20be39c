"""The same conversation through another library, in one process with ours and the floor, which take turns with it.

`benchmarks.peer_costs` measures it. A library starts with the prompt as its users have it in JSON, makes
what it would pass to the provider's client, and ends with bytes from `json.dumps` (after pydantic's `model_dump`, where
it is not JSON data yet), which is the least that the clients do. It need not translate the tools. Where it has message
types of its own, the same from those is measured, too. Where no public function ends there, a private one is called, so
a new release may break a measurement: the page then says so.
"""
# ruff: noqa: PLC0415, SLF001 - imported only if installed, private functions called

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from benchmarks.conversation import MODEL, Message

_KEY: Final = "key"
_GEMINI: Final = "gemini-2.5-flash"
_CLAUDE: Final = "claude-haiku-4-5"


class Peer(NamedTuple):
    """How a library translates. `convert` makes the library's own messages of JSON data, if it has such."""

    translate: Callable[[Any], object]
    convert: Callable[[list[Message]], Any] | None = None


Peers = Mapping[str, Peer]


def chat_dicts(prompt: list[Message]) -> list[Message]:
    """The prompt as most peers take it, with the role `tool` for results. Made before the clock starts."""
    return [message | {"role": "tool"} if message["role"] == "tool_result" else dict(message) for message in prompt]


def litellm() -> Peers:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # otherwise importing it uses the network
    from litellm import AnthropicConfig, OpenAIGPTConfig
    from litellm.llms.vertex_ai.gemini.transformation import (
        _gemini_convert_messages_with_history,
        _transform_system_message,
    )

    openai, claude = OpenAIGPTConfig(), AnthropicConfig()

    def gemini(chat: list[Message]) -> object:
        system, rest = _transform_system_message(supports_system_message=True, messages=list(chat))
        return system, _gemini_convert_messages_with_history(messages=rest, model=_GEMINI)

    def anthropic(chat: list[Message]) -> object:
        return claude.transform_request(_CLAUDE, list(chat), {"max_tokens": 8192}, {}, {})

    return {
        "openai": Peer(lambda chat: openai.transform_request(MODEL, list(chat), {}, {}, {})),
        "anthropic": Peer(anthropic),
        "gemini": Peer(gemini),
    }


def aisuite() -> Peers:
    from aisuite.providers.anthropic_provider import AnthropicMessageConverter
    from aisuite.providers.message_converter import OpenAICompliantMessageConverter

    return {
        "openai": Peer(OpenAICompliantMessageConverter().convert_request),
        "anthropic": Peer(AnthropicMessageConverter().convert_request),
    }


def any_llm() -> Peers:
    from any_llm.providers.anthropic.utils import _convert_messages_for_anthropic
    from any_llm.providers.gemini.base import GoogleProvider
    from any_llm.providers.openai.base import BaseOpenAIProvider
    from any_llm.types.completion import CompletionParams

    def openai(chat: list[Message]) -> object:
        params = CompletionParams(model_id=MODEL, messages=chat)
        return BaseOpenAIProvider._convert_completion_params(params), params.messages

    def gemini(chat: list[Message]) -> object:
        params = CompletionParams(model_id=_GEMINI, messages=chat)
        return GoogleProvider._convert_completion_params(params, provider_name="gemini")

    return {"openai": Peer(openai), "anthropic": Peer(_convert_messages_for_anthropic), "gemini": Peer(gemini)}


def pydantic_ai() -> Peers:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.anthropic import AnthropicProvider
    from pydantic_ai.providers.google import GoogleProvider
    from pydantic_ai.providers.openai import OpenAIProvider

    openai = OpenAIChatModel(MODEL, provider=OpenAIProvider(api_key=_KEY))
    claude = AnthropicModel(_CLAUDE, provider=AnthropicProvider(api_key=_KEY))
    gemini = GoogleModel(_GEMINI, provider=GoogleProvider(api_key=_KEY))
    run, none = asyncio.new_event_loop().run_until_complete, ModelRequestParameters()
    return {
        "openai": Peer(lambda own: run(openai._map_messages(own, none)), _model_messages),
        "anthropic": Peer(lambda own: run(claude._map_message(own, none, {})), _model_messages),
        "gemini": Peer(lambda own: run(gemini._map_messages(own, none)), _model_messages),
    }


def _model_messages(chat: list[Message]) -> list[object]:
    return list(_each_model_message(chat))


def _each_model_message(chat: list[Message]) -> Iterator[object]:
    from pydantic_ai import messages as m

    for message in chat:
        role, text = message["role"], message["content"]
        if role == "assistant":
            parts: list[Any] = [m.TextPart(text)] if text else []
            calls = [(call["id"], call["function"]) for call in message.get("tool_calls", ())]
            parts += [m.ToolCallPart(called["name"], called["arguments"], call_id) for call_id, called in calls]
            yield m.ModelResponse(parts)
        elif role == "tool":
            yield m.ModelRequest([m.ToolReturnPart(message["name"], text, message["tool_call_id"])])
        else:
            yield m.ModelRequest([m.SystemPromptPart(text) if role == "system" else m.UserPromptPart(text)])


def langchain() -> Peers:
    from langchain_anthropic import ChatAnthropic
    from langchain_core.messages import convert_to_messages
    from langchain_google_genai import ChatGoogleGenerativeAI
    from langchain_openai import ChatOpenAI

    openai = ChatOpenAI(model=MODEL, api_key=_KEY)
    claude = ChatAnthropic(model=_CLAUDE, api_key=_KEY)
    gemini = ChatGoogleGenerativeAI(model=_GEMINI, google_api_key=_KEY)
    return {
        "openai": Peer(openai._get_request_payload, convert_to_messages),
        "anthropic": Peer(claude._get_request_payload, convert_to_messages),
        "gemini": Peer(gemini._prepare_request, convert_to_messages),
    }


def haystack() -> Peers:
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.dataclasses import ChatMessage
    from haystack.utils import Secret
    from haystack_integrations.components.generators.anthropic.chat.utils import _convert_messages_to_anthropic_format
    from haystack_integrations.components.generators.google_genai.chat.utils import (
        _convert_message_to_google_genai_format,
    )

    openai = OpenAIChatGenerator(api_key=Secret.from_token(_KEY), model=MODEL)

    def own(chat: list[Message]) -> list[ChatMessage]:
        return [ChatMessage.from_openai_dict_format(message) for message in chat]

    def gemini(own: list[ChatMessage]) -> object:
        return [_convert_message_to_google_genai_format(message) for message in own if message.role != "system"]

    return {
        "openai": Peer(lambda own: openai._prepare_api_call(messages=own), own),
        "anthropic": Peer(_convert_messages_to_anthropic_format, own),
        "gemini": Peer(gemini, own),
    }


def llama_index() -> Peers:
    from llama_index.llms.anthropic.utils import messages_to_anthropic_messages
    from llama_index.llms.openai.utils import from_openai_message_dicts, to_openai_message_dicts

    return {
        "openai": Peer(lambda own: to_openai_message_dicts(own, model=MODEL), from_openai_message_dicts),
        "anthropic": Peer(messages_to_anthropic_messages, from_openai_message_dicts),
    }


PEERS: Final[Mapping[str, Callable[[], Peers]]] = {
    make.__name__: make for make in (aisuite, any_llm, haystack, langchain, litellm, llama_index, pydantic_ai)
}

PACKAGES: Final[Mapping[str, str]] = {
    "any_llm": "any-llm-sdk",
    "haystack": "haystack-ai",
    "langchain": "langchain-core",
    "llama_index": "llama-index-core",
    "pydantic_ai": "pydantic-ai-slim",
}
"""The packages whose versions are named, where they are not called like the library."""


def to_bytes(request: object) -> bytes:
    """The request's JSON, as a provider's client writes it."""
    return json.dumps(request, default=_plain).encode()


def _plain(value: Any) -> object:
    if isinstance(value, bytes):
        return value.decode()
    return value.model_dump(mode="json", exclude_none=True)
