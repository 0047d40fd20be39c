"""Anthropic's rules about calls and results. Statements and sources: `fixtures/rules/anthropic-messages.toml`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from art_compliance.dialects.anthropic_messages import (
    exclusion_rules,
    media_rules,
    option_rules,
    text_rules,
    thinking_rules,
    tool_rules,
    version_rules,
)
from art_compliance.dialects.anthropic_messages.messages import Linked, Messages
from art_compliance.dialects.ruling import Broken, rule, rules_of
from art_compliance.quoting import show
from art_sdk.json_data import is_object


@rule("anthropic.tool-use-answered")
def tool_use_answered(request: Messages) -> Iterator[Broken]:
    """In the user's turn that follows. Calls at the very end are left to `anthropic.tool-use-pending`."""
    for turn, after in pairwise(request.turns):
        answered = {result.id for result in after.results}
        for call in turn.calls:
            if call.id is not None and call.id not in answered:
                yield Broken(call.pointer, f"the call {show(call.id)} has no tool_result in the next turn")


@rule("anthropic.tool-use-pending")
def tool_use_pending(request: Messages) -> Iterator[Broken]:
    """No error text is known for this."""
    for turn in request.turns[-1:]:
        for call in turn.calls:
            if call.id is not None:
                yield Broken(call.pointer, f"the conversation ends with the call {show(call.id)}")


@rule("anthropic.tool-result-has-use")
def tool_result_has_use(request: Messages) -> Iterator[Broken]:
    """The call must be in the assistant's turn right before."""
    called: set[str | None] = set()
    for turn in request.turns:
        for result in turn.results:
            if result.id is not None and result.id not in called:
                yield Broken(result.pointer, f"the turn before it has no call {show(result.id)}")
        called = {call.id for call in turn.calls}


@rule("anthropic.tool-result-first")
def tool_result_first(request: Messages) -> Iterator[Broken]:
    """Within one message."""
    for message in request.messages:
        for block, result in zip(message.blocks, message.results, strict=False):
            if block.at != result.at:
                yield Broken(result.pointer, "a tool result comes after another block")


@rule("anthropic.tool-use-ids-unique")
def tool_use_ids_unique(request: Messages) -> Iterator[Broken]:
    """Within the assistant's turn; a later turn may use an id again."""
    for turn in request.turns if len(request.calls) > 1 else ():
        for call in _repeated(turn.calls):
            yield Broken(f"{call.pointer}/id", f"two calls in this turn have the id {show(call.id)}")


@rule("anthropic.tool-results-unique")
def tool_results_unique(request: Messages) -> Iterator[Broken]:
    """Within the user's turn."""
    for turn in request.turns if len(request.results) > 1 else ():
        for result in _repeated(turn.results):
            yield Broken(f"{result.pointer}/tool_use_id", f"the call {show(result.id)} has two results in this turn")


def _repeated(blocks: tuple[Linked, ...]) -> Iterator[Linked]:
    """The blocks whose id another before them has."""
    seen: set[str] = set()
    for block in blocks:
        if block.id is None:
            continue
        if block.id in seen:
            yield block
        seen.add(block.id)


_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")


@rule("anthropic.tool-id-pattern")
def tool_id_pattern(request: Messages) -> Iterator[Broken]:
    """The ids of calls and of results."""
    for name, blocks in (("id", request.calls), ("tool_use_id", request.results)):
        for block in blocks:
            if block.id is not None and not _ID.fullmatch(block.id):
                yield Broken(
                    f"{block.pointer}/{name}", f"the id {show(block.id)} may only contain a-z, A-Z, 0-9, _ and -"
                )


@rule("anthropic.tool-use-input-object")
def tool_use_input_object(request: Messages) -> Iterator[Broken]:
    """A missing input is left to the wire schema."""
    for call in request.calls:
        if not is_object(call.value.get("input", {})):
            yield Broken(f"{call.pointer}/input", "the input is not an object")


@rule("anthropic.tools-with-tool-blocks")
def tools_with_tool_blocks(request: Messages) -> Iterator[Broken]:
    """Reported once, at the first call."""
    if request.body.get("tools"):
        return
    for call in [call for call in request.calls if call.id is not None][:1]:
        yield Broken(call.pointer, "the conversation has tool calls, but the request has no tools")


RULES: Final = rules_of(
    sys.modules[__name__],
    text_rules,
    media_rules,
    tool_rules,
    option_rules,
    thinking_rules,
    version_rules,
    exclusion_rules,
)

__all__ = ["RULES", "Messages"]
