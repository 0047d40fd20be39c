"""What the chat completions family answers: the fields that are read. All others are ignored.

A whole body is a whole answer, even one that says nothing or not why it ended: as recorded, an empty answer has
null as its content (OpenRouter), and a `finish_reason` may be missing (OpenRouter, OpenAI's first vision model).
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

from art_sdk.adapters.answers import Answer, CallInfo, Piece, Text, Thinking
from art_sdk.adapters.chat_completions.provider import ChatProvider
from art_sdk.adapters.chat_completions.usage import read_usage
from art_sdk.json_data import is_array, is_object
from art_sdk.messages import FunctionCall, NonEmpty, ToolCall
from art_sdk.stream import StopReason

_S = TypeVar("_S", bound=Struct)

_encode: Final = msgspec.json.Encoder().encode


def parse_completion(
    body: bytes, info: CallInfo, provider: ChatProvider, *, dialect: str, request_id: str | None
) -> Answer:
    """An unstreamed answer. Raises ValueError for a body that is not one."""
    answer = _decoder(provider)(body)
    if answer.error:
        raise ValueError("an error next to the choices")
    if not answer.choices:
        raise ValueError("no choices")
    choice = answer.choices[0]
    if choice.error:
        raise ValueError("choices[0] has an error")
    message = _message(choice, provider)
    finish, calls = _finish(choice), _standard_calls(message)
    if finish is None and not _says_something(message, provider):
        raise ValueError("choices[0] has no finish_reason, and its message is empty")
    return Answer(
        pieces=tuple(_pieces(message, calls, provider, info, is_cut=_STOP_REASONS.get(finish or "") == "length")),
        stop_reason=read_stop_reason(message, finish, has_calls=bool(calls), has_others=_has_others(message)),
        raw_stop_reason=finish,
        usage=read_usage(answer.usage),
        request_id=request_id or answer.id,
        extensions=_extensions(message, provider, dialect),
    )


class Function(Struct):
    """A called function in an answer."""

    name: NonEmpty
    arguments: str | dict[str, Any] | None = None


class FunctionPiece(Struct):
    """A called function whose name may be missing: a piece of one, or none (Snowflake's empty `function_call`)."""

    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class Call(Struct):
    """A call of a function in an answer."""

    function: Function
    id: str | None = None


Content = str | list[dict[str, Any]] | dict[str, Any] | None
"""A message's content: text, a list of chunks (Mistral), or the object that the text would be (Cloudflare)."""


class Message(Struct):
    """A message in an answer, or a delta of one. A provider's own fields are added by `with_own_fields`."""

    content: Content = None
    refusal: str | None = None
    audio: Any = None
    images: Any = None  # openrouter.ai/docs/features/multimodal/image-generation


class _WholeMessage(Message):
    role: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    function_call: FunctionPiece | None = None


class _FinishDetails(Struct):
    type: str | None = None


class _Choice(Struct):
    message: _WholeMessage | None = None
    finish_reason: str | int | None = None
    finish_details: _FinishDetails | None = None  # gpt-4-1106-vision-preview: recorded
    error: Any = None  # OpenRouter's, for a model that failed: openrouter.ai/docs/api-reference/overview


class _Answer(Struct):
    choices: list[_Choice]
    id: str | None = None
    usage: dict[str, Any] | None = None
    error: Any = None


def with_types(kind: type[_S], **types: Any) -> type[_S]:
    """A subclass of `kind` with these fields, new or with another type. All of them are optional."""
    return cast("type[_S]", msgspec.defstruct(kind.__name__, [(*one, None) for one in types.items()], bases=(kind,)))


def with_own_fields(kind: type[_S], provider: ChatProvider) -> type[_S]:
    """`kind` with the provider's own fields: those of its reasoning, and those that go back with the next turn."""
    kept = dict.fromkeys(provider.kept, str | list[dict[str, Any]] | None)
    own: dict[str, Any] = kept | dict.fromkeys(provider.reasoning, str | None)
    return with_types(kind, **own)


@lru_cache
def _decoder(provider: ChatProvider) -> Callable[[bytes], _Answer]:
    message = with_own_fields(_WholeMessage, provider)
    choice = with_types(_Choice, message=message | None)
    return msgspec.json.Decoder(with_types(_Answer, choices=GenericAlias(list, (choice,)))).decode


def _message(choice: _Choice, provider: ChatProvider) -> _WholeMessage:
    """The message. Azure leaves it out where it filtered all of it: recorded. Raises ValueError without one."""
    if choice.message is None and choice.finish_reason == "content_filter":
        return with_own_fields(_WholeMessage, provider)(content="")
    if choice.message is None:
        raise ValueError("choices[0] has no message")
    if choice.message == type(choice.message)():
        raise ValueError("choices[0].message has none of the fields of a message")
    return choice.message


def _finish(choice: _Choice) -> str | None:
    if choice.finish_reason is None and choice.finish_details is not None:
        return choice.finish_details.type
    return read_finish(choice.finish_reason)


def read_finish(raw: str | int | None) -> str | None:
    """The reason for an answer's end, as text."""
    return str(raw) if isinstance(raw, int) else raw


def _says_something(message: _WholeMessage, provider: ChatProvider) -> bool:
    has_calls = message.tool_calls or _standard_calls(message)
    said = message.content or message.refusal or message.audio or message.images
    return bool(said or has_calls or read_reasoning(message, provider))


_STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "stop": "stop",
    "eos": "stop",  # Together
    "length": "length",
    "model_length": "length",  # Mistral: `mistralai.models.ChatCompletionChoiceFinishReason`
    "max_tokens": "length",  # OpenAI's `finish_details`
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}


def read_stop_reason(message: Message, raw: str | None, *, has_calls: bool, has_others: bool = False) -> StopReason:
    """Why the answer ended; `has_others` are calls for which the standard message has no place.

    Raises ValueError for an answer that announces calls and has none: without an error, they would be lost.
    """
    reason: StopReason = _STOP_REASONS.get(raw or "", "other")
    if reason == "tool_calls" and not has_calls:
        if not has_others:
            raise ValueError(f"choices[0].finish_reason is {raw}, but there are no calls")
        return "other"
    if has_calls and (reason == "stop" or raw is None):  # OpenAI says stop where the caller chose the tool: recorded
        return "tool_calls"
    return "content_filter" if reason == "stop" and message.refusal else reason


def _is_standard(call: Mapping[str, Any]) -> bool:
    return "function" in call or call.get("type") in (None, "function")


def _has_others(message: _WholeMessage) -> bool:
    return not all(map(_is_standard, message.tool_calls or ()))


def _standard_calls(message: _WholeMessage) -> list[Call]:
    """The calls of functions, the one of OpenAI's older field `function_call` included."""
    calls = [msgspec.convert(call, Call) for call in message.tool_calls or () if _is_standard(call)]
    older = message.function_call
    return [*calls, Call(Function(older.name, older.arguments))] if older and older.name else calls


def _pieces(
    message: _WholeMessage, calls: list[Call], provider: ChatProvider, info: CallInfo, *, is_cut: bool
) -> Iterator[Piece]:
    thinking = read_reasoning(message, provider)
    if thinking:
        yield Thinking(thinking)
    content = message.content
    if isinstance(content, list):
        yield from read_chunks(content)
    elif isinstance(content, dict):
        yield Text(text_of(content))
    elif content or message.refusal:
        yield Text(content or message.refusal or "")
    if calls:
        yield from read_calls(calls, info, is_cut=is_cut)


def text_of(content: dict[str, Any]) -> str:
    """The text of a content that is an object."""
    return _encode(content).decode()


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
        if not isinstance(chunk.get("type"), str):
            raise ValueError("a chunk of the content has no type")  # noqa: TRY004 - the answer is at fault
        if chunk["type"] == "text":
            text = msgspec.convert(chunk, _TextChunk).text
            if text:
                yield Text(text)
        elif chunk["type"] == "thinking":
            inner = msgspec.convert(chunk, _ThinkingChunk).thinking
            thinking = "".join(msgspec.convert(one, _TextChunk).text for one in inner if one.get("type") == "text")
            if thinking:
                yield Thinking(thinking)


def _extensions(message: _WholeMessage, provider: ChatProvider, dialect: str) -> dict[str, dict[str, Any]] | None:
    fields = {name: getattr(message, name) for name in provider.kept}
    fields |= {"audio": message.audio if is_object(message.audio) else None}
    fields |= {"images": [*filter(is_object, message.images)] if is_array(message.images) else None}
    fields["other_calls"] = [call for call in message.tool_calls or () if not _is_standard(call)]
    return write_extensions(fields, message.content if isinstance(message.content, list) else [], dialect)


def write_extensions(
    fields: Mapping[str, Any], chunks: Iterable[dict[str, Any]], dialect: str
) -> dict[str, dict[str, Any]] | None:
    """The message's extensions: the fields that are not empty, and the chunks of the content that are not text.

    The fields are the provider's own, `audio`, `images`, and as `other_calls` the calls that are not of functions.
    An empty text counts: DeepSeek wants it back. Places of chunks are those next to one chunk of all text.
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


def read_calls(calls: list[Call], info: CallInfo, *, is_cut: bool = False) -> Iterator[ToolCall]:
    """The calls in standard form, under the prompt's own ids; those without an id are numbered.

    A call without arguments has the arguments `{}`, unless the answer was cut for its length.
    """
    own_ids = info.id_map
    fresh_ids = info.fresh_call_ids(call.id for call in calls)
    for call, fresh in zip(calls, fresh_ids, strict=False):
        call_id, given = call.id or fresh, call.function.arguments
        if given is None:
            arguments = "" if is_cut else "{}"
        else:
            arguments = given if isinstance(given, str) else _encode(given).decode()
        yield ToolCall(own_ids.get(call_id, call_id), FunctionCall(call.function.name, arguments))
