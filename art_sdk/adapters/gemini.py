"""Google Gemini, by its generateContent API.

At the provider's limits: the system prompt stands apart, so a late system message is refused unless
the call says `late_system="hoist"`; a result becomes `{"output": text}`, or `{"error": text}` for a
failed one, the keys that Google's own client documents; results follow the order of their calls;
tool schemas go through `parametersJsonSchema`, which takes JSON Schema whole; a turn of calls is
joined with the model's turn before it. Message names have no place and are dropped (declared).
Gemini 3 wants its thought signatures back in tool loops; until this adapter declares `reasoning`,
use it with 2.5 models. Source of the request's fields: `google.genai.types`, and recorded requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from art_sdk.adapters.answers import Answer, CallInfo, Text, Thinking, Usage
from art_sdk.adapters.base import BaseAdapter, Payload
from art_sdk.conversation import AssistantTurn, Conversation, SystemTurn, UserTurn, parse_arguments
from art_sdk.messages import (
    ArtStandardPrompt,
    FunctionCall,
    NonEmpty,
    TextPart,
    ToolCall,
    ToolResultMessage,
    ToolSchema,
)
from art_sdk.options import CallOptions
from art_sdk.stream import StopReason
from art_sdk.transport import ResponseHead

_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")  # gemini.function-name
_TEMPERATURE: Final = (0.0, 2.0)  # gemini.temperature
_SAMPLING: Final = {"temperature": "temperature", "top_p": "topP", "max_tokens": "maxOutputTokens"}


class GeminiAdapter(BaseAdapter):
    """Translates to `POST /models/<model>:generateContent`."""

    provider_name = "gemini"
    dialect = "gemini-generate"
    default_model = "gemini-2.5-flash"
    default_base_url = "https://generativelanguage.googleapis.com/v1beta"
    capabilities = frozenset({"system", "tools", "parallel_tools", "tool_choice", "response_schema", "stop", "prefill"})
    losses = frozenset({"message_name"})
    repairs = frozenset({"joins_turns", "hoists_late_system", "drops_blank_text", "wraps_result"})

    def endpoint(self, options: CallOptions) -> str:
        from urllib.parse import quote  # noqa: PLC0415 - kept out of `import art_sdk`

        model = (options.model or self.model).removeprefix("models/")
        return f"/models/{quote(model, safe='')}:generateContent"

    def auth_headers(self) -> dict[str, str]:
        return {"x-goog-api-key": self._api_key}

    def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> Payload:
        conversation = self.check(prompt, options)
        for name in set(conversation.tool_of.values()):
            self._hold_name(name, "the called tool", conversation)
        contents = self._contents(conversation)
        if not contents:
            self.refuse("nothing but system messages; Gemini needs a user message")
        payload: Payload = {"contents": contents}
        system = [{"text": turn.message.content} for turn in conversation.turns if isinstance(turn, SystemTurn)]
        if system:  # an empty text is taken here: recorded with status 200 in 2026, against older reports
            payload["systemInstruction"] = {"parts": system}
        payload |= self._tools(options)
        config = self._generation_config(options)
        if config:
            payload["generationConfig"] = config
        return self.merge_provider_fields(payload, options)

    def parse_answer(self, head: ResponseHead, body: bytes, info: CallInfo) -> Answer:
        answer = _decode_answer(body)
        usage = _usage(answer.usage_metadata)
        request_id = head.headers.get(self.request_id_header) or answer.response_id
        if answer.candidates:
            candidate = answer.candidates[0]
            if candidate.finish_reason is None:
                message = "candidates[0].finishReason is missing: the answer is not finished"
                raise ValueError(message)
            parts = candidate.content.parts
            pieces = tuple(_pieces(parts, info))
            reason = _stop_reason(candidate.finish_reason, pieces)
            if reason == "stop" and all(part.text is None or part.thought for part in parts):
                message = "candidates[0].content has neither text nor a call, and finishReason is STOP"
                raise ValueError(message)
            raw = candidate.finish_reason
        elif answer.prompt_feedback is not None and answer.prompt_feedback.block_reason:
            pieces, reason, raw = (), "content_filter", answer.prompt_feedback.block_reason
        else:
            message = "neither candidates nor a block reason"
            raise ValueError(message)
        return Answer(pieces=pieces, stop_reason=reason, raw_stop_reason=raw, usage=usage, request_id=request_id)

    def _contents(self, conversation: Conversation) -> list[Payload]:
        contents: list[Payload] = []
        for turn in conversation.turns:
            if type(turn) is AssistantTurn:  # `type() is`, not `match`: this is the hot loop
                self._append_assistant(contents, turn)
            elif type(turn) is UserTurn:
                contents.append({"role": "user", "parts": self._user_parts(turn)})
        return contents

    def _user_parts(self, turn: UserTurn) -> list[Payload]:
        content = turn.message.content
        if content and isinstance(content, str):
            return [{"text": content}]
        texts = [content] if isinstance(content, str) else [p.text for p in content if isinstance(p, TextPart)]
        parts = [{"text": text} for text in texts if text]
        if not parts:  # gemini.part-has-data
            self.refuse(_EMPTY_TEXT, index=turn.index, rule="gemini.part-has-data")
        return parts

    def _append_assistant(self, contents: list[Payload], turn: AssistantTurn) -> None:
        """The model's turn, then all results of its calls in one turn (gemini.response-count)."""
        parts: list[Payload] = [{"text": turn.message.content}] if turn.message.content else []
        parts += [self._call(call, at) for call, at in zip(turn.calls, turn.places, strict=True)]
        if not parts:
            self.refuse("an assistant message with neither text nor calls; leave it out", index=turn.index)
        if not turn.calls:
            contents.append({"role": "model", "parts": parts})
            return
        self._append_calls(contents, parts, turn)
        results = [_result(call, answer) for call, answer in turn.answers_in_call_order()]
        contents.append({"role": "user", "parts": results})

    def _append_calls(self, contents: list[Payload], parts: list[Payload], turn: AssistantTurn) -> None:
        """gemini.call-after-user: calls come right after a user's turn, so they join a model's turn before them."""
        if not contents:
            reason = "a conversation cannot begin with a tool call; put the user's message before it"
            self.refuse(reason, index=turn.index, call_id=turn.calls[0].id, rule="gemini.call-after-user")
        if contents[-1]["role"] == "model":
            contents[-1]["parts"] += parts
        else:
            contents.append({"role": "model", "parts": parts})

    def _call(self, call: ToolCall, index: int) -> Payload:
        try:
            arguments = parse_arguments(call.function.arguments)
        except ValueError as error:  # gemini.response-is-object
            self.refuse(str(error), index=index, call_id=call.id, rule="gemini.response-is-object")
        return {"functionCall": {"id": call.id, "name": call.function.name, "args": arguments}}

    def _tools(self, options: CallOptions) -> Payload:
        if options.parallel_tool_calls is not None:
            self.refuse("Gemini has no switch for parallel calls; leave parallel_tool_calls unset")
        if options.tool_choice is not None and not options.tools:
            self.refuse("tool_choice is only allowed with tools")
        if not options.tools:
            return {}
        written: Payload = {"tools": [{"functionDeclarations": [self._tool(tool) for tool in options.tools]}]}
        if options.tool_choice is not None:
            written["toolConfig"] = {"functionCallingConfig": _calling_config(options.tool_choice)}
        return written

    def _tool(self, tool: ToolSchema) -> Payload:
        self._hold_name(tool.name, "the tool")
        written: Payload = {"name": tool.name, "description": tool.description}
        written["parametersJsonSchema"] = tool.input_schema  # gemini.schema-unknown-keyword: not `parameters`
        if tool.output_schema is not None:
            written["responseJsonSchema"] = tool.output_schema
        return written

    def _hold_name(self, name: str, whose: str, conversation: Conversation | None = None) -> None:
        if not _NAME.fullmatch(name):
            reason = f"the name of {whose}, {name!r}, must match {_NAME.pattern}; rename the tool"
            index = conversation.first_call(name) if conversation else None
            self.refuse(reason, index=index, rule="gemini.function-name")

    def _generation_config(self, options: CallOptions) -> Payload:
        low, high = _TEMPERATURE
        if options.temperature is not None and not low <= options.temperature <= high:
            self.refuse(
                f"temperature is {options.temperature}; it goes from {low} to {high}", rule="gemini.temperature"
            )
        config: Payload = {
            theirs: value for ours, theirs in _SAMPLING.items() if (value := getattr(options, ours)) is not None
        }
        if options.stop:
            config["stopSequences"] = list(options.stop)
        if options.response_schema is not None:  # gemini.response-schema-mime
            config |= {"responseMimeType": "application/json", "responseJsonSchema": options.response_schema}
        return config


_EMPTY_TEXT: Final = "its text is empty, which Gemini answers with 400; leave the message out"


def _result(call: ToolCall, answer: ToolResultMessage) -> Payload:
    key = "error" if answer.status == "error" else "output"
    response = {key: answer.content}
    return {"functionResponse": {"id": call.id, "name": call.function.name, "response": response}}


_MODES: Final = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


def _calling_config(choice: str) -> Payload:
    mode = _MODES.get(choice)
    if mode is not None:
        return {"mode": mode}
    return {"mode": "ANY", "allowedFunctionNames": [choice]}  # gemini.allowed-names-any


# What Gemini answers: the fields that are read, the rest is left alone.


class _FunctionCall(Struct):
    name: NonEmpty
    args: dict[str, Any] = field(default_factory=dict[str, Any])
    id: str | None = None


class _Part(Struct, rename="camel"):
    text: str | None = None
    thought: bool = False
    function_call: _FunctionCall | None = None


class _Content(Struct):
    parts: list[_Part] = field(default_factory=list[_Part])


class _Candidate(Struct, rename="camel"):
    content: _Content = field(default_factory=_Content)
    finish_reason: str | None = None


class _Feedback(Struct, rename="camel"):
    block_reason: str | None = None


class _Usage(Struct, rename="camel"):
    prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    cached_content_token_count: int | None = None


class _Answer(Struct, rename="camel"):
    candidates: list[_Candidate] | None = None
    prompt_feedback: _Feedback | None = None
    usage_metadata: dict[str, Any] | None = None
    response_id: str | None = None


_decode_answer: Final = msgspec.json.Decoder(_Answer).decode
_encode: Final = msgspec.json.Encoder().encode

_STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "IMAGE_SAFETY": "content_filter",
}


def _pieces(parts: list[_Part], info: CallInfo) -> Iterator[Text | Thinking | ToolCall]:
    fresh = info.fresh_call_ids()
    for part in parts:
        if part.function_call is not None:
            call, own = part.function_call, next(fresh)
            yield ToolCall(call.id or own, FunctionCall(call.name, _encode(call.args).decode()))
        elif part.text:
            yield Thinking(part.text) if part.thought else Text(part.text)


def _stop_reason(raw: str, pieces: tuple[Text | Thinking | ToolCall, ...]) -> StopReason:
    """Gemini says STOP beside calls, too (425 of 432 recorded answers with calls)."""
    reason: StopReason = _STOP_REASONS.get(raw, "other")
    called = any(isinstance(piece, ToolCall) for piece in pieces)
    return "tool_calls" if reason == "stop" and called else reason


def _usage(raw: dict[str, Any] | None) -> Usage:
    """Gemini counts thoughts beside the candidates' tokens; `output_tokens` is both."""
    if raw is None:
        return Usage()
    usage = msgspec.convert(raw, _Usage)
    visible, thoughts = usage.candidates_token_count, usage.thoughts_token_count
    known = visible is not None or thoughts is not None
    return Usage(
        input_tokens=usage.prompt_token_count,
        output_tokens=(visible or 0) + (thoughts or 0) if known else None,
        thinking_tokens=thoughts,
        cached_tokens=usage.cached_content_token_count,
        raw=raw,
    )
