"""Tool calls: parse those of a message, and make messages of their results."""

from __future__ import annotations

from typing import Any

import msgspec

from art_sdk.arguments import parse_arguments
from art_sdk.errors import PromptValidationFailed
from art_sdk.messages import AssistantMessage, ParsedToolCall, ToolResult, ToolResultMessage
from art_sdk.sendable import find_unsendable


def parse_tool_calls(message: AssistantMessage) -> tuple[ParsedToolCall, ...]:
    """The message's calls with their arguments parsed, ready to execute.

    Raises PromptValidationFailed, naming call and path, for arguments that are not a JSON object.
    """
    parsed: list[ParsedToolCall] = []
    for position, call in enumerate(message.tool_calls):
        try:
            arguments = parse_arguments(call.function.arguments)
        except ValueError as error:
            path = f"$.tool_calls[{position}].function.arguments"
            text = f"{path}: the call {call.id!r}: {error}"
            details = {"layer": "conversation", "violations": [{"path": path, "message": str(error)}]}
            raise PromptValidationFailed(text, cause=error, details=details) from error
        parsed.append(ParsedToolCall(call.id, call.function.name, arguments))
    return tuple(parsed)


def answer_call(result: ToolResult) -> ToolResultMessage:
    """The message with the call's output or error as text.

    A string stays as it is; anything else becomes compact JSON. Raises PromptValidationFailed for an output that is
    not JSON data.
    """
    value = result.error if result.status == "error" and result.error is not None else result.output
    return ToolResultMessage(_as_text(value), result.call_id, result.tool_name, result.status)


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    found = find_unsendable(value)
    if found is not None:
        details = {"layer": "shape", "violations": [{"path": found.path, "message": found.reason}]}
        raise PromptValidationFailed(f"the tool's output: {found.path}: {found.reason}", details=details)
    return msgspec.json.encode(value).decode()
