"""Which types each kept schema is made from."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from msgspec import Struct

from art_compliance.wire import gemini, models, proto, typed_dicts
from art_compliance.wire.shaping import Schema


class Origin(Struct, frozen=True):
    """A distribution on the package index, the module in it, and the folder whose files hold the types."""

    package: str
    module: str
    folder: str


class Source(Struct, frozen=True):
    """How a schema is made. `make` imports the SDK: only the extra `judges` brings it."""

    origins: tuple[Origin, ...]
    make: Callable[[], Schema]


_STREAM: Final[dict[str, Any]] = {"stream": {"anyOf": [{"type": "boolean"}, {"type": "null"}]}}
"""The SDKs type the streaming call and the plain one apart; the service takes either."""

_BOTH: Final = ("CompletionCreateParamsNonStreaming", "CompletionCreateParamsStreaming")
_OPENAI: Final = "openai.types.chat.completion_create_params"
_ANTHROPIC: Final = "anthropic.types.message_create_params"
_ANTHROPIC_BETA: Final = "anthropic.types.beta.message_create_params"


def _anthropic(module: str, folder: str) -> Source:
    """Requests of Anthropic's, as one of its two modules types them."""
    make = partial(
        typed_dicts.request_schema,
        module,
        ("MessageCreateParamsNonStreaming", "MessageCreateParamsStreaming"),
        overlay=_STREAM,
        without=frozenset({"workspace_id", "user_profile_id", "betas"}),  # they are sent as headers
        stays_open=frozenset({"InputSchemaTyped", "BetaFallbackParam"}),  # their own types say that they are open
    )
    return Source((Origin("anthropic", module, folder),), make)


_GEMINI_ANSWER: Final = Source(
    (Origin("google-ai-generativelanguage", gemini.PROTO, "google/ai/generativelanguage_v1beta/types/"),),
    partial(proto.answer_schema, gemini.PROTO, "GenerateContentResponse"),
)
"""Each item of a stream is an answer."""

SOURCES: Final[dict[str, Source]] = {
    "anthropic-messages": _anthropic(_ANTHROPIC, "anthropic/types/"),
    "anthropic-messages.answer": Source(
        (Origin("anthropic", "anthropic.types", "anthropic/types/"),),
        partial(models.answer_schema, "anthropic.types", "Message"),
    ),
    "anthropic-messages.beta": _anthropic(_ANTHROPIC_BETA, "anthropic/types/beta/"),
    "anthropic-messages.stream": Source(
        (Origin("anthropic", "anthropic.types", "anthropic/types/"),),
        partial(models.answer_schema, "anthropic.types", "RawMessageStreamEvent", beside=("ping", "error")),
    ),
    "gemini-generate": Source(
        (
            Origin("google-ai-generativelanguage", gemini.PROTO, "google/ai/generativelanguage_v1beta/types/"),
            Origin("google-genai", gemini.GENAI, "google/genai/"),
        ),
        gemini.request_schema,
    ),
    "gemini-generate.answer": _GEMINI_ANSWER,
    "gemini-generate.stream": _GEMINI_ANSWER,
    "mistral-chat": Source(
        (Origin("mistralai", "mistralai.client.models", "mistralai/client/models/"),),
        partial(models.request_schema, "mistralai.client.models", "ChatCompletionRequest"),
    ),
    "openrouter-chat": Source(
        (Origin("openrouter", "openrouter.components", "openrouter/components/"),),
        partial(models.request_schema, "openrouter.components", "ChatRequest"),
    ),
    "openai-chat": Source(
        (Origin("openai", _OPENAI, "openai/types/"),),
        partial(typed_dicts.request_schema, _OPENAI, _BOTH, overlay=_STREAM),
    ),
    "openai-chat.answer": Source(
        (Origin("openai", "openai.types.chat", "openai/types/"),),
        partial(models.answer_schema, "openai.types.chat", "ChatCompletion"),
    ),
    "openai-chat.stream": Source(
        (Origin("openai", "openai.types.chat", "openai/types/"),),
        partial(models.answer_schema, "openai.types.chat", "ChatCompletionChunk"),
    ),
}
"""The kept schemas by name: a dialect's requests, its `.answer` and each item of its `.stream`."""
