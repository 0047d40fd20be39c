"""Whole calls of other libraries, synchronous, from the conversation as JSON data to the text of the answer.

Their clients are made once, as programs do, and retry nothing. A library that has messages of its own makes them of the
JSON data in each call. Each is called as its documentation says; the answer's text is read from where it puts it.
"""
# ruff: noqa: PLC0415 - imported only if installed

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from benchmarks.calls import PATHS, Calls
from benchmarks.conversation import MODEL, TOOLS, Message

_KEY: Final = "key"
FUNCTIONS: Final[list[dict[str, Any]]] = [
    {
        "type": "function",
        "function": {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]},
    }
    for tool in TOOLS
]
"""The tools as chat completions have them."""

Make = Callable[[str, str, list[Message], Any], Calls]
"""Makes the calls of a library at a provider, by its name, the server's URL, the chat, and its converter."""


def _base(provider: str, url: str) -> str:
    """The base URL as the providers' own clients take it: all but OpenAI's add the version."""
    return url + PATHS[provider].base if provider == "openai" else url


def _chunks(chunks: Any) -> str:
    return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)


def litellm(provider: str, url: str, chat: list[Message], _: Any) -> Calls:
    import litellm as library

    library.suppress_debug_info = True  # it prints advice about a model that it does not know

    def ask(**more: Any) -> Any:
        return library.completion(
            model=f"{provider}/{MODEL}",
            messages=chat,
            tools=FUNCTIONS,
            api_key=_KEY,
            api_base=_base(provider, url),
            max_retries=0,
            **more,
        )

    return Calls(lambda: ask().choices[0].message.content, lambda: _chunks(ask(stream=True)))


def aisuite(provider: str, url: str, chat: list[Message], _: Any) -> Calls:
    import aisuite as library

    client = library.Client({provider: {"api_key": _KEY, "base_url": _base(provider, url), "max_retries": 0}})

    def ask(**more: Any) -> Any:
        return client.chat.completions.create(f"{provider}:{MODEL}", messages=chat, tools=FUNCTIONS, **more)

    return Calls(lambda: ask().choices[0].message.content, lambda: _chunks(ask(stream=True)))


def any_llm(provider: str, url: str, chat: list[Message], _: Any) -> Calls:
    from any_llm import AnyLLM

    more = {} if provider == "gemini" else {"max_retries": 0}
    library = AnyLLM.create(provider, api_key=_KEY, api_base=_base(provider, url), **more)

    def ask(**more: Any) -> Any:
        return library.completion(model=MODEL, messages=chat, tools=FUNCTIONS, **more)

    return Calls(lambda: ask().choices[0].message.content, lambda: _chunks(ask(stream=True)))


def langchain(provider: str, url: str, chat: list[Message], _: Any) -> Calls:
    from langchain_anthropic import ChatAnthropic
    from langchain_google_genai import ChatGoogleGenerativeAI
    from langchain_openai import ChatOpenAI

    made: Mapping[str, Callable[..., Any]] = {
        "openai": ChatOpenAI,
        "anthropic": ChatAnthropic,
        "gemini": ChatGoogleGenerativeAI,
    }
    retries = 1 if provider == "gemini" else 0  # Gemini's counts the first try
    model = made[provider](model=MODEL, api_key=_KEY, base_url=_base(provider, url), max_retries=retries)
    bound = model.bind_tools(FUNCTIONS)
    return Calls(
        lambda: bound.invoke(chat).text,
        lambda: "".join(chunk.text for chunk in bound.stream(chat)),
    )


def pydantic_ai(provider: str, url: str, chat: list[Message], convert: Any) -> Calls:
    from anthropic import AsyncAnthropic
    from openai import AsyncOpenAI
    from pydantic_ai import direct
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.anthropic import AnthropicProvider
    from pydantic_ai.providers.google import GoogleProvider
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.tools import ToolDefinition

    base = _base(provider, url)
    client: dict[str, Any] = {"api_key": _KEY, "base_url": base, "max_retries": 0}
    made: Mapping[str, Callable[[], Any]] = {
        "openai": lambda: OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=AsyncOpenAI(**client))),
        "anthropic": lambda: AnthropicModel(
            MODEL, provider=AnthropicProvider(anthropic_client=AsyncAnthropic(**client))
        ),
        "gemini": lambda: GoogleModel(MODEL, provider=GoogleProvider(api_key=_KEY, base_url=base)),
    }
    model = made[provider]()
    tools = [
        ToolDefinition(name=tool["name"], description=tool["description"], parameters_json_schema=tool["inputSchema"])
        for tool in TOOLS
    ]
    asked = {"model_request_parameters": ModelRequestParameters(function_tools=tools)}

    def said(event: object) -> str:
        match event:
            case PartStartEvent(part=TextPart(content=text)) | PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                return str(text)
            case _:
                return ""

    def streamed() -> str:
        with direct.model_request_stream_sync(model, convert(chat), **asked) as stream:
            return "".join(map(said, stream))

    return Calls(lambda: direct.model_request_sync(model, convert(chat), **asked).text or "", streamed)


def haystack(provider: str, url: str, chat: list[Message], convert: Any) -> Calls:
    from anthropic import Anthropic
    from google.genai import Client
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.tools import Tool
    from haystack.utils import Secret
    from haystack_integrations.components.generators.anthropic import AnthropicChatGenerator
    from haystack_integrations.components.generators.google_genai import GoogleGenAIChatGenerator

    key, base = Secret.from_token(_KEY), _base(provider, url)
    generator: Any
    if provider == "openai":
        generator = OpenAIChatGenerator(key, MODEL, api_base_url=base, max_retries=0)
    elif provider == "anthropic":
        generator = AnthropicChatGenerator(key, MODEL, max_retries=0)
        generator.client = Anthropic(api_key=_KEY, base_url=base, max_retries=0)
    else:
        generator = GoogleGenAIChatGenerator(api_key=key, model=MODEL)
        generator._client = Client(api_key=_KEY, http_options={"base_url": base})  # noqa: SLF001 - it takes no URL
    tools = [Tool(one["name"], one["description"], one["inputSchema"], function=print) for one in TOOLS]

    def streamed() -> str:
        pieces: list[str] = []
        generator.run(messages=convert(chat), tools=tools, streaming_callback=lambda one: pieces.append(one.content))
        return "".join(pieces)

    return Calls(lambda: generator.run(messages=convert(chat), tools=tools)["replies"][0].text, streamed)


def llama_index(provider: str, url: str, chat: list[Message], convert: Any) -> Calls:
    from llama_index.llms.anthropic import Anthropic
    from llama_index.llms.openai import OpenAI

    model: Any
    tools: list[dict[str, Any]] = FUNCTIONS
    if provider == "openai":
        model = OpenAI("gpt-4.1", api_key=_KEY, api_base=_base(provider, url), max_retries=0)
    else:
        model = Anthropic("claude-haiku-4-5", api_key=_KEY, base_url=_base(provider, url), max_retries=0)
        tools = [
            {"name": one["name"], "description": one["description"], "input_schema": one["inputSchema"]}
            for one in TOOLS
        ]
    return Calls(
        lambda: model.chat(convert(chat), tools=tools).message.content,
        lambda: "".join(part.delta or "" for part in model.stream_chat(convert(chat), tools=tools)),
    )


CALLS: Final[Mapping[str, Make]] = {
    make.__name__: make for make in (aisuite, any_llm, haystack, langchain, litellm, llama_index, pydantic_ai)
}
