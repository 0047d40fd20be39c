"""OpenAI's rules about options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from art_compliance.dialects.openai_chat.chat import Chat
from art_compliance.dialects.ruling import Broken, number, outside, rule
from art_sdk.json_data import is_array


@rule("openai.max-completion-tokens")
def max_completion_tokens(chat: Chat) -> Iterator[Broken]:
    """Every model accepts the newer name."""
    if chat.body.get("max_tokens") is not None:
        yield Broken("/max_tokens", f"{chat.model} accepts max_completion_tokens instead")


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


@rule("openai.stop-max4")
def stop_max4(chat: Chat) -> Iterator[Broken]:
    """A plain text counts as one."""
    stop = chat.body.get("stop")
    if is_array(stop) and len(stop) > 4:
        yield Broken("/stop", f"there are {len(stop)} stop sequences; 4 are allowed")


@rule("openai.stop-unsupported-models")
def stop_unsupported_models(chat: Chat) -> Iterator[Broken]:
    """Of any number."""
    if chat.body.get("stop"):
        yield Broken("/stop", f"{chat.model} does not accept stop sequences")


@rule("openai.stream-options-needs-stream")
def stream_options_needs_stream(chat: Chat) -> Iterator[Broken]:
    """Null counts as absent."""
    if chat.body.get("stream_options") is not None and not chat.body.get("stream"):
        yield Broken("/stream_options", "the request does not stream")
