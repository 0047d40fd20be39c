"""`ollama-chat`: Ollama's own chat API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from art_compliance.dialects.base import Answers, Dialect, Requests, Service, Streams
from art_compliance.dialects.ollama_chat.access import ACCESS, NOT_JSON
from art_compliance.dialects.ollama_chat.answers import BAD_ENDS, ESSENTIAL, MODELS, write_error, write_response
from art_compliance.dialects.ollama_chat.decode import decode
from art_compliance.dialects.ollama_chat.order import ORDER
from art_compliance.dialects.ollama_chat.reasoning import reasoning
from art_compliance.dialects.ollama_chat.recorded import COUNTS, read_recorded
from art_compliance.dialects.ollama_chat.rules import RULES, Chat
from art_compliance.dialects.ollama_chat.streams import (
    UNKNOWN_EVENT,
    wants_stream,
    write_body,
    write_stream,
    write_stream_error,
)
from art_compliance.dialects.ollama_chat.variations import VARIATIONS

GENERATION: Final[Mapping[str, tuple[Any, ...]]] = {
    "options/seed": (),
    "options/top_k": (),
    "options/min_p": (),
    "options/repeat_penalty": (),
    "options/presence_penalty": (),
    "options/frequency_penalty": (),
    "options/typical_p": (),
    "options/repeat_last_n": (),
    "options/num_ctx": (),
    "options/num_keep": (),
    "truncate": (True,),
    "shift": (True,),
    "think": (),
}
"""A model's own file says what is usual: github.com/ollama/ollama/blob/main/docs/modelfile.md; fields: api/types.go."""

OLLAMA_CHAT: Final = Dialect(
    name="ollama-chat",
    service=Service(
        hosts=("ollama.com",),
        kin=("localhost", "127.0.0.1", "host.docker.internal"),  # whoever runs one: the server is the same program
        path=r"/api/chat$",
        base_path="/api",
        endings=("/chat",),
        access=ACCESS,
        shape="ollama_chat",
    ),
    requests=Requests(
        decode=decode,
        read=Chat,
        rules=RULES,
        lacks=frozenset({"message_name", "tool_output_schema"}),
        own_fields={"options": {"seed": 7}, "keep_alive": "10m"},
        reasoning_fields=({"think": True}, {"think": "high"}, {"think": False}),
        generation=GENERATION,
        not_json=NOT_JSON,
        history="/messages",
        has_thinking=True,
        kept_names=frozenset({"thinking"}),
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
        call_id_prefix="call_",  # api/types.go: ids are made by the server
        variations=VARIATIONS,
        bad_ends=BAD_ENDS,
        optional_usage=("prompt_eval_count", "eval_count"),  # `Metrics` in api/types.go: omitempty
        doubles=True,  # Go decodes the model's arguments into float64: `ToolCallFunctionArguments` in api/types.go
    ),
    streams=Streams(
        write=write_stream,
        write_error=write_stream_error,
        write_body=write_body,
        is_requested=wants_stream,
        content_type="application/x-ndjson",
        order=ORDER,
        unknown_event=UNKNOWN_EVENT,
        text_fields=("content",),
        finish_fields=("done_reason",),
        client_failures=frozenset({"byte-order-mark"}),  # ollama 0.6, which our tests drive through each fault
    ),
)
