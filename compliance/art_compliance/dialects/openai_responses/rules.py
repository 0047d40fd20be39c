"""OpenAI's rules about the items of a response. Statements and sources: `fixtures/rules/openai-responses.toml`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from art_compliance.dialects.image_data import data_in, fault_of
from art_compliance.dialects.openai_responses import option_rules, tool_rules
from art_compliance.dialects.openai_responses.items import Item, Items
from art_compliance.dialects.ruling import Broken, objects, rule, rules_of
from art_compliance.quoting import show


@rule("responses.call-answered")
def call_answered(request: Items) -> Iterator[Broken]:
    """Anywhere behind the call."""
    answered = {output.call_id for output in request.outputs}
    for call in request.calls:
        if call.call_id not in answered:
            yield Broken(call.pointer, f"the call {show(call.call_id)} has no function_call_output")


@rule("responses.output-has-call")
def output_has_call(request: Items) -> Iterator[Broken]:
    """What the provider has stored may have the call."""
    if not request.is_whole:
        return
    called = {call.call_id for call in request.calls}
    references = any(item.kind == "item_reference" for item in request.items)
    for output in request.outputs:
        if output.call_id not in called and not references:
            yield Broken(output.pointer, f"the request has no function_call {show(output.call_id)}")


@rule("responses.output-call-id")
def output_call_id(request: Items) -> Iterator[Broken]:
    """A null is not an id. An empty one is left to the rule about lengths."""
    for item in request.items:
        if item.kind == "function_call_output" and item.value.get("call_id") is None:
            yield Broken(item.pointer, "the function_call_output has no call_id")


@rule("responses.output-once")
def output_once(request: Items) -> Iterator[Broken]:
    """No refusal is quoted."""
    for call_id, count in Counter(output.call_id for output in request.outputs).items():
        if count > 1:
            last = [output for output in request.outputs if output.call_id == call_id][-1]
            yield Broken(last.pointer, f"the call {show(call_id)} has {count} outputs")


@rule("responses.call-ids-unique")
def call_ids_unique(request: Items) -> Iterator[Broken]:
    """No refusal is quoted."""
    for call_id, count in Counter(call.call_id for call in request.calls).items():
        if count > 1:
            last = [call for call in request.calls if call.call_id == call_id][-1]
            yield Broken(last.pointer, f"{count} calls have the call_id {show(call_id)}")


def _is_of_answer(item: Item) -> bool:
    """Whether an item may be what a reasoning item led to."""
    return item.role == "assistant" or item.kind not in {"message", "function_call_output"}


@rule("responses.reasoning-followed")
def reasoning_followed(request: Items) -> Iterator[Broken]:
    """By an item of the same answer; with its id, where the reasoning has one and is looked up by it."""
    for item, after in zip_longest(request.items, request.items[1:]):  # the second is shorter by one
        if item.kind != "reasoning":
            continue
        if after is None or not _is_of_answer(after):
            yield Broken(item.pointer, "no assistant item follows the reasoning")
        elif request.body.get("store") is not False and item.value.get("id") and not after.value.get("id"):
            yield Broken(item.pointer, "the item after the reasoning has no id")


@rule("responses.reasoning-paired")
def reasoning_paired(request: Items) -> Iterator[Broken]:
    """The reasoning of an answer comes before its items; without any, the call may have been made without reasoning."""
    has_reasoning = False
    for item in request.items:
        if item.kind in {"reasoning", "item_reference"}:
            has_reasoning = True
        elif item.role in {"user", "system", "developer"} or item.kind == "function_call_output":
            has_reasoning = False
        elif item.kind == "function_call" and item.value.get("id") and not has_reasoning and request.is_whole:
            yield Broken(f"{item.pointer}/id", "the call has an id, but no reasoning item comes before it")


_OUTPUTS: Final = frozenset({"output_text", "refusal"})


@rule("responses.assistant-output-text")
def assistant_output_text(request: Items) -> Iterator[Broken]:
    """And those of other roles are inputs."""
    for item in request.items:
        if item.role is None:
            continue
        for part in objects(item, "content"):
            kind = part.value.get("type")
            if isinstance(kind, str) and (kind in _OUTPUTS) != (item.role == "assistant"):
                yield Broken(
                    f"{part.pointer}/type", f"a message with the role {show(item.role)} has a part of type {show(kind)}"
                )


@rule("responses.image-base64")
def image_base64(request: Items) -> Iterator[Broken]:
    """In messages and in results."""
    for item in request.items:
        for part in (*objects(item, "content"), *objects(item, "output")):
            data = data_in(part.value.get("image_url"))
            fault = None if data is None else fault_of(data)
            if fault is not None:
                yield Broken(f"{part.pointer}/image_url", fault)


RULES: Final = rules_of(sys.modules[__name__], option_rules, tool_rules)

__all__ = ["RULES", "Items"]
