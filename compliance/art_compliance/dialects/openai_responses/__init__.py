"""`openai-responses`: the Responses API of OpenAI, and of others who serve it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from art_compliance.dialects.base import Answers, Dialect, Requests, Service, Streams
from art_compliance.dialects.framing import body_wants_stream
from art_compliance.dialects.openai_chat.access import NOT_JSON, chat_access
from art_compliance.dialects.openai_chat.family import DEFAULTS
from art_compliance.dialects.openai_responses.answers import ESSENTIAL, MODELS, write_error, write_response
from art_compliance.dialects.openai_responses.compacting import COMPACT, write_compacted
from art_compliance.dialects.openai_responses.decode import NAME, decode
from art_compliance.dialects.openai_responses.failures import FAILURES
from art_compliance.dialects.openai_responses.items import Items
from art_compliance.dialects.openai_responses.order import ORDER
from art_compliance.dialects.openai_responses.reasoning import find_signatures, reasoning
from art_compliance.dialects.openai_responses.recorded import COUNTS, read_recorded
from art_compliance.dialects.openai_responses.rules import RULES
from art_compliance.dialects.openai_responses.streams import (
    UNKNOWN_EVENT,
    interleave_calls,
    write_body,
    write_stream,
    write_stream_error,
)
from art_compliance.dialects.openai_responses.strictness import find_rewritten
from art_compliance.dialects.openai_responses.variations import VARIATIONS

GENERATION: Final[Mapping[str, tuple[Any, ...]]] = {
    "reasoning/effort": (),
    "text/verbosity": ("medium",),
    "service_tier": ("auto",),
    "truncation": ("disabled",),
    "background": (False,),
    "input/content/detail": ("auto",),
}
"""Defaults as in `openai.types.responses.response_create_params` of the official client."""

OPENAI_RESPONSES: Final = Dialect(
    name=NAME,
    service=Service(
        hosts=("api.openai.com",),
        kin=("openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com"),
        path=r"/responses(/compact)?$",
        base_path="/v1",
        endings=("/responses", COMPACT),
        access=chat_access(),
        shape="responses",
    ),
    requests=Requests(
        decode=decode,
        read=Items,
        rules=RULES,
        lacks=frozenset({"message_name", "tool_output_schema"}),
        own_fields={
            "truncation": "auto",
            "include": ["message.output_text.logprobs"],
            "service_tier": "flex",
            "text": {"verbosity": "low"},  # where a response schema goes, too
        },
        stream_fields={"stream_options": {"include_obfuscation": False}},
        defaults=DEFAULTS,
        reasoning_fields=({"reasoning": {"effort": "low"}}, {"reasoning": {"effort": "none"}}),
        generation=GENERATION,
        not_json=NOT_JSON,
        history="/input",
        marks=("prompt_cache_breakpoint",),
        has_thinking=True,
        find_signatures=find_signatures,
        find_rewritten=find_rewritten,
    ),
    answers=Answers(
        write=write_response,
        write_error=write_error,
        models=MODELS,
        write_other=write_compacted,
        essential=ESSENTIAL,
        read=read_recorded,
        counts=COUNTS,
        reasoning=reasoning,
        call_id_prefix="call_",
        variations=VARIATIONS,
        failures=FAILURES,
        bad_ends=("incomplete", "failed", "cancelled", "queued", "in_progress"),  # ResponseStatus of openai 3.54
        optional_usage=("usage",),
    ),
    streams=Streams(
        write=write_stream,
        write_error=write_stream_error,
        write_body=write_body,
        is_requested=body_wants_stream,
        order=ORDER,
        unknown_event=UNKNOWN_EVENT,
        text_fields=("delta",),
        finish_fields=("status",),
        finish_events=("response.completed", "response.incomplete", "response.failed"),
        interleave_calls=interleave_calls,
        client_failures=frozenset({"events-without-data"}),  # openai 3.54, which our tests drive through each fault
    ),
)
