"""Adapters that read texts and calls well, but report other facts than the answer's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from art_compliance.miniatures.base import miniature
from art_sdk import LLMMetadata, MetadataEvent
from art_sdk.json_data import is_object


def report(adapter: Any, change: Callable[[LLMMetadata], dict[str, Any]], *methods: str) -> None:
    """The METADATA of these methods, by default of `call`, has other values."""
    for method in methods or ("call",):
        _report_by(adapter, method, change)


def _report_by(adapter: Any, method: str, change: Callable[[LLMMetadata], dict[str, Any]]) -> None:
    own = getattr(adapter, method)

    def changed(event: Any) -> Any:
        if not isinstance(event, MetadataEvent):
            return event
        return replace(event, metadata=replace(event.metadata, **change(event.metadata)))

    async def call(prompt: Any, options: Any) -> Any:
        async for event in own(prompt, options):
            yield changed(event)

    def call_sync(prompt: Any, options: Any) -> Any:
        yield from map(changed, own(prompt, options))

    setattr(adapter, method, call_sync if method == "call_sync" else call)


_OF_METADATA = ("response.metadata-is-of-its-answer", "stream.metadata-is-of-its-answer")


@miniature(*_OF_METADATA, around=("openai", "gemini"))
def adds_its_usage_up(adapter: Any) -> None:
    """The raw usage counts the tokens of all calls so far."""
    total: dict[str, Any] = {}

    def add(metadata: LLMMetadata) -> dict[str, Any]:
        for name, count in (metadata.provider_raw_usage or {}).items():
            total[name] = total.get(name, 0) + count if isinstance(count, int) else count
        return {"provider_raw_usage": dict(total)}

    report(adapter, add)


@miniature(*_OF_METADATA, around=("openai", "anthropic"))
def counts_in_sixteen_bits(adapter: Any) -> None:
    """A count is at most 65,535."""
    report(adapter, lambda metadata: {"input_tokens": min(metadata.input_tokens or 0, 65_535)})


@miniature(*_OF_METADATA, around=("openai",))
def has_anthropics_word_for_length(adapter: Any) -> None:
    """An answer that was cut off ended with `max_tokens`, whatever the provider called it."""
    report(adapter, lambda metadata: {"raw_stop_reason": "max_tokens"} if metadata.stop_reason == "length" else {})


@miniature(*_OF_METADATA, around=("openai", "gemini", "anthropic"))
def numbers_its_answers(adapter: Any) -> None:
    """The request_id is a number of its own."""
    report(adapter, lambda _: {"request_id": 7})


@miniature(*_OF_METADATA, around=("gemini", "openai"))
def makes_traces_for_metadata(adapter: Any) -> None:
    """METADATA has another trace_id than its event."""
    report(adapter, lambda metadata: {"trace_id": f"{metadata.trace_id}-metadata"})


@miniature(*_OF_METADATA, around=("openai", "anthropic"))
def reports_less_by_call_sync(adapter: Any) -> None:
    """`call_sync` gives no request_id and no raw usage."""
    report(adapter, lambda _: {"request_id": None, "provider_raw_usage": None}, "call_sync")


@miniature("response.times-are-plausible", "stream.times-are-plausible", around=("openai", "anthropic"))
def takes_no_time_by_call_sync(adapter: Any) -> None:
    """`call_sync` reports that a call took no time."""
    report(adapter, lambda _: {"total_generation_time_ms": 0.0, "time_to_first_token_ms": None}, "call_sync")


@miniature(*_OF_METADATA, around=("groq", "gemini"))
def makes_traces_where_none_is_given(adapter: Any) -> None:
    """METADATA has a trace_id of its own, unless the caller gives one."""
    own = adapter.call

    async def call(prompt: Any, options: Any) -> Any:
        is_own = not (options.get("trace_id") if is_object(options) else options.trace_id)
        async for event in own(prompt, options):
            is_other = is_own and isinstance(event, MetadataEvent)
            yield replace(event, metadata=replace(event.metadata, trace_id="a-trace-of-its-own")) if is_other else event

    adapter.call = call
