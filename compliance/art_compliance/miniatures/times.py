"""Adapters that measure a call wrongly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from art_compliance.miniatures.base import Events, change_events, miniature
from art_sdk.json_data import is_object

_FIRST: Final = frozenset({"time_to_first_token_ms", "timeToFirstTokenMs"})
_TIMES: Final = _FIRST | {"total_generation_time_ms", "totalGenerationTimeMs"}


def retime(adapter: Any, change: Callable[[float], float], names: frozenset[str] = _TIMES) -> None:
    """METADATA has other times."""

    def changed(events: Events) -> Events:
        return [_with_times(event, change, names) for event in events]

    change_events(adapter, changed)


def _with_times(event: dict[str, Any], change: Callable[[float], float], names: frozenset[str]) -> dict[str, Any]:
    metadata = event.get("metadata")
    if not is_object(metadata):
        return event
    times = {name: change(value) for name, value in metadata.items() if name in names and value is not None}
    return {**event, "metadata": {**metadata, **times}}


@miniature("response.times-are-plausible", "stream.times-are-plausible", around=("openai", "gemini"))
def tells_seconds(adapter: Any) -> None:
    """Times are in seconds."""
    retime(adapter, lambda value: value / 1000)


@miniature("response.times-are-plausible", "stream.times-are-plausible", around=("anthropic",))
def ends_before_it_began(adapter: Any) -> None:
    """Times are negative."""
    retime(adapter, lambda value: -value)


@miniature("stream.times-are-plausible", around=("openai",))
def gives_its_first_token_last(adapter: Any) -> None:
    """The first token comes later than the end."""
    retime(adapter, lambda value: value * 3, _FIRST)


@miniature("stream.times-are-plausible", around=("openai", "gemini"))
def tells_seconds_to_the_first_token(adapter: Any) -> None:
    """The time to the first token is in seconds, the whole one in milliseconds."""
    retime(adapter, lambda value: value / 1000, _FIRST)
