"""Decodes chat completions, of OpenAI and its relatives.

These forms decode to the same: `developer` and `system`; text as a string or as a list of text parts (of
a system message each part is one message; of an assistant or tool message they are one text);
`max_tokens` and `max_completion_tokens`; `stop` as text or list; `tool_choice` `any` and
`required`; an image's URL alone and as an object; a field that is null and one that is absent;
calls without ids are numbered in order, and a result without id answers the next open call.
OpenAI's first form of calls is also read: `functions`, `function_call`, and the role `function`.
Azure keeps the model in the URL. A relative's own fields are a `Variant`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from msgspec import Struct

from art_compliance.dialects.decoding import (
    Decode,
    Decoded,
    Fields,
    Ledger,
    PromptBuilder,
    call_of,
    image_of,
    user_message,
    wrong_kind,
)
from art_compliance.dialects.numbering import OpenCalls
from art_sdk import AssistantMessage, ImagePart, SystemMessage, ToolCall, ToolResultMessage, ToolSchema
from art_sdk.json_data import is_object
from art_sdk.messages import ArtStandardMessage, ArtStandardPrompt

_SAME_NAME: Final = ("model", "temperature", "top_p", "parallel_tool_calls", "stream")


class Variant(Struct, frozen=True, kw_only=True):
    """What a relative expects back unchanged with an assistant's message, and what it ignores.

    `fields` of the message and `parts` of its content (by type) become the message's extension of the dialect `name`:
    the fields under their names, the parts as `blocks`, each with its place. Fields of a request that are `ignored`
    set no option, except to one of the values beside their name, which say what happens anyway.
    """

    name: str
    fields: tuple[str, ...] = ()
    parts: frozenset[str] = frozenset()
    ignored: Mapping[str, tuple[Any, ...]] = {}


def decoder(variant: Variant) -> Decode:
    """The decoder of a relative."""
    return partial(_decode, variant)


def _decode(variant: Variant, payload: object, *, url: str | None = None) -> Decoded:
    """The request in the standard format. Raises DecodeFailed."""
    ledger = Ledger()
    with ledger.open(payload, "") as body:
        for name, harmless in variant.ignored.items():
            if body.left.get(name) not in harmless:
                body.take(name)
        prompt = _Messages(ledger, variant).read(body.take_list("messages"))
        tools = tuple(_tools(ledger, body))
        options = _options(ledger, body)
    if "model" not in options and url is not None and (deployment := _AZURE.search(url)):
        options["model"] = deployment[1]
    return Decoded(prompt=prompt, tools=tools, options=options, opaque=ledger.opaque, places=ledger.places)


_AZURE: Final = re.compile(r"/deployments/([^/]+)/")


class _Messages:
    def __init__(self, ledger: Ledger, variant: Variant) -> None:
        self._ledger = ledger
        self._variant = variant
        self._calls = OpenCalls()
        self._prompt = PromptBuilder(ledger)

    def read(self, messages: list[Any]) -> ArtStandardPrompt:
        for fields, read in self._ledger.by_role(messages, _ROLES):
            for one in read(self, fields):
                self._prompt.add(one, fields.pointer)
        return self._prompt.messages

    def system(self, fields: Fields) -> Iterator[ArtStandardMessage]:
        texts = self._ledger.texts(fields)
        name = fields.take_text("name")
        for text in texts:
            yield SystemMessage(text, name)

    def user(self, fields: Fields) -> Iterator[ArtStandardMessage]:
        said = tuple(self._ledger.texts_and_images(fields, self._image))
        yield user_message(said, fields.take_text("name"))

    def assistant(self, fields: Fields) -> Iterator[ArtStandardMessage]:
        extension = {name: kept for name in self._variant.fields if (kept := fields.take(name)) is not None}
        blocks: list[dict[str, Any]] = []
        texts = self._ledger.texts(fields, blocks, self._variant.parts)
        if blocks:
            extension["blocks"] = blocks
        calls = tuple(self._tool_calls(fields))
        extensions = {self._variant.name: extension} if extension else None
        yield AssistantMessage("".join(texts) if texts else None, calls, fields.take_text("name"), extensions)

    def tool(self, fields: Fields) -> Iterator[ArtStandardMessage]:
        texts = self._ledger.texts(fields)
        call_id = fields.take_text("tool_call_id")
        name = fields.take_text("name")
        answered = self._calls.answer(call_id, name)
        yield ToolResultMessage("".join(texts), answered or call_id or "unknown", name)

    def _image(self, part: Fields) -> ImagePart:
        given = part.take("image_url")
        with self._ledger.open(
            {"url": given} if isinstance(given, str) else given, f"{part.pointer}/image_url"
        ) as image:
            url = image.take_text("url") or ""
        return image_of(url)

    def _tool_calls(self, fields: Fields) -> Iterator[ToolCall]:
        for index, item in enumerate(fields.take_list("tool_calls")):
            pointer = f"{fields.pointer}/tool_calls/{index}"
            self._prompt.place_call(index, pointer)
            with self._ledger.open(item, pointer) as call:
                yield self._custom_call(call) if call.left.get("type") == "custom" else self._function_call(call)
        if fields.left.get("function_call") is not None:
            pointer = f"{fields.pointer}/function_call"
            self._prompt.place_call(0, pointer)
            yield self._function_call(Fields({"function": fields.take("function_call")}, fields.pointer), pointer)

    def _function_call(self, call: Fields, pointer: str | None = None) -> ToolCall:
        call.take("type")
        with self._ledger.open(call.take("function"), pointer or f"{call.pointer}/function") as function:
            name = function.take_text("name") or ""
            arguments = function.take("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
        return call_of(self._calls.open(call.take_text("id"), name), name, text)

    def _custom_call(self, call: Fields) -> ToolCall:
        """Its input is free text, not JSON, so the call's type stays opaque."""
        with self._ledger.open(call.take("custom"), f"{call.pointer}/custom") as custom:
            name, text = custom.take_text("name") or "", custom.take_text("input") or ""
        return call_of(self._calls.open(call.take_text("id"), name), name, text)


_ROLES: Final[Mapping[str, Callable[[_Messages, Fields], Iterator[ArtStandardMessage]]]] = {
    "system": _Messages.system,
    "developer": _Messages.system,
    "user": _Messages.user,
    "assistant": _Messages.assistant,
    "tool": _Messages.tool,
    "function": _Messages.tool,
}


def _tools(ledger: Ledger, body: Fields) -> Iterator[ToolSchema]:
    for index, item in enumerate(body.take_list("tools")):
        pointer = f"/tools/{index}"
        with ledger.open(item, pointer) as tool:
            kind = tool.take("type")
            declared = tool.take("function")
            if declared is None:
                tool.put_back("type", kind)
                continue
            ledger.place_tool(pointer)
            yield _tool(ledger, declared, f"{pointer}/function")
    for index, declared in enumerate(body.take_list("functions")):
        ledger.place_tool(f"/functions/{index}")
        yield _tool(ledger, declared, f"/functions/{index}")


def _tool(ledger: Ledger, declared: object, pointer: str) -> ToolSchema:
    with ledger.open(declared, pointer) as function:
        name = function.take_text("name") or ""
        return ToolSchema(name, function.take_text("description") or "", function.take_object("parameters") or {})


def _options(ledger: Ledger, body: Fields) -> dict[str, Any]:
    found: dict[str, tuple[Any, str]] = {name: (body.take(name), f"/{name}") for name in _SAME_NAME}
    limit = next((name for name in ("max_completion_tokens", "max_tokens") if body.left.get(name) is not None), "")
    found["max_tokens"] = (body.take(limit), f"/{limit}")
    found["stop"] = (_stop(body), "/stop")
    found["tool_choice"] = (_tool_choice(ledger, body), "/tool_choice")
    found["response_schema"] = (_response_schema(ledger, body), "/response_format")
    return ledger.options(found)


def _stop(body: Fields) -> tuple[Any, ...] | None:
    if isinstance(body.left.get("stop"), str):
        return (body.take("stop"),)
    return tuple(body.take_list("stop")) or None


def _tool_choice(ledger: Ledger, body: Fields) -> str | None:
    choice = body.take("tool_choice", "function_call")
    if is_object(choice):
        return _named_choice(ledger, choice)
    if choice is not None and not isinstance(choice, str):
        raise wrong_kind("/tool_choice", "text or an object", choice)
    return "required" if choice == "any" else choice


def _named_choice(ledger: Ledger, choice: dict[str, Any]) -> str | None:
    with ledger.open(choice, "/tool_choice") as fields:
        kind = fields.take("type")
        with ledger.open(fields.take("function") or {}, "/tool_choice/function") as function:
            name = function.take_text("name") or fields.take_text("name")
        if name is None:
            fields.put_back("type", kind)
        return name


def _response_schema(ledger: Ledger, body: Fields) -> dict[str, Any] | None:
    wanted = body.take("response_format")
    if not is_object(wanted) or wanted.get("type") != "json_schema":
        body.put_back("response_format", wanted)
        return None
    with ledger.open(wanted, "/response_format") as fields:
        fields.take("type")
        with ledger.open(fields.take("json_schema"), "/response_format/json_schema") as inner:
            return inner.take_object("schema")
