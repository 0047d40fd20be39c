"""The pieces of a prompt and of the options of its call, each with its path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from art_compliance.quoting import as_json, shorten
from art_compliance.scenarios import Scenario
from art_sdk import parse_prompt
from art_sdk.messages import (
    ArtStandardMessage,
    AssistantMessage,
    ImagePart,
    SystemMessage,
    TextPart,
    ToolRequestMessage,
    ToolResultMessage,
    UserMessage,
)

_SHOWN = 40
_NO_SLOTS = frozenset({"late_system", "stream", "timeouts", "call_context", "provider", "tools"})
"""Options of a call that say how it is made, or have pieces of their own."""


class Call(NamedTuple):
    """The call that a piece belongs to."""

    id: str
    name: str
    arguments: str


class Piece(NamedTuple):
    """A piece: what it is, and what it belongs to.

    `of` is the type of the message that a text or an image belongs to. `option` is the place of an option or a tool in
    a decoded request (`tools/0`), `result_of` the id of the call that a result answers.
    """

    path: str
    kind: str
    value: Any
    of: type[ArtStandardMessage] | None = None
    call: Call | None = None
    result_of: str | None = None
    option: str | None = None

    @property
    def shown(self) -> str:
        """The value in JSON notation, cut if it is long."""
        return shorten(as_json(self.value), _SHOWN)


def pieces_of(scenario: Scenario) -> Iterator[Piece]:
    """Every piece of the scenario's prompt, then its tools and options. Blank and missing texts are none."""
    for index, message in enumerate(parse_prompt(scenario.prompt)):
        yield from _of_message(message, f"$[{index}]")
    for at, tool in enumerate(scenario.options.get("tools", ())):
        yield Piece(f"options.tools[{at}]", "tool", tool["name"], option=f"tools/{at}")
    for name, value in scenario.options.items():
        if name not in _NO_SLOTS:
            yield Piece(f"options.{name}", "option", value, option=f"options/{name}")


def _of_message(message: ArtStandardMessage, path: str) -> Iterator[Piece]:
    match message:
        case SystemMessage() | UserMessage():
            yield from _of_content(message.content, message, path)
        case AssistantMessage():
            if message.content:
                yield Piece(f"{path}.content", "assistant text", message.content, AssistantMessage)
            for at, call in enumerate(message.tool_calls):
                place, function = f"{path}.tool_calls[{at}]", call.function
                one = Call(call.id, function.name, function.arguments)
                yield from _of_call(one, place, f"{place}.function", function.arguments)
        case ToolRequestMessage(content=request) if request is not None:
            given = request.arguments
            arguments = given if isinstance(given, str) else json.dumps(given)
            yield from _of_call(Call(request.id, request.name, arguments), f"{path}.content", f"{path}.content", given)
        case ToolResultMessage():
            yield Piece(f"{path}.tool_call_id", "answered call", message.tool_call_id, result_of=message.tool_call_id)
            if message.content:
                yield Piece(f"{path}.content", "result", message.content, result_of=message.tool_call_id)
        case _:
            return


def _of_content(
    content: str | tuple[TextPart | ImagePart, ...], message: SystemMessage | UserMessage, path: str
) -> Iterator[Piece]:
    of, role = type(message), "system" if isinstance(message, SystemMessage) else "user"
    if isinstance(content, str):
        if content:
            yield Piece(f"{path}.content", f"{role} text", content, of)
        return
    for at, part in enumerate(content):
        place = f"{path}.content[{at}]"
        match part:
            case TextPart():
                yield Piece(f"{place}.text", f"{role} text", part.text, of)
            case ImagePart():
                field = "url" if part.url else "data"
                yield Piece(f"{place}.{field}", "image", part.url or part.data, of)


def _of_call(call: Call, path: str, function: str, arguments: Any) -> Iterator[Piece]:
    yield Piece(f"{path}.id", "call id", call.id, call=call)
    yield Piece(f"{function}.name", "call name", call.name, call=call)
    yield Piece(f"{function}.arguments", "arguments", arguments, call=call)
