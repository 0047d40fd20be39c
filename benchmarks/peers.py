"""The same conversation through other libraries, in one process with ours and the floors.

    python -m benchmarks.peers

Only libraries that are installed are measured. Each starts with the prompt as its users have it in JSON, makes what it
would pass to the provider's client, and ends with bytes from `json.dumps` (after pydantic's `model_dump`, where it is
not JSON data yet), which is the least that the clients do. The peers need not translate the tools. Where no public
function ends there, a private one is called, so a new release may break a measurement; failures are printed.
"""
# ruff: noqa: PLC0415, SLF001, T201 - imported only if installed, private functions called, a table printed

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from benchmarks.conversation import MODEL, SIZES, Message, make_options, make_prompt
from benchmarks.floors import CONTESTS
from benchmarks.measure import compare

Translator = Callable[[list[Message]], object]
Translators = Mapping[str, Translator]

_KEY: Final = "key"
_GEMINI: Final = "gemini-2.5-flash"


def chat_dicts(prompt: list[Message]) -> list[Message]:
    """The prompt as most peers take it, with the role `tool` for results. Made before the clock starts."""
    return [message | {"role": "tool"} if message["role"] == "tool_result" else dict(message) for message in prompt]


def litellm() -> Translators:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # otherwise importing it uses the network
    from litellm import OpenAIGPTConfig
    from litellm.llms.vertex_ai.gemini.transformation import (
        _gemini_convert_messages_with_history,
        _transform_system_message,
    )

    config = OpenAIGPTConfig()

    def gemini(chat: list[Message]) -> object:
        system, rest = _transform_system_message(supports_system_message=True, messages=list(chat))
        return system, _gemini_convert_messages_with_history(messages=rest, model=_GEMINI)

    return {"openai": lambda chat: config.transform_request(MODEL, list(chat), {}, {}, {}), "gemini": gemini}


def aisuite() -> Translators:
    from aisuite.providers.message_converter import OpenAICompliantMessageConverter

    return {"openai": OpenAICompliantMessageConverter().convert_request}


def any_llm() -> Translators:
    from any_llm.providers.gemini.base import GoogleProvider
    from any_llm.providers.openai.base import BaseOpenAIProvider
    from any_llm.types.completion import CompletionParams

    def openai(chat: list[Message]) -> object:
        params = CompletionParams(model_id=MODEL, messages=chat)
        return BaseOpenAIProvider._convert_completion_params(params), params.messages

    def gemini(chat: list[Message]) -> object:
        params = CompletionParams(model_id=_GEMINI, messages=chat)
        return GoogleProvider._convert_completion_params(params, provider_name="gemini")

    return {"openai": openai, "gemini": gemini}


def pydantic_ai() -> Translators:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.google import GoogleProvider
    from pydantic_ai.providers.openai import OpenAIProvider

    models = {
        "openai": OpenAIChatModel(MODEL, provider=OpenAIProvider(api_key=_KEY)),
        "gemini": GoogleModel(_GEMINI, provider=GoogleProvider(api_key=_KEY)),
    }
    loop, none = asyncio.new_event_loop(), ModelRequestParameters()

    def translator_of(model: Any) -> Translator:
        return lambda chat: loop.run_until_complete(model._map_messages(list(_model_messages(chat)), none))

    return {provider: translator_of(model) for provider, model in models.items()}


def _model_messages(chat: list[Message]) -> Iterator[object]:
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


def langchain() -> Translators:
    from langchain_core.messages import convert_to_messages
    from langchain_google_genai import ChatGoogleGenerativeAI
    from langchain_openai import ChatOpenAI

    openai = ChatOpenAI(model=MODEL, api_key=_KEY)
    gemini = ChatGoogleGenerativeAI(model=_GEMINI, google_api_key=_KEY)
    return {
        "openai": lambda chat: openai._get_request_payload(convert_to_messages(chat)),
        "gemini": lambda chat: gemini._prepare_request(convert_to_messages(chat)),
    }


def haystack() -> Translators:
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.dataclasses import ChatMessage
    from haystack.utils import Secret
    from haystack_integrations.components.generators.google_genai.chat.utils import (
        _convert_message_to_google_genai_format,
    )

    openai = OpenAIChatGenerator(api_key=Secret.from_token(_KEY), model=MODEL)

    def own(chat: list[Message]) -> list[ChatMessage]:
        return [ChatMessage.from_openai_dict_format(message) for message in chat]

    return {
        "openai": lambda chat: openai._prepare_api_call(messages=own(chat)),
        "gemini": lambda chat: [_convert_message_to_google_genai_format(m) for m in own(chat) if m.role != "system"],
    }


PEERS: Final[Mapping[str, Callable[[], Translators]]] = {
    "aisuite": aisuite,
    "any-llm": any_llm,
    "haystack": haystack,
    "langchain": langchain,
    "litellm": litellm,
    "pydantic-ai": pydantic_ai,
}


def to_bytes(request: object) -> bytes:
    """The request's JSON, as a provider's client writes it."""
    return json.dumps(request, default=_plain).encode()


def _plain(value: Any) -> object:
    if isinstance(value, bytes):
        return value.decode()
    return value.model_dump(mode="json", exclude_none=True)


def ratios(provider: str, name: str, translate: Translator) -> str:
    """One line: at each size, the peer's CPU time divided by the floor's and by ours."""
    contest, options = CONTESTS[provider], make_options()
    cells: list[str] = []
    for size in SIZES:
        prompt = make_prompt(size)
        chat = chat_dicts(prompt)

        def ours(prompt: list[Message] = prompt) -> object:
            return contest.adapter.prepare(prompt, options).request.body

        def floor(prompt: list[Message] = prompt) -> object:
            return contest.floor(prompt)

        def peer(chat: list[Message] = chat) -> object:
            return to_bytes(translate(chat))

        to_floor, to_ours = (compare(base, peer, clock=time.process_time, rounds=7).ratio for base in (floor, ours))
        cells.append(f"{to_floor:>8.1f} {to_ours:>8.1f}")
    return f"{provider:<8} {name:<12}" + " |".join(cells)


def main() -> None:
    """Prints a table: for each size, the peer's CPU time divided by the floor's and by ours."""
    print(f"{'':<21}" + " |".join(f"{f'{size:,} messages':>17}" for size in SIZES) + "   (over the floor, over ours)")
    for name, load in PEERS.items():
        try:
            translators = load()
        except ImportError as error:
            print(f"{name}: not measured ({error})")
            continue
        for provider, translate in translators.items():
            try:
                print(ratios(provider, name, translate))
            except Exception as error:  # noqa: BLE001 - whatever a foreign library raises
                print(f"{provider} {name}: it no longer works as measured here ({type(error).__name__}: {error})")


if __name__ == "__main__":
    main()
