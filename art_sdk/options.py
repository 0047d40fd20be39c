"""CallOptions: everything about one call that is not the prompt. Unknown options are refused, not ignored."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, field

from art_sdk.errors import InvalidConfig
from art_sdk.http.time_limits import Timeouts
from art_sdk.messages import NonEmpty, ToolSchema
from art_sdk.validation import parse_value

CALL_CONTEXTS: Final = ("AGENT_THOUGHT", "FINAL_SYNTHESIS")
"""The call contexts that mark an event's token type. Any other context is allowed and marks none."""


class CallOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The options of one call.

    `thread_id`, `trace_id`, `session_id`, `user_id` and `call_context` are for the caller's own
    books: they stand in the events and are not sent. `tool_choice` is `auto`, `none`, `required`
    or a tool's name. `late_system` says what to do with a system message in mid-conversation where
    the provider has no place for it. `provider` holds, per dialect, fields of the provider's own
    request that this format has no slot for; another dialect's are left aside.
    """

    thread_id: str
    trace_id: str | None = None
    session_id: str | None = None
    user_id: str | None = None
    stream: bool = False
    call_context: str | None = None
    model: NonEmpty | None = None
    tools: tuple[ToolSchema, ...] = ()
    tool_choice: NonEmpty | None = None
    parallel_tool_calls: bool | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    stop: tuple[NonEmpty, ...] = ()
    response_schema: dict[str, Any] | None = None
    late_system: Literal["refuse", "hoist"] = "refuse"
    timeouts: Timeouts | None = None
    provider: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])


def parse_options(data: object) -> CallOptions:
    """The options that JSON data, or a `CallOptions`, stands for.

    Raises InvalidConfig, naming the option, for an unknown or wrongly typed one, for two tools of
    one name, for a tool whose input schema is not of an object, and for a choice of an unknown tool.
    """
    try:
        options = parse_value(data, CallOptions)
    except ValueError as error:
        message = f"bad call options: {error}"
        raise InvalidConfig(message) from error
    _check_tools(options)
    return options


def _check_tools(options: CallOptions) -> None:
    names: set[str] = set()
    for index, tool in enumerate(options.tools):
        if tool.name in names:
            message = f"bad call options: $.tools[{index}].name: the tool {tool.name!r} is given twice"
            raise InvalidConfig(message)
        names.add(tool.name)
        root = tool.input_schema.get("type", "object")
        if root != "object":
            message = f"bad call options: $.tools[{index}].inputSchema.type: must be 'object', is {root!r}"
            raise InvalidConfig(message)
    choice = options.tool_choice
    if choice not in (None, "auto", "none", "required") and choice not in names:
        known = ", ".join(sorted(names)) or "none is given"
        message = f"bad call options: $.tool_choice: no tool is called {choice!r}; tools: {known}"
        raise InvalidConfig(message)
