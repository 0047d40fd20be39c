"""Decodes `bedrock-converse`.

These forms decode to the same: a text in one block or in several (each block of the system prompt is one message;
those of an assistant message or a result are one text); a text that a guardrail examines and one that none does; a
result as text, or as the same JSON; `status` success and absent; an empty list of tools and none. A system message may
stand inside the conversation. Neighbouring texts and images of a user message are one message; results are messages of
their own. A block of an assistant message that is neither text nor a call becomes one of its extensions. The URL has
the model, and whether to stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

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
from art_compliance.dialects.framing import to_json
from art_compliance.dialects.urls import model_of, path_of
from art_compliance.quoting import show
from art_sdk import AssistantMessage, ImagePart, SystemMessage, TextPart, ToolCall, ToolResultMessage, ToolSchema
from art_sdk.json_data import is_object

NAME: Final = "bedrock-converse"
STREAM: Final = "/converse-stream"
_INFERENCE: Final = {"max_tokens": "maxTokens", "temperature": "temperature", "top_p": "topP"}


def decode(payload: object, *, url: str | None = None) -> Decoded:
    """The request in the standard format. Raises DecodeFailed."""
    ledger = Ledger()
    with ledger.open(payload, "") as body:
        messages = _Messages(ledger)
        for text, pointer in _system(ledger, body):
            messages.prompt.add(SystemMessage(text), pointer)
        for index, message in enumerate(body.take_list("messages")):
            messages.read(message, f"/messages/{index}")
        tools, choice = _tool_config(ledger, body)
        options = _of_url(url) | _options(ledger, body, choice) | _claude_options(ledger, body)
    return Decoded(
        prompt=messages.prompt.messages,
        tools=tools,
        options=options,
        opaque=ledger.opaque,
        places=ledger.places,
        json_results=messages.json_results,
    )


def wants_stream(payload: object, target: str) -> bool:
    """Whether the URL names the action that streams."""
    del payload
    return path_of(target).endswith(STREAM)


def is_servers(use: object) -> bool:
    """Whether a call is one that Bedrock carries out itself."""
    return is_object(use) and use.get("type") == "server_tool_use"


def _of_url(url: str | None) -> dict[str, Any]:
    model = model_of(url)
    streams = {"stream": True} if url is not None and wants_stream(None, url) else {}
    return {**({} if model is None else {"model": model}), **streams}


def _system(ledger: Ledger, body: Fields) -> Iterator[tuple[str, str]]:
    for index, item in enumerate(body.take_list("system")):
        with ledger.open(item, f"/system/{index}") as block:
            text = block.take_text("text") if "text" in block.left else _guarded(ledger, block)
            if text is not None:
                yield text, block.pointer


def _guarded(ledger: Ledger, block: Fields) -> str | None:
    """The text of a block that a guardrail examines; None for an image, and for a block of another kind."""
    content = block.left.get("guardContent")
    if not (is_object(content) and is_object(content.get("text"))):
        return None
    with (
        ledger.open(block.take("guardContent"), f"{block.pointer}/guardContent") as guarded,
        ledger.open(guarded.take("text"), f"{guarded.pointer}/text") as text,
    ):
        return text.take_text("text")


class _Messages:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.prompt = PromptBuilder(ledger)
        self.json_results: dict[str, tuple[Any, ...]] = {}

    def read(self, message: object, pointer: str) -> None:
        with self._ledger.open(message, pointer) as fields:
            role = fields.take_text("role")
            if role == "user":
                self._user(fields)
            elif role == "assistant":
                self._assistant(fields)
            elif role == "system":
                for block in self._blocks(fields):
                    self.prompt.add(SystemMessage(block.take_text("text") or ""), block.pointer)
            else:
                found = "the message has no role" if role is None else f"unknown role {show(role)}"
                raise DecodeFailed(f"{pointer}/role", found)

    def _blocks(self, fields: Fields) -> Iterator[Fields]:
        for index, item in enumerate(fields.take_list("content")):
            with self._ledger.open(item, f"{fields.pointer}/content/{index}") as block:
                if not block.left:
                    raise DecodeFailed(block.pointer, "the block is empty")
                yield block

    def _user(self, fields: Fields) -> None:
        for block in self._blocks(fields):
            if "text" in block.left:
                self.prompt.add_part(TextPart(block.take_text("text") or ""), block.pointer)
            elif (guarded := _guarded(self._ledger, block)) is not None:
                self.prompt.add_part(TextPart(guarded), block.pointer)
            elif is_object(block.left.get("toolResult")):
                self._result(block)
            elif is_object(block.left.get("image")):
                self.prompt.add_part(self._image(block), block.pointer)
        self.prompt.end_user()

    def _image(self, block: Fields) -> ImagePart:
        with self._ledger.open(block.take_object("image"), f"{block.pointer}/image") as image:
            kind = f"image/{image.take_text('format')}"
            with self._ledger.open(image.take("source"), f"{image.pointer}/source") as source:
                data = source.take_text("bytes")
                if data is not None:
                    return ImagePart(kind, data=data)
                with self._ledger.open(source.take("s3Location"), f"{source.pointer}/s3Location") as stored:
                    return ImagePart(kind, url=stored.take_text("uri") or "")

    def _result(self, block: Fields) -> None:
        with self._ledger.open(block.take_object("toolResult"), f"{block.pointer}/toolResult") as result:
            call_id, status = result.take_text("toolUseId"), result.take_text("status")
            texts: list[str] = []
            values: list[Any] = []
            for index, item in enumerate(result.take_list("content")):
                with self._ledger.open(item, f"{result.pointer}/content/{index}") as part:
                    if part.left.get("json") is not None:
                        values.append(part.take("json"))
                        texts.append(to_json(values[-1]))
                    else:
                        texts.append(part.take_text("text") or "")
            kind: Literal["success", "error"] = "error" if status == "error" else "success"
            message = ToolResultMessage("".join(texts), call_id or "unknown", None, kind)
            self.prompt.add(message, block.pointer)
            if values and len(texts) == 1:
                self.json_results[self.prompt.last_path] = tuple(values)

    def _assistant(self, fields: Fields) -> None:
        texts: list[str] = []
        calls: list[ToolCall] = []
        kept: list[tuple[dict[str, Any], int, bool]] = []
        for block in self._blocks(fields):
            if "text" in block.left:
                texts.append(block.take_text("text") or "")
            elif "toolUse" in block.left and not is_servers(block.left["toolUse"]):
                self.prompt.place_call(len(calls), block.pointer)
                calls.append(self._call(block))
            else:
                kept.append((dict(block.left), len(calls), bool(calls) or has_more_than_blanks(texts)))
                block.left.clear()
        extensions = keep_blocks(NAME, kept, has_text=has_more_than_blanks(texts))
        message = AssistantMessage("".join(texts) if texts else None, tuple(calls), extensions=extensions)
        self.prompt.add(message, fields.pointer)

    def _call(self, block: Fields) -> ToolCall:
        with self._ledger.open(block.take("toolUse"), f"{block.pointer}/toolUse") as use:
            call_id, name = use.take_text("toolUseId") or "", use.take_text("name") or ""
            arguments = use.take_object("input")
            if arguments is None:
                raise DecodeFailed(f"{use.pointer}/input", "the call has no input; it must be an object")
            return call_of(call_id, name, json.dumps(arguments, ensure_ascii=False))


def _tool_config(ledger: Ledger, body: Fields) -> tuple[tuple[ToolSchema, ...], str | None]:
    config = body.take_object("toolConfig")
    if config is None:
        return (), None
    with ledger.open(config, "/toolConfig") as fields:
        return tuple(_tools(ledger, fields)), _choice(ledger, fields.take_object("toolChoice"))


def _tools(ledger: Ledger, config: Fields) -> Iterator[ToolSchema]:
    for index, item in enumerate(config.take_list("tools")):
        pointer = f"/toolConfig/tools/{index}"
        with ledger.open(item, pointer) as tool:
            if not is_object(tool.left.get("toolSpec")):
                continue
            with ledger.open(tool.take("toolSpec"), f"{pointer}/toolSpec") as spec:
                ledger.place_tool(f"{pointer}/toolSpec")
                with ledger.open(spec.take("inputSchema"), f"{pointer}/toolSpec/inputSchema") as schema:
                    takes = schema.take_object("json") or {}
                yield ToolSchema(spec.take_text("name") or "", spec.take_text("description") or "", takes)


_CHOICES: Final[Mapping[str, str]] = {"auto": "auto", "any": "required"}


def _choice(ledger: Ledger, choice: dict[str, Any] | None) -> str | None:
    if choice is None:
        return None
    with ledger.open(choice, "/toolConfig/toolChoice") as fields:
        for theirs, ours in _CHOICES.items():
            if fields.take_object(theirs) is not None:
                return ours
        with ledger.open(fields.take("tool"), "/toolConfig/toolChoice/tool") as tool:
            return tool.take_text("name")


def _options(ledger: Ledger, body: Fields, choice: str | None) -> dict[str, Any]:
    found: dict[str, tuple[Any, str]] = {"tool_choice": (choice, "/toolConfig/toolChoice")}
    config = body.take_object("inferenceConfig")
    if config is not None:
        with ledger.open(config, "/inferenceConfig") as fields:
            for ours, theirs in _INFERENCE.items():
                found[ours] = (fields.take(theirs), f"/inferenceConfig/{theirs}")
            found["stop"] = (tuple(fields.take_list("stopSequences")) or None, "/inferenceConfig/stopSequences")
    found["response_schema"] = (_response_schema(ledger, body), _SCHEMA)
    return ledger.options(found)


_CLAUDE_CHOICES: Final[Mapping[str | None, str]] = {"auto": "auto", "none": "none", "any": "required"}
_CLAUDE: Final = "/additionalModelRequestFields/tool_choice"


def _claude_options(ledger: Ledger, body: Fields) -> dict[str, Any]:
    """The choice of tools in the fields of Claude's own, where Converse has no place for it."""
    more = body.take("additionalModelRequestFields")
    if not (is_object(more) and is_object(more.get("tool_choice"))):
        if more is not None:
            body.put_back("additionalModelRequestFields", more)
        return {}
    with (
        ledger.open(more, "/additionalModelRequestFields") as fields,
        ledger.open(fields.take("tool_choice"), _CLAUDE) as own,
    ):
        kind = own.take_text("type")
        alone = own.take("disable_parallel_tool_use")
        choice = own.take_text("name") if kind == "tool" else _CLAUDE_CHOICES.get(kind)
    found: dict[str, tuple[Any, str]] = {"tool_choice": (choice, _CLAUDE)}
    found["parallel_tool_calls"] = (None if alone is None else not alone, f"{_CLAUDE}/disable_parallel_tool_use")
    return ledger.options(found)


_SCHEMA: Final = "/outputConfig/textFormat/structure/jsonSchema/schema"


def _response_schema(ledger: Ledger, body: Fields) -> Any:
    """The schema of the answer, which is JSON in a text."""
    text = _take_inside(ledger, body, _SCHEMA.split("/")[1:])
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DecodeFailed(_SCHEMA, f"the schema is not JSON: {error}") from error


def _take_inside(ledger: Ledger, fields: Fields, path: Sequence[str]) -> str | None:
    """The text at the end of a path of names."""
    name, *rest = path
    if not rest:
        return fields.take_text(name)
    inner = fields.take_object(name)
    if inner is None:
        return None
    with ledger.open(inner, f"{fields.pointer}/{name}") as below:
        kind = below.take_text("type")
        if kind not in (None, "json_schema"):
            below.put_back("type", kind)
        return _take_inside(ledger, below, rest)
