"""OpenRouter's rules. Statements and sources: `fixtures/rules/openrouter-chat.toml`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from art_compliance.dialects.openai_chat import option_rules, part_rules, tool_rules
from art_compliance.dialects.openai_chat import rules as openai_chat
from art_compliance.dialects.openai_chat.chat import Chat
from art_compliance.dialects.ruling import Broken, RuleCheck, below, child, outside, rule, rules_of, too_many
from art_compliance.quoting import show
from art_sdk.json_data import is_array

messages_nonempty: Final = RuleCheck("openrouter.messages-nonempty", openai_chat.messages_nonempty.run)
sampling_range: Final = RuleCheck("openrouter.sampling-range", option_rules.temperature_range.run)
max_tokens_min: Final = RuleCheck("openrouter.max-tokens-min", option_rules.max_tokens_min.run)
stop_max4: Final = RuleCheck("openrouter.stop-max4", option_rules.stop_max4.run)
tool_name_len64: Final = RuleCheck("openrouter.tool-name-len64", tool_rules.tool_name_len64.run)
response_schema_name: Final = RuleCheck("openrouter.response-schema-name", tool_rules.response_schema_name.run)
calls_answered: Final = RuleCheck("openrouter.calls-answered", openai_chat.tool_calls_answered.run)
tool_needs_call: Final = RuleCheck("openrouter.tool-needs-call", openai_chat.tool_needs_call.run)
result_once: Final = RuleCheck("openrouter.result-once", openai_chat.result_once.run)
tool_name_pattern: Final = RuleCheck("openrouter.tool-name-pattern", tool_rules.tool_name_pattern.run)
tool_names_unique: Final = RuleCheck("openrouter.tool-names-unique", tool_rules.tool_names_unique.run)
schema_valid: Final = RuleCheck("openrouter.schema-valid", tool_rules.schema_valid.run)
schema_root_object: Final = RuleCheck("openrouter.schema-root-object", tool_rules.schema_root_object.run)
metadata_limits: Final = RuleCheck("openrouter.metadata-limits", option_rules.metadata_limits.run)
image_base64: Final = RuleCheck("openrouter.image-base64", part_rules.image_base64.run)
image_format: Final = RuleCheck("openrouter.image-format", part_rules.image_format.run)


@rule("openrouter.id-len64")
def id_len64(chat: Chat) -> Iterator[Broken]:
    """The ids of calls; results repeat them."""
    for call in chat.calls:
        if call.id is not None and len(call.id) > 64:
            yield Broken(f"{call.pointer}/id", f"the id has {len(call.id)} characters; at most 64 are allowed")


@rule("openrouter.reasoning-effort-or-limit")
def reasoning_effort_or_limit(chat: Chat) -> Iterator[Broken]:
    """Null counts as absent."""
    reasoning = child(chat.root, "reasoning").value
    if reasoning.get("effort") is not None and reasoning.get("max_tokens") is not None:
        yield Broken("/reasoning", "effort and max_tokens exclude each other")


@rule("openrouter.session-id-len256")
def session_id_len256(chat: Chat) -> Iterator[Broken]:
    """Counted in characters."""
    session = chat.body.get("session_id")
    if isinstance(session, str) and len(session) > 256:
        yield Broken("/session_id", f"session_id has {len(session)} characters; at most 256 are allowed")


@rule("openrouter.verbosity")
def verbosity(chat: Chat) -> Iterator[Broken]:
    """Another type is left to the wire schema."""
    yield from _unknown(chat.body.get("verbosity"), "/verbosity", ("low", "medium", "high", "xhigh", "max"))


@rule("openrouter.models-nonempty")
def models_nonempty(chat: Chat) -> Iterator[Broken]:
    """Beside `model`, or alone."""
    if chat.body.get("models") == []:
        yield Broken("/models", "the list is empty; it is not known whether OpenRouter accepts that")


@rule("openrouter.models-max3")
def models_max3(chat: Chat) -> Iterator[Broken]:
    """`model` is not among them."""
    yield from too_many(chat.body.get("models"), "/models", "models", 3)


@rule("openrouter.own-ranges")
def own_ranges(chat: Chat) -> Iterator[Broken]:
    """Options that OpenAI does not have."""
    yield from outside(chat.root, {"min_p": (0.0, 1.0), "top_a": (0.0, 1.0), "repetition_penalty": (0.0, 2.0)})
    yield from below(chat.root, ("top_k",), 0)


_EFFORTS: Final = ("max", "xhigh", "high", "medium", "low", "minimal", "none")
_ENUMS: Final[Mapping[tuple[str, ...], tuple[str, ...]]] = {
    ("reasoning", "effort"): _EFFORTS,
    ("reasoning_effort",): _EFFORTS,
    ("service_tier",): ("auto", "default", "fast", "flex", "priority", "scale", "ultrafast"),
    ("provider", "sort"): ("price", "throughput", "latency", "exacto"),
    ("provider", "data_collection"): ("deny", "allow"),
}
_PRECISIONS: Final = ("int4", "int8", "fp4", "mxfp4", "nvfp4", "fp6", "fp8", "mxfp8", "fp16", "bf16", "fp32", "unknown")
_LISTED: Final[Mapping[tuple[str, ...], tuple[str, ...]]] = {
    ("modalities",): ("text", "image", "audio"),
    ("provider", "quantizations"): _PRECISIONS,
}
"""The published values of fields, and of the items of lists."""


@rule("openrouter.enums")
def enums(chat: Chat) -> Iterator[Broken]:
    """Values of another type are left to the wire schema."""
    for path, known in _ENUMS.items():
        place = child(chat.root, *path[:-1]) if path[1:] else chat.root
        yield from _unknown(place.value.get(path[-1]), f"/{'/'.join(path)}", known)
    for path, known in _LISTED.items():
        place = child(chat.root, *path[:-1]) if path[1:] else chat.root
        items: Any = place.value.get(path[-1])
        for at, item in enumerate(items if is_array(items) else ()):
            yield from _unknown(item, f"/{'/'.join(path)}/{at}", known)


def _unknown(value: object, pointer: str, known: tuple[str, ...]) -> Iterator[Broken]:
    if isinstance(value, str) and value not in known:
        yield Broken(pointer, f"{show(value)} is not one of {', '.join(known)}")


RULES: Final = rules_of(sys.modules[__name__])
