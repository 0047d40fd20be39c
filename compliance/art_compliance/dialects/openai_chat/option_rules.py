"""OpenAI's rules about options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from art_compliance.dialects.openai_chat.chat import Chat
from art_compliance.dialects.ruling import Broken, below, child, number, outside, rule, too_many
from art_compliance.pointers import escape
from art_compliance.quoting import show
from art_sdk.json_data import is_array, is_object


@rule("openai.max-completion-tokens")
def max_completion_tokens(chat: Chat) -> Iterator[Broken]:
    """Every model accepts the newer name."""
    if chat.body.get("max_tokens") is not None:
        yield Broken("/max_tokens", f"{chat.model} does not accept max_tokens; use max_completion_tokens")


@rule("openai.reasoning-temperature")
def reasoning_temperature(chat: Chat) -> Iterator[Broken]:
    """The default may be given."""
    value = number(chat.body.get("temperature"))
    if value is not None and value != 1:
        yield Broken("/temperature", f"{chat.model} accepts only the temperature 1")


_RANGES: Final = {
    "temperature": (0.0, 2.0),
    "top_p": (0.0, 1.0),
    "presence_penalty": (-2.0, 2.0),
    "frequency_penalty": (-2.0, 2.0),
    "n": (1.0, 128.0),
    "top_logprobs": (0.0, 20.0),
}


@rule("openai.temperature-range")
def temperature_range(chat: Chat) -> Iterator[Broken]:
    """Also the ranges of the other sampling options."""
    yield from outside(chat.root, _RANGES)


@rule("openai.max-tokens-min")
def max_tokens_min(chat: Chat) -> Iterator[Broken]:
    """Under both names."""
    yield from below(chat.root, ("max_tokens", "max_completion_tokens"), 1)


@rule("openai.top-logprobs-needs-logprobs")
def top_logprobs_needs_logprobs(chat: Chat) -> Iterator[Broken]:
    """Null and 0 count as absent."""
    if number(chat.body.get("top_logprobs")) and not chat.body.get("logprobs"):
        yield Broken("/top_logprobs", "top_logprobs needs logprobs: true")


@rule("openai.web-search-models")
def web_search_models(chat: Chat) -> Iterator[Broken]:
    """Models that search have the word in their names."""
    if chat.body.get("web_search_options") is not None:
        yield Broken("/web_search_options", f"{chat.model} does not accept web_search_options")


@rule("openai.service-tier-models")
def service_tier_models(chat: Chat) -> Iterator[Broken]:
    """The cheap and slow tier, which few models have."""
    if chat.body.get("service_tier") == "flex":
        yield Broken("/service_tier", f"{chat.model} does not support the service tier flex")


@rule("openai.stop-max4")
def stop_max4(chat: Chat) -> Iterator[Broken]:
    """A plain text counts as one."""
    yield from too_many(chat.body.get("stop"), "/stop", "stop sequences", 4)


@rule("openai.stop-unsupported-models")
def stop_unsupported_models(chat: Chat) -> Iterator[Broken]:
    """Of any number."""
    if chat.body.get("stop"):
        yield Broken("/stop", f"{chat.model} does not accept stop sequences")


@rule("openai.stream-options-needs-stream")
def stream_options_needs_stream(chat: Chat) -> Iterator[Broken]:
    """Null counts as absent."""
    if chat.body.get("stream_options") is not None and not chat.body.get("stream"):
        yield Broken("/stream_options", "stream_options needs stream: true")


@rule("openai.token-limits-exclusive")
def token_limits_exclusive(chat: Chat) -> Iterator[Broken]:
    """Null counts as absent."""
    if chat.body.get("max_tokens") is not None and chat.body.get("max_completion_tokens") is not None:
        yield Broken("/max_tokens", "max_tokens and max_completion_tokens exclude each other")


_DEFAULTS: Final = {"top_p": 1, "presence_penalty": 0, "frequency_penalty": 0, "logprobs": False}


@rule("openai.reasoning-sampling")
def reasoning_sampling(chat: Chat) -> Iterator[Broken]:
    """The defaults are not judged. The temperature has its own rule."""
    for name, default in _DEFAULTS.items():
        value = chat.body.get(name)
        if value is not None and value != default:
            yield Broken(f"/{name}", f"{chat.model} does not accept {name}")


@rule("openai.effort-models")
def effort_models(chat: Chat) -> Iterator[Broken]:
    """Null counts as absent."""
    if chat.body.get("reasoning_effort") is not None:
        yield Broken(
            "/reasoning_effort", f"{chat.model} is not a reasoning model, and does not accept reasoning_effort"
        )


@rule("openai.logit-bias-range")
def logit_bias_range(chat: Chat) -> Iterator[Broken]:
    """Of each token."""
    biases = child(chat.root, "logit_bias")
    yield from outside(biases, dict.fromkeys(map(str, biases.value), (-100.0, 100.0)))


@rule("openai.metadata-limits")
def metadata_limits(chat: Chat) -> Iterator[Broken]:
    """Values of another type are left to the wire schema."""
    pairs = child(chat.root, "metadata").value
    if len(pairs) > 16:
        yield Broken("/metadata", f"metadata has {len(pairs)} pairs; at most 16 are allowed")
    for key, value in pairs.items():
        if len(key) > 64:
            yield Broken("/metadata", f"the key {show(key)} has {len(key)} characters; at most 64 are allowed")
        if isinstance(value, str) and len(value) > 512:
            yield Broken(f"/metadata/{escape(key)}", f"the value has {len(value)} characters; at most 512 are allowed")


@rule("openai.audio-needs-voice")
def audio_needs_voice(chat: Chat) -> Iterator[Broken]:
    """Where the answer is to be spoken."""
    wanted = chat.body.get("modalities")
    if is_array(wanted) and "audio" in wanted and not is_object(chat.body.get("audio")):
        yield Broken("/audio", "modalities contains audio, but audio with a voice and a format is missing")


@rule("openai.audio-output-models")
def audio_output_models(chat: Chat) -> Iterator[Broken]:
    """Beside text, or alone."""
    wanted = chat.body.get("modalities")
    if is_array(wanted) and "audio" in wanted:
        yield Broken("/modalities", f"it is not known whether {chat.model} generates audio")


@rule("openai.safety-identifier-length")
def safety_identifier_length(chat: Chat) -> Iterator[Broken]:
    """Of any characters."""
    name = chat.body.get("safety_identifier")
    if isinstance(name, str) and len(name) > 128:
        yield Broken("/safety_identifier", f"safety_identifier has {len(name)} characters; at most 128 are allowed")


@rule("openai.tools-or-functions")
def tools_or_functions(chat: Chat) -> Iterator[Broken]:
    """An empty list counts as absent."""
    if chat.body.get("tools") and chat.body.get("functions"):
        yield Broken("/functions", "tools and functions exclude each other")
