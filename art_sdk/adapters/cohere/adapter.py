"""Cohere, by the second version of its chat API (`/v2/chat`).

At the provider's limits: tools are named with letters, digits and `_`, so others are renamed. `tool_choice` is
`REQUIRED` or `NONE`, so the choice of one tool is refused; so are a response schema next to tools, and arguments that
are not a JSON object. The temperature is at most 1, and `top_p` between 0.01 and 0.99. Messages have no names and
results no status, and nothing says how many calls may come at once: declared losses. A message must not be empty. A
late system message stays in its place. The `tool_plan` of an answer, its thinking and its citations go back with the
next request as they came.

Sources: `cohere.V2Client.chat` and its types in the official client, version 7.3,
docs.cohere.com/reference/errors, and recorded requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from art_sdk.adapters.answers import Answer, CallInfo
from art_sdk.adapters.base import BaseAdapter
from art_sdk.adapters.capabilities import CAPABILITIES
from art_sdk.adapters.cohere.answers import parse_chat
from art_sdk.adapters.cohere.schemas import find_loose_object, find_odd_schema
from art_sdk.adapters.images import standard_base64
from art_sdk.adapters.kept_blocks import put_back
from art_sdk.adapters.payload import Payload
from art_sdk.adapters.reading import AnswerStream
from art_sdk.adapters.refusals import naming_roles
from art_sdk.adapters.rules import CountRule, NameRule, RangeRule, RootRule
from art_sdk.conversation import AssistantTurn, SystemTurn, UserTurn
from art_sdk.http.transport import ResponseHead
from art_sdk.json_data import is_array
from art_sdk.messages import ArtStandardPrompt, Part, TextPart, ToolSchema
from art_sdk.options import CallOptions

_EMPTY: Final = "cohere.message-nonempty"
_SCHEMA: Final = "cohere.schema-object"
_SAMPLING: Final = {"temperature": "temperature", "top_p": "p", "max_tokens": "max_tokens"}
_CHOICES: Final = {"required": "REQUIRED", "none": "NONE"}  # without one the model is free: `auto`


class CohereChatAdapter(BaseAdapter):
    """Translates to `POST /chat` below `/v2`."""

    provider_name = "cohere"
    dialect = "cohere-chat-v2"
    default_model = "command-a-03-2025"
    default_base_url = "https://api.cohere.com/v2"
    capabilities = CAPABILITIES - {"prefill"}  # no recorded conversation ends with the assistant
    image_types = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})  # docs.cohere.com/docs/image-inputs
    history_field = "messages"
    tool_names = NameRule(re.compile(r"[A-Za-z_][A-Za-z0-9_]*"), "cohere.tool-name")
    ranges = {  # noqa: RUF012 - a ClassVar of the base
        "temperature": RangeRule(0.0, 1.0, "cohere.temperature"),
        "top_p": RangeRule(0.01, 0.99, "cohere.stop-max5"),
    }
    counts = {"stop": CountRule(5, "cohere.stop-max5")}  # noqa: RUF012 - likewise
    schema_roots = RootRule((), _SCHEMA, needs_type=True)
    losses = frozenset({"message_name", "result_status", "tool_output_schema", "sampling_option:parallel_tool_calls"})
    repairs = frozenset({"renames_tools"})

    def endpoint(self, options: CallOptions) -> str:
        del options
        return "/chat"

    @naming_roles
    def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> Payload:
        conversation = self.check(prompt, options)
        messages: list[Payload] = []
        for turn in conversation.turns:  # `type() is`, not `match`: this is the hot loop
            if type(turn) is AssistantTurn:
                self._append_assistant(messages, turn)
            elif type(turn) is UserTurn:
                messages.append({"role": "user", "content": self._content(turn)})
            elif type(turn) is SystemTurn:
                messages.append(self._system(turn))
        if not messages:
            self.refuse("it is empty; add at least one message")
        payload: Payload = {"model": options.model or self.model, "messages": messages, "stream": options.stream}
        payload |= self.written_options(options)
        return self.merge_provider_fields(payload, options)

    def write_options(self, options: CallOptions) -> Payload:
        tools = [_tool(tool) for tool in options.tools]
        return ({"tools": tools} if tools else {}) | _settings(options)

    def check_options(self, options: CallOptions) -> None:
        super().check_options(options)
        choice, schema = options.tool_choice, options.response_schema
        if choice is not None and choice != "auto" and choice not in _CHOICES:
            reason = "a single tool cannot be chosen; pass only that tool, with tool_choice 'required'"
            self.refuse(reason, rule="cohere.tool-choice")
        if schema is None:
            return
        if self.has_tools(options):
            reason = "response_schema is only allowed without tools; make a separate call for the answer"
            self.refuse(reason, rule="cohere.format-alone")
        if schema.get("type") != "object":
            self.refuse('the response schema must have "type": "object"', rule=_SCHEMA)
        odd = find_odd_schema(schema)
        if odd is not None:
            self.refuse(f"Cohere does not accept the response schema: {odd}", rule=_SCHEMA)
        loose = find_loose_object(schema)
        if loose is not None:
            reason = f"every object of the response schema must require a property; {loose} requires none"
            self.refuse(reason, rule="cohere.strict-required")

    def check_tool(self, tool: ToolSchema) -> None:
        super().check_tool(tool)
        odd = find_odd_schema(tool.input_schema)
        if odd is not None:
            self.refuse(f"Cohere does not accept the schema of the tool {tool.name!r}: {odd}", rule=_SCHEMA)

    def parse_answer(self, head: ResponseHead, body: bytes, info: CallInfo) -> Answer:
        del info
        return parse_chat(body, request_id=head.headers.get(self.request_id_header))

    def answer_stream(self, head: ResponseHead, info: CallInfo) -> AnswerStream:
        del info
        from art_sdk.adapters.cohere.stream import ChatEvents  # noqa: PLC0415 - kept out of `import art_sdk`

        return ChatEvents(request_id=head.headers.get(self.request_id_header))

    def _system(self, turn: SystemTurn) -> Payload:
        if turn.splits:
            self.refuse("it comes between a call and its result; move it before or after them", index=turn.index)
        if not turn.message.content:
            self.refuse("its text is empty; leave the message out", index=turn.index, rule=_EMPTY)
        return {"role": "system", "content": turn.message.content}

    def _content(self, turn: UserTurn) -> str | list[Payload]:
        content = turn.message.content
        if not (content if isinstance(content, str) else any(map(_says_something, content))):
            self.refuse("it is empty; leave the message out", index=turn.index, rule=_EMPTY)
        return content if isinstance(content, str) else [self._part(part, turn) for part in content]

    def _part(self, part: Part, turn: UserTurn) -> Payload:
        if isinstance(part, TextPart):
            return {"type": "text", "text": part.text}
        self.check_image(part, turn)
        url = part.url if part.data is None else f"data:{part.mime_type};base64,{standard_base64(part.data)}"
        return {"type": "image_url", "image_url": {"url": url}}

    def _append_assistant(self, messages: list[Payload], turn: AssistantTurn) -> None:
        """The assistant's message, and one tool message for each of its results."""
        message, calls = turn.message, turn.calls
        written: Payload = {"role": "assistant"}
        if message.content:
            written["content"] = message.content
        if message.extensions and self.dialect in message.extensions:
            self._put_back(written, turn, message.extensions[self.dialect])
        if calls:
            written["tool_calls"] = self._calls(turn)
        elif "content" not in written:
            self.refuse("it has neither text nor tool calls; leave the message out", index=turn.index, rule=_EMPTY)
        messages.append(written)
        for call_id, answer in turn.answers.items():
            messages.append({"role": "tool", "tool_call_id": call_id, "content": answer.content})

    def _calls(self, turn: AssistantTurn) -> list[Payload]:
        written: list[Payload] = []
        for position, call in enumerate(turn.calls):
            function = call.function
            text = function.arguments
            if not _is_object(text):
                text = json.dumps(self.arguments_of(call, turn.places[position], "cohere.arguments-object"))
            sent = {"name": function.name, "arguments": text}
            written.append({"id": call.id, "type": "function", "function": sent})
        return written

    def _put_back(self, written: Payload, turn: AssistantTurn, extension: Mapping[str, Any]) -> None:
        """Adds what an answer's message has besides text and calls, unchanged."""
        plan, citations = extension.get("tool_plan"), extension.get("citations")
        rest = {name: value for name, value in extension.items() if name not in ("tool_plan", "citations")}
        content = [{"type": "text", "text": turn.message.content}] if turn.message.content else []
        try:
            if not isinstance(plan, str | None) or not (citations is None or is_array(citations)):
                raise ValueError("tool_plan must be text, and citations a list")  # noqa: TRY301 - as below
            if rest:
                put_back(content, rest)
        except ValueError as error:
            reason = f"its extensions for {self.dialect} are wrong: {error}; do not change the message of an answer"
            self.refuse(reason, index=turn.index)
        kept = {"tool_plan": plan, "citations": citations, "content": content if rest else None}
        written |= {name: value for name, value in kept.items() if value}


def _is_object(arguments: str) -> bool:
    """Whether the text is a JSON object or null, as Cohere wants it. It is sent as it is, so the rest is not read."""
    try:
        _skip_object(arguments)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return _is_odd_object(arguments)
    return True


class _Object(Struct):
    """Any object: fields that it does not have are read over."""


_skip_object: Final = msgspec.json.Decoder(_Object | None).decode


def _is_odd_object(arguments: str) -> bool:
    """Whether it is an object with half of a character in it, which the fast reader does not accept."""
    try:
        return isinstance(json.loads(arguments, parse_constant=_no_json), dict)
    except (ValueError, RecursionError):
        return False


def _no_json(constant: str) -> None:
    raise ValueError(constant)


def _says_something(part: Part) -> bool:
    return not isinstance(part, TextPart) or bool(part.text)


def _tool(tool: ToolSchema) -> Payload:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


def _settings(options: CallOptions) -> Payload:
    written: Payload = {
        theirs: value for ours, theirs in _SAMPLING.items() if (value := getattr(options, ours)) is not None
    }
    if options.stop:
        written["stop_sequences"] = list(options.stop)
    if options.tool_choice in _CHOICES:
        written["tool_choice"] = _CHOICES[options.tool_choice]
    if options.response_schema is not None:
        written["response_format"] = {"type": "json_object", "json_schema": options.response_schema}
    return written
