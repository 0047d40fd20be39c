"""`anthropic-messages`: the messages API of Anthropic, and of others who serve it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from art_compliance.dialects.anthropic_messages.access import ACCESS, NOT_JSON
from art_compliance.dialects.anthropic_messages.answers import ESSENTIAL, MODELS, write_error, write_response
from art_compliance.dialects.anthropic_messages.decode import NAME, decode
from art_compliance.dialects.anthropic_messages.hosted import ANTHROPIC, HOSTED, HOSTED_PATH
from art_compliance.dialects.anthropic_messages.order import ORDER
from art_compliance.dialects.anthropic_messages.reasoning import find_signatures, reasoning
from art_compliance.dialects.anthropic_messages.recorded import COUNTS, read_recorded
from art_compliance.dialects.anthropic_messages.rules import RULES, Messages
from art_compliance.dialects.anthropic_messages.streams import (
    UNKNOWN_EVENT,
    write_body,
    write_stream,
    write_stream_error,
)
from art_compliance.dialects.anthropic_messages.variations import VARIATIONS
from art_compliance.dialects.base import Answers, Dialect, Requests, Service, Streams, WiderSchema
from art_compliance.dialects.framing import body_wants_stream

GENERATION: Final[Mapping[str, tuple[Any, ...]]] = {
    "top_k": (),
    "thinking": ("disabled",),
    "output_config/effort": ("high",),
    "service_tier": ("auto",),
    "mcp_servers": (),
}
"""Defaults as in `anthropic.types.message_create_params` of the official client."""

ANTHROPIC_MESSAGES: Final = Dialect(
    name=NAME,
    service=Service(
        hosts=(ANTHROPIC, *HOSTED),
        path=rf"/messages$|{HOSTED_PATH}",
        base_path="/v1",
        endings=("/messages",),
        access=ACCESS,
        own_headers={"anthropic-beta": "context-1m-2025-08-07"},
        shape="anthropic_messages",
    ),
    requests=Requests(
        decode=decode,
        read=Messages,
        rules=RULES,
        version_field="anthropic_version",
        lacks=frozenset({"message_name", "tool_output_schema"}),
        defaults={"temperature": (1,), "parallel_tool_calls": (True,)},  # platform.claude.com/docs/en/api/messages
        own_fields={"metadata": {"user_id": "user-7"}, "service_tier": "standard_only"},
        reasoning_fields=({"thinking": {"type": "enabled", "budget_tokens": 1024}}, {"thinking": {"type": "disabled"}}),
        generation=GENERATION,
        not_json=NOT_JSON,
        history="/messages",
        marks=("cache_control",),
        has_thinking=True,
        find_signatures=find_signatures,
        wider_schema=WiderSchema("beta", "the beta alone knows it: it needs the header anthropic-beta"),
    ),
    answers=Answers(
        write=write_response,
        write_error=write_error,
        models=MODELS,
        essential=ESSENTIAL,
        read=read_recorded,
        counts=COUNTS,
        reasoning=reasoning,
        call_id_prefix="toolu_",
        variations=VARIATIONS,
        good_ends=("stop_sequence",),
        bad_ends=(
            "max_tokens",
            "pause_turn",
            "refusal",
            "model_context_window_exceeded",
        ),  # StopReason of anthropic 2.12
    ),
    streams=Streams(
        write=write_stream,
        write_error=write_stream_error,
        write_body=write_body,
        is_requested=body_wants_stream,
        order=ORDER,
        unknown_event=UNKNOWN_EVENT,
        text_fields=("text",),
        finish_fields=("stop_reason",),
        client_failures=frozenset({"byte-order-mark"}),  # anthropic 2.12, which our tests drive through each fault
    ),
)
