"""Replaces every text, id, tool name or description in a prompt and its options: for canaries and renaming."""

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
    """One replacement per slot. Blank text is never replaced: it is a separate case."""

    system: Replace = keep
    user: Replace = keep
    assistant: Replace = keep
    result: Replace = keep
    call_id: Replace = keep
    tool_name: Replace = keep
    description: Replace = keep
    argument: Replace = keep

    def prompt(self, prompt: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The prompt with its slots replaced."""
        return [self._message(message) for message in prompt]

    def options(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options with the slots of their tools and `tool_choice` replaced."""
        rewritten = dict(options)
        if "tools" in rewritten:
            rewritten["tools"] = [self._tool(tool) for tool in rewritten["tools"]]
        if rewritten.get("tool_choice") not in (None, "auto", "none", "required"):
            rewritten["tool_choice"] = self.tool_name(rewritten["tool_choice"])
        return rewritten

    def _message(self, message: dict[str, Any]) -> dict[str, Any]:
        rewritten = dict(message)
        role = message["role"]
        if role == "tool_request":
            rewritten["content"] = self._request(message["content"])
            return rewritten
        replace = self.result if role in ("tool", "tool_result") else cast("Replace", getattr(self, role))
        rewritten["content"] = _content(message["content"], replace)
        if "tool_call_id" in rewritten:
            rewritten["tool_call_id"] = self.call_id(rewritten["tool_call_id"])
            if rewritten.get("name"):
                rewritten["name"] = self.tool_name(rewritten["name"])
        if "tool_calls" in rewritten:
            rewritten["tool_calls"] = [self._call(call) for call in rewritten["tool_calls"]]
        return rewritten

    def _call(self, call: dict[str, Any]) -> dict[str, Any]:
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        function = {"name": self.tool_name(name), "arguments": self._arguments(arguments)}
        return {**call, "id": self.call_id(call["id"]), "function": function}

    def _request(self, request: dict[str, Any] | None) -> dict[str, Any] | None:
        if request is None:
            return None
        given = request["arguments"]
        arguments = self._arguments(given) if isinstance(given, str) else self._leaves(given)
        return {"id": self.call_id(request["id"]), "name": self.tool_name(request["name"]), "arguments": arguments}

    def _arguments(self, text: str) -> str:
        """JSON text with its strings replaced. Text that is not a JSON object stays."""
        if self.argument is keep:
            return text
        try:
            value = json.loads(text)
        except ValueError:
            return text
        if not is_object(value):
            return text
        written = json.dumps(self._leaves(value), ensure_ascii=False)
        return written if is_utf8(written) else json.dumps(self._leaves(value))

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
