"""The chat completions dialect, which OpenAI, OpenRouter, DeepSeek, Groq and many more share.

What one provider of the family does otherwise is data: a `ChatLimits` value, and class attributes.
Rules are named by their ids (`openai.tool-name-pattern`); each stands beside the line that obeys it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec import Struct

from art_sdk.adapters.answers import Answer, CallInfo
from art_sdk.adapters.base import BaseAdapter, Payload
from art_sdk.adapters.chat_completions.answers import parse_completion
from art_sdk.adapters.limits import CallIdRule, CountRule, NameRule, RangeRule, RootRule, find_array_without_items
from art_sdk.adapters.reading import AnswerStream
from art_sdk.conversation import AssistantTurn, SystemTurn, UserTurn
from art_sdk.http.transport import ResponseHead
from art_sdk.messages import (
    ArtStandardPrompt,
    Part,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolSchema,
)
from art_sdk.options import CallOptions


class ChatLimits(Struct, frozen=True, kw_only=True):
    """What a provider of the family takes; None means no limit that is known of."""

    message_name_pattern: re.Pattern[str] = re.compile(r"[a-zA-Z0-9_-]+")
    description_length: int | None = None  # OpenAI took more from May 2025 on: run-llama/llama_index#18784
    max_tokens_field: str = "max_tokens"


class ChatCompletionsAdapter(BaseAdapter):
    """An adapter of the family. A provider's own file says only what is its own."""

    limits: ClassVar[ChatLimits] = ChatLimits()
    tool_names = NameRule(re.compile(r"[a-zA-Z0-9_-]{1,64}"), "openai.tool-name-pattern")
    ranges: ClassVar[Mapping[str, RangeRule]] = {
        "temperature": RangeRule(0.0, 2.0, "openai.temperature-range"),
        "top_p": RangeRule(0.0, 1.0, "openai.temperature-range"),
    }
    counts: ClassVar[Mapping[str, CountRule]] = {
        "tools": CountRule(128, "openai.tools-max128"),
        "stop": CountRule(4, "openai.stop-max4"),
    }
    # the error's text: nspady/google-calendar-mcp#39, langchain-ai/langchainjs#9804
    schema_roots = RootRule(("oneOf", "anyOf", "allOf", "enum", "not"), "openai.schema-root-object")
    choice_rule = "openai.tool-choice-needs-tools"
    call_ids: ClassVar[CallIdRule | None] = CallIdRule(re.compile(r"(?s).{0,40}"), "openai.tool-call-id-len40")
    losses = frozenset({"result_status", "tool_output_schema"})
    repairs = frozenset({"maps_call_ids"})

    def endpoint(self, options: CallOptions) -> str:
        del options
        return "/chat/completions"

    def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> Payload:
        conversation = self.check(prompt, options)
        if not conversation.turns:
            self.refuse("it is empty; give at least one message", rule="openai.messages-nonempty")
        ids = self.map_call_ids(conversation.tool_of)
        messages: list[Payload] = []
        for turn in conversation.turns:  # `type() is`, not `match`: this is the hot loop
            if type(turn) is AssistantTurn:
                self._append_assistant(messages, turn, ids)
            elif type(turn) is UserTurn:
                messages.append(self._user(turn))
            elif type(turn) is SystemTurn:
                messages.append(self._system(turn))
        payload: Payload = {"model": options.model or self.model, "messages": messages}
        payload |= self._options(options)
        if options.stream:
            payload |= self._stream(options)
        return self.merge_provider_fields(payload, options)

    def parse_answer(self, head: ResponseHead, body: bytes, info: CallInfo) -> Answer:
        return parse_completion(body, info, request_id=head.headers.get(self.request_id_header))

    def answer_stream(self, head: ResponseHead, info: CallInfo) -> AnswerStream:
        from art_sdk.adapters.chat_completions.stream import ChatStream  # noqa: PLC0415 - kept out of `import art_sdk`

        return ChatStream(info, request_id=head.headers.get(self.request_id_header))

    def _system(self, turn: SystemTurn) -> Payload:
        if turn.splits:
            reason = (
                "a system message stands between a call and its result; move it before the call or after the result"
            )
            self.refuse(reason, index=turn.index, rule="openai.tool-calls-answered")
        return self._named("system", turn.message, turn.index)

    def _named(self, role: str, message: SystemMessage, index: int) -> Payload:
        written: Payload = {"role": role, "content": message.content}
        return written if message.name is None else self._with_name(written, message.name, index)

    def _user(self, turn: UserTurn) -> Payload:
        content, name = turn.message.content, turn.message.name
        told = content if isinstance(content, str) else [self._part(part, turn) for part in content]
        if told == []:
            self.refuse("a user message without parts; leave it out", index=turn.index)
        written: Payload = {"role": "user", "content": told}
        return written if name is None else self._with_name(written, name, turn.index)

    def _part(self, part: Part, turn: UserTurn) -> Payload:
        if isinstance(part, TextPart):
            return {"type": "text", "text": part.text}
        self.check_image(part, turn)
        url = part.url if part.data is None else f"data:{part.mime_type};base64,{part.data}"
        return {"type": "image_url", "image_url": {"url": url}}

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
        written: Payload = {
            "temperature": options.temperature,
            "top_p": options.top_p,
            self.limits.max_tokens_field: options.max_tokens,
            "stop": list(options.stop) or None,
            "parallel_tool_calls": options.parallel_tool_calls,
            "tools": [_tool(tool) for tool in options.tools] or None,  # openai.tools-nonempty
            "tool_choice": _tool_choice(options.tool_choice),
            "response_format": _response_format(options.response_schema),
        }
        return {name: value for name, value in written.items() if value is not None}

    def _stream(self, options: CallOptions) -> Payload:
        """Usage comes with a stream where it is asked for. Whoever says of it what they want has the word."""
        asked = self.provider_fields(options).get("stream_options", {})
        wants_usage = isinstance(asked, dict) and "include_usage" not in asked
        return {"stream": True, "stream_options": {"include_usage": True}} if wants_usage else {"stream": True}

    def check_tool(self, tool: ToolSchema) -> None:
        super().check_tool(tool)
        longest = self.limits.description_length
        if longest is not None and len(tool.description) > longest:
            reason = f"the description of the tool {tool.name!r} has {len(tool.description)} characters, {longest} fit"
            self.refuse(reason, rule="openai.tool-description-len1024")
        place = find_array_without_items(tool.input_schema)
        if place is not None:
            reason = f"the tool {tool.name!r} has an array without items at {place} of its schema; say what they are"
            self.refuse(reason, rule="openai.schema-array-items")


def _tool(tool: ToolSchema) -> Payload:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


def _call(call: ToolCall, call_id: str) -> Payload:
    function = call.function
    arguments = function.arguments
    if not arguments or arguments.isspace():
        arguments = "{}"
    return {"id": call_id, "type": "function", "function": {"name": function.name, "arguments": arguments}}


def _tool_choice(choice: str | None) -> Any:
    if choice in (None, "auto", "none", "required"):
        return choice
    return {"type": "function", "function": {"name": choice}}


def _response_format(schema: dict[str, Any] | None) -> Payload | None:
    """The name is required by the provider and carries nothing."""
    if schema is None:
        return None
    return {"type": "json_schema", "json_schema": {"name": "response", "schema": schema}}
