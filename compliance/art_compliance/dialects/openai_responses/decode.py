"""Decodes `openai-responses`.

These forms decode to the same: input as text or as one user message; text as a string or as a list of text parts;
`developer` and `system`, and `instructions`, which come first; an item with `"type": "message"` and one without;
`"strict": false` and no `strict` in a tool; a result as text or as a list of texts. Items have no turns: neighbouring
items of the assistant (messages, calls, reasoning, and what the provider's own tools did) are one message, whose
extensions say which items there were, if they are more than texts and calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.decoding import (
    Decoded,
    DecodeFailed,
    Fields,
    Ledger,
    PromptBuilder,
    call_of,
    image_of,
    wrong_kind,
)
from art_compliance.dialects.openai_responses.turns import NAME, AssistantItems
from art_compliance.quoting import show
from art_sdk import ImagePart, SystemMessage, TextPart, ToolResultMessage, ToolSchema
from art_sdk.json_data import is_object

_SAME_NAME: Final = ("model", "temperature", "top_p", "stream", "parallel_tool_calls")
_TEXTS: Final = frozenset({"input_text", "output_text", "text"})

_OF_THE_CLIENT: Final = frozenset(
    {
        *("item_reference", "additional_tools", "configuration_update", "mcp_approval_response", "tool_search_output"),
        *("custom_tool_call_output", "computer_call_output", "local_shell_call_output", "shell_call_output"),
        *("apply_patch_call_output", "compaction_trigger"),
    }
)
"""Items for which the standard format has no slot, and which are not part of an answer."""

__all__ = ["NAME", "decode"]


def decode(payload: object, *, url: str | None = None) -> Decoded:
    """The request in the standard format. Raises DecodeFailed."""
    del url
    ledger = Ledger()
    with ledger.open(payload, "") as body:
        items = _Items(ledger)
        items.read_all(body)
        tools = tuple(_tools(ledger, body))
        options = _options(ledger, body)
    prompt = items.prompt.messages
    return Decoded(prompt=prompt, tools=tools, options=options, opaque=ledger.opaque, places=ledger.places)


class _Items:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.prompt = PromptBuilder(ledger)
        self._assistant = AssistantItems(self.prompt)

    def read_all(self, body: Fields) -> None:
        instructions = body.take_text("instructions")
        if instructions is not None:
            self.prompt.add(SystemMessage(instructions), "/instructions")
        if isinstance(body.left.get("input"), str):
            self.prompt.add_part(TextPart(body.take("input")), "/input")
            self.prompt.end_user()
        for index, item in enumerate(body.take_list("input")):
            self._read(item, f"/input/{index}")
        self._assistant.end()

    def _read(self, item: object, pointer: str) -> None:
        with self._ledger.open(item, pointer) as fields:
            kind = fields.take_text("type")
            if kind in (None, "message"):
                self._message(fields)
            elif kind == "function_call":
                call_id, name = fields.take_text("call_id") or "", fields.take_text("name") or ""
                call = call_of(call_id, name, fields.take_text("arguments") or "")
                self._assistant.call(call, fields)
            elif kind == "function_call_output":
                self._assistant.end()
                self.prompt.add(self._result(fields), pointer)
            elif kind in _OF_THE_CLIENT:
                self._assistant.end()
                fields.put_back("type", kind)
            else:
                self._assistant.other({"type": kind, **fields.left}, pointer)
                fields.left.clear()

    def _message(self, fields: Fields) -> None:
        role = fields.take_text("role")
        if role == "assistant":
            self._assistant.text(self._text(fields, "content"), fields)
            return
        self._assistant.end()
        if role in {"system", "developer"}:
            self.prompt.add(SystemMessage(self._text(fields, "content")), fields.pointer)
        elif role == "user":
            self._user(fields)
        else:
            found = "the message has no role" if role is None else f"unknown role {show(role)}"
            raise DecodeFailed(f"{fields.pointer}/role", found)

    def _user(self, fields: Fields) -> None:
        if isinstance(fields.left.get("content"), str):
            self.prompt.add_part(TextPart(fields.take("content")), fields.pointer)
        for part, kind in self._ledger.parts(fields, "content"):
            if kind in _TEXTS:
                self.prompt.add_part(TextPart(part.take_text("text") or ""), part.pointer)
            elif kind == "input_image" and part.left.get("image_url") is not None:
                self.prompt.add_part(_image(part), part.pointer)
            else:
                part.put_back("type", kind)
        self.prompt.end_user()

    def _result(self, fields: Fields) -> ToolResultMessage:
        call_id = fields.take_text("call_id")
        return ToolResultMessage(self._text(fields, "output"), call_id or "unknown")

    def _text(self, fields: Fields, name: str) -> str:
        """The texts of a content, joined; a refusal's, too."""
        texts: list[str] = []
        for part, kind in self._ledger.parts(fields, name):
            if kind in _TEXTS:
                texts.append(part.take_text("text") or "")
                if part.left.get("annotations") == []:
                    part.take("annotations")
            elif kind == "refusal":
                texts.append(part.take_text("refusal") or "")
            else:
                part.put_back("type", kind)
        return "".join(texts)


def _image(part: Fields) -> ImagePart:
    url = part.take_text("image_url") or ""
    if part.left.get("detail") == "auto":  # the default
        part.take("detail")
    return image_of(url)


def _tools(ledger: Ledger, body: Fields) -> Iterator[ToolSchema]:
    for index, item in enumerate(body.take_list("tools")):
        pointer = f"/tools/{index}"
        with ledger.open(item, pointer) as tool:
            kind = tool.take_text("type")
            if kind != "function":
                tool.put_back("type", kind)
                continue
            if tool.left.get("strict") is False:
                tool.take("strict")
            ledger.place_tool(pointer)
            takes = tool.take_object("parameters") or {}
            yield ToolSchema(tool.take_text("name") or "", tool.take_text("description") or "", takes)


def _options(ledger: Ledger, body: Fields) -> dict[str, Any]:
    found: dict[str, tuple[Any, str]] = {name: (body.take(name), f"/{name}") for name in _SAME_NAME}
    found["max_tokens"] = (body.take("max_output_tokens"), "/max_output_tokens")
    found["tool_choice"] = (_tool_choice(ledger, body), "/tool_choice")
    found["response_schema"] = (_response_schema(ledger, body), "/text/format")
    return ledger.options(found)


def _tool_choice(ledger: Ledger, body: Fields) -> str | None:
    choice = body.take("tool_choice")
    if choice is None or isinstance(choice, str):
        return choice
    if not is_object(choice):
        raise wrong_kind("/tool_choice", "text or an object", choice)
    if choice.get("type") != "function":
        body.put_back("tool_choice", choice)
        return None
    with ledger.open(choice, "/tool_choice") as fields:
        fields.take("type")
        return fields.take_text("name")


def _response_schema(ledger: Ledger, body: Fields) -> dict[str, Any] | None:
    config = body.take_object("text")
    if config is None:
        return None
    with ledger.open(config, "/text") as outer:
        wanted = outer.take("format")
        if not is_object(wanted) or wanted.get("type") != "json_schema":
            outer.put_back("format", wanted)
            return None
        with ledger.open(wanted, "/text/format") as fields:
            fields.take("type")
            return fields.take_object("schema")
