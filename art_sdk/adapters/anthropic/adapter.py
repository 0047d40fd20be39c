"""Anthropic, by its messages API.

At the provider's limits: the system prompt is its own field, one block per message; newer models take a late
system message right behind the user's words or results, if the model speaks next, and any other one is refused unless
the call says `late_system="hoist"`; a call id outside [a-zA-Z0-9_-] is mapped; blank text is left out if the turn has
something else, and refused if it has not; a response schema with an open object is refused; `max_tokens` is required,
so `default_max_tokens` is sent where the call gives none. What a model refuses (a prefill from 4.6 on; sampling from
Opus 4.7 on) is refused by the model's name. The version of the API is 2023-06-01; `headers={"anthropic-version":
"2026-10-21"}` asks for the next one, which has no sampling options: they are refused. Message names and a tool's
output schema have no place and are dropped (declared). Thinking blocks, and every other block that is neither text nor
a call, are kept in the `extensions` of an answer's message and go back unchanged, each at its place. Source of the
request's fields: `anthropic.types` of the official client, version 2.12, and recorded requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from art_sdk.adapters.answers import Answer, CallInfo
from art_sdk.adapters.anthropic.answers import THOUGHTS, parse_message
from art_sdk.adapters.anthropic.schemas import find_open_object, find_recursion, find_unsupported
from art_sdk.adapters.base import BaseAdapter
from art_sdk.adapters.capabilities import CAPABILITIES, Capability
from art_sdk.adapters.images import standard_base64
from art_sdk.adapters.kept_blocks import put_back
from art_sdk.adapters.payload import Payload
from art_sdk.adapters.reading import AnswerStream
from art_sdk.adapters.refusals import naming_roles
from art_sdk.adapters.rules import CallIdRule, NameRule, RangeRule, RootRule
from art_sdk.conversation import AssistantTurn, Conversation, SystemTurn, UserTurn
from art_sdk.http.transport import ResponseHead
from art_sdk.messages import (
    ArtStandardPrompt,
    Part,
    TextPart,
    ToolResultMessage,
    ToolSchema,
)
from art_sdk.options import CallOptions

_PROPERTY: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")  # the error's text: ComposioHQ/composio#3500

# What models refuse, measured by others at the live API in 2026: promptfoo/promptfoo#10821 (prefill),
# BerriAI/litellm#26246 and bagofwords1/bagofwords#523 (sampling), comet-ml/opik#3021 (both at once, from 4.1 on).
_WITHOUT_PREFILL: Final = re.compile(r"claude-[a-z]+-(4-[6-9]|[5-9])(?!\d)")
_WITHOUT_SAMPLING: Final = re.compile(r"claude-[a-z]+-(4-[7-9]|[5-9])(?!\d)")
_WITH_BOTH: Final = re.compile(r"claude-(v?[12](?!\d)|instant|3-|[a-z]+-4[-@](0(?!\d)|\d{8}))")  # claude-v2: recorded


# The models: profiles of @langchain/anthropic 1.5.13; recorded with Opus 4.8. Others answer "Unexpected role".
_WITH_LATE_SYSTEM: Final = re.compile(r"claude-(opus-4-8|(opus|sonnet)-5|haiku-5-5|(fable|mythos)-\d)(?!\d)")


_VERSION: Final = "anthropic-version"
_REMOVES_SAMPLING: Final = "2026-10-21"  # platform.claude.com/docs/en/api/versioning


class AnthropicAdapter(BaseAdapter):
    """Translates to `POST /messages` at Anthropic."""

    provider_name = "anthropic"
    dialect = "anthropic-messages"
    default_model = "claude-haiku-4-5"
    default_base_url = "https://api.anthropic.com/v1"
    default_max_tokens: ClassVar[int] = 8192
    protocol_headers: ClassVar[Mapping[str, str]] = {
        **BaseAdapter.protocol_headers,
        _VERSION: "2023-06-01",
    }
    request_id_header = "request-id"
    capabilities = CAPABILITIES - {"late_system"}
    history_field = "messages"
    tool_names = NameRule(re.compile(r"[a-zA-Z0-9_-]{1,128}"), "anthropic.tool-name-pattern")
    call_ids = CallIdRule(re.compile(r"[a-zA-Z0-9_-]+"), "anthropic.tool-id-pattern")
    ranges: ClassVar[Mapping[str, RangeRule]] = {
        "temperature": RangeRule(0.0, 1.0, "anthropic.temperature-range"),
        "top_p": RangeRule(0.0, 1.0, "anthropic.temperature-range"),
    }
    schema_roots = RootRule(("oneOf", "allOf", "anyOf"), "anthropic.input-schema-no-root-union")
    image_types = frozenset(f"image/{kind}" for kind in ("jpeg", "png", "gif", "webp"))
    losses = frozenset({"message_name", "tool_output_schema"})
    repairs = frozenset({"hoists_late_system", "maps_call_ids", "drops_blank_text", "renames_tools"})

    def endpoint(self, options: CallOptions) -> str:
        del options
        return "/messages"

    def auth_headers(self) -> dict[str, str]:
        return {"x-api-key": self._api_key}

    @naming_roles
    def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> Payload:
        conversation = self.check(prompt, options)
        model = options.model or self.model
        self._check_prefill(conversation, model)
        late = self._late_system(conversation, options)
        messages = self._messages(conversation, late)
        if not messages:
            self.refuse_without_messages(prompt)
        limit = options.max_tokens or self.default_max_tokens  # anthropic.max-tokens-required
        payload: Payload = {"model": model, "max_tokens": limit}
        system = [turn for turn in conversation.turns if isinstance(turn, SystemTurn) and turn.index not in late]
        if system:
            payload["system"] = self._system(system)
        payload["messages"] = messages
        payload |= self.written_options(options)
        if options.stream:
            payload["stream"] = True
        return self.merge_provider_fields(payload, options)

    def parse_answer(self, head: ResponseHead, body: bytes, info: CallInfo) -> Answer:
        return parse_message(body, info, request_id=head.headers.get(self.request_id_header))

    def answer_stream(self, head: ResponseHead, info: CallInfo) -> AnswerStream:
        from art_sdk.adapters.anthropic.stream import MessageStream  # noqa: PLC0415 - kept out of `import art_sdk`

        return MessageStream(info, request_id=head.headers.get(self.request_id_header))

    @property
    def api_version(self) -> str:
        """The version of the API that every request names: a date. Set it by the header `anthropic-version`."""
        return str(self._headers.get(_VERSION, self.protocol_headers[_VERSION]))

    def _check_sampling(self, options: CallOptions) -> None:
        """Refuses what the version of the API or the model answers with 400."""
        model = options.model or self.model
        asked = [name for name in ("temperature", "top_p") if getattr(options, name) is not None]
        if asked and self.api_version >= _REMOVES_SAMPLING:
            reason = f"version {self.api_version} of Anthropic's API does not accept {asked[0]}; leave it out"
            self.refuse(reason, rule="anthropic.sampling-removed")
        if options.temperature is not None and options.top_p is not None and not _WITH_BOTH.search(model):
            reason = f"{model} accepts temperature or top_p, not both; leave one out"
            self.refuse(reason, rule="anthropic.temperature-topp-exclusive")
        given = [name for name in ("temperature", "top_p") if getattr(options, name) not in (None, 1.0)]
        if given and _WITHOUT_SAMPLING.search(model):
            self.refuse(f"{model} does not accept {given[0]}; leave it out", rule="anthropic.temperature-deprecated")

    def _check_prefill(self, conversation: Conversation, model: str) -> None:
        turns = conversation.turns
        if turns and type(turns[-1]) is UserTurn:
            return
        last = next((turn for turn in reversed(turns) if type(turn) is not SystemTurn), None)  # they are hoisted
        if type(last) is not AssistantTurn or last.calls:
            return
        if _WITHOUT_PREFILL.search(model):
            reason = f"{model} does not accept an assistant message at the end; end with a user message"
            self.refuse(reason, index=last.index, rule="anthropic.prefill-unsupported")
        if (last.message.content or "")[-1:].isspace():
            reason = "the last text of the prompt ends with whitespace, which Anthropic rejects; strip it"
            self.refuse(reason, index=last.index, rule="anthropic.final-assistant-trailing-ws")

    def _system(self, turns: list[SystemTurn]) -> str | list[Payload]:
        """A block per message. An empty system prompt goes as text, which is accepted: recorded with status 200."""
        if not any(turn.message.content for turn in turns):
            return ""
        return self._blocks(turns)

    def _blocks(self, turns: list[SystemTurn]) -> list[Payload]:
        for turn in turns:
            if not turn.message.content.strip():
                self.refuse(_BLANK, index=turn.index, rule="anthropic.text-block-nonblank")
        return [{"type": "text", "text": turn.message.content} for turn in turns]

    def capabilities_of(self, model: str) -> frozenset[Capability]:
        return CAPABILITIES if _WITH_LATE_SYSTEM.search(model) else self.capabilities

    def _late_system(self, conversation: Conversation, options: CallOptions) -> frozenset[int]:
        """The indexes of the system messages that stay in mid-conversation. All or none: a later one moves no other.

        Their place: platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages.
        """
        late = [turn.index for turn in conversation.turns if type(turn) is SystemTurn and turn.late]
        if not late or self.may_hoist(options):
            return frozenset()
        placed = frozenset(_find_placed(conversation))
        unplaced = next((index for index in late if index not in placed), None)
        if unplaced is not None:
            reason = (
                "a system message in mid-conversation must follow a user message or results, and the assistant must "
                'speak next; move it, or set late_system="hoist"'
            )
            self.refuse(reason, index=unplaced)
        return placed

    def _messages(self, conversation: Conversation, late: frozenset[int]) -> list[Payload]:
        ids = self.map_call_ids(conversation.tool_of)
        messages: list[Payload] = []
        for turn in conversation.turns:
            if type(turn) is AssistantTurn:  # `type() is`, not `match`: this is the hot loop
                self._append_assistant(messages, turn, ids)
            elif type(turn) is UserTurn:
                messages.append({"role": "user", "content": self._user(turn)})
            elif isinstance(turn, SystemTurn) and turn.index in late:
                _append_system(messages, *self._blocks([turn]))
        return messages

    def _user(self, turn: UserTurn) -> str | list[Payload]:
        content = turn.message.content
        if isinstance(content, str):
            written: str | list[Payload] = content if content and not content.isspace() else ""
        else:
            written = [self._part(part, turn) for part in content if not (isinstance(part, TextPart) and _blank(part))]
        if not written:  # anthropic.text-block-nonempty, anthropic.text-block-nonblank
            self.refuse(_BLANK, index=turn.index, rule="anthropic.text-block-nonblank")
        return written

    def _part(self, part: Part, turn: UserTurn) -> Payload:
        if isinstance(part, TextPart):
            return {"type": "text", "text": part.text}
        self.check_image(part, turn)
        if part.data is None:
            return {"type": "image", "source": {"type": "url", "url": part.url}}
        return {
            "type": "image",
            "source": {"type": "base64", "media_type": part.mime_type, "data": standard_base64(part.data)},
        }

    def _append_assistant(self, messages: list[Payload], turn: AssistantTurn, ids: Mapping[str, str]) -> None:
        """The assistant's message, then all results of its calls in one message (anthropic.tool-use-answered)."""
        text = turn.message.content
        blocks: list[Payload] = [{"type": "text", "text": text}] if text and not text.isspace() else []
        for call, index in zip(turn.calls, turn.places, strict=True):
            arguments = self.arguments_of(call, index, "anthropic.tool-use-input-object")
            name, call_id = call.function.name, ids.get(call.id, call.id)
            blocks.append({"type": "tool_use", "id": call_id, "name": name, "input": arguments})
        extensions = turn.message.extensions
        if extensions and self.dialect in extensions:
            self._put_back(blocks, turn, extensions[self.dialect])
        if not blocks:  # anthropic.nonempty-content
            reason = "it has neither text nor tool calls; leave the message out"
            self.refuse(reason, index=turn.index, rule="anthropic.nonempty-content")
        messages.append({"role": "assistant", "content": blocks})
        if turn.calls:
            results = [_result(ids.get(call.id, call.id), answer) for call, answer in turn.answers_in_call_order()]
            messages.append({"role": "user", "content": results})

    def _put_back(self, blocks: list[Payload], turn: AssistantTurn, extension: dict[str, Any]) -> None:
        """Puts the kept blocks back unchanged, each at its place (anthropic.thinking-unmodified)."""
        try:
            put_back(blocks, extension)
        except ValueError as error:
            reason = f"its extensions for {self.dialect} are wrong: {error}; do not change the message of an answer"
            self.refuse(reason, index=turn.index)
        if blocks and blocks[-1]["type"] in THOUGHTS:
            reason = "it ends with thinking, which Anthropic rejects; leave the message out"
            self.refuse(reason, index=turn.index, rule="anthropic.thinking-not-last")

    def write_options(self, options: CallOptions) -> Payload:
        return self._tools(options) | _settings(options)

    def _tools(self, options: CallOptions) -> Payload:
        if not self.has_tools(options):
            return {}
        written: Payload = {"tools": [_tool(tool) for tool in options.tools]} if options.tools else {}
        if options.tool_choice is not None or options.parallel_tool_calls is not None:
            written["tool_choice"] = _choice(options)
        return written

    def check_options(self, options: CallOptions) -> None:
        super().check_options(options)
        self._check_sampling(options)
        if any(text.isspace() for text in options.stop):
            self.refuse("stop sequences must not be only whitespace", rule="anthropic.stop-nonblank")
        if options.tool_choice == "none" and options.parallel_tool_calls is not None:
            self.refuse('parallel_tool_calls has no effect with tool_choice="none"; leave it out')
        if options.response_schema is not None:
            self._check_response_schema(options.response_schema)

    def _check_response_schema(self, schema: dict[str, Any]) -> None:
        place = find_open_object(schema)
        if place is not None:
            reason = f"response_schema has an open object at {place}; give every object additionalProperties: false"
            self.refuse(reason, rule="anthropic.output-schema-closed")
        place = find_unsupported(schema)
        if place is not None:
            reason = f"response_schema has {place}, which Anthropic does not support; put the bound in a description"
            self.refuse(reason, rule="anthropic.output-schema-keywords")
        place = find_recursion(schema)
        if place is not None:
            reason = f"response_schema refers to itself at {place}; write out as many levels as you need"
            self.refuse(reason, rule="anthropic.output-schema-recursive")

    def check_tool(self, tool: ToolSchema) -> None:
        super().check_tool(tool)
        for name in tool.input_schema.get("properties", ()):
            if not _PROPERTY.fullmatch(name):
                reason = f"the parameter {name!r} of the tool {tool.name!r} must match {_PROPERTY.pattern}"
                self.refuse(reason, rule="anthropic.property-key-pattern")


_BLANK: Final = "its text is blank, which Anthropic answers with 400; leave the message out"
_CHOICES: Final = {"auto": "auto", "none": "none", "required": "any"}


def _blank(part: TextPart) -> bool:
    return not part.text or part.text.isspace()


def _result(call_id: str, answer: ToolResultMessage) -> Payload:
    written: Payload = {"type": "tool_result", "tool_use_id": call_id, "content": answer.content}
    return written | {"is_error": True} if answer.status == "error" else written


def _tool(tool: ToolSchema) -> Payload:
    schema = {"type": "object", **tool.input_schema}  # anthropic.input-schema-object
    return {"name": tool.name, "description": tool.description, "input_schema": schema}


def _append_system(messages: list[Payload], block: Payload) -> None:
    """Adds a late system message; neighbours are blocks of one message."""
    if messages[-1]["role"] == "system":
        messages[-1]["content"].append(block)
    else:
        messages.append({"role": "system", "content": [block]})


def _find_placed(conversation: Conversation) -> Iterator[int]:
    """The indexes of the late system messages that stand where Anthropic takes them."""
    run: list[int] = []
    before: UserTurn | AssistantTurn | None = None
    for turn in (*conversation.turns, None):
        if isinstance(turn, SystemTurn):
            run += [turn.index] if turn.late and not turn.splits else []
            continue
        follows_user = isinstance(before, UserTurn) or (isinstance(before, AssistantTurn) and bool(before.calls))
        if follows_user and not isinstance(turn, UserTurn):
            yield from run
        run, before = [], turn


def _choice(options: CallOptions) -> Payload:
    kind = _CHOICES.get(options.tool_choice or "auto")
    written: Payload = {"type": kind} if kind else {"type": "tool", "name": options.tool_choice}
    if options.parallel_tool_calls is not None:
        written["disable_parallel_tool_use"] = not options.parallel_tool_calls
    return written


def _settings(options: CallOptions) -> Payload:
    schema = options.response_schema
    written: Payload = {
        "temperature": options.temperature,
        "top_p": options.top_p,
        "stop_sequences": list(options.stop) or None,
        "output_config": None if schema is None else {"format": {"type": "json_schema", "schema": schema}},
    }
    return {name: value for name, value in written.items() if value is not None}
