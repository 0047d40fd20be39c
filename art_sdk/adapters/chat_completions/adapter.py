"""The chat completions dialect, which OpenAI, OpenRouter, DeepSeek, Groq and many more share.

What one provider of the family does differently is data: its `ChatProvider`, and the limits that every
adapter may state as class attributes. A provider is one file with such a class, and one line in `BUILT_IN`.
Refusals cite the provider's own rules; comments name OpenAI's, the first of their kind.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from art_sdk.adapters.answers import Answer, CallInfo
from art_sdk.adapters.base import BaseAdapter
from art_sdk.adapters.capabilities import Capability
from art_sdk.adapters.chat_completions.answers import parse_completion
from art_sdk.adapters.chat_completions.provider import ChatProvider
from art_sdk.adapters.chat_completions.schemas import find_array_without_items
from art_sdk.adapters.images import standard_base64
from art_sdk.adapters.kept_blocks import put_back
from art_sdk.adapters.payload import Payload
from art_sdk.adapters.reading import AnswerStream
from art_sdk.adapters.refusals import naming_roles
from art_sdk.adapters.rules import CountRule, NameRule, RangeRule
from art_sdk.adapters.settings import is_host_of
from art_sdk.conversation import AssistantTurn, Conversation, SystemTurn, UserTurn
from art_sdk.http.transport import ResponseHead
from art_sdk.json_data import is_object
from art_sdk.messages import (
    ArtStandardPrompt,
    ImagePart,
    Part,
    TextPart,
    ToolCall,
    ToolSchema,
    UserMessage,
)
from art_sdk.options import CallOptions


class ChatCompletionsAdapter(BaseAdapter):
    """An adapter of the family. A provider's own class has data only."""

    provider: ChatProvider = ChatProvider()
    history_field = "messages"
    tool_names: ClassVar[NameRule | None] = NameRule(re.compile(r"[a-zA-Z0-9_-]{1,64}"))
    ranges: ClassVar[Mapping[str, RangeRule]] = {"temperature": RangeRule(0.0, 2.0), "top_p": RangeRule(0.0, 1.0)}
    forced_choice_fields: ClassVar[Mapping[str, Any]] = {}
    """Fields that go with the choice of a tool that must be called, unless the caller's own fields have them."""
    own_url: ClassVar[str | None] = None
    """A URL of the provider's own host, if `default_base_url` is not one: a stream from there has its end mark."""
    losses = frozenset({"result_status", "tool_output_schema"})
    repairs = frozenset({"maps_call_ids", "renames_tools"})

    def endpoint(self, options: CallOptions) -> str:
        del options
        return "/chat/completions"

    def auth_headers(self) -> dict[str, str]:
        header = self.provider.key_header
        return super().auth_headers() if header is None else {header: self._api_key}

    def capabilities_of(self, model: str) -> frozenset[Capability]:
        more = [words for pattern, words in self.provider.models if pattern.search(model)]
        return self.capabilities.union(*more) if more else self.capabilities

    @naming_roles
    def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> Payload:
        conversation = self.check(prompt, options)
        if not conversation.turns:
            reason = "it is empty; add at least one message"
            self.refuse(reason, rule=self.provider.rules.messages_nonempty)  # openai.messages-nonempty
        if self.provider.image_count is not None:
            self._check_images(prompt, self.provider.image_count)
        if self.provider.rules.assistant_nonempty is not None:
            self._require_answers(conversation, self.provider.rules.assistant_nonempty)
        messages = self._messages(conversation, hoists="hoists_late_system" in self.repairs)
        lone_rule = self.provider.rules.no_lone_assistant
        if lone_rule is not None and len(messages) == 1 and messages[0]["role"] == "assistant":
            self.refuse("its only message is from the assistant; start with a user message", rule=lone_rule)
        payload: Payload = {"model": options.model or self.model, "messages": messages}
        payload |= self.written_options(options)
        if options.stream:
            payload |= self._stream(options)
        return self.merge_provider_fields(payload, options)

    def keeps_history(self, prompt: ArtStandardPrompt) -> bool:
        return self.provider.image_count is None or not _count_images(prompt)

    def parse_answer(self, head: ResponseHead, body: bytes, info: CallInfo) -> Answer:
        request_id = head.headers.get(self.request_id_header)
        return parse_completion(body, info, self.provider, dialect=self.dialect, request_id=request_id)

    def answer_stream(self, head: ResponseHead, info: CallInfo) -> AnswerStream:
        from art_sdk.adapters.chat_completions.stream import ChatStream  # noqa: PLC0415 - kept out of `import art_sdk`

        request_id = head.headers.get(self.request_id_header)
        is_own_host = is_host_of(self.base_url, self.own_url or self.default_base_url)
        return ChatStream(info, self.provider, dialect=self.dialect, request_id=request_id, is_own_host=is_own_host)

    def _check_images(self, prompt: ArtStandardPrompt, limit: CountRule) -> None:
        count = _count_images(prompt)
        if count > limit.most:
            self.refuse(f"it has {count} images; at most {limit.most} are allowed", rule=limit.rule)

    def _require_answers(self, conversation: Conversation, rule: str) -> None:
        """Refuses an empty assistant message, but for the last one: it is to be continued."""
        for turn in (turn for turn in conversation.turns[:-1] if type(turn) is AssistantTurn):
            own = (turn.message.extensions or {}).get(self.dialect)
            if not (turn.message.content or turn.calls or own):
                reason = "it has neither text nor tool calls; leave the message out"
                self.refuse(reason, index=turn.index, rule=rule)

    def _messages(self, conversation: Conversation, *, hoists: bool) -> list[Payload]:
        ids = self.map_call_ids(conversation.tool_of)
        messages: list[Payload] = []
        systems: list[Payload] = messages if not hoists else []
        for turn in conversation.turns:  # `type() is`, not `match`: this is the hot loop
            if type(turn) is AssistantTurn:
                self._append_assistant(messages, turn, ids)
            elif type(turn) is UserTurn:
                said = turn.message
                is_plain = type(said.content) is str and said.content and said.name is None
                messages.append({"role": "user", "content": said.content} if is_plain else self._user(turn))
            elif type(turn) is SystemTurn:
                systems.append(self._system(turn, hoists=hoists))
        mark = self.provider.prefill_mark
        if mark is not None and messages and messages[-1]["role"] == "assistant":
            messages[-1][mark] = True
        return systems + messages if hoists else messages

    def _system(self, turn: SystemTurn, *, hoists: bool) -> Payload:
        """The system message, at its place or before all others."""
        if turn.splits and not hoists:  # openai.tool-calls-answered
            reason = (
                "this system message comes between a call and its result; move it before the call or after the result"
            )
            self.refuse(reason, index=turn.index, rule=self.provider.rules.calls_answered)
        written: Payload = {"role": "system", "content": turn.message.content}
        name = turn.message.name
        return written if name is None else self._with_name(written, name, turn.index)

    def _user(self, turn: UserTurn) -> Payload:
        message = turn.message
        content = message.content if type(message.content) is str else self._parts(turn)
        if not content and self.provider.rules.user_nonempty is not None:  # xai.content
            self.refuse("its text is empty; leave it out", index=turn.index, rule=self.provider.rules.user_nonempty)
        written: Payload = {"role": "user", "content": content}
        return written if message.name is None else self._with_name(written, message.name, turn.index)

    def _parts(self, turn: UserTurn) -> str | list[Payload]:
        given = turn.message.content
        if isinstance(given, str):  # a subclass: the text that it is
            return given
        if not given:
            self.refuse("it has no parts; leave the message out", index=turn.index)
        return [self._part(part, turn) for part in given]

    def _part(self, part: Part, turn: UserTurn) -> Payload:
        if isinstance(part, TextPart):
            return {"type": "text", "text": part.text}
        self.check_image(part, turn)
        if part.data is None and self.provider.rules.image_data is not None:  # ollama.image-data
            reason = "it has an image URL; pass the image's data"
            self.refuse(reason, index=turn.index, rule=self.provider.rules.image_data)
        url = part.url if part.data is None else f"data:{part.mime_type};base64,{standard_base64(part.data)}"
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
        message, calls, content = turn.message, turn.calls, turn.message.content
        if content is None and not calls:  # openai.content-not-null
            reason = "it has neither text nor tool calls; leave the message out"
            self.refuse(reason, index=turn.index, rule=self.provider.rules.content_not_null)
        written: Payload = {"role": "assistant", "content": content}
        messages.append(written if message.name is None else self._with_name(written, message.name, turn.index))
        if message.extensions and self.dialect in message.extensions:
            self._put_back(written, turn, message.extensions[self.dialect])
        if not calls:  # openai.tool-calls-nonempty-array: no empty list
            return
        rule = self.provider.rules.arguments
        if rule is not None:  # ollama.arguments
            for call in calls:
                self.arguments_of(call, turn.index, rule)
        written["tool_calls"] = _calls(calls, ids)
        for call_id, answer in turn.answers.items():  # openai.tool-calls-answered: right after the calls
            messages.append({"role": "tool", "tool_call_id": ids.get(call_id, call_id), "content": answer.content})

    def _put_back(self, written: Payload, turn: AssistantTurn, extension: Mapping[str, Any]) -> None:
        """Adds what an answer's message has besides text and calls, unchanged. Images are not sent again."""
        if "other_calls" in extension:
            reason = "it calls custom tools, whose results the prompt cannot contain; leave the message out"
            self.refuse(reason, index=turn.index)
        fields = {name: value for name, value in extension.items() if name in self.provider.kept}
        rest = {name: value for name, value in extension.items() if name not in {*fields, "audio", "images"}}
        written |= fields | _audio(extension)
        if not rest:
            return
        content = [{"type": "text", "text": turn.message.content}] if turn.message.content else []
        try:
            if rest.keys() != {"blocks"}:
                raise ValueError(f"it has no place for {', '.join(rest)}")  # noqa: TRY301 - refused like the others
            put_back(content, rest)
        except ValueError as error:
            reason = f"its extensions for {self.dialect} are wrong: {error}; do not change the message of an answer"
            self.refuse(reason, index=turn.index)
        written["content"] = content

    def write_options(self, options: CallOptions) -> Payload:
        written: Payload = {
            "temperature": options.temperature,
            "top_p": options.top_p,
            self.provider.max_tokens_field: options.max_tokens,
            "stop": list(options.stop) or None,
            "parallel_tool_calls": options.parallel_tool_calls,
            "tools": [self._tool(tool) for tool in options.tools] or None,  # openai.tools-nonempty
            "tool_choice": self._tool_choice(options.tool_choice),
            "response_format": _response_format(options.response_schema),
        }
        if options.tool_choice not in _FREE_CHOICES:
            own = self.provider_fields(options)
            written |= {name: value for name, value in self.forced_choice_fields.items() if name not in own}
        if "sampling_option:parallel_tool_calls" in self.losses:
            del written["parallel_tool_calls"]
        return {name: value for name, value in written.items() if value is not None}

    def _tool(self, tool: ToolSchema) -> Payload:
        schema = tool.input_schema
        if self.provider.required_rule is not None and not schema.get("properties"):  # groq.schema-required-properties
            schema = {name: value for name, value in schema.items() if name != "required"}
        function = {"name": tool.name, "description": tool.description, "parameters": schema}
        return {"type": "function", "function": function}

    def _tool_choice(self, choice: str | None) -> Any:
        if choice == "required":
            return self.provider.required_choice
        if choice in _FREE_CHOICES:
            return choice
        return {"type": "function", "function": {"name": choice}}

    def _stream(self, options: CallOptions) -> Payload:
        """Asks for usage, unless the caller's own `stream_options` say whether to include it."""
        own = self.provider_fields(options).get("stream_options", {})
        asks = self.provider.asks_for_usage and isinstance(own, dict) and "include_usage" not in own
        return {"stream": True, "stream_options": {"include_usage": True}} if asks else {"stream": True}

    def check_options(self, options: CallOptions) -> None:
        super().check_options(options)
        rule = self.provider.schema_beside_tools_rule
        if rule is not None and options.response_schema is not None and self.has_tools(options):
            reason = "response_schema is only allowed without tools; make a separate call for the answer"
            self.refuse(reason, rule=rule)

    def check_tool(self, tool: ToolSchema) -> None:
        super().check_tool(tool)
        longest, rule = self.provider.description_length, self.provider.array_items_rule
        length = len(tool.description)
        if longest is not None and length > longest.most:
            reason = (
                f"the description of the tool {tool.name!r} has {length} characters; at most {longest.most} are allowed"
            )
            self.refuse(reason, rule=longest.rule)
        required = self.provider.required_rule
        if required is not None and tool.input_schema.get("required") and not tool.input_schema.get("properties"):
            reason = f"the schema of the tool {tool.name!r} has required, but no properties; describe them"
            self.refuse(reason, rule=required)
        place = None if rule is None else find_array_without_items(tool.input_schema)
        if place is not None:
            reason = f"the schema of the tool {tool.name!r} has an array without items at {place}; describe its items"
            self.refuse(reason, rule=rule)


_FREE_CHOICES: Final = (None, "auto", "none")


def _count_images(prompt: ArtStandardPrompt) -> int:
    contents = [message.content for message in prompt if isinstance(message, UserMessage)]
    return sum(isinstance(part, ImagePart) for parts in contents if not isinstance(parts, str) for part in parts)


def _audio(extension: Mapping[str, Any]) -> Payload:
    """An answer's audio goes back as its id alone: `ChatCompletionAssistantMessageParam` of the official client."""
    audio: Any = extension.get("audio")
    return {"audio": {"id": audio["id"]}} if is_object(audio) and "id" in audio else {}


def _calls(calls: tuple[ToolCall, ...], ids: Mapping[str, str]) -> list[Payload]:
    written: list[Payload] = []
    for call in calls:
        function, call_id = call.function, call.id
        text = function.arguments
        sent = {"name": function.name, "arguments": "{}" if not text or text.isspace() else text}
        written.append({"id": ids.get(call_id, call_id), "type": "function", "function": sent})
    return written


def _response_format(schema: dict[str, Any] | None) -> Payload | None:
    """The name is required and has no meaning."""
    if schema is None:
        return None
    return {"type": "json_schema", "json_schema": {"name": "response", "schema": schema}}
