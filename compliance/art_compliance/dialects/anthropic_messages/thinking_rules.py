"""Anthropic's rules about thinking: its budget, what it excludes, and which models have it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from art_compliance.dialects.anthropic_messages.messages import Messages
from art_compliance.dialects.ruling import Broken, child, number, rule

_KINDS: Final = ("thinking", "redacted_thinking")


def _thinks(request: Messages) -> bool:
    return child(request.root, "thinking").value.get("type") == "enabled"


@rule("anthropic.thinking-budget-max")
def thinking_budget_max(request: Messages) -> Iterator[Broken]:
    """With tools, a beta lets the model think between the calls, and the budget may be larger: not judged."""
    budget = number(child(request.root, "thinking").value.get("budget_tokens"))
    limit = number(request.body.get("max_tokens"))
    if _thinks(request) and not request.body.get("tools") and budget and limit is not None and budget >= limit:
        yield Broken("/thinking/budget_tokens", f"the budget is {budget}; it must be less than max_tokens, {limit}")


@rule("anthropic.thinking-sampling")
def thinking_sampling(request: Messages) -> Iterator[Broken]:
    """The temperature's default may be given, and a top_p that cuts off little."""
    if not _thinks(request):
        return
    temperature, top_p = (number(request.body.get(name)) for name in ("temperature", "top_p"))
    if temperature is not None and temperature != 1:
        yield Broken("/temperature", "with a thinking budget, temperature must be 1")
    if top_p is not None and top_p < 0.95:
        yield Broken("/top_p", "with a thinking budget, top_p must be at least 0.95")
    if request.body.get("top_k") is not None:
        yield Broken("/top_k", "with a thinking budget, top_k must be absent")


@rule("anthropic.thinking-no-prefill")
def thinking_no_prefill(request: Messages) -> Iterator[Broken]:
    """A paused turn, which begins with thinking or a call of the provider's own tools, goes on."""
    for turn in request.turns[-1:] if _thinks(request) else ():
        kinds = {str(block.value.get("type")) for block in turn.blocks}
        if turn.role == "assistant" and kinds <= {"text"}:
            yield Broken(turn.pointer, "the conversation ends with a prefilled answer, and there is a thinking budget")


@rule("anthropic.adaptive-thinking-models")
def adaptive_thinking_models(request: Messages) -> Iterator[Broken]:
    """Earlier models have a budget instead."""
    if child(request.root, "thinking").value.get("type") == "adaptive":
        yield Broken("/thinking/type", f"{request.model} does not support adaptive thinking; set a budget")


@rule("anthropic.enabled-thinking-models")
def enabled_thinking_models(request: Messages) -> Iterator[Broken]:
    """Later models think adaptively instead."""
    if _thinks(request):
        yield Broken("/thinking/type", f"{request.model} does not accept a thinking budget; use adaptive thinking")


@rule("anthropic.effort-models")
def effort_models(request: Messages) -> Iterator[Broken]:
    """Whatever the level."""
    if child(request.root, "output_config").value.get("effort") is not None:
        yield Broken("/output_config/effort", f"{request.model} does not support effort")
