"""OpenAI, by its Responses API. xAI, DeepSeek, OpenRouter, Azure, Bedrock, llama-server and others serve it, too.

A conversation is a list of items: messages, calls (each with its own `id` and the `call_id` that its result
names), results and reasoning. Items have no turns, so neighbouring messages of the assistant are joined (declared).
System messages are items at their places. Every item has its type, which OpenAI does not demand of messages, and the
Open Responses specification does. At the provider's limits: `max_tokens` is at least 16; stop sequences have no
field and are refused; a call id over 64 characters is mapped; message names, a result's `status` and a tool's output
schema have no place and are dropped (declared). Tools and schemas are sent as not strict, as they would be changed
otherwise.

Requests have no state at the provider (`store: false`): `previous_response_id` and `conversation` are refused, since
the prompt is the whole conversation. So that a reasoning model finds its reasoning again, its answers are asked to
include it encrypted. It is kept in the `extensions` of an answer's message, with the ids and phases of the items next
to it, and goes back with them. Source of the request's fields: `openai.types.responses.response_create_params` of the
official client, version 3.54, and recorded requests.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from art_sdk.adapters.answers import Answer, CallInfo
from art_sdk.adapters.base import BaseAdapter
from art_sdk.adapters.capabilities import CAPABILITIES
from art_sdk.adapters.images import standard_base64
from art_sdk.adapters.openai_responses.answers import parse_response
from art_sdk.adapters.openai_responses.kept import put_back
from art_sdk.adapters.payload import Payload
from art_sdk.adapters.reading import AnswerStream
from art_sdk.adapters.refusals import naming_roles
from art_sdk.adapters.rules import CallIdRule, NameRule, RangeRule
from art_sdk.conversation import AssistantTurn, Conversation, SystemTurn, UserTurn
from art_sdk.http.transport import ResponseHead
from art_sdk.messages import ArtStandardPrompt, Part, TextPart, ToolSchema
from art_sdk.options import CallOptions

_REASONS: Final = re.compile(r"(^|[/.])(o\d|codex|grok-|gpt-oss|gpt-([5-9]|\d\d)(?!\S*-chat))")
"""Models that reason, and so have reasoning to include: recorded of GPT-5 and Grok 4. Others refuse to include it."""

_LEAST_TOKENS: Final = 16

_STATEFUL: Final[Mapping[str, str]] = {
    "previous_response_id": "the prompt is the whole conversation",
    "conversation": "the prompt is the whole conversation",
    "background": "the answer is read as it arrives",
}
"""Fields with which the answer to a request depends on what the provider has stored, and why they are refused."""


class OpenAIResponsesAdapter(BaseAdapter):
    """Translates to `POST /responses` at OpenAI, or at another server that speaks its Responses API."""

    provider_name = "openai-responses"
    dialect = "openai-responses"
    default_model = "gpt-4.1-mini"
    default_base_url = "https://api.openai.com/v1"
    capabilities = CAPABILITIES - {"stop"}
    image_types = frozenset(f"image/{kind}" for kind in ("png", "jpeg", "webp", "gif"))
    history_field = "input"
    tool_names = NameRule(re.compile(r"[a-zA-Z0-9_-]{1,128}"), "responses.tool-name")
    call_ids = CallIdRule(re.compile(r"(?s).{1,64}"), "responses.call-id-len64")
    ranges: ClassVar[Mapping[str, RangeRule]] = {
        "temperature": RangeRule(0.0, 2.0, "responses.sampling-range"),
        "top_p": RangeRule(0.0, 1.0, "responses.sampling-range"),
    }
    losses = frozenset({"message_name", "result_status", "tool_output_schema"})
    repairs = frozenset({"joins_turns", "maps_call_ids", "renames_tools"})

    def endpoint(self, options: CallOptions) -> str:
        del options
        return "/responses"

    @naming_roles
    def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> Payload:
        conversation = self.check(prompt, options)
        items = self._items(conversation)
        if not items:
            self.refuse("it is empty; add at least one message", rule="responses.input-nonempty")
        payload: Payload = {"model": options.model or self.model, "input": items}
        payload |= self.written_options(options)
        if options.stream:
            payload["stream"] = True
        return self.merge_provider_fields(payload, options)

    def check_options(self, options: CallOptions) -> None:
        super().check_options(options)
        if options.max_tokens is not None and options.max_tokens < _LEAST_TOKENS:
            reason = f"max_tokens is {options.max_tokens}; it must be at least {_LEAST_TOKENS}"
            self.refuse(reason, rule="responses.max-output-tokens-16")
        own = self.provider_fields(options)
        for name, reason in _STATEFUL.items():
            if own.get(name):
                self.refuse(f"options.provider[{self.dialect!r}][{name!r}] is not allowed: {reason}; leave it out")

    def parse_answer(self, head: ResponseHead, body: bytes, info: CallInfo) -> Answer:
        return parse_response(body, info, dialect=self.dialect, request_id=head.headers.get(self.request_id_header))

    def answer_stream(self, head: ResponseHead, info: CallInfo) -> AnswerStream:
        from art_sdk.adapters.openai_responses.stream import (  # noqa: PLC0415 - kept out of `import art_sdk`
            ResponseStream,
        )

        return ResponseStream(info, dialect=self.dialect, request_id=head.headers.get(self.request_id_header))

    def _items(self, conversation: Conversation) -> list[Payload]:
        ids = self.map_call_ids(conversation.tool_of)
        items: list[Payload] = []
        for turn in conversation.turns:
            if type(turn) is AssistantTurn:  # `type() is`, not `match`: this is the hot loop
                self._append_assistant(items, turn, ids)
            elif type(turn) is UserTurn:
                said = turn.message.content
                items.append(
                    {"type": "message", "role": "user", "content": said if type(said) is str else self._user(turn)}
                )
            elif type(turn) is SystemTurn:
                items.append(self._system(turn))
        return items

    def _system(self, turn: SystemTurn) -> Payload:
        if turn.splits:
            reason = (
                "this system message comes between a call and its result; move it before the call or after the result"
            )
            self.refuse(reason, index=turn.index)
        return {"type": "message", "role": "system", "content": turn.message.content}

    def _user(self, turn: UserTurn) -> str | list[Payload]:
        content = turn.message.content
        if isinstance(content, str):
            return content
        if not content:
            self.refuse("it has no parts; leave the message out", index=turn.index)
        return [self._part(part, turn) for part in content]

    def _part(self, part: Part, turn: UserTurn) -> Payload:
        if isinstance(part, TextPart):
            return {"type": "input_text", "text": part.text}
        self.check_image(part, turn)
        url = part.url if part.data is None else f"data:{part.mime_type};base64,{standard_base64(part.data)}"
        return {"type": "input_image", "detail": "auto", "image_url": url}

    def _append_assistant(self, items: list[Payload], turn: AssistantTurn, ids: Mapping[str, str]) -> None:
        """The assistant's text, its calls, and the results (responses.call-answered)."""
        message, calls = turn.message, turn.calls
        if message.content is None and not calls:
            self.refuse("it has neither text nor tool calls; leave the message out", index=turn.index)
        begun = len(items)
        if message.content or not calls:
            items.append({"type": "message", "role": "assistant", "content": message.content})
        for call in calls:
            function, call_id = call.function, call.id
            text = function.arguments
            items.append(
                {
                    "type": "function_call",
                    "call_id": ids.get(call_id, call_id),
                    "name": function.name,
                    "arguments": text if text and not text.isspace() else "{}",
                }
            )
        if message.extensions and self.dialect in message.extensions:
            items[begun:] = self._put_back(items[begun:], turn, message.extensions[self.dialect])
        for call_id, answer in turn.answers.items():
            items.append(
                {"type": "function_call_output", "call_id": ids.get(call_id, call_id), "output": answer.content}
            )

    def _put_back(self, written: list[Payload], turn: AssistantTurn, extension: dict[str, Any]) -> list[Payload]:
        """The items of the answer, with those that stand in no message (responses.reasoning-followed)."""
        try:
            items = put_back(written, extension)
        except ValueError as error:
            reason = f"its extensions for {self.dialect} are wrong: {error}; do not change the message of an answer"
            self.refuse(reason, index=turn.index)
        if items and items[-1]["type"] == "reasoning":
            reason = "it ends with reasoning, which OpenAI rejects; leave the message out"
            self.refuse(reason, index=turn.index, rule="responses.reasoning-followed")
        return items

    def write_options(self, options: CallOptions) -> Payload:
        own, model = self.provider_fields(options), options.model or self.model
        schema = options.response_schema
        written: Payload = {
            "temperature": options.temperature,
            "top_p": options.top_p,
            "max_output_tokens": options.max_tokens,
            "parallel_tool_calls": options.parallel_tool_calls,
            "tools": [_tool(tool) for tool in options.tools] or None,
            "tool_choice": _tool_choice(options.tool_choice),
            "text": None if schema is None else {"format": _format(schema)},
            "store": None if "store" in own else False,
            "include": ["reasoning.encrypted_content"] if "include" not in own and _REASONS.search(model) else None,
        }
        return {name: value for name, value in written.items() if value is not None}


def _tool(tool: ToolSchema) -> Payload:
    """The default would be strict: the API would rewrite the schema."""
    described = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", **described, "strict": False}


def _format(schema: dict[str, Any]) -> Payload:
    """The name is required and has no meaning."""
    return {"type": "json_schema", "name": "response", "schema": schema, "strict": False}


_FREE_CHOICES: Final = (None, "auto", "none", "required")


def _tool_choice(choice: str | None) -> Any:
    return choice if choice in _FREE_CHOICES else {"type": "function", "name": choice}
