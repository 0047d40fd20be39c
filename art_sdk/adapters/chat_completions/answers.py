"""What the chat completions family answers: the fields that are read. All others are ignored.

Source: `openai.types.chat.ChatCompletion` of the official client, version 3.54, and recorded answers
of OpenAI and its relatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from types import GenericAlias
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import Struct

from art_sdk.adapters.answers import Answer, CallInfo, Piece, Text, Thinking, Usage
from art_sdk.adapters.chat_completions.provider import ChatProvider
from art_sdk.messages import FunctionCall, NonEmpty, ToolCall
from art_sdk.stream import StopReason

_S = TypeVar("_S", bound=Struct)


def parse_completion(
    body: bytes, info: CallInfo, provider: ChatProvider, *, dialect: str, request_id: str | None
) -> Answer:
    """An unstreamed answer. Raises ValueError for a body that is not one."""
    answer = _decoder(provider)(body)
    if not answer.choices:
        raise ValueError("no choices")
    choice = answer.choices[0]
    if choice.finish_reason is None:
        raise ValueError("choices[0].finish_reason is null: the answer is not finished")
    message = _message(choice, provider)
    return Answer(
        pieces=tuple(_pieces(message, provider, info)),
        stop_reason=read_stop_reason(message, choice.finish_reason, has_calls=bool(message.tool_calls)),
        raw_stop_reason=choice.finish_reason,
        usage=read_usage(answer.usage),
        request_id=request_id or answer.id,
        extensions=_extensions(message, provider, dialect),
    )


class Function(Struct):
    """A called function in an answer."""

    name: NonEmpty
    arguments: str


class Call(Struct):
    """A call in an answer."""

    function: Function
    id: str | None = None


Content = str | list[dict[str, Any]] | None
"""A message's content: text, or a list of chunks where the provider has those."""


class Message(Struct):
    """A message in an answer, or a delta of one. A provider's own fields are added by `with_own_fields`."""

    content: Content = None
    refusal: str | None = None


class _WholeMessage(Message):
    tool_calls: list[Call] | None = None


class _Choice(Struct):
    finish_reason: str | None
    message: _WholeMessage | None = None


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


def with_types(kind: type[_S], **types: Any) -> type[_S]:
    """A subclass of `kind` with these fields, new or with another type. All of them are optional."""
    return cast("type[_S]", msgspec.defstruct(kind.__name__, [(*one, None) for one in types.items()], bases=(kind,)))


def with_own_fields(kind: type[_S], provider: ChatProvider) -> type[_S]:
    """`kind` with the provider's own fields: those of its reasoning, and those that go back with the next turn."""
    own = dict.fromkeys(provider.kept, Any) | dict.fromkeys(provider.reasoning, str | None)
    return with_types(kind, content=Content if provider.has_content_chunks else str | None, **own)


@lru_cache
def _decoder(provider: ChatProvider) -> Callable[[bytes], _Answer]:
    message = with_own_fields(_WholeMessage, provider)
    choice = with_types(_Choice, message=message | None)
    return msgspec.json.Decoder(with_types(_Answer, choices=GenericAlias(list, (choice,)))).decode


def _message(choice: _Choice, provider: ChatProvider) -> _WholeMessage:
    """The message. Azure leaves it out where it filtered all of it: recorded. Raises ValueError without one."""
    if choice.message is not None:
        return choice.message
    if choice.finish_reason == "content_filter":
        return with_own_fields(_WholeMessage, provider)(content="")
    raise ValueError("choices[0] has no message")


_STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "stop": "stop",
    "eos": "stop",  # Together
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}


def read_stop_reason(message: Message, raw: str, *, has_calls: bool) -> StopReason:
    """Why the answer ended. Raises ValueError for a message that lacks what its end announces.

    Without an error it would pass as an empty answer.
    """
    reason: StopReason = _STOP_REASONS.get(raw, "other")
    if reason == "tool_calls" and not has_calls:
        raise ValueError("choices[0].finish_reason is tool_calls, but there are no calls")
    if reason == "stop" and message.content is None and not (message.refusal or has_calls):
        raise ValueError("choices[0].message has neither content nor calls")
    if reason != "stop":
        return reason
    if has_calls:  # OpenAI says stop where the caller chose the tool: recorded
        return "tool_calls"
    return "content_filter" if message.refusal else reason


def _pieces(message: _WholeMessage, provider: ChatProvider, info: CallInfo) -> Iterator[Piece]:
    thinking = read_reasoning(message, provider)
    if thinking:
        yield Thinking(thinking)
    content = message.content
    if isinstance(content, list):
        yield from read_chunks(content)
    elif content or message.refusal:
        yield Text(content or message.refusal or "")
    if message.tool_calls:
        yield from read_calls(message.tool_calls, info)


def read_reasoning(message: Message, provider: ChatProvider) -> str | None:
    """The text of the first field of reasoning that has any."""
    for name in provider.reasoning:
        text: str | None = getattr(message, name)
        if text:
            return text
    return None


class _TextChunk(Struct):
    text: str


class _ThinkingChunk(Struct):
    thinking: list[dict[str, Any]]


def read_chunks(chunks: Iterable[dict[str, Any]]) -> Iterator[Piece]:
    """What the chunks of a content say (Mistral). Raises ValueError for one of another form."""
    for chunk in chunks:
        if chunk.get("type") == "text":
            text = msgspec.convert(chunk, _TextChunk).text
            if text:
                yield Text(text)
        elif chunk.get("type") == "thinking":
            inner = msgspec.convert(chunk, _ThinkingChunk).thinking
            thinking = "".join(msgspec.convert(one, _TextChunk).text for one in inner if one.get("type") == "text")
            if thinking:
                yield Thinking(thinking)


def _extensions(message: _WholeMessage, provider: ChatProvider, dialect: str) -> dict[str, dict[str, Any]] | None:
    fields = {name: getattr(message, name) for name in provider.kept}
    return write_extensions(fields, message.content if isinstance(message.content, list) else [], dialect)


def write_extensions(
    fields: Mapping[str, Any], chunks: Iterable[dict[str, Any]], dialect: str
) -> dict[str, dict[str, Any]] | None:
    """The message's extensions: the provider's own fields that are not empty, and the chunks that are not text.

    An empty text counts: DeepSeek wants it back. Places of chunks are those beside one chunk of all text.
    """
    kept: dict[str, Any] = {name: value for name, value in fields.items() if value is not None and value != []}
    blocks: list[dict[str, Any]] = []
    has_text = False
    for chunk in chunks:
        if chunk.get("type") == "text":
            has_text = has_text or bool(chunk["text"])
        else:
            blocks.append({"at": len(blocks) + has_text, "block": chunk})
    kept |= {"blocks": blocks} if blocks else {}
    return {dialect: kept} if kept else None


def read_calls(calls: list[Call], info: CallInfo) -> Iterator[ToolCall]:
    """The calls in standard form, under the prompt's own ids; those without an id are numbered."""
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
        given += thinking  # xAI counts thoughts apart from the completion, as its total shows
    return Usage(
        input_tokens=usage.prompt_tokens,
        output_tokens=given,
        thinking_tokens=thinking,
        cached_tokens=cached.cached_tokens if cached else None,
        raw=raw,
    )
