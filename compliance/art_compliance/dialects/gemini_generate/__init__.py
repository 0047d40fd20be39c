"""`gemini-generate`: generateContent of the Gemini API and of Vertex AI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from art_compliance.dialects.base import Answers, Dialect, Requests, Service, Streams
from art_compliance.dialects.gemini_generate.access import ACCESS, NOT_JSON
from art_compliance.dialects.gemini_generate.answers import (
    BAD_ENDS,
    BLOCKED_ENDS,
    ESSENTIAL,
    LISTED_ERROR,
    MODELS,
    write_error,
    write_response,
)
from art_compliance.dialects.gemini_generate.decode import decode
from art_compliance.dialects.gemini_generate.order import ORDER
from art_compliance.dialects.gemini_generate.reasoning import find_signatures, reasoning
from art_compliance.dialects.gemini_generate.recorded import COUNTS, read_recorded
from art_compliance.dialects.gemini_generate.rules import RULES, Contents
from art_compliance.dialects.gemini_generate.streams import (
    UNKNOWN_EVENT,
    wants_array,
    wants_stream,
    write_body,
    write_stream,
    write_stream_error,
)
from art_compliance.dialects.gemini_generate.variations import TWO_CANDIDATES, VARIATIONS

GENERATION: Final[Mapping[str, tuple[Any, ...]]] = {
    "generationConfig/topK": (),
    "generationConfig/seed": (),
    "generationConfig/presencePenalty": (0,),
    "generationConfig/frequencyPenalty": (0,),
    "generationConfig/candidateCount": (1,),
    "generationConfig/mediaResolution": ("MEDIA_RESOLUTION_UNSPECIFIED",),
    "generationConfig/thinkingConfig/thinkingBudget": (-1,),
    "generationConfig/thinkingConfig/thinkingLevel": ("THINKING_LEVEL_UNSPECIFIED",),
    "safetySettings": (),
}
"""Defaults as in `google.genai.types.GenerateContentConfig` of the official client."""

_UNBLOCKED: Final = {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}

_REASONING: Final[tuple[dict[str, Any], ...]] = tuple(
    {"generationConfig": {"thinkingConfig": config}} for config in ({"includeThoughts": True}, {"thinkingBudget": 0})
)

GEMINI_GENERATE: Final = Dialect(
    name="gemini-generate",
    service=Service(
        hosts=("generativelanguage.googleapis.com", "aiplatform.googleapis.com"),
        path=r"/models/[^/]+:(generateContent|streamGenerateContent)$",
        base_path="/v1beta",
        other_base_paths=("/v1",),  # the default of google-genai 3.4, _api_client.py
        endings=("/models/{model}:generateContent", "/models/{model}:streamGenerateContent"),
        access=ACCESS,
        shape="gemini_generate",
    ),
    requests=Requests(
        decode=decode,
        read=Contents,
        rules=RULES,
        lacks=frozenset({"message_name"}),
        own_fields={"generationConfig": {"seed": 7}, "safetySettings": [_UNBLOCKED]},
        reasoning_fields=_REASONING,
        generation=GENERATION,
        not_json=NOT_JSON,
        history="/contents",
        kept_names=frozenset({"text", "calls"}),
        find_signatures=find_signatures,
    ),
    answers=Answers(
        write=write_response,
        write_error=write_error,
        error_forms=(LISTED_ERROR,),
        models=MODELS,
        essential=ESSENTIAL,
        read=read_recorded,
        counts=COUNTS,
        reasoning=reasoning,
        variations=VARIATIONS,
        several=TWO_CANDIDATES,
        bad_ends=BAD_ENDS,
        blocked_ends=BLOCKED_ENDS,
        optional_usage=("usageMetadata",),
        doubles=True,  # google.protobuf.Struct, args of FunctionCall; recorded: whole numbers have no fraction
    ),
    streams=Streams(
        write=write_stream,
        write_error=write_stream_error,
        write_body=write_body,
        is_requested=wants_stream,
        is_array=wants_array,
        order=ORDER,
        unknown_event=UNKNOWN_EVENT,
        text_fields=("text",),
        finish_fields=("finishReason", "blockReason"),
        client_failures=frozenset(  # google-genai 3.4, which our tests drive through each fault
            {
                "byte-order-mark",
                "comments",
                "events-without-data",
                "further-fields",
                "kept-alive",
                "no-blank-after-colon",
            }
        ),
    ),
)
