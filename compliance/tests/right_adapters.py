"""Adapters that are right in a way of their own: a suite that fails one of them is wrong."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import structs

from art_sdk import (
    AnthropicAdapter,
    BaseAdapter,
    BedrockConverseAdapter,
    CohereChatAdapter,
    GeminiAdapter,
    InvalidConfig,
    OllamaChatAdapter,
    OpenAIAdapter,
    OpenAIResponsesAdapter,
    parse_options,
    parse_prompt,
)
from art_sdk.json_data import is_array, is_object
from art_sdk.stream import TokenEvent

Payload = dict[str, Any]


def sending(base: type[BaseAdapter], change: Callable[[Payload], Payload]) -> type[BaseAdapter]:
    """The adapter, which sends another payload with the same meaning."""

    class Sends(base):  # type: ignore[misc, valid-type]
        history_field = None

        def translate(self, prompt: Any, options: Any) -> Any:
            return change(super().translate(prompt, options))

    return Sends


def giving(change: Callable[[Any], Iterator[Any]]) -> type[BaseAdapter]:
    """OpenAI's adapter, which gives each event as this makes of it."""

    class Gives(OpenAIAdapter):
        async def call(self, prompt: Any, options: Any) -> AsyncIterator[Any]:
            async for event in super().call(prompt, options):
                for one in change(event):
                    yield one

    return Gives


def _with_parts(payload: Payload) -> Payload:
    return {**payload, "messages": [*map(_in_parts, payload["messages"])]}


def _in_parts(message: Payload) -> Payload:
    text = message.get("content")
    return {**message, "content": [{"type": "text", "text": text}]} if isinstance(text, str) and text else message


def _with_nulls(payload: Payload) -> Payload:
    return {"temperature": None, "top_p": None, "stop": None, "logprobs": None, **payload}


def _with_defaults(payload: Payload) -> Payload:
    return {"n": 1, "stream": False, "presence_penalty": 0, "frequency_penalty": 0, **payload}


def _with_developers(payload: Payload) -> Payload:
    roles = {"system": "developer"}
    return {
        **payload,
        "messages": [{**one, "role": roles.get(one["role"], one["role"])} for one in payload["messages"]],
    }


def _backwards(value: Any) -> Any:
    """Objects with their fields in the reverse order; schemas, where the order may matter, stay."""
    if is_object(value):
        return {name: value[name] if name in _ORDERED else _backwards(value[name]) for name in reversed(value)}
    return [*map(_backwards, value)] if is_array(value) else value


_ORDERED: Final = ("parameters", "input_schema", "inputSchema", "schema", "format")


def _with_blocks(payload: Payload) -> Payload:
    """Anthropic's texts are blocks, everywhere but where they are empty, which it refuses."""
    system = payload.get("system")
    blocks = {"system": [{"type": "text", "text": system}]} if isinstance(system, str) and system else {}
    return {**payload, **blocks, "messages": [*map(_in_parts, payload["messages"])]}


def _marked(payload: Payload) -> Payload:
    """The last tool may be cached up to here: a mark that changes nothing of what is said."""
    *others, last = payload.get("tools") or [None]
    mark = {"cache_control": {"type": "ephemeral"}}
    return payload if last is None else {**payload, "tools": [*others, {**last, **mark}]}


def _in_snake_case(payload: Payload) -> Payload:
    """Protobuf's JSON takes the names of its fields, too."""
    names = {"systemInstruction": "system_instruction", "toolConfig": "tool_config"}
    return {names.get(name, name): value for name, value in payload.items()}


def _letters(event: Any) -> Iterator[Any]:
    if isinstance(event, TokenEvent) and len(event.text) < 100:
        yield from (structs.replace(event, text=letter) for letter in event.text)
    else:
        yield event


class Indents(OpenAIAdapter):
    """Its body is indented."""

    history_field = None

    def request(self, *arguments: Any, **named: Any) -> Any:
        request = super().request(*arguments, **named)
        return structs.replace(request, body=json.dumps(json.loads(request.body), indent=2).encode())


class OnlyCalls:
    """A black box: `call`, and nothing else."""

    dialect, capabilities = OpenAIAdapter.dialect, OpenAIAdapter.capabilities
    losses, repairs = OpenAIAdapter.losses, OpenAIAdapter.repairs

    def __init__(self, **settings: Any) -> None:
        self._own = OpenAIAdapter(**settings)

    def call(self, prompt: Any, options: Any) -> Any:
        return self._own.call(prompt, options)

    async def aclose(self) -> None:
        await self._own.aclose()


class GivesDicts(OnlyCalls):
    """Its tokens are dicts, which `complete` of an SDK's adapter would not take: it has none."""

    async def call(self, prompt: Any, options: Any) -> AsyncIterator[Any]:
        async for event in super().call(prompt, options):
            yield msgspec.to_builtins(event) if isinstance(event, TokenEvent) else event


class RefusesTimeouts(OnlyCalls):
    """Its transport has no time limits, and it says so."""

    def call(self, prompt: Any, options: Any) -> Any:
        if options.get("timeouts"):
            raise InvalidConfig("timeouts are not supported; leave them out")
        return super().call(prompt, options)


class PassesEverythingOn:
    """A proxy: what it has is its adapter's."""

    def __init__(self, **settings: Any) -> None:
        self._own = OpenAIAdapter(**settings)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)


class PassesArgumentsOn(OnlyCalls):
    """An SDK's adapter translates: it takes typed values, as its `translate` does."""

    def translate(self, prompt: Any, options: Any) -> Any:
        return self._own.translate(prompt, options)


class StreamsInside(OpenAIAdapter):
    """Every request asks for a stream, which `translate` alone does not show."""

    repairs = OpenAIAdapter.repairs | {"streams_inside"}

    def prepare(self, prompt: Any, options: Any) -> Any:
        return super().prepare(prompt, structs.replace(parse_options(options), stream=True))


class LosesNames(OpenAIAdapter):
    """Declares that names are lost: those that OpenAI would reject are, too."""

    losses = OpenAIAdapter.losses | {"message_name"}

    def translate(self, prompt: Any, options: Any) -> Any:
        return super().translate([*map(_without_name, prompt)], options)

    def prepare(self, prompt: Any, options: Any) -> Any:
        return super().prepare([*map(_without_name, parse_prompt(prompt))], options)


def _without_name(message: Any) -> Any:
    """A result keeps the name of its tool."""
    has_name = hasattr(message, "name") and not hasattr(message, "tool_call_id")
    return structs.replace(message, name=None) if has_name else message


class RefusesLosses(CohereChatAdapter):
    """Refuses names and output schemas, for which Cohere has no field, instead of leaving them out."""

    losses = frozenset({"result_status", "sampling_option:parallel_tool_calls"})

    def translate(self, prompt: Any, options: Any) -> Any:
        for index, message in enumerate(prompt):
            if getattr(message, "name", None) is not None and not hasattr(message, "tool_call_id"):
                self.refuse("it has a name, for which Cohere has no field; leave it out", index=index)
        if any(tool.output_schema is not None for tool in options.tools):
            self.refuse("a tool has an output schema, for which Cohere has no field; leave it out")
        return super().translate(prompt, options)


RIGHT: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {
        "texts in parts": sending(OpenAIAdapter, _with_parts),
        "null for what is not set": sending(OpenAIAdapter, _with_nulls),
        "the provider's defaults": sending(OpenAIAdapter, _with_defaults),
        "developers for systems": sending(OpenAIAdapter, _with_developers),
        "another order of fields": sending(OpenAIAdapter, _backwards),
        "an indented body": Indents,
        "one letter per token": giving(_letters),
        "tokens as dicts": GivesDicts,
        "call alone": OnlyCalls,
        "a proxy": PassesEverythingOn,
        "an adapter inside": PassesArgumentsOn,
        "a stream for every answer": StreamsInside,
        "no names": LosesNames,
        "no time limits": RefusesTimeouts,
        "blocks everywhere": sending(AnthropicAdapter, _with_blocks),
        "a mark of the cache": sending(AnthropicAdapter, _marked),
        "names in snake case": sending(GeminiAdapter, _in_snake_case),
        "Bedrock's fields in another order": sending(BedrockConverseAdapter, _backwards),
        "Ollama's fields in another order": sending(OllamaChatAdapter, _backwards),
        "the Responses API's fields in another order": sending(OpenAIResponsesAdapter, _backwards),
        "few losses": RefusesLosses,
        "Cohere's texts in parts": sending(CohereChatAdapter, _with_parts),
    }
)
