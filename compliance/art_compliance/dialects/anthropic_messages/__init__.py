"""`anthropic-messages`: the messages API of Anthropic, and of others who serve it."""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.anthropic_messages.access import ACCESS, NOT_JSON
from art_compliance.dialects.anthropic_messages.answers import ESSENTIAL, write_error, write_response
from art_compliance.dialects.anthropic_messages.decode import NAME, decode
from art_compliance.dialects.anthropic_messages.order import ORDER
from art_compliance.dialects.anthropic_messages.reasoning import find_signatures, reasoning
from art_compliance.dialects.anthropic_messages.recorded import COUNTS, read_recorded
from art_compliance.dialects.anthropic_messages.rules import RULES, Messages
from art_compliance.dialects.anthropic_messages.streams import UNKNOWN_EVENT, write_stream, write_stream_error
from art_compliance.dialects.base import Answers, Dialect, Requests, Service, Streams, WiderSchema
from art_compliance.dialects.framing import body_wants_stream

ANTHROPIC_MESSAGES: Final = Dialect(
    name=NAME,
    service=Service(
        hosts=("api.anthropic.com",),
        path=r"/messages$",
        base_path="/v1",
        access=ACCESS,
        shape="anthropic_messages",
    ),
    requests=Requests(
        decode=decode,
        read=Messages,
        rules=RULES,
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
        essential=ESSENTIAL,
        finish="/stop_reason",
        read=read_recorded,
        counts=COUNTS,
        reasoning=reasoning,
        call_id_prefix="toolu_",
    ),
    streams=Streams(
        write=write_stream,
        write_error=write_stream_error,
        is_requested=body_wants_stream,
        order=ORDER,
        unknown_event=UNKNOWN_EVENT,
        text_fields=("text",),
        finish_fields=("stop_reason",),
        client_failures=frozenset({"byte-order-mark"}),  # anthropic 2.12, which our tests drive through each fault
    ),
)
