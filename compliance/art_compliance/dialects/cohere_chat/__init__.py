"""`cohere-chat-v2`: the second version of Cohere's chat API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from art_compliance.dialects.base import Answers, Dialect, Requests, Service, Streams
from art_compliance.dialects.cohere_chat.access import ACCESS, NOT_JSON
from art_compliance.dialects.cohere_chat.answers import (
    BAD_ENDS,
    ESSENTIAL,
    GOOD_ENDS,
    MODELS,
    write_error,
    write_response,
)
from art_compliance.dialects.cohere_chat.decode import NAME, decode
from art_compliance.dialects.cohere_chat.order import ORDER
from art_compliance.dialects.cohere_chat.reasoning import reasoning
from art_compliance.dialects.cohere_chat.recorded import COUNTS, read_recorded
from art_compliance.dialects.cohere_chat.rules import RULES, Chat
from art_compliance.dialects.cohere_chat.streams import UNKNOWN_EVENT, write_body, write_stream, write_stream_error
from art_compliance.dialects.cohere_chat.variations import VARIATIONS
from art_compliance.dialects.framing import body_wants_stream

GENERATION: Final[Mapping[str, tuple[Any, ...]]] = {
    "frequency_penalty": (0,),
    "presence_penalty": (0,),
    "k": (0,),
    "seed": (),
    "safety_mode": ("CONTEXTUAL",),
    "thinking": (),
}
"""Defaults as in the reference of Chat, version 2: docs.cohere.com/reference/chat."""

COHERE_CHAT: Final = Dialect(
    name=NAME,
    service=Service(
        hosts=("api.cohere.com", "api.cohere.ai"),
        path=r"/v2/chat$",
        base_path="/v2",
        endings=("/chat",),
        access=ACCESS,
        shape="cohere_v2_chat",
    ),
    requests=Requests(
        decode=decode,
        read=Chat,
        rules=RULES,
        lacks=frozenset({"message_name", "tool_output_schema"}),
        own_fields={"seed": 7, "k": 5, "priority": 1},
        reasoning_fields=({"thinking": {"type": "enabled", "token_budget": 100}}, {"thinking": {"type": "disabled"}}),
        generation=GENERATION,
        not_json=NOT_JSON,
        history="/messages",
        has_thinking=True,
        kept_names=frozenset({"tool_plan", "citations"}),
        text_names=frozenset({"tool_plan"}),  # see the rule cohere.no-text-with-calls
        defaults={"temperature": (0.3,), "top_p": (0.75,)},  # docs.cohere.com/reference/chat
        has_signature=False,
    ),
    answers=Answers(
        write=write_response,
        write_error=write_error,
        models=MODELS,
        essential=ESSENTIAL,
        read=read_recorded,
        counts=COUNTS,
        reasoning=reasoning,
        variations=VARIATIONS,
        good_ends=GOOD_ENDS,
        bad_ends=BAD_ENDS,
        optional_usage=("usage",),
    ),
    streams=Streams(
        write=write_stream,
        write_error=write_stream_error,
        write_body=write_body,
        is_requested=body_wants_stream,
        order=ORDER,
        unknown_event=UNKNOWN_EVENT,
        text_fields=("text",),
        finish_fields=("finish_reason",),
    ),
)
