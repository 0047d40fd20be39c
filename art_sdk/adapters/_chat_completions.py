"""The chat completions dialect, which OpenAI, OpenRouter, DeepSeek, Groq and many more share.

What one provider of the family does otherwise is data: a `ChatLimits` value, and class attributes.
Rules are named by their ids (`openai.tool-name-pattern`); each stands beside the line that obeys it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Final

import msgspec
from msgspec import Struct, field

from art_sdk.adapters.answers import Answer, CallInfo, Text, Thinking, Usage
from art_sdk.adapters.base import BaseAdapter, Payload
from art_sdk.conversation import AssistantTurn, Conversation, SystemTurn, UserTurn
from art_sdk.messages import (
    ArtStandardPrompt,
    FunctionCall,
    ImagePart,
    NonEmpty,
    SystemMessage,
    ToolCall,
    ToolSchema,
    UserMessage,
)
from art_sdk.options import CallOptions
from art_sdk.stream import StopReason
from art_sdk.transport import ResponseHead


class ChatLimits(Struct, frozen=True, kw_only=True):
    """What a provider of the family takes; None means no limit that is known of."""

    name_pattern: re.Pattern[str] = re.compile(r"[a-zA-Z0-9_-]{1,64}")
    message_name_pattern: re.Pattern[str] = re.compile(r"[a-zA-Z0-9_-]+")
    call_id_length: int | None = 40
    tools: int | None = 128
    description_length: int | None = 1024
    stops: int | None = 4
    ranges: Mapping[str, tuple[float, float]] = field(
        default_factory=lambda: {"temperature": (0.0, 2.0), "top_p": (0.0, 1.0)}
    )
    max_tokens_field: str = "max_tokens"


class ChatCompletionsAdapter(BaseAdapter):
    """An adapter of the family. A provider's own file says only what is its own."""

    limits: ClassVar[ChatLimits] = ChatLimits()
    losses = frozenset({"result_status", "tool_output_schema"})
    repairs = frozenset({"maps_call_ids"})

    def endpoint(self, options: CallOptions) -> str:
        del options
        return "/chat/completions"

    def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> Payload:
        conversation = self.check(prompt, options)
        if not conversation.turns:
            self.refuse("it is empty; give at least one message", rule="openai.messages-nonempty")
        for name in set(conversation.tool_of.values()):
            self._hold_name(name, "the called tool", conversation)
        ids = self.map_call_ids(conversation.tool_of)
        messages: list[Payload] = []
        for turn in conversation.turns:  # `type() is`, not `match`: this is the hot loop
            if type(turn) is AssistantTurn:
                self._append_assistant(messages, turn, ids)
            elif type(turn) is UserTurn:
                messages.append(self._named("user", turn.message, turn.index))
            elif type(turn) is SystemTurn:
                messages.append(self._system(turn))
        payload: Payload = {"model": options.model or self.model, "messages": messages}
        payload |= self._options(options)
        return self.merge_provider_fields(payload, options)

    def map_call_ids(self, call_ids: Iterable[str]) -> dict[str, str]:
        """An id that is too long becomes one made from its digest: the same for call and result, in any prompt."""
        longest = self.limits.call_id_length  # openai.tool-call-id-len40
        if longest is None:
            return {}
        return {
            call_id: _short_id(call_id)
            for call_id in call_ids
            if len(call_id) > longest or _SHORT_ID.fullmatch(call_id)
        }

    def parse_answer(self, head: ResponseHead, body: bytes, info: CallInfo) -> Answer:
        answer = _decode_answer(body)
        if not answer.choices:
            message = "no choices"
            raise ValueError(message)
        choice = answer.choices[0]
        if choice.finish_reason is None:
            message = "choices[0].finish_reason is null: the answer is not finished"
            raise ValueError(message)
        reason = _STOP_REASONS.get(choice.finish_reason, "other")
        lack = _find_lack(choice.message, reason)
        if lack:
            raise ValueError(lack)
        return Answer(
            pieces=tuple(_pieces(choice.message, info)),
            stop_reason=reason,
            raw_stop_reason=choice.finish_reason,
            usage=_usage(answer.usage),
            request_id=head.headers.get(self.request_id_header) or answer.id,
        )

    def _system(self, turn: SystemTurn) -> Payload:
        if turn.splits:
            reason = (
                "a system message stands between a call and its result; move it before the call or after the result"
            )
            self.refuse(reason, index=turn.index, rule="openai.tool-calls-answered")
        return self._named("system", turn.message, turn.index)

    def _named(self, role: str, message: SystemMessage | UserMessage, index: int) -> Payload:
        content = message.content
        written: Payload = {"role": role, "content": content if isinstance(content, str) else _parts(content)}
        return written if message.name is None else self._with_name(written, message.name, index)

    def _with_name(self, written: Payload, name: str, index: int) -> Payload:
        pattern = self.limits.message_name_pattern
        if not pattern.fullmatch(name):  # openai.message-name-pattern
            self.refuse(
                f"the name {name!r} must match {pattern.pattern}", index=index, rule="openai.message-name-pattern"
            )
        written["name"] = name
        return written

    def _append_assistant(self, messages: list[Payload], turn: AssistantTurn, ids: Mapping[str, str]) -> None:
        """The assistant's message, and one tool message for each of its calls."""
        message, calls = turn.message, turn.calls
        if message.content is None and not calls:  # openai.content-not-null
            reason = "an assistant message with neither text nor calls; leave it out"
            self.refuse(reason, index=turn.index, rule="openai.content-not-null")
        written: Payload = {"role": "assistant", "content": message.content}
        messages.append(written if message.name is None else self._with_name(written, message.name, turn.index))
        if not calls:  # openai.tool-calls-nonempty-array: no empty list
            return
        written["tool_calls"] = [_call(call, ids.get(call.id, call.id)) for call in calls]
        for call_id, answer in turn.answers.items():  # openai.tool-calls-answered: right after the calls
            messages.append({"role": "tool", "tool_call_id": ids.get(call_id, call_id), "content": answer.content})

    def _options(self, options: CallOptions) -> Payload:
        self._hold_limits(options)
        written: Payload = {
            "temperature": options.temperature,
            "top_p": options.top_p,
            self.limits.max_tokens_field: options.max_tokens,
            "stop": list(options.stop) or None,
            "parallel_tool_calls": options.parallel_tool_calls,
            "tools": [self._tool(tool) for tool in options.tools] or None,  # openai.tools-nonempty
            "tool_choice": _tool_choice(options.tool_choice),
            "response_format": _response_format(options.response_schema),
        }
        return {name: value for name, value in written.items() if value is not None}

    def _tool(self, tool: ToolSchema) -> Payload:
        self._hold_name(tool.name, "the tool")
        longest = self.limits.description_length
        if longest is not None and len(tool.description) > longest:
            reason = f"the description of the tool {tool.name!r} has {len(tool.description)} characters, {longest} fit"
            self.refuse(reason, rule="openai.tool-description-len1024")
        function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
        return {"type": "function", "function": function}

    def _hold_name(self, name: str, whose: str, conversation: Conversation | None = None) -> None:
        pattern = self.limits.name_pattern
        if not pattern.fullmatch(name):
            reason = f"the name of {whose}, {name!r}, must match {pattern.pattern}; rename the tool"
            index = conversation.first_call(name) if conversation else None
            self.refuse(reason, index=index, rule="openai.tool-name-pattern")

    def _hold_limits(self, options: CallOptions) -> None:
        """Refuses what the provider answers with 400."""
        limits = self.limits
        if limits.tools is not None and len(options.tools) > limits.tools:
            self.refuse(f"{len(options.tools)} tools; {limits.tools} fit", rule="openai.tools-max128")
        if limits.stops is not None and len(options.stop) > limits.stops:
            self.refuse(f"{len(options.stop)} stop sequences; {limits.stops} fit", rule="openai.stop-max4")
        for name, (low, high) in limits.ranges.items():
            value = getattr(options, name)
            if value is not None and not low <= value <= high:
                self.refuse(f"{name} is {value}; it goes from {low} to {high}", rule="openai.temperature-range")
        for name in ("tool_choice", "parallel_tool_calls"):
            if getattr(options, name) is not None and not options.tools:
                self.refuse(f"{name} is only allowed with tools", rule="openai.tool-choice-needs-tools")


def _parts(parts: tuple[Any, ...]) -> list[Payload]:
    return [{"type": "text", "text": part.text} for part in parts if not isinstance(part, ImagePart)]


def _call(call: ToolCall, call_id: str) -> Payload:
    function = call.function
    arguments = function.arguments
    if not arguments or arguments.isspace():
        arguments = "{}"
    return {"id": call_id, "type": "function", "function": {"name": function.name, "arguments": arguments}}


_SHORT_ID: Final = re.compile(r"artid_[0-9a-f]{32}")
"""What a mapped id looks like. An id that looks so by itself is mapped too, so that the two never meet."""


def _short_id(call_id: str) -> str:
    """38 characters; two ids meet only where SHA-256 meets in 128 bits."""
    return f"artid_{hashlib.sha256(call_id.encode()).hexdigest()[:32]}"


def _tool_choice(choice: str | None) -> Any:
    if choice in (None, "auto", "none", "required"):
        return choice
    return {"type": "function", "function": {"name": choice}}


def _response_format(schema: dict[str, Any] | None) -> Payload | None:
    """The name is required by the provider and carries nothing."""
    if schema is None:
        return None
    return {"type": "json_schema", "json_schema": {"name": "response", "schema": schema}}


# What the family answers: the fields that are read, the rest is left alone.


class _Function(Struct):
    name: NonEmpty
    arguments: str


class _Call(Struct):
    function: _Function
    id: str | None = None


class _Message(Struct):
    content: str | None = None
    tool_calls: list[_Call] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None  # DeepSeek
    reasoning: str | None = None  # OpenRouter, Groq


class _Choice(Struct):
    message: _Message
    finish_reason: str | None


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


_decode_answer: Final = msgspec.json.Decoder(_Answer).decode

_STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "stop": "stop",
    "eos": "stop",  # Together
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}


def _find_lack(message: _Message, reason: StopReason) -> str | None:
    """What a message lacks that ends as a good one does: without a word of it, it would pass as an empty answer."""
    if reason == "tool_calls" and not message.tool_calls:
        return "choices[0].finish_reason tells of calls, and there are none"
    if reason == "stop" and message.content is None and not (message.refusal or message.tool_calls):
        return "choices[0].message has neither content nor calls"
    return None


def _pieces(message: _Message, info: CallInfo) -> Iterator[Text | Thinking | ToolCall]:
    thinking = message.reasoning_content or message.reasoning
    if thinking:
        yield Thinking(thinking)
    if message.content or message.refusal:
        yield Text(message.content or message.refusal or "")
    if message.tool_calls:
        own_ids = info.id_map
        for call, fresh in zip(message.tool_calls, info.fresh_call_ids(), strict=False):
            call_id = call.id or fresh
            function = FunctionCall(call.function.name, call.function.arguments)
            yield ToolCall(own_ids.get(call_id, call_id), function)


def _usage(raw: dict[str, Any] | None) -> Usage:
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
