"""What the chat completions family answers. The fields that are read stand here; the rest is left alone.

Source: `openai.types.chat.ChatCompletion` of the official client, version 3.54, and recorded answers
of OpenAI and its relatives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from art_sdk.adapters.answers import Answer, CallInfo, Piece, Text, Thinking, Usage
from art_sdk.messages import FunctionCall, NonEmpty, ToolCall
from art_sdk.stream import StopReason


def parse_completion(body: bytes, info: CallInfo, *, request_id: str | None) -> Answer:
    """An unstreamed answer. Raises ValueError for what is none."""
    answer = _decode_answer(body)
    if not answer.choices:
        message = "no choices"
        raise ValueError(message)
    choice = answer.choices[0]
    if choice.finish_reason is None:
        message = "choices[0].finish_reason is null: the answer is not finished"
        raise ValueError(message)
    said = _message(choice)
    return Answer(
        pieces=tuple(_pieces(said, info)),
        stop_reason=read_stop_reason(said, choice.finish_reason),
        raw_stop_reason=choice.finish_reason,
        usage=read_usage(answer.usage),
        request_id=request_id or answer.id,
    )


class Function(Struct):
    """A called function, as it is answered."""

    name: NonEmpty
    arguments: str


class Call(Struct):
    """A call, as it is answered."""

    function: Function
    id: str | None = None


class Message(Struct):
    """A message, as it is answered."""

    content: str | None = None
    tool_calls: list[Call] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None  # DeepSeek
    reasoning: str | None = None  # OpenRouter, Groq


class _Choice(Struct):
    finish_reason: str | None
    message: Message | None = None


class _CompletionDetails(Struct):
    reasoning_tokens: int | None = None


class _PromptDetails(Struct):
    cached_tokens: int | None = None


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    completion_tokens_details: _CompletionDetails | None = None
    prompt_tokens_details: _PromptDetails | None = None


class _Answer(Struct):
    choices: list[_Choice]
    id: str | None = None
    usage: dict[str, Any] | None = None


def _message(choice: _Choice) -> Message:
    """The message. Azure leaves it out where it filtered all of it: recorded. Raises ValueError for any other lack."""
    if choice.message is not None:
        return choice.message
    if choice.finish_reason == "content_filter":
        return Message(content="")
    lack = "choices[0] has no message"
    raise ValueError(lack)


_decode_answer: Final = msgspec.json.Decoder(_Answer).decode

_STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "stop": "stop",
    "eos": "stop",  # Together
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}


def read_stop_reason(message: Message, raw: str) -> StopReason:
    """Why the answer ended. Raises ValueError for a message that lacks what its end tells of.

    Without a word of it, it would pass as an empty answer.
    """
    reason: StopReason = _STOP_REASONS.get(raw, "other")
    if reason == "tool_calls" and not message.tool_calls:
        raise ValueError("choices[0].finish_reason is tool_calls, but there are no calls")
    if reason == "stop" and message.content is None and not (message.refusal or message.tool_calls):
        lack = "choices[0].message has neither content nor calls"
        raise ValueError(lack)
    if reason != "stop":
        return reason
    if message.tool_calls:  # OpenAI says stop where the tool was chosen for the model: recorded
        return "tool_calls"
    return "content_filter" if message.refusal else reason


def _pieces(message: Message, info: CallInfo) -> Iterator[Piece]:
    thinking = message.reasoning_content or message.reasoning
    if thinking:
        yield Thinking(thinking)
    if message.content or message.refusal:
        yield Text(message.content or message.refusal or "")
    if message.tool_calls:
        yield from read_calls(message.tool_calls, info)


def read_calls(calls: list[Call], info: CallInfo) -> Iterator[ToolCall]:
    """The calls in standard form, under the prompt's own ids, and numbered where they come without."""
    own_ids = info.id_map
    fresh_ids = info.fresh_call_ids(call.id for call in calls)
    for call, fresh in zip(calls, fresh_ids, strict=False):
        call_id = call.id or fresh
        function = FunctionCall(call.function.name, call.function.arguments)
        yield ToolCall(own_ids.get(call_id, call_id), function)


def read_usage(raw: dict[str, Any] | None) -> Usage:
    """The counts of the object `usage`."""
    if raw is None:
        return Usage()
    usage = msgspec.convert(raw, _Usage)
    details, cached = usage.completion_tokens_details, usage.prompt_tokens_details
    thinking = details.reasoning_tokens if details else None
    taken, given = usage.prompt_tokens or 0, usage.completion_tokens
    if given is not None and thinking and usage.total_tokens == taken + given + thinking:
        given += thinking  # xAI counts thoughts beside the completion, and its total says so
    return Usage(
        input_tokens=usage.prompt_tokens,
        output_tokens=given,
        thinking_tokens=thinking,
        cached_tokens=cached.cached_tokens if cached else None,
        raw=raw,
    )
