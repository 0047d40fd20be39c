"""`bedrock-converse`: the Converse API of Amazon Bedrock, which speaks for the models of several makers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from art_compliance.dialects.aws_events import CONTENT_TYPE
from art_compliance.dialects.base import Answers, Dialect, Requests, Service, Streams
from art_compliance.dialects.bedrock_converse.access import ACCESS, NOT_JSON
from art_compliance.dialects.bedrock_converse.answers import (
    ESSENTIAL,
    MODELS,
    error_headers,
    write_error,
    write_response,
)
from art_compliance.dialects.bedrock_converse.decode import NAME, decode, wants_stream
from art_compliance.dialects.bedrock_converse.failures import FAILURES
from art_compliance.dialects.bedrock_converse.order import ORDER
from art_compliance.dialects.bedrock_converse.reasoning import find_signatures, reasoning
from art_compliance.dialects.bedrock_converse.recorded import COUNTS, read_recorded
from art_compliance.dialects.bedrock_converse.rules import RULES, Conversation
from art_compliance.dialects.bedrock_converse.streams import (
    UNKNOWN_EVENT,
    write_body,
    write_stream,
    write_stream_error,
)
from art_compliance.dialects.bedrock_converse.variations import VARIATIONS

GENERATION: Final[Mapping[str, tuple[Any, ...]]] = {
    "additionalModelRequestFields": (),
    "performanceConfig/latency": ("standard",),
    "guardrailConfig": (),
}
"""Defaults as in the reference of `Converse`: docs.aws.amazon.com/bedrock/latest/APIReference."""

_REASONING: Final[tuple[dict[str, Any], ...]] = tuple(
    {"additionalModelRequestFields": {"thinking": thinking}}
    for thinking in ({"type": "enabled", "budget_tokens": 1024}, {"type": "disabled"})
)

BEDROCK_CONVERSE: Final = Dialect(
    name=NAME,
    service=Service(
        hosts=("bedrock-runtime.us-east-1.amazonaws.com", "amazonaws.com"),
        path=r"/model/.+/converse(-stream)?$",
        base_path="",
        endings=("/model/{model}/converse", "/model/{model}/converse-stream"),
        access=ACCESS,
        shape="bedrock_converse",
    ),
    requests=Requests(
        decode=decode,
        read=Conversation,
        rules=RULES,
        lacks=frozenset({"message_name", "tool_output_schema"}),
        own_fields={
            "requestMetadata": {"team": "search"},
            "performanceConfig": {"latency": "optimized"},
            "additionalModelRequestFields": {"top_k": 40},
        },
        reasoning_fields=_REASONING,
        generation=GENERATION,
        not_json=NOT_JSON,
        history="/messages",
        marks=("cachePoint",),
        has_thinking=True,
        find_signatures=find_signatures,
    ),
    answers=Answers(
        write=write_response,
        write_error=write_error,
        error_headers=error_headers,
        models=MODELS,
        essential=ESSENTIAL,
        read=read_recorded,
        counts=COUNTS,
        reasoning=reasoning,
        call_id_prefix="tooluse_",
        variations=VARIATIONS,
        failures=FAILURES,
        unions=frozenset({"output", "content", "start", "delta", "reasoningContent"}),  # "union" in botocore 1.44
        good_ends=("stop_sequence",),
        bad_ends=(
            "max_tokens",
            "guardrail_intervened",
            "content_filtered",
            "malformed_model_output",
            "malformed_tool_use",
            "model_context_window_exceeded",
        ),  # StopReason of botocore 1.44
    ),
    streams=Streams(
        write=write_stream,
        write_error=write_stream_error,
        write_body=write_body,
        is_requested=wants_stream,
        content_type=CONTENT_TYPE,
        order=ORDER,
        unknown_event=UNKNOWN_EVENT,
        text_fields=("text",),
        finish_fields=("stopReason",),
    ),
)
