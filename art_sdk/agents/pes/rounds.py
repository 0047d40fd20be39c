"""Rounds of tool calls: what the model asked for, made safe to execute and to send back with the results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import count

import msgspec
from msgspec import Struct

from art_sdk.agents.tool_system import failed_call
from art_sdk.arguments import parse_arguments
from art_sdk.conversation import find_call_ids
from art_sdk.messages import (
    ArtStandardMessage,
    ArtStandardPrompt,
    AssistantMessage,
    FunctionCall,
    ParsedToolCall,
    ToolCall,
    ToolResult,
)
from art_sdk.tool_calls import answer_call


class Round(Struct, frozen=True):
    """The calls of one answer. `parsed` can be executed; `refused` are the results of those that cannot."""

    message: AssistantMessage
    parsed: tuple[ParsedToolCall, ...]
    refused: tuple[ToolResult, ...]

    def in_call_order(self, executed: Iterable[ToolResult]) -> tuple[ToolResult, ...]:
        """The results of all calls."""
        by_id = {result.call_id: result for result in (*self.refused, *executed)}
        return tuple(by_id[call.id] for call in self.message.tool_calls)

    def messages(self, results: Sequence[ToolResult], *, one_by_one: bool) -> ArtStandardPrompt:
        """The answer and its results as a prompt has them, or each call by itself with its result."""
        answers = [answer_call(result) for result in results]
        if not one_by_one:
            return (self.message, *answers)
        turns: list[ArtStandardMessage] = []
        for call, answer in zip(self.message.tool_calls, answers, strict=True):
            turns += (AssistantMessage(None, (call,)), answer)
        return tuple(turns)


def read_round(message: AssistantMessage, calls: Sequence[ToolCall], before: ArtStandardPrompt) -> Round:
    """The round of an answer with these calls, after these messages.

    Calls whose ids are taken get others. Arguments that are not an object become `{}`, which providers accept, with
    an error for a result.
    """
    named = _with_own_ids(calls, find_call_ids(before))
    parsed: list[ParsedToolCall] = []
    refused: list[ToolResult] = []
    sound: list[ToolCall] = []
    for call in named:
        try:
            parsed.append(ParsedToolCall(call.id, call.function.name, parse_arguments(call.function.arguments)))
            sound.append(call)
        except ValueError as error:
            refused.append(failed_call(call.id, call.function.name, error))
            sound.append(msgspec.structs.replace(call, function=FunctionCall(call.function.name, "{}")))
    is_native = bool(message.tool_calls)
    content, extensions = (message.content, message.extensions) if is_native else (None, None)
    turn = AssistantMessage(content, tuple(sound), extensions=extensions)
    return Round(turn, tuple(parsed), tuple(refused))


def _with_own_ids(calls: Sequence[ToolCall], taken: Iterable[str]) -> list[ToolCall]:
    used = set(taken)
    named: list[ToolCall] = []
    for call in calls:
        own = call.id if call.id not in used else _free(call.id, used)
        used.add(own)
        named.append(call if own == call.id else msgspec.structs.replace(call, id=own))
    return named


def _free(call_id: str, used: Collection[str]) -> str:
    return next(name for number in count(2) if (name := f"{call_id}_{number}") not in used)
