"""CallOptions: everything about one call except the prompt. Unknown options are errors, not ignored."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, field

from art_sdk.errors import InvalidConfig
from art_sdk.http.time_limits import Timeouts
from art_sdk.messages import NonEmpty, ToolSchema
from art_sdk.validation import parse_value

CALL_CONTEXTS: Final = ("AGENT_THOUGHT", "FINAL_SYNTHESIS")
"""The call contexts that change an event's token type. Other contexts are allowed and change nothing."""


FREE_CHOICES: Final = (None, "auto", "none", "required")
"""The values of `tool_choice` that name no tool."""

LateSystem = Literal["refuse", "hoist"]
"""What to do with a system message in the middle of a conversation if the provider does not take one there."""


class CallOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The options of one call.

    `thread_id`, `trace_id`, `session_id`, `user_id` and `call_context` are the caller's own and never sent. The events
    have the first three; `call_context` may change their token type. `tool_choice` is `auto`, `none`, `required` or a
    tool's name. `late_system` says what to do with a system message in the middle of the conversation if the provider
    does not take one there; by default, the adapter's own setting decides. `provider` adds, per dialect, fields to the
    provider's request for which this format has no option; those of other dialects are ignored.
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
    late_system: LateSystem | None = None
    timeouts: Timeouts | None = None
    provider: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])


def parse_options(data: object) -> CallOptions:
    """Parses JSON data, or checks a `CallOptions`.

    Raises InvalidConfig, naming the option, for unknown options, wrong types, two tools with the same name, a tool
    whose input schema does not describe an object, and a `tool_choice` that names an unknown tool.
    """
    try:
        options = parse_value(data, CallOptions)
    except ValueError as error:
        raise InvalidConfig(f"bad call options: {error}") from error
    _check_tools(options)
    return options


def _check_tools(options: CallOptions) -> None:
    names: set[str] = set()
    for index, tool in enumerate(options.tools):
        if tool.name in names:
            raise InvalidConfig(f"bad call options: $.tools[{index}].name: duplicate tool {tool.name!r}")
        names.add(tool.name)
        root = tool.input_schema.get("type", "object")
        if root != "object":
            raise InvalidConfig(f"bad call options: $.tools[{index}].inputSchema.type: must be 'object', not {root!r}")
    choice = options.tool_choice
    if choice not in FREE_CHOICES and choice not in names:
        known = ", ".join(sorted(names)) or "none"
        raise InvalidConfig(f"bad call options: $.tool_choice: unknown tool {choice!r}; known tools: {known}")
