"""`openai-chat`: chat completions, as OpenAI and its many relatives take them.

Taken for the same thing: `developer` and `system`; text as a string or as a list of text parts (of
a system message each part is one message; of an assistant or tool message they are one text);
`max_tokens` and `max_completion_tokens`; `stop` as text or list; `tool_choice` `any` and
`required`; a field that is null and one that is absent; calls without ids are numbered in order,
and a result without id answers the next open call. Azure keeps the model in the URL.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from art_compliance.dialects.base import Decoded, DecodeFailed, Fields, Ledger, user_message, wrong_kind
from art_compliance.dialects.numbering import OpenCalls
from art_sdk.json_data import is_array, is_object
from art_sdk.messages import (
    ArtStandardMessage,
    AssistantMessage,
    FunctionCall,
    ImagePart,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolResultMessage,
    ToolSchema,
)

_SAME_NAME: Final = ("model", "temperature", "top_p", "parallel_tool_calls", "stream")


def decode(payload: object, *, url: str | None = None) -> Decoded:
    """The request in the standard format. Raises DecodeFailed."""
    ledger = Ledger()
    with ledger.open(payload, "") as body:
        prompt = _Messages(ledger).read(body.take_list("messages"))
        tools = tuple(_tools(ledger, body.take_list("tools")))
        options = _options(ledger, body)
    if "model" not in options and url is not None and (deployment := _AZURE.search(url)):
        options["model"] = deployment[1]
    return Decoded(prompt=prompt, tools=tools, options=options, opaque=ledger.opaque, places=ledger.places)


_AZURE: Final = re.compile(r"/deployments/([^/]+)/")


class _Messages:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._calls = OpenCalls()
        self._prompt: list[ArtStandardMessage] = []

    def read(self, messages: list[Any]) -> tuple[ArtStandardMessage, ...]:
        for index, message in enumerate(messages):
            pointer = f"/messages/{index}"
            with self._ledger.open(message, pointer) as fields:
                role = fields.take_text("role")
                read = _ROLES.get(role or "")
                if read is None:
                    raise DecodeFailed(f"{pointer}/role", f"unknown role {role!r}")
                for one in read(self, fields):
                    self._ledger.places[f"prompt/{len(self._prompt)}"] = pointer
                    self._prompt.append(one)
        return tuple(self._prompt)

    def system(self, fields: Fields) -> Iterator[ArtStandardMessage]:
        texts = [part.text for part in self._parts(fields) if isinstance(part, TextPart)]
        name = fields.take_text("name")
        for text in texts:
            yield SystemMessage(text, name)

    def user(self, fields: Fields) -> Iterator[ArtStandardMessage]:
        yield user_message(list(self._parts(fields)), fields.take_text("name"))

    def assistant(self, fields: Fields) -> Iterator[ArtStandardMessage]:
        texts = [part.text for part in self._parts(fields) if isinstance(part, TextPart)]
        calls = tuple(self._tool_calls(fields))
        yield AssistantMessage("".join(texts) if texts else None, calls, fields.take_text("name"))

    def tool(self, fields: Fields) -> Iterator[ArtStandardMessage]:
        texts = [part.text for part in self._parts(fields) if isinstance(part, TextPart)]
        call_id = fields.take_text("tool_call_id")
        name = fields.take_text("name")
        answered = self._calls.answer(call_id, name)
        yield ToolResultMessage("".join(texts), answered or call_id or "unknown", name)

    def _parts(self, fields: Fields) -> Iterator[TextPart | ImagePart]:
        content = fields.take("content")
        if content is None:
            return
        if isinstance(content, str):
            yield TextPart(content)
            return
        if not is_array(content):
            raise wrong_kind(f"{fields.pointer}/content", "text or a list", content)
        for index, item in enumerate(content):
            pointer = f"{fields.pointer}/content/{index}"
            with self._ledger.open(item, pointer) as part:
                kind = part.take_text("type")
                if kind == "text":
                    yield TextPart(part.take_text("text") or "")
                elif kind == "image_url":
                    yield self._image(part)
                else:
                    part.put_back("type", kind)

    def _image(self, part: Fields) -> ImagePart:
        with self._ledger.open(part.take("image_url"), f"{part.pointer}/image_url") as image:
            url = image.take_text("url") or ""
        inline = _DATA_URL.match(url)
        if inline:
            return ImagePart(inline["type"], data=url[inline.end() :])
        return ImagePart("image/*", url=url)

    def _tool_calls(self, fields: Fields) -> Iterator[ToolCall]:
        for index, item in enumerate(fields.take_list("tool_calls")):
            pointer = f"{fields.pointer}/tool_calls/{index}"
            self._ledger.places[f"prompt/{len(self._prompt)}/tool_calls/{index}"] = pointer
            with self._ledger.open(item, pointer) as call:
                call.take("type")
                with self._ledger.open(call.take("function"), f"{pointer}/function") as function:
                    name = function.take_text("name") or ""
                    arguments = function.take("arguments")
                text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
                yield ToolCall(self._calls.open(call.take_text("id"), name), FunctionCall(name, text))


_ROLES: Final[Mapping[str, Callable[[_Messages, Fields], Iterator[ArtStandardMessage]]]] = {
    "system": _Messages.system,
    "developer": _Messages.system,
    "user": _Messages.user,
    "assistant": _Messages.assistant,
    "tool": _Messages.tool,
}
_DATA_URL: Final = re.compile(r"data:(?P<type>[^;,]+);base64,")


def _tools(ledger: Ledger, tools: list[Any]) -> Iterator[ToolSchema]:
    number = 0
    for index, item in enumerate(tools):
        pointer = f"/tools/{index}"
        with ledger.open(item, pointer) as tool:
            kind = tool.take("type")
            declared = tool.take("function")
            if declared is None:
                tool.put_back("type", kind)
                continue
            ledger.places[f"tools/{number}"] = pointer
            number += 1
            with ledger.open(declared, f"{pointer}/function") as function:
                name = function.take_text("name") or ""
                yield ToolSchema(
                    name, function.take_text("description") or "", function.take_object("parameters") or {}
                )


def _options(ledger: Ledger, body: Fields) -> dict[str, Any]:
    found: dict[str, tuple[Any, str]] = {name: (body.take(name), name) for name in _SAME_NAME}
    limit = next((name for name in ("max_completion_tokens", "max_tokens") if body.left.get(name) is not None), "")
    found["max_tokens"] = (body.take(limit), limit)
    found["stop"] = (_stop(body), "stop")
    found["tool_choice"] = (_tool_choice(ledger, body), "tool_choice")
    found["response_schema"] = (_response_schema(ledger, body), "response_format")
    ledger.places |= {f"options/{name}": f"/{place}" for name, (value, place) in found.items() if value is not None}
    return {name: value for name, (value, _) in found.items() if value is not None}


def _stop(body: Fields) -> tuple[Any, ...] | None:
    if isinstance(body.left.get("stop"), str):
        return (body.take("stop"),)
    return tuple(body.take_list("stop")) or None


def _tool_choice(ledger: Ledger, body: Fields) -> str | None:
    if isinstance(body.left.get("tool_choice"), dict):
        choice = body.take("tool_choice")
        with ledger.open(choice, "/tool_choice") as fields:
            fields.take("type")
            with ledger.open(fields.take("function") or {}, "/tool_choice/function") as function:
                return function.take_text("name")
    choice = body.take_text("tool_choice")
    return "required" if choice == "any" else choice


def _response_schema(ledger: Ledger, body: Fields) -> dict[str, Any] | None:
    wanted = body.take("response_format")
    if not is_object(wanted) or wanted.get("type") != "json_schema":
        body.put_back("response_format", wanted)
        return None
    with ledger.open(wanted, "/response_format") as fields:
        fields.take("type")
        with ledger.open(fields.take("json_schema"), "/response_format/json_schema") as inner:
            return inner.take_object("schema")
