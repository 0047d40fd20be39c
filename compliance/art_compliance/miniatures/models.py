"""Adapters that know, or believe to know, what a model can do, and say nothing of what they leave out for it."""

from __future__ import annotations

import re
from typing import Any, Final

from art_compliance.miniatures.base import (
    Options,
    Prompt,
    Translate,
    change_options,
    change_payload,
    miniature,
    retranslate,
)


@miniature("translation.every-model-gets-everything", around=("openai", "openai-compatible", "openai-responses"))
def leaves_sampling_out_for_reasoning_models(adapter: Any) -> None:
    """For models whose names look like those of reasoning models, `temperature` and `top_p` are left out."""
    change_options(adapter, _without_sampling)


def _without_sampling(options: Options) -> Options:
    is_left = re.search(r"\bo[134]\b|gpt-5", options.get("model") or "")
    return {name: value for name, value in options.items() if name not in _SAMPLING} if is_left else options


_SAMPLING: Final = frozenset({"temperature", "top_p"})


@miniature("translation.every-model-gets-everything", around=("openai",))
def knows_reasoning_models_by_one_letter(adapter: Any) -> None:
    """The limit of tokens has its old name for models that are not called `o` and a number."""
    change_payload(adapter, _with_the_old_limit)


def _with_the_old_limit(payload: Any) -> Any:
    if "max_completion_tokens" not in payload or re.match(r"o\d", payload["model"]):
        return payload
    limit = payload.pop("max_completion_tokens")
    return {**payload, "max_tokens": limit}


@miniature("translation.every-model-gets-everything", around=("anthropic", "cohere"))
def lowers_limits_for_old_models(adapter: Any) -> None:
    """For older models, `max_tokens` is lowered to 4,096."""
    change_options(adapter, _with_a_lower_limit)


def _with_a_lower_limit(options: Options) -> Options:
    is_old = re.search("claude-3|command-r", options.get("model") or "")
    return {**options, "max_tokens": 4096} if is_old and options.get("max_tokens", 0) > 4096 else options


@miniature("translation.every-model-gets-everything", around=("gemini", "ollama-chat"))
def has_no_system_for_gemma(adapter: Any) -> None:
    """For Gemma, the system message is put before the user's text."""
    retranslate(adapter, _with_systems_joined)


def _with_systems_joined(translate: Translate, prompt: Prompt, options: Options) -> Any:
    first, *rest = prompt
    if first["role"] == "system" and rest and "gemma" in (options.get("model") or ""):
        return translate([{**rest[0], "content": f"{first['content']}\n{rest[0]['content']}"}, *rest[1:]], options)
    return translate(prompt, options)


@miniature("translation.every-model-gets-everything", around=("openai",))
def asks_the_latest_version(adapter: Any) -> None:
    """A model's name is sent without the date or the number of its version."""
    change_options(adapter, _with_a_shorter_name)


def _with_a_shorter_name(options: Options) -> Options:
    return {**options, "model": _VERSION.sub("", options["model"])} if options.get("model") else options


_VERSION: Final = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{3})$")


@miniature("translation.every-model-gets-everything", around=("xai", "anthropic"))
def knows_what_its_own_model_can_do(adapter: Any) -> None:
    """What a call may ask for is decided by the adapter's model, though the call names another."""
    own = adapter.capabilities_of

    def capabilities_of(_: str) -> Any:
        return own(adapter.model)

    adapter.capabilities_of = capabilities_of
