"""The chat completions dialect, which OpenAI, OpenRouter, DeepSeek, Groq and many more share.

What one provider of the family does differently is data: its `ChatProvider`, and the limits that every
adapter may state as class attributes. A provider is one file with such a class, and one line in `BUILT_IN`.
Refusals cite the provider's own rules; comments name OpenAI's, the first of their kind.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from art_sdk.adapters.answers import Answer, CallInfo
from art_sdk.adapters.base import BaseAdapter, Payload
from art_sdk.adapters.chat_completions.answers import parse_completion
from art_sdk.adapters.chat_completions.provider import ChatProvider
from art_sdk.adapters.kept_blocks import put_back
from art_sdk.adapters.limits import NameRule, RangeRule, find_array_without_items
from art_sdk.adapters.reading import AnswerStream
from art_sdk.conversation import AssistantTurn, SystemTurn, UserTurn
from art_sdk.http.transport import ResponseHead
from art_sdk.messages import (
    ArtStandardPrompt,
    Part,
    TextPart,
    ToolCall,
    ToolSchema,
)
from art_sdk.options import CallOptions


class ChatCompletionsAdapter(BaseAdapter):
    """An adapter of the family. A provider's own class has data only."""

    provider: ClassVar[ChatProvider] = ChatProvider()
    tool_names: ClassVar[NameRule | None] = NameRule(re.compile(r"[a-zA-Z0-9_-]{1,64}"))
    ranges: ClassVar[Mapping[str, RangeRule]] = {"temperature": RangeRule(0.0, 2.0), "top_p": RangeRule(0.0, 1.0)}
    losses = frozenset({"result_status", "tool_output_schema"})
    repairs = frozenset({"maps_call_ids"})

    def endpoint(self, options: CallOptions) -> str:
        del options
        return "/chat/completions"

    def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> Payload:
        conversation = self.check(prompt, options)
        if not conversation.turns:
            reason = "it is empty; give at least one message"
            self.refuse(reason, rule=self.provider.rules.messages_nonempty)  # openai.messages-nonempty
        ids = self.map_call_ids(conversation.tool_of)
        messages: list[Payload] = []
        for turn in conversation.turns:  # `type() is`, not `match`: this is the hot loop
            if type(turn) is AssistantTurn:
                self._append_assistant(messages, turn, ids)
            elif type(turn) is UserTurn:
                messages.append(self._user(turn))
            elif type(turn) is SystemTurn:
                messages.append(self._system(turn, messages))
        payload: Payload = {"model": options.model or self.model, "messages": messages}
        payload |= self._options(options)
        if options.stream:
            payload |= self._stream(options)
        return self.merge_provider_fields(payload, options)

    def parse_answer(self, head: ResponseHead, body: bytes, info: CallInfo) -> Answer:
        request_id = head.headers.get(self.request_id_header)
        return parse_completion(body, info, self.provider, dialect=self.dialect, request_id=request_id)

    def answer_stream(self, head: ResponseHead, info: CallInfo) -> AnswerStream:
        from art_sdk.adapters.chat_completions.stream import ChatStream  # noqa: PLC0415 - kept out of `import art_sdk`

        request_id = head.headers.get(self.request_id_header)
        return ChatStream(info, self.provider, dialect=self.dialect, request_id=request_id)

    def _system(self, turn: SystemTurn, before: list[Payload]) -> Payload:
        """The system message, at its place."""
        allowed = self.provider.system_after
        if allowed is not None and before and before[-1]["role"] not in allowed:
            reason = f"a system message must not come after a message of {before[-1]['role']}; move it to the front"
            self.refuse(reason, index=turn.index, rule=self.provider.rules.system_order)
        if turn.splits:  # openai.tool-calls-answered
            reason = (
                "this system message comes between a call and its result; move it before the call or after the result"
            )
            self.refuse(reason, index=turn.index, rule=self.provider.rules.calls_answered)
        written: Payload = {"role": "system", "content": turn.message.content}
        name = turn.message.name
        return written if name is None else self._with_name(written, name, turn.index)

    def _user(self, turn: UserTurn) -> Payload:
        given, name = turn.message.content, turn.message.name
        content = given if isinstance(given, str) else [self._part(part, turn) for part in given]
        if content == []:
            self.refuse("it has no parts; leave the message out", index=turn.index)
        written: Payload = {"role": "user", "content": content}
        return written if name is None else self._with_name(written, name, turn.index)

    def _part(self, part: Part, turn: UserTurn) -> Payload:
        if isinstance(part, TextPart):
            return {"type": "text", "text": part.text}
        self.check_image(part, turn)
        url = part.url if part.data is None else f"data:{part.mime_type};base64,{part.data}"
        return {"type": "image_url", "image_url": {"url": url}}

    def _with_name(self, written: Payload, name: str, index: int) -> Payload:
        """The message with its name, if the provider has a place for it."""
        if "message_name" in self.losses:
            return written
        names = self.provider.message_names
        if names is not None and not names.pattern.fullmatch(name):
            self.refuse(f"the name {name!r} must match {names.pattern.pattern}", index=index, rule=names.rule)
        written["name"] = name
        return written

    def _append_assistant(self, messages: list[Payload], turn: AssistantTurn, ids: Mapping[str, str]) -> None:
        """The assistant's message, and one tool message for each of its calls."""
        message, calls = turn.message, turn.calls
        if message.content is None and not calls:  # openai.content-not-null
            reason = "it has neither text nor calls; leave the message out"
            self.refuse(reason, index=turn.index, rule=self.provider.rules.content_not_null)
        written: Payload = {"role": "assistant", "content": message.content}
        messages.append(written if message.name is None else self._with_name(written, message.name, turn.index))
        if message.extensions and self.dialect in message.extensions:
            self._put_back(written, turn, message.extensions[self.dialect])
        if not calls:  # openai.tool-calls-nonempty-array: no empty list
            return
        written["tool_calls"] = [_call(call, ids.get(call.id, call.id)) for call in calls]
        for call_id, answer in turn.answers.items():  # openai.tool-calls-answered: right after the calls
            messages.append({"role": "tool", "tool_call_id": ids.get(call_id, call_id), "content": answer.content})

    def _put_back(self, written: Payload, turn: AssistantTurn, extension: Mapping[str, Any]) -> None:
        """Adds what an answer's message has besides text and calls, unchanged."""
        fields = {name: value for name, value in extension.items() if name in self.provider.kept}
        rest = {name: value for name, value in extension.items() if name not in fields}
        written |= fields
        if not rest:
            return
        content = [{"type": "text", "text": turn.message.content}] if turn.message.content else []
        try:
            if not self.provider.has_content_chunks:
                raise ValueError(f"it has no place for {', '.join(rest)}")  # noqa: TRY301 - refused like the others
            put_back(content, rest)
        except ValueError as error:
            reason = f"its extensions for {self.dialect} are wrong: {error}; do not change the message of an answer"
            self.refuse(reason, index=turn.index)
        written["content"] = content

    def _options(self, options: CallOptions) -> Payload:
        written: Payload = {
            "temperature": options.temperature,
            "top_p": options.top_p,
            self.provider.max_tokens_field: options.max_tokens,
            "stop": list(options.stop) or None,
            "parallel_tool_calls": options.parallel_tool_calls,
            "tools": [_tool(tool) for tool in options.tools] or None,  # openai.tools-nonempty
            "tool_choice": self._tool_choice(options.tool_choice),
            "response_format": _response_format(options.response_schema),
        }
        return {name: value for name, value in written.items() if value is not None}

    def _tool_choice(self, choice: str | None) -> Any:
        if choice == "required":
            return self.provider.required_choice
        if choice in (None, "auto", "none"):
            return choice
        return {"type": "function", "function": {"name": choice}}

    def _stream(self, options: CallOptions) -> Payload:
        """Asks for usage, unless the caller's own `stream_options` say whether to include it."""
        own = self.provider_fields(options).get("stream_options", {})
        asks = self.provider.asks_for_usage and isinstance(own, dict) and "include_usage" not in own
        return {"stream": True, "stream_options": {"include_usage": True}} if asks else {"stream": True}

    def check_tool(self, tool: ToolSchema) -> None:
        super().check_tool(tool)
        longest, rule = self.provider.description_length, self.provider.array_items_rule
        length = len(tool.description)
        if longest is not None and length > longest.most:
            reason = f"the description of the tool {tool.name!r} has {length} characters; {longest.most} are allowed"
            self.refuse(reason, rule=longest.rule)
        place = None if rule is None else find_array_without_items(tool.input_schema)
        if place is not None:
            reason = f"the schema of the tool {tool.name!r} has an array without items at {place}; describe its items"
            self.refuse(reason, rule=rule)


def _tool(tool: ToolSchema) -> Payload:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


def _call(call: ToolCall, call_id: str) -> Payload:
    function = call.function
    arguments = function.arguments
    if not arguments or arguments.isspace():
        arguments = "{}"
    return {"id": call_id, "type": "function", "function": {"name": function.name, "arguments": arguments}}


def _response_format(schema: dict[str, Any] | None) -> Payload | None:
    """The name is required and has no meaning."""
    if schema is None:
        return None
    return {"type": "json_schema", "json_schema": {"name": "response", "schema": schema}}
