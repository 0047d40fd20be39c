"""A prompt and its options with every text, id, tool name or description replaced: for canaries and renamings."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

from msgspec import Struct

from art_sdk.json_data import is_array, is_object, is_utf8

Replace = Callable[[str], str]


def keep(text: str) -> str:
    """No replacement."""
    return text


class Rewriting(Struct, frozen=True, kw_only=True):
    """One function a slot. Blank text is never replaced: it is a case of its own."""

    system: Replace = keep
    user: Replace = keep
    assistant: Replace = keep
    result: Replace = keep
    call_id: Replace = keep
    tool_name: Replace = keep
    description: Replace = keep
    argument: Replace = keep

    def prompt(self, prompt: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The prompt, rewritten."""
        return [self._message(message) for message in prompt]

    def options(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options, tools and the choice of a tool rewritten."""
        told = dict(options)
        if "tools" in told:
            told["tools"] = [self._tool(tool) for tool in told["tools"]]
        if told.get("tool_choice") not in (None, "auto", "none", "required"):
            told["tool_choice"] = self.tool_name(told["tool_choice"])
        return told

    def _message(self, message: dict[str, Any]) -> dict[str, Any]:
        told = dict(message)
        role = message["role"]
        if role == "tool_request":
            told["content"] = self._request(message["content"])
            return told
        replace = self.result if role in ("tool", "tool_result") else cast("Replace", getattr(self, role))
        told["content"] = _content(message["content"], replace)
        if "tool_call_id" in told:
            told["tool_call_id"] = self.call_id(told["tool_call_id"])
            if told.get("name"):
                told["name"] = self.tool_name(told["name"])
        if "tool_calls" in told:
            told["tool_calls"] = [self._call(call) for call in told["tool_calls"]]
        return told

    def _call(self, call: dict[str, Any]) -> dict[str, Any]:
        function = call["function"]
        told = {"name": self.tool_name(function["name"]), "arguments": self._arguments(function["arguments"])}
        return {**call, "id": self.call_id(call["id"]), "function": told}

    def _request(self, wish: dict[str, Any] | None) -> dict[str, Any] | None:
        if wish is None:
            return None
        told = wish["arguments"]
        arguments = self._arguments(told) if isinstance(told, str) else self._leaves(told)
        return {"id": self.call_id(wish["id"]), "name": self.tool_name(wish["name"]), "arguments": arguments}

    def _arguments(self, text: str) -> str:
        """JSON text with its string leaves rewritten; text that is no JSON object stays."""
        if self.argument is keep:
            return text
        try:
            value = json.loads(text)
        except ValueError:
            return text
        if not is_object(value):
            return text
        told = json.dumps(self._leaves(value), ensure_ascii=False)
        return told if is_utf8(told) else json.dumps(self._leaves(value))

    def _leaves(self, value: Any) -> Any:
        if is_object(value):
            return {name: self._leaves(item) for name, item in value.items()}
        if is_array(value):
            return [self._leaves(item) for item in value]
        return _text(value, self.argument) if isinstance(value, str) else value

    def _tool(self, tool: dict[str, Any]) -> dict[str, Any]:
        description = _text(tool["description"], self.description)
        return {**tool, "name": self.tool_name(tool["name"]), "description": description}


def _content(content: Any, replace: Replace) -> Any:
    if isinstance(content, str):
        return _text(content, replace)
    if is_array(content):
        return [_part(part, replace) for part in content]
    return content


def _part(part: dict[str, Any], replace: Replace) -> dict[str, Any]:
    return {**part, "text": _text(part["text"], replace)} if part["type"] == "text" else part


def _text(text: str, replace: Replace) -> str:
    return replace(text) if text.strip() else text
