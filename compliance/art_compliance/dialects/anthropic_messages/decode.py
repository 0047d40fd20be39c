"""Decodes `anthropic-messages`.

These forms decode to the same: text as a string or as a list of text blocks (each block of the system prompt is one
message; those of an assistant message or a result are one text); `is_error` false and absent; an empty list of tools
and none. A system message may stand inside the conversation. Neighbouring texts and images of a user message are one
message; results are messages of their own. A block of an assistant message that is neither text nor a call becomes
one of its extensions. Where Bedrock or Vertex AI hosts the model, the URL has it, and whether to stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from art_compliance.dialects.anthropic_messages.hosted import options_of
from art_compliance.dialects.decoding import (
    Decoded,
    DecodeFailed,
    Fields,
    Ledger,
    PromptBuilder,
    call_of,
    has_more_than_blanks,
    keep_blocks,
)
from art_compliance.quoting import show
from art_sdk import AssistantMessage, ImagePart, SystemMessage, TextPart, ToolCall, ToolResultMessage, ToolSchema
from art_sdk.json_data import is_object

NAME: Final = "anthropic-messages"
_SAME_NAME: Final = ("model", "max_tokens", "temperature", "top_p", "stream")


def decode(payload: object, *, url: str | None = None) -> Decoded:
    """The request in the standard format. Raises DecodeFailed."""
    ledger = Ledger()
    with ledger.open(payload, "") as body:
        messages = _Messages(ledger)
        messages.read_system(body)
        for index, message in enumerate(body.take_list("messages")):
            messages.read(message, f"/messages/{index}")
        tools = tuple(_tools(ledger, body))
        options = options_of(url) | _options(ledger, body)
    prompt = messages.prompt.messages
    return Decoded(prompt=prompt, tools=tools, options=options, opaque=ledger.opaque, places=ledger.places)


class _Messages:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.prompt = PromptBuilder(ledger)

    def read_system(self, body: Fields) -> None:
        """The system prompt, which has its own field."""
        for text, pointer in self._texts(body, "system"):
            self.prompt.add(SystemMessage(text), pointer)

    def read(self, message: object, pointer: str) -> None:
        with self._ledger.open(message, pointer) as fields:
            role = fields.take_text("role")
            if role == "user":
                self._user(fields)
            elif role == "assistant":
                self._assistant(fields)
            elif role == "system":
                for text, place in self._texts(fields, "content"):
                    self.prompt.add(SystemMessage(text), place)
            else:
                found = "the message has no role" if role is None else f"unknown role {show(role)}"
                raise DecodeFailed(f"{pointer}/role", found)

    def _user(self, fields: Fields) -> None:
        for block, kind in self._blocks(fields, "content"):
            if kind == "tool_result":
                self.prompt.add(self._result(block), block.pointer)
            elif kind == "text":
                self.prompt.add_part(TextPart(block.take_text("text") or ""), block.pointer)
            elif kind == "image" and not _is_file(block):
                self.prompt.add_part(self._image(block), block.pointer)
            else:
                block.put_back("type", kind)
        self.prompt.end_user()

    def _image(self, block: Fields) -> ImagePart:
        with self._ledger.open(block.take("source"), f"{block.pointer}/source") as source:
            kind = source.take_text("type")
            if kind == "url":
                return ImagePart("image/*", url=source.take_text("url") or "")
            if kind != "base64":
                raise DecodeFailed(f"{source.pointer}/type", f"unknown image source {show(kind)}")
            return ImagePart(source.take_text("media_type") or "image/*", data=source.take_text("data") or "")

    def _result(self, block: Fields) -> ToolResultMessage:
        failed = block.take("is_error")
        call_id = block.take_text("tool_use_id")
        text = "".join(text for text, _ in self._texts(block, "content"))
        return ToolResultMessage(text, call_id or "unknown", None, "error" if failed else "success")

    def _assistant(self, fields: Fields) -> None:
        texts: list[str] = []
        calls: list[ToolCall] = []
        kept: list[tuple[dict[str, Any], int, bool]] = []
        for block, kind in self._blocks(fields, "content"):
            if kind == "text":
                texts.append(block.take_text("text") or "")
            elif kind == "tool_use":
                self.prompt.place_call(len(calls), block.pointer)
                calls.append(_call(block))
            else:
                follows_text = bool(calls) or has_more_than_blanks(texts)
                kept.append(({"type": kind, **block.left}, len(calls), follows_text))
                block.left.clear()
        extensions = keep_blocks(NAME, kept, has_text=has_more_than_blanks(texts))
        message = AssistantMessage("".join(texts) if texts else None, tuple(calls), extensions=extensions)
        self.prompt.add(message, fields.pointer)

    def _texts(self, fields: Fields, name: str) -> Iterator[tuple[str, str]]:
        for block, kind in self._blocks(fields, name):
            if kind == "text":
                yield block.take_text("text") or "", block.pointer
            else:
                block.put_back("type", kind)

    def _blocks(self, fields: Fields, name: str) -> Iterator[tuple[Fields, str]]:
        """The blocks of a content, each with its type."""
        for block, kind in self._ledger.parts(fields, name):
            if kind is None:
                raise DecodeFailed(f"{block.pointer}/type", "the block has no type")
            yield block, kind


def _is_file(block: Fields) -> bool:
    """Whether an image was uploaded before; the standard format has no slot for an image's id."""
    source = block.left.get("source")
    return is_object(source) and source.get("type") == "file"


def _call(block: Fields) -> ToolCall:
    call_id, name = block.take_text("id") or "", block.take_text("name") or ""
    arguments = block.take_object("input")
    if arguments is None:
        raise DecodeFailed(f"{block.pointer}/input", "the call has no input; it must be an object")
    return call_of(call_id, name, json.dumps(arguments, ensure_ascii=False))


def _tools(ledger: Ledger, body: Fields) -> Iterator[ToolSchema]:
    for index, item in enumerate(body.take_list("tools")):
        pointer = f"/tools/{index}"
        with ledger.open(item, pointer) as tool:
            kind = tool.take_text("type")
            if kind not in (None, "custom"):
                tool.put_back("type", kind)
                continue
            ledger.place_tool(pointer)
            takes = tool.take_object("input_schema") or {}
            yield ToolSchema(tool.take_text("name") or "", tool.take_text("description") or "", takes)


def _options(ledger: Ledger, body: Fields) -> dict[str, Any]:
    found: dict[str, tuple[Any, str]] = {name: (body.take(name), f"/{name}") for name in _SAME_NAME}
    found["stop"] = (tuple(body.take_list("stop_sequences")) or None, "/stop_sequences")
    found["response_schema"] = _response_schema(ledger, body)
    choice, parallel = _tool_choice(ledger, body)
    found["tool_choice"] = (choice, "/tool_choice")
    found["parallel_tool_calls"] = (parallel, "/tool_choice/disable_parallel_tool_use")
    return ledger.options(found)


_CHOICES: Final[Mapping[str | None, str]] = {"auto": "auto", "none": "none", "any": "required"}


def _tool_choice(ledger: Ledger, body: Fields) -> tuple[str | None, bool | None]:
    choice = body.take_object("tool_choice")
    if choice is None:
        return None, None
    with ledger.open(choice, "/tool_choice") as fields:
        kind = fields.take_text("type")
        alone = fields.take("disable_parallel_tool_use")
        name = fields.take_text("name") if kind == "tool" else _CHOICES.get(kind)
        if name is None:
            raise DecodeFailed("/tool_choice", f"unknown tool choice {show(kind)}")
        return name, None if alone is None else not alone


_FORMAT: Final = "/output_config/format"
_OLD_FORMAT: Final = "/output_format"
"""Where the beta structured-outputs-2025-11-13 had it."""


def _response_schema(ledger: Ledger, body: Fields) -> tuple[dict[str, Any] | None, str]:
    """The schema of the answer, and where it is."""
    old = body.take("output_format")
    if old is not None:
        schema = _schema_of(ledger, old, _OLD_FORMAT)
        if schema is not None:
            return schema, _OLD_FORMAT
        body.put_back("output_format", old)
    config = body.take_object("output_config")
    if config is None:
        return None, _FORMAT
    with ledger.open(config, "/output_config") as outer:
        wanted = outer.take("format")
        schema = _schema_of(ledger, wanted, _FORMAT)
        if schema is None:
            outer.put_back("format", wanted)
        return schema, _FORMAT


def _schema_of(ledger: Ledger, wanted: object, pointer: str) -> dict[str, Any] | None:
    if not is_object(wanted) or wanted.get("type") != "json_schema":
        return None
    with ledger.open(wanted, pointer) as fields:
        fields.take("type")
        return fields.take_object("schema")
