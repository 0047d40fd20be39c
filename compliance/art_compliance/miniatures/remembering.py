"""Adapters that remember what they translated, by a key that says too little."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from typing import Any
from zlib import crc32

from art_compliance.miniatures.base import (
    Options,
    Prompt,
    Translate,
    as_data,
    change_options,
    miniature,
    retranslate,
)
from art_sdk.json_data import is_array, is_object


def _keep_payloads(adapter: Any, key_of: Callable[[Prompt, Options], Hashable]) -> None:
    """The adapter translates once what has the same key."""
    known: dict[Hashable, Any] = {}

    def kept(translate: Translate, prompt: Prompt, options: Options) -> Any:
        key = key_of(prompt, options)
        if key not in known:
            known[key] = translate(prompt, options)
        return as_data(known[key])

    retranslate(adapter, kept)


@miniature("translation.similar-requests-do-not-mix")
def keeps_payloads_by_a_checksum(adapter: Any) -> None:
    """A payload is made once for all prompts and options with the same CRC-32."""
    _keep_payloads(adapter, lambda prompt, options: crc32(json.dumps([prompt, options]).encode()))


@miniature("translation.similar-requests-do-not-mix", around=("openai", "cohere"))
def keeps_payloads_by_equal_values(adapter: Any) -> None:
    """A payload is made once for values that are equal in Python, as 1 and True are."""
    _keep_payloads(adapter, lambda prompt, options: _frozen([prompt, options]))


def _frozen(value: Any) -> Hashable:
    if is_object(value):
        return tuple((name, _frozen(item)) for name, item in value.items())
    return tuple(map(_frozen, value)) if is_array(value) else value


@miniature("translation.similar-requests-do-not-mix", around=("gemini", "anthropic"))
def keeps_payloads_by_joined_texts(adapter: Any) -> None:
    """A payload is made once for as many messages whose texts are the same when they are joined."""
    _keep_payloads(adapter, lambda prompt, options: (len(prompt), _joined_texts(prompt), json.dumps(options)))


def _joined_texts(prompt: Prompt) -> str:
    return "".join(f"{message.get('content') or ''}{message.get('tool_calls') or ''}" for message in prompt)


@miniature("translation.similar-requests-do-not-mix")
def keeps_schemas_by_their_names(adapter: Any) -> None:
    """A schema is converted once for all that have properties of the same names."""
    known: dict[tuple[str, ...], Any] = {}

    def change(options: Options) -> Options:
        tools = [{**tool, "inputSchema": kept(tool["inputSchema"])} for tool in options.get("tools", ())]
        return {**options, **({"tools": tools} if tools else {})}

    def kept(schema: Any) -> Any:
        names = tuple(schema.get("properties", ()))
        return known.setdefault(names, schema) if names else schema

    change_options(adapter, change)


@miniature("translation.similar-requests-do-not-mix", around=("openai", "gemini"))
def keeps_response_schemas_by_their_title(adapter: Any) -> None:
    """A response schema is converted once for all that have its title and properties of the same names."""
    known: dict[tuple[str, ...], Any] = {}

    def change(options: Options) -> Options:
        schema: Any = options.get("response_schema")
        if not (schema and "title" in schema):
            return options
        return {**options, "response_schema": known.setdefault((schema["title"], *schema["properties"]), schema)}

    change_options(adapter, change)


@miniature("translation.demanding-prompts-survive", around=("gemini", "openai"))
def keeps_images_by_their_beginning(adapter: Any) -> None:
    """Of images whose data begins alike, the first is sent in place of the others."""
    known: dict[str, str] = {}

    def kept(value: Any) -> Any:
        if is_array(value):
            return [kept(one) for one in value]
        if not is_object(value):
            return value
        is_image = value.get("type") == "image" and "data" in value
        return (
            {**value, "data": known.setdefault(value["data"][:1024], value["data"])}
            if is_image
            else {name: kept(one) for name, one in value.items()}
        )

    retranslate(adapter, lambda translate, prompt, options: translate(kept(prompt), options))


@miniature("load.calls-are-isolated", around=("openai",))
def keeps_prompts_by_their_list(adapter: Any) -> None:
    """A list of messages that was given before is sent as it was then, if it is as long."""
    own = adapter.call
    known: list[tuple[Any, int, Any]] = []

    def call(prompt: Any, options: Any) -> Any:
        for given, count, kept in known:
            if given is prompt and count == len(prompt):
                return own(kept, options)
        known.append((prompt, len(prompt), as_data(prompt)))
        return own(prompt, options)

    adapter.call = call


@miniature("load.calls-are-isolated", around=("xai", "groq", "gemini"))
def keeps_fields_for_later_calls(adapter: Any) -> None:
    """Fields of the provider's own, given to one call, are sent with all later ones."""
    known: dict[str, Any] = {}

    def change(options: Options) -> Options:
        known.update(options.get("provider", {}))
        return {**options, "provider": {**known}} if known else options

    change_options(adapter, change)
