"""Anthropic's rules about calls and results. Words and sources stand in `fixtures/rules/anthropic-messages.toml`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.anthropic_messages import option_rules, text_rules, tool_rules
from art_compliance.dialects.anthropic_messages.messages import Messages, Turn
from art_compliance.dialects.ruling import Broken, Place, rule, rules_of
from art_sdk.json_data import is_object


@rule("anthropic.tool-use-answered")
def tool_use_answered(request: Messages) -> Iterator[Broken]:
    """In the user's turn that follows; calls at the very end are another rule's business."""
    for turn, after in zip(request.turns, request.turns[1:], strict=False):
        answered = {block.value.get("tool_use_id") for block in after.results if _has_id(block)}
        for block in _calls(turn):
            if block.value["id"] not in answered:
                told = f"the call {block.value['id']!r} has no tool_result in the next turn"
                yield Broken(block.pointer, told)


@rule("anthropic.tool-use-pending")
def tool_use_pending(request: Messages) -> Iterator[Broken]:
    """Nobody has quoted an answer to it."""
    for turn in request.turns[-1:]:
        for block in _calls(turn):
            yield Broken(block.pointer, f"the conversation ends with the call {block.value['id']!r}")


@rule("anthropic.tool-result-has-use")
def tool_result_has_use(request: Messages) -> Iterator[Broken]:
    """A call of the assistant's turn right before."""
    called: set[str] = set()
    for turn in request.turns:
        for block in turn.results:
            if _has_id(block) and block.value["tool_use_id"] not in called:
                yield Broken(block.pointer, f"no call {block.value['tool_use_id']!r} stands in the turn before")
        called = {block.value["id"] for block in _calls(turn)}


@rule("anthropic.tool-result-first")
def tool_result_first(request: Messages) -> Iterator[Broken]:
    """Within one message."""
    for blocks in request.blocks:
        others = False
        for block in blocks:
            if block.value.get("type") != "tool_result":
                others = True
            elif others:
                yield Broken(block.pointer, "a result stands after something that is none")


@rule("anthropic.tool-use-ids-unique")
def tool_use_ids_unique(request: Messages) -> Iterator[Broken]:
    """Over the whole conversation."""
    seen: set[str] = set()
    for turn in request.turns:
        for block in _calls(turn):
            if block.value["id"] in seen:
                yield Broken(f"{block.pointer}/id", f"two calls have the id {block.value['id']!r}")
            seen.add(block.value["id"])


_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")


@rule("anthropic.tool-id-pattern")
def tool_id_pattern(request: Messages) -> Iterator[Broken]:
    """Of calls and of results."""
    for turn in request.turns:
        for name, blocks in (("id", turn.calls), ("tool_use_id", turn.results)):
            for block in blocks:
                value = block.value.get(name)
                if isinstance(value, str) and not _ID.fullmatch(value):
                    yield Broken(f"{block.pointer}/{name}", f"the id {value!r} is not made of a-z, A-Z, 0-9, _ and -")


@rule("anthropic.tool-use-input-object")
def tool_use_input_object(request: Messages) -> Iterator[Broken]:
    """One that is absent is the schema's business."""
    for turn in request.turns:
        for block in turn.calls:
            value: Any = block.value.get("input", {})
            if not is_object(value):
                yield Broken(f"{block.pointer}/input", "the input is no object")


@rule("anthropic.tools-with-tool-blocks")
def tools_with_tool_blocks(request: Messages) -> Iterator[Broken]:
    """The first call is shown."""
    if request.body.get("tools"):
        return
    for turn in request.turns:
        for block in _calls(turn)[:1]:
            yield Broken(block.pointer, "there are calls in the conversation, and no tools are offered")
            return


def _calls(turn: Turn) -> list[Place]:
    return [block for block in turn.calls if isinstance(block.value.get("id"), str)]


def _has_id(block: Place) -> bool:
    return isinstance(block.value.get("tool_use_id"), str)


RULES: Final = rules_of(sys.modules[__name__], text_rules, tool_rules, option_rules)

__all__ = ["RULES", "Messages"]
