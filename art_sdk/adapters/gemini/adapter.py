"""Google Gemini, by its generateContent API.

At the provider's limits: the system prompt is its own field, so a late system message is refused unless
the call says `late_system="hoist"`; a result becomes `{"output": text}`, or `{"error": text}` for a
failed one, the keys that Google's own client documents; results follow the order of their calls;
tool schemas go through `parametersJsonSchema`, which takes all of JSON Schema; a model's turn is
joined with the model's turn before it; Gemini 2 takes tools or a response schema. Message names have
no place and are dropped (declared).
Gemini 3 refuses a tool loop without its thought signatures: they are kept in the `extensions` of an
answer's message, and go back with it. Images: inline, or by a URI that Gemini can read (the types:
ai.google.dev/gemini-api/docs/image-understanding).
Source of the request's fields: `google.genai.types`, and recorded requests.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from art_sdk.adapters.answers import Answer, CallInfo
from art_sdk.adapters.base import BaseAdapter
from art_sdk.adapters.capabilities import CAPABILITIES
from art_sdk.adapters.gemini.answers import parse_generated
from art_sdk.adapters.gemini.kept import put_back, read_kept
from art_sdk.adapters.images import ANY_IMAGE, standard_base64
from art_sdk.adapters.payload import Payload
from art_sdk.adapters.reading import AnswerStream
from art_sdk.adapters.refusals import naming_roles
from art_sdk.adapters.rules import CountRule, NameRule, RangeRule
from art_sdk.conversation import AssistantTurn, Conversation, SystemTurn, UserTurn
from art_sdk.http.transport import ResponseHead
from art_sdk.json_data import is_array, is_object
from art_sdk.messages import (
    ArtStandardPrompt,
    ImagePart,
    Part,
    TextPart,
    ToolCall,
    ToolResultMessage,
    ToolSchema,
)
from art_sdk.options import CallOptions

_SAMPLING: Final = {"temperature": "temperature", "top_p": "topP", "max_tokens": "maxOutputTokens"}


class GeminiAdapter(BaseAdapter):
    """Translates to `POST /models/<model>:generateContent`, or `:streamGenerateContent?alt=sse`."""

    provider_name = "gemini"
    dialect = "gemini-generate"
    default_model = "gemini-2.5-flash"
    default_base_url = "https://generativelanguage.googleapis.com/v1beta"
    capabilities = CAPABILITIES - {"late_system"}
    image_types = frozenset(f"image/{kind}" for kind in ("png", "jpeg", "webp", "heic", "heif"))
    history_field = "contents"
    tool_names = NameRule(re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"), "gemini.function-name")
    ranges: ClassVar[Mapping[str, RangeRule]] = {"temperature": RangeRule(0.0, 2.0, "gemini.temperature")}
    # the error's text: continuedev/continue#7849
    counts: ClassVar[Mapping[str, CountRule]] = {"stop": CountRule(5, "gemini.stop-max5")}
    losses = frozenset({"message_name"})
    repairs = frozenset({"joins_turns", "hoists_late_system", "drops_blank_text", "wraps_result", "renames_tools"})

    def endpoint(self, options: CallOptions) -> str:
        from urllib.parse import quote  # noqa: PLC0415 - kept out of `import art_sdk`

        model = (options.model or self.model).removeprefix("models/")
        method = "streamGenerateContent?alt=sse" if options.stream else "generateContent"  # without alt: a JSON array
        return f"/models/{quote(model, safe='')}:{method}"

    def auth_headers(self) -> dict[str, str]:
        return {"x-goog-api-key": self._api_key}

    @naming_roles
    def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> Payload:
        conversation = self.check(prompt, options)
        contents = self._contents(conversation)
        if not contents:
            self.refuse_without_messages(prompt)
        payload: Payload = {"contents": contents}
        system = [{"text": turn.message.content} for turn in conversation.turns if isinstance(turn, SystemTurn)]
        if system:  # an empty text is taken here: recorded with status 200 in 2026, against older reports
            payload["systemInstruction"] = {"parts": system}
        payload |= self.written_options(options)
        return self.merge_provider_fields(payload, options)

    def check_options(self, options: CallOptions) -> None:
        super().check_options(options)
        if options.parallel_tool_calls is not None:
            self.refuse("Gemini does not support parallel_tool_calls; leave parallel_tool_calls unset")
        model = (options.model or self.model).removeprefix("models/")
        if options.tools and options.response_schema is not None and model.startswith("gemini-2."):
            reason = f"{model} supports tools or a response_schema, not both; leave one out, or use a newer model"
            self.refuse(reason, rule="gemini.json-or-functions")

    def has_tools(self, options: CallOptions) -> bool:
        """Gemini's own tools alone take no choice (gemini.calling-config-needs-functions)."""
        own: Any = self.provider_fields(options).get("tools")
        groups: list[Any] = [*own] if is_array(own) else []
        return bool(options.tools) or any(is_object(one) and "functionDeclarations" in one for one in groups)

    def parse_answer(self, head: ResponseHead, body: bytes, info: CallInfo) -> Answer:
        request_id = head.headers.get(self.request_id_header)
        if not body.lstrip().startswith(b"["):
            return parse_generated(body, info, request_id=request_id)
        from art_sdk.adapters.gemini.stream import parse_array  # noqa: PLC0415 - kept out of `import art_sdk`

        return parse_array(body, info, request_id=request_id)

    def answer_stream(self, head: ResponseHead, info: CallInfo) -> AnswerStream:
        from art_sdk.adapters.gemini.stream import GeneratedStream  # noqa: PLC0415 - kept out of `import art_sdk`

        return GeneratedStream(info, request_id=head.headers.get(self.request_id_header))

    def _contents(self, conversation: Conversation) -> list[Payload]:
        contents: list[Payload] = []
        for turn in conversation.turns:
            if type(turn) is AssistantTurn:  # `type() is`, not `match`: this is the hot loop
                self._append_assistant(contents, turn)
            elif type(turn) is UserTurn:
                contents.append({"role": "user", "parts": self._user_parts(turn)})
        return contents

    def _user_parts(self, turn: UserTurn) -> list[Payload]:
        """The parts. A text may be empty, from both sides: recorded with status 200."""
        content = turn.message.content
        if isinstance(content, str):
            return [{"text": content}]
        if not content:
            self.refuse("it has no parts; leave the message out", index=turn.index)
        parts = [self._part(part, turn) for part in content if isinstance(part, ImagePart) or part.text]
        return parts or [{"text": ""}]

    def _part(self, part: Part, turn: UserTurn) -> Payload:
        if isinstance(part, TextPart):
            return {"text": part.text}
        self.check_image(part, turn)
        if part.mime_type == ANY_IMAGE:
            return {"fileData": {"fileUri": part.url}}
        if part.data is None:
            return {"fileData": {"mimeType": part.mime_type, "fileUri": part.url}}
        return {"inlineData": {"mimeType": part.mime_type, "data": standard_base64(part.data)}}

    def _append_assistant(self, contents: list[Payload], turn: AssistantTurn) -> None:
        """The model's turn, then all results of its calls in one turn (gemini.response-count)."""
        text, kept = turn.message.content, (turn.message.extensions or {}).get(self.dialect)
        is_empty = text is not None and not (turn.message.tool_calls or kept)  # an empty text is taken
        parts: list[Payload] = [{"text": text}] if text or is_empty else []
        parts += [self._call(call, at) for call, at in zip(turn.calls, turn.places, strict=True)]
        if kept:
            self._sign(parts, turn, kept)
        if not parts:
            self.refuse("it has neither text nor tool calls; leave the message out", index=turn.index)
        if turn.calls and (not contents or (len(contents) == 1 and contents[0]["role"] == "model")):
            reason = "a conversation cannot begin with a tool call; add a user message before it"
            self.refuse(reason, index=turn.index, call_id=turn.calls[0].id, rule="gemini.call-after-user")
        _append_to_model(contents, parts)
        if not turn.calls:
            return
        results = [_result(call, answer) for call, answer in turn.answers_in_call_order()]
        contents.append({"role": "user", "parts": results})

    def _sign(self, parts: list[Payload], turn: AssistantTurn, extension: dict[str, Any]) -> None:
        """Puts thought signatures back on the parts that they came with (gemini.thought-signature), and other parts."""
        try:
            put_back(parts, read_kept(extension), call_count=len(turn.calls))
        except ValueError as error:
            reason = f"its extensions for {self.dialect} were not written by this adapter: {error}"
            self.refuse(reason, index=turn.index)

    def write_options(self, options: CallOptions) -> Payload:
        config = _generation_config(options)
        return self._tools(options) | ({"generationConfig": config} if config else {})

    def _tools(self, options: CallOptions) -> Payload:
        if not self.has_tools(options):
            return {}
        declared = [_tool(tool) for tool in options.tools]
        written: Payload = {"tools": [{"functionDeclarations": declared}]} if declared else {}
        if options.tool_choice is not None:
            written["toolConfig"] = {"functionCallingConfig": _calling_config(options.tool_choice)}
        return written

    def _call(self, call: ToolCall, index: int) -> Payload:
        arguments = self.arguments_of(call, index, "gemini.args-is-object")
        return {"functionCall": {"id": call.id, "name": call.function.name, "args": arguments}}


def _append_to_model(contents: list[Payload], parts: list[Payload]) -> None:
    """Joins a turn of calls with a model's turn before it (gemini.call-after-model).

    A turn of text is joined too: the next message may extend it by a call, and that must not change how
    earlier messages are written.
    """
    if contents and contents[-1]["role"] == "model":
        contents[-1]["parts"] += parts
    else:
        contents.append({"role": "model", "parts": parts})


def _generation_config(options: CallOptions) -> Payload:
    config: Payload = {
        theirs: value for ours, theirs in _SAMPLING.items() if (value := getattr(options, ours)) is not None
    }
    if options.stop:
        config["stopSequences"] = list(options.stop)
    if options.response_schema is not None:  # gemini.response-schema-mime
        config |= {"responseMimeType": "application/json", "responseJsonSchema": options.response_schema}
    return config


def _tool(tool: ToolSchema) -> Payload:
    written: Payload = {"name": tool.name, "description": tool.description}
    written["parametersJsonSchema"] = tool.input_schema  # gemini.schema-unknown-keyword: not `parameters`
    if tool.output_schema is not None:
        written["responseJsonSchema"] = tool.output_schema
    return written


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
