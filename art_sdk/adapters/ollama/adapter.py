"""Ollama, by its own chat API (`/api/chat`), on this machine unless `base_url` says otherwise.

At the provider's limits: calls have no ids, so results follow the order of their calls and name their tool, and
the calls of an answer are numbered (`call_1`, counted through the conversation) unless the server gives ids.
Arguments are JSON objects, images are data. A message has one text and images before it: a user message with more
parts is sent as several, which the server's templates join again. The server drops what it does not know
without a word, so the choice of a tool is refused, and `parallel_tool_calls` is a declared loss. Of a tool's
schema it reads `type`, `properties`, `items`, `required`, `enum`, `anyOf`, `description` and `$defs`, no more.
Source: `ChatRequest` in github.com/ollama/ollama, api/types.go, docs.ollama.com/api/chat, and recorded requests.
"""

from __future__ import annotations

from typing import Any, Final

from art_sdk.adapters.answers import Answer, CallInfo
from art_sdk.adapters.base import BaseAdapter
from art_sdk.adapters.capabilities import CAPABILITIES
from art_sdk.adapters.images import standard_base64
from art_sdk.adapters.ollama.answers import parse_chat
from art_sdk.adapters.ollama.schemas import find_odd_schema
from art_sdk.adapters.payload import Payload
from art_sdk.adapters.reading import AnswerStream
from art_sdk.adapters.refusals import naming_roles
from art_sdk.conversation import AssistantTurn, SystemTurn, UserTurn
from art_sdk.http.framing import Frames, JsonLines
from art_sdk.http.transport import ResponseHead
from art_sdk.messages import ArtStandardPrompt, ImagePart, TextPart, ToolCall, ToolSchema
from art_sdk.options import CallOptions

_SAMPLING: Final = {"temperature": "temperature", "top_p": "top_p", "max_tokens": "num_predict"}


class OllamaChatAdapter(BaseAdapter):
    """Translates to `POST /chat` below `/api`. A local Ollama takes any key; ollama.com wants yours."""

    provider_name = "ollama-chat"  # that of its OpenAI-compatible API is `ollama`
    dialect = "ollama-chat"
    default_model = "gpt-oss:20b"
    default_base_url = "http://localhost:11434/api"  # docs.ollama.com/api/introduction
    stream_type = "application/x-ndjson"
    capabilities = CAPABILITIES - {"tool_choice", "prefill"}  # ollama.unknown-ignored; templates may not continue
    image_types = frozenset({"image/png", "image/jpeg", "image/webp"})
    history_field = "messages"
    losses = frozenset(
        {
            "message_name",
            "result_status",
            "call_ids",
            "tool_output_schema",
            "sampling_option:parallel_tool_calls",
        }
    )
    repairs = frozenset({"joins_turns"})

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
                self._append_user(messages, turn)
            elif type(turn) is SystemTurn:
                messages.append(self._system(turn))
        if not messages:
            self.refuse("it is empty; add at least one message", rule="ollama.empty-messages-load")
        payload: Payload = {"model": options.model or self.model, "messages": messages, "stream": options.stream}
        payload |= self.written_options(options)
        return self.merge_provider_fields(payload, options)

    def write_options(self, options: CallOptions) -> Payload:
        written: Payload = {"tools": [_tool(tool) for tool in options.tools]} if options.tools else {}
        if options.response_schema is not None:
            written["format"] = options.response_schema
        settings = _settings(options)
        return written | {"options": settings} if settings else written

    def check_tool(self, tool: ToolSchema) -> None:
        super().check_tool(tool)
        odd = find_odd_schema(tool.input_schema)
        if odd is not None:
            self.refuse(f"Ollama cannot read the schema of the tool {tool.name!r}: {odd}", rule=_SCHEMA_RULE)

    def parse_answer(self, head: ResponseHead, body: bytes, info: CallInfo) -> Answer:
        return parse_chat(body, info, request_id=head.headers.get(self.request_id_header))

    def answer_stream(self, head: ResponseHead, info: CallInfo) -> AnswerStream:
        from art_sdk.adapters.ollama.stream import ChatLines  # noqa: PLC0415 - kept out of `import art_sdk`

        return ChatLines(info, request_id=head.headers.get(self.request_id_header))

    def stream_frames(self) -> Frames:
        return JsonLines(self.size_limits.of_event())

    def _system(self, turn: SystemTurn) -> Payload:
        if turn.splits:
            self.refuse("it comes between a call and its result; move it before or after them", index=turn.index)
        return {"role": "system", "content": turn.message.content}

    def _append_user(self, messages: list[Payload], turn: UserTurn) -> None:
        """One message, or several: in each, the images stand before the text."""
        content = turn.message.content
        if isinstance(content, str):
            messages.append({"role": "user", "content": content})
            return
        if not content:
            self.refuse("it has no parts; leave the message out", index=turn.index)
        images: list[str] = []
        for part in content:
            if isinstance(part, TextPart):
                messages.append(_user(part.text, images))
                images = []
            else:
                images.append(self._image(part, turn))
        if images:
            messages.append(_user("", images))

    def _image(self, image: ImagePart, turn: UserTurn) -> str:
        self.check_image(image, turn)
        if image.data is None:
            self.refuse("it has an image URL; pass the image's data", index=turn.index, rule="ollama.images-base64")
        return standard_base64(image.data)

    def _append_assistant(self, messages: list[Payload], turn: AssistantTurn) -> None:
        """The assistant's message, and one tool message for each of its calls, in their order."""
        message, calls = turn.message, turn.calls
        kept = (message.extensions or {}).get(self.dialect)
        if message.content is None and not calls and not kept:
            self.refuse("it has neither text nor tool calls; leave the message out", index=turn.index)
        written: Payload = {"role": "assistant"}
        if calls or message.content is not None:
            written["content"] = message.content or ""
        if kept:
            written["thinking"] = self._thinking(kept, turn)
        messages.append(written)
        if not calls:
            return
        written["tool_calls"] = [self._call(call, index) for call, index in zip(calls, turn.places, strict=True)]
        for call, answer in turn.answers_in_call_order():
            messages.append({"role": "tool", "content": answer.content, "tool_name": call.function.name})

    def _thinking(self, kept: dict[str, Any], turn: AssistantTurn) -> str:
        """The model's reasoning, which goes back as it came."""
        thinking = kept.get("thinking")
        if kept.keys() != {"thinking"} or not isinstance(thinking, str):
            reason = f"its extensions for {self.dialect} are wrong; do not change the message of an answer"
            self.refuse(reason, index=turn.index)
        return thinking

    def _call(self, call: ToolCall, index: int) -> Payload:
        arguments = self.arguments_of(call, index, "ollama.arguments-object")
        return {"function": {"name": call.function.name, "arguments": arguments}}


_SCHEMA_RULE: Final = "ollama.properties-object"


def _user(text: str, images: list[str]) -> Payload:
    written: Payload = {"role": "user", "content": text}
    return written | {"images": images} if images else written


def _tool(tool: ToolSchema) -> Payload:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


def _settings(options: CallOptions) -> Payload:
    written: Payload = {
        theirs: value for ours, theirs in _SAMPLING.items() if (value := getattr(options, ours)) is not None
    }
    return written | {"stop": list(options.stop)} if options.stop else written
