"""Adapters that lose, change or invent what the prompt says."""

from __future__ import annotations

import html
import unicodedata
from functools import partial
from typing import Any

from art_compliance.miniatures.base import (
    Options,
    Prompt,
    Translate,
    change_messages,
    change_options,
    change_payload,
    change_prompt,
    miniature,
    retranslate,
)
from art_sdk.json_data import is_array, is_object


@miniature("translation.system-text-survives", "translation.canary-texts-are-whole")
def drops_system_messages(adapter: Any) -> None:
    """System messages are silently dropped."""
    change_prompt(adapter, lambda prompt: [m for m in prompt if m["role"] != "system"] or prompt)


@miniature("translation.user-text-survives", "translation.canary-texts-are-whole")
def trims_user_text(adapter: Any) -> None:
    """User texts lose whitespace at their ends."""
    change_messages(adapter, "user", lambda m: _with_text(m, str.strip))


@miniature("translation.user-text-survives", "translation.canary-texts-are-whole")
def escapes_html(adapter: Any) -> None:
    """Text is escaped as for an HTML page."""
    change_messages(adapter, "user", lambda m: _with_text(m, html.escape))


@miniature("translation.user-text-survives", "translation.canary-texts-are-whole")
def normalizes_unicode(adapter: Any) -> None:
    """Text is normalised to Unicode's composed form."""
    change_messages(adapter, "user", lambda m: _with_text(m, partial(unicodedata.normalize, "NFC")))


@miniature("translation.assistant-text-survives", "translation.canary-texts-are-whole")
def drops_text_beside_calls(adapter: Any) -> None:
    """An assistant turn with calls loses its text."""
    change_messages(adapter, "assistant", lambda m: {**m, "content": None} if m.get("tool_calls") else m)


@miniature("translation.message-names-survive")
def drops_names_silently(adapter: Any) -> None:
    """Message names are dropped, and the loss is not declared."""
    adapter.losses = frozenset(adapter.losses) - {"message_name"}
    change_messages(adapter, "user", lambda m: {k: v for k, v in m.items() if k != "name"})


@miniature("translation.turns-keep-their-order", "translation.canary-order-is-kept")
def puts_the_last_question_first(adapter: Any) -> None:
    """The last user message comes before the first."""
    change_prompt(adapter, _last_question_first)


@miniature("translation.nothing-is-invented")
def adds_an_instruction(adapter: Any) -> None:
    """The adapter adds its own system message at the front."""
    change_prompt(adapter, lambda prompt: [{"role": "system", "content": "Be helpful and honest."}, *prompt])


@miniature("translation.undeclared-use-is-refused")
def leaves_undeclared_images_out(adapter: Any) -> None:
    """Undeclared images are dropped, not refused."""
    adapter.capabilities = frozenset(adapter.capabilities) - {"images"}
    change_messages(adapter, "user", _without_images)


@miniature("translation.images-survive")
def sends_one_image_of_many(adapter: Any) -> None:
    """Only the first of several images in a message is sent."""
    change_messages(adapter, "user", _with_one_image)


@miniature("translation.images-survive")
def puts_images_first(adapter: Any) -> None:
    """Images come before all texts of their message."""
    change_messages(adapter, "user", _with_images_first)


@miniature("translation.extensions-survive")
def forgets_its_signatures(adapter: Any) -> None:
    """What the provider wants back with its own message is left out."""
    change_messages(adapter, "assistant", lambda m: {k: v for k, v in m.items() if k != "extensions"})


@miniature("translation.tools-survive", "translation.canary-tools-arrive")
def drops_tool_descriptions(adapter: Any) -> None:
    """Tools lose their descriptions."""
    change_options(adapter, lambda o: {**o, "tools": [{**t, "description": ""} for t in o.get("tools", ())]})


@miniature("translation.tools-survive", around=("openai-responses",))
def leaves_strict_out(adapter: Any) -> None:
    """Tools do not say that they are not strict, which makes their optional parameters required."""
    change_payload(adapter, _without_strict)


def _without_strict(payload: Any) -> Any:
    for tool in payload.get("tools", ()):
        del tool["strict"]
    return payload


@miniature("translation.options-survive", "translation.canary-options-arrive")
def drops_temperature(adapter: Any) -> None:
    """The temperature is not sent."""
    change_options(adapter, lambda o: {k: v for k, v in o.items() if k != "temperature"})


@miniature("translation.tools-survive", around=("openrouter", "gemini"))
def leaves_out_escaped_references(adapter: Any) -> None:
    """A reference to a definition is left out if its name is escaped in it."""

    def change(options: dict[str, Any]) -> dict[str, Any]:
        return {**options, **({"tools": _without_escaped(options["tools"])} if options.get("tools") else {})}

    change_options(adapter, change)


def _without_escaped(value: Any) -> Any:
    if is_array(value):
        return [_without_escaped(one) for one in value]
    if not is_object(value):
        return value
    return {k: _without_escaped(v) for k, v in value.items() if not (k == "$ref" and set(str(v)) & {"%", "~"})}


@miniature("translation.options-survive")
def drops_provider_fields(adapter: Any) -> None:
    """The caller's fields for this provider are left out."""
    change_options(adapter, lambda o: {k: v for k, v in o.items() if k != "provider"})


@miniature("translation.options-survive", "payload.is-canonical", around=("gemini",))
def prunes_the_providers_own_fields(adapter: Any) -> None:
    """Empty objects in the caller's fields for this provider are left out."""
    change_options(adapter, lambda o: {k: _pruned(v) if k == "provider" else v for k, v in o.items()})


def _pruned(value: Any) -> Any:
    if is_array(value):
        return [_pruned(one) for one in value]
    return {k: _pruned(v) for k, v in value.items() if v != {}} if is_object(value) else value


@miniature("translation.nothing-is-invented", "payload.is-canonical")
def chooses_a_temperature(adapter: Any) -> None:
    """The adapter sets a temperature where the caller gives none."""
    change_options(adapter, lambda o: {"temperature": 0.5, **o})


@miniature("translation.nothing-is-invented", "payload.is-canonical", around=("openai",))
def sends_images_for_a_quick_look(adapter: Any) -> None:
    """Images by URL are sent with the detail `low`, which nobody asked for."""
    change_payload(adapter, _in_low_detail)


def _in_low_detail(value: Any) -> Any:
    if is_array(value):
        return [_in_low_detail(one) for one in value]
    if not is_object(value):
        return value
    return {
        name: {**item, "detail": "low"} if name == "image_url" else _in_low_detail(item) for name, item in value.items()
    }


@miniature("translation.nothing-is-invented", "payload.is-canonical", around=("gemini",))
def lets_the_model_think_less(adapter: Any) -> None:
    """The adapter sets how much the model thinks."""
    little = {"thinkingConfig": {"thinkingLevel": "low"}}
    change_payload(adapter, lambda sent: {**sent, "generationConfig": {**sent.get("generationConfig", {}), **little}})


@miniature("translation.canary-texts-are-whole")
def cleans_results(adapter: Any) -> None:
    """Results lose their control characters."""
    change_messages(adapter, "tool_result", lambda m: _with_text(m, _printable))


@miniature("translation.tools-survive")
def lowers_tool_names(adapter: Any) -> None:
    """Tool names become lower case, which it does not declare."""
    adapter.repairs = frozenset(adapter.repairs) - {"renames_tools"}
    change_options(adapter, lambda o: {**o, "tools": [{**t, "name": t["name"].lower()} for t in o.get("tools", ())]})


@miniature("translation.options-survive")
def takes_zero_for_absent(adapter: Any) -> None:
    """An option with the value 0 is left out, as if it were not set."""
    change_options(adapter, lambda o: {k: v for k, v in o.items() if v != 0})


@miniature("translation.request-matches-its-dialect")
def speaks_another_format(adapter: Any) -> None:
    """The payload is wrapped in another object."""
    change_payload(adapter, lambda payload: {"contents": "see input", "messages": "see input", "input": payload})


@miniature("translation.is-total")
def gives_payloads_that_are_not_json(adapter: Any) -> None:
    """The payload of a longer prompt has a Python set in it."""
    retranslate(adapter, _with_a_set)


@miniature("translation.prefix-is-stable", "translation.user-text-survives")
def numbers_the_turns(adapter: Any) -> None:
    """Every user text begins with its number and the total, so each new message changes the old ones."""
    change_prompt(adapter, _numbered)


def _with_a_set(translate: Translate, prompt: Prompt, options: Options) -> Any:
    payload = translate(prompt, options)
    return {**payload, "flags": {"a", "b"}} if len(prompt) > 1 else payload


def _printable(text: str) -> str:
    return "".join(char for char in text if char.isprintable())


def _with_text(message: dict[str, Any], change: Any) -> dict[str, Any]:
    content = message["content"]
    return {**message, "content": change(content)} if isinstance(content, str) else message


def _last_question_first(prompt: Prompt) -> Prompt:
    asked = [at for at, message in enumerate(prompt) if message["role"] == "user"]
    if len(asked) < 2:
        return prompt
    rest = [message for at, message in enumerate(prompt) if at != asked[-1]]
    return [*rest[: asked[0]], prompt[asked[-1]], *rest[asked[0] :]]


def _without_images(message: dict[str, Any]) -> dict[str, Any]:
    if isinstance(message["content"], str):
        return message
    return {**message, "content": [part for part in message["content"] if part["type"] == "text"]}


def _with_one_image(message: dict[str, Any]) -> dict[str, Any]:
    if isinstance(message["content"], str):
        return message
    images = [part for part in message["content"] if part["type"] == "image"]
    return {**message, "content": [part for part in message["content"] if part not in images[1:]]}


def _with_images_first(message: dict[str, Any]) -> dict[str, Any]:
    if isinstance(message["content"], str):
        return message
    return {**message, "content": sorted(message["content"], key=lambda part: part["type"] != "image")}


def _numbered(prompt: Prompt) -> Prompt:
    return [
        _with_text(message, f"({at}/{len(prompt)}) ".__add__) if message["role"] == "user" else message
        for at, message in enumerate(prompt, 1)
    ]
