"""What an adapter declares: capabilities, losses and repairs. The lists are closed and versioned with the suite."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, Literal, get_args

from msgspec import Struct

from art_sdk.conversation import AssistantTurn, Conversation, SystemTurn, UserTurn
from art_sdk.messages import ImagePart
from art_sdk.options import CallOptions

Capability = Literal[
    "system",
    "late_system",
    "tools",
    "parallel_tools",
    "tool_choice",
    "streaming",
    "reasoning",
    "images",
    "response_schema",
    "stop",
    "prefill",
    "provider_fields",
]
"""What a provider can do. One that is declared must work; one that is not, the adapter refuses to use."""

Loss = Literal[
    "message_name",
    "result_status",
    "call_ids",
    "tool_output_schema",
    "schema_keywords",
    "sampling_option:temperature",
    "sampling_option:top_p",
    "sampling_option:max_tokens",
    "sampling_option:stop",
    "sampling_option:parallel_tool_calls",
]
"""What a provider has no place for, and the adapter drops knowingly."""

Repair = Literal[
    "joins_turns",
    "hoists_late_system",
    "always_hoists_late_system",
    "delays_late_system",
    "demotes_late_system",
    "demotes_system",
    "maps_call_ids",
    "drops_blank_text",
    "fills_blank_text",
    "adds_filler_turn",
    "trims_prefill",
    "wraps_arguments",
    "wraps_result",
    "marks_failed_result",
    "renames_tools",
    "closes_schemas",
    "streams_inside",
]
"""What an adapter changes knowingly, so that the provider accepts the prompt."""

CAPABILITIES: Final[frozenset[Capability]] = frozenset(get_args(Capability))
LOSSES: Final[frozenset[Loss]] = frozenset(get_args(Loss))
REPAIRS: Final[frozenset[Repair]] = frozenset(get_args(Repair))


class Use(Struct, frozen=True):
    """A place where a prompt or its options use a capability; `index` is the message's."""

    capability: Capability
    what: str
    index: int | None = None


class Request(Struct, frozen=True):
    """What a detector looks at."""

    conversation: Conversation
    options: CallOptions
    dialect: str
    may_hoist: bool = False


def find_undeclared_use(declared: frozenset[Capability], request: Request) -> Use | None:
    """The first use of a capability that is not declared, or None."""
    for detect in _detectors(declared):
        use = detect(request)
        if use is not None:
            return use
    return None


@lru_cache
def _detectors(declared: frozenset[Capability]) -> tuple[Callable[[Request], Use | None], ...]:
    """The detectors of all capabilities that are not declared."""
    return tuple(detect for capability, detect in USES.items() if capability not in declared)


def _system(request: Request) -> Use | None:
    found = [turn.index for turn in request.conversation.turns if type(turn) is SystemTurn]
    return Use("system", "a system message", found[0]) if found else None


def _late_system(request: Request) -> Use | None:
    if request.may_hoist:
        return None
    found = [turn.index for turn in request.conversation.turns if type(turn) is SystemTurn and turn.late]
    what = 'a system message in mid-conversation; move it to the front, or set late_system="hoist"'
    return Use("late_system", what, found[0]) if found else None


def _tools(request: Request) -> Use | None:
    if request.options.tools:
        return Use("tools", "tools")
    conversation = request.conversation
    name = next(iter(conversation.tool_of.values()), None)
    return None if name is None else Use("tools", "a tool call", conversation.first_call(name))


def _parallel_tools(request: Request) -> Use | None:
    turns = request.conversation.turns
    found = [turn.index for turn in turns if type(turn) is AssistantTurn and len(turn.calls) > 1]
    return Use("parallel_tools", "several calls in one turn", found[0]) if found else None


def _images(request: Request) -> Use | None:
    for turn in request.conversation.turns:
        parts = turn.message.content if type(turn) is UserTurn else ""
        if type(parts) is tuple and any(type(part) is ImagePart for part in parts):
            return Use("images", "an image", turn.index)
    return None


def _reasoning(request: Request) -> Use | None:
    for turn in request.conversation.turns:
        if type(turn) is AssistantTurn and turn.message.extensions and request.dialect in turn.message.extensions:
            return Use("reasoning", f"extensions for {request.dialect}", turn.index)
    return None


def _prefill(request: Request) -> Use | None:
    turns = request.conversation.turns
    if turns and isinstance(turns[-1], AssistantTurn) and not turns[-1].calls:
        return Use("prefill", "an assistant message at the end", turns[-1].index)
    return None


def _provider_fields(request: Request) -> Use | None:
    own = request.options.provider.get(request.dialect)
    return Use("provider_fields", f"options.provider[{request.dialect!r}]") if own else None


USES: Final[Mapping[Capability, Callable[[Request], Use | None]]] = {
    "system": _system,
    "late_system": _late_system,
    "tools": _tools,
    "parallel_tools": _parallel_tools,
    "tool_choice": lambda r: Use("tool_choice", "the option tool_choice") if r.options.tool_choice else None,
    "streaming": lambda r: Use("streaming", "the option stream") if r.options.stream else None,
    "reasoning": _reasoning,
    "images": _images,
    "response_schema": lambda r: (
        Use("response_schema", "the option response_schema") if r.options.response_schema is not None else None
    ),
    "stop": lambda r: Use("stop", "the option stop") if r.options.stop else None,
    "prefill": _prefill,
    "provider_fields": _provider_fields,
}
"""The detector of each capability: how a request uses it, or None."""
