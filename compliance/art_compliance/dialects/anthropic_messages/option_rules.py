"""Anthropic's rules about options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.anthropic_messages.messages import Messages, count_marks
from art_compliance.dialects.ruling import Broken, number, outside, rule
from art_sdk.json_data import is_array


@rule("anthropic.max-tokens-required")
def max_tokens_required(request: Messages) -> Iterator[Broken]:
    """Counting tokens needs no limit; it has its own URL."""
    if request.body and request.body.get("max_tokens") is None and "count_tokens" not in (request.url or ""):
        yield Broken("/max_tokens", "max_tokens is missing")


@rule("anthropic.temperature-topp-exclusive")
def temperature_topp_exclusive(request: Messages) -> Iterator[Broken]:
    """Whatever the values."""
    if request.body.get("temperature") is not None and request.body.get("top_p") is not None:
        yield Broken("/top_p", f"{request.model} accepts temperature or top_p, not both")


_DEFAULTS: Final = {"temperature": 1.0, "top_p": 0.99}


@rule("anthropic.temperature-deprecated")
def temperature_deprecated(request: Messages) -> Iterator[Broken]:
    """Values at or above the defaults are tolerated."""
    for name, default in _DEFAULTS.items():
        value = number(request.body.get(name))
        if value is not None and value < default:
            yield Broken(f"/{name}", f"{request.model} does not accept {name}")
    if request.body.get("top_k") is not None:
        yield Broken("/top_k", f"{request.model} does not accept top_k")


@rule("anthropic.temperature-range")
def temperature_range(request: Messages) -> Iterator[Broken]:
    """Both sampling options."""
    yield from outside(request.root, {"temperature": (0.0, 1.0), "top_p": (0.0, 1.0)})


@rule("anthropic.stop-nonblank")
def stop_nonblank(request: Messages) -> Iterator[Broken]:
    """An empty one counts as blank."""
    stops: Any = request.body.get("stop_sequences")
    for at, stop in enumerate(stops if is_array(stops) else ()):
        if isinstance(stop, str) and not stop.strip():
            yield Broken(f"/stop_sequences/{at}", f"the stop sequence {stop!r} is blank")


@rule("anthropic.cache-control-max4")
def cache_control_max4(request: Messages) -> Iterator[Broken]:
    """Counts tools, system prompt and messages, with the blocks inside results; the body's own mark does not count."""
    count = count_marks(request.body.get("tools")) + count_marks(request.body.get("system"))
    count += sum([message.marks for message in request.messages])
    if count > 4:
        yield Broken("", f"{count} blocks have cache_control; 4 are allowed")
