"""Gemini's rules about turns and parts. Statements and sources: `fixtures/rules/gemini-generate.toml`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from art_compliance.dialects.gemini_generate import answer_rules, byte_rules, option_rules, schema_rules
from art_compliance.dialects.gemini_generate.contents import (
    CallPart,
    Content,
    Contents,
    children,
    field,
    is_empty,
    snake,
)
from art_compliance.dialects.ruling import Broken, Place, child, rule, rules_of
from art_compliance.quoting import show
from art_sdk.json_data import json_type


@rule("gemini.contents-nonempty")
def contents_nonempty(request: Contents) -> Iterator[Broken]:
    """A missing list is left to the wire schema."""
    if request.body.get("contents") == []:
        yield Broken("/contents", "there are no contents")


@rule("gemini.response-count")
def response_count(request: Contents) -> Iterator[Broken]:
    """The results may be spread over several contents; calls at the very end still wait for theirs."""
    for turn, after in pairwise(request.turns):
        calls, answers = len(turn.calls), len(after.answers)
        if calls and calls != answers:
            yield Broken(after.pointer, f"{calls} calls are followed by {answers} results")


@rule("gemini.response-after-call")
def response_after_call(request: Contents) -> Iterator[Broken]:
    """The model's turn right before must call."""
    before: Content | None = None
    for turn in request.turns:
        if turn.answers and not turn.is_model and not (before is not None and before.calls):
            found = (
                "there is no turn before this result" if before is None else "the turn before this result has no call"
            )
            yield Broken(turn.answers[0].pointer, found)
        before = turn


@rule("gemini.response-name")
def response_name(request: Contents) -> Iterator[Broken]:
    """The results of parallel calls may come in any order. A wrong number of them breaks another rule."""
    for turn, after in pairwise(request.turns):
        if len(turn.calls) == len(after.answers):
            for answer in _unexpected(after.answers, [call.name for call in turn.calls]):
                place = child(answer, "functionResponse", "function_response").pointer
                yield Broken(
                    f"{place}/name", f"the turn before it does not call {show(answer.name)}, or has fewer such calls"
                )


def _unexpected(answers: tuple[CallPart, ...], waiting: list[object]) -> Iterator[CallPart]:
    """The results whose name is not, or no longer, among those that wait for one."""
    for answer in answers:
        if answer.name in waiting:
            waiting.remove(answer.name)
        elif answer.name:
            yield answer


@rule("gemini.response-has-name")
def response_has_name(request: Contents) -> Iterator[Broken]:
    """A missing name is left to the wire schema."""
    for turn in request.turns:
        for answer in turn.answers:
            if answer.name == "":
                yield Broken(
                    f"{child(answer, 'functionResponse', 'function_response').pointer}/name", "the name is empty"
                )


@rule("gemini.call-after-user")
def call_after_user(request: Contents) -> Iterator[Broken]:
    """Only the first turn has nothing before it."""
    for turn in request.turns[:1]:
        if turn.is_model and turn.calls:
            yield Broken(turn.calls[0].pointer, "the conversation begins with a function call")


@rule("gemini.call-after-model")
def call_after_model(request: Contents) -> Iterator[Broken]:
    """Neighbouring contents of the model."""
    for before, content in pairwise(request.contents):
        if content.calls and content.is_model and before.is_model:
            yield Broken(content.pointer, "a content with function calls directly follows another model content")


@rule("gemini.last-not-model")
def last_not_model(request: Contents) -> Iterator[Broken]:
    """Whatever it says."""
    for content in request.contents[-1:]:
        if content.is_model:
            yield Broken(content.pointer, "the last content is from the model")


@rule("gemini.roles")
def roles(request: Contents) -> Iterator[Broken]:
    """A missing role counts as the user's; `function` comes from older clients."""
    for content in request.contents:
        if isinstance(content.role, str) and content.role not in ("", "user", "model", "function"):
            yield Broken(f"{content.pointer}/role", f"the role {show(content.role)} is neither user nor model")


@rule("gemini.parts-nonempty")
def parts_nonempty(request: Contents) -> Iterator[Broken]:
    """A missing list, and an empty one."""
    for content in request.contents:
        if not content.parts and not content.value.get("parts"):
            yield Broken(f"{content.pointer}/parts", "the content has no parts")


@rule("gemini.part-has-data")
def part_has_data(request: Contents) -> Iterator[Broken]:
    """An empty text is data."""
    for content in request.contents:
        for part in content.empty:
            yield Broken(part.pointer, "the part is empty")


@rule("gemini.system-part-has-data")
def system_part_has_data(request: Contents) -> Iterator[Broken]:
    """Parts of the system prompt; here an empty text counts, too."""
    system = child(request.root, "systemInstruction", "system_instruction")
    for part in children(system, "parts"):
        if is_empty(part) or part.value.get("text") == "":
            yield Broken(part.pointer, "a part of the system instruction is empty")


@rule("gemini.thought-signature")
def thought_signature(request: Contents) -> Iterator[Broken]:
    """Looks at the model's turns since the user last spoke: a turn that calls needs a signed part."""
    if request.is_vertex:
        return
    for turn in reversed(request.turns):
        if not turn.is_model and len(turn.answers) < len(turn.parts):
            return
        signed = any(field(part, "thoughtSignature") for part in turn.parts)
        if turn.is_model and turn.calls and not signed:
            yield Broken(turn.calls[0].pointer, "the turn has function calls, but no part has a thought signature")


@rule("gemini.response-is-object")
def response_is_object(request: Contents) -> Iterator[Broken]:
    """A missing one is accepted."""
    for turn in request.turns:
        yield from (_unsound(part, "functionResponse", "response") for part in turn.answers if not part.is_sound)


@rule("gemini.args-is-object")
def args_is_object(request: Contents) -> Iterator[Broken]:
    """Missing ones are accepted."""
    for turn in request.turns:
        yield from (_unsound(part, "functionCall", "args") for part in turn.calls if not part.is_sound)


def _unsound(part: Place, outer: str, inner: str) -> Broken:
    place = child(part, outer, snake(outer))
    return Broken(f"{place.pointer}/{inner}", f"{inner} is {json_type(place.value[inner])}; it must be an object")


RULES: Final = rules_of(sys.modules[__name__], byte_rules, schema_rules, option_rules, answer_rules)

__all__ = ["RULES", "Contents"]
