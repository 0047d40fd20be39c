"""Which types each schema is generated from."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from msgspec import Struct

from art_compliance.dialects.deepseek_chat import overlay as deepseek
from art_compliance.dialects.groq_chat import overlay as groq
from art_compliance.dialects.ollama_chat import overlay as ollama
from art_compliance.dialects.openai_compatible import overlay as compatible
from art_compliance.dialects.openrouter_chat import overlay as openrouter
from art_compliance.dialects.overlay import Overlaid
from art_compliance.judging.wire import gemini, models, proto, service_model, signatures, typed_dicts
from art_compliance.judging.wire.overlays import lay_over
from art_compliance.judging.wire.shaping import Schema


class Origin(Struct, frozen=True):
    """A distribution on the package index, its module, and the folder with the type files."""

    package: str
    module: str
    folder: str


class Source(Struct, frozen=True):
    """How a schema is generated. `make` imports the SDK, which only the extra `judges` installs.

    `overlay` is added to the types where the SDK is a relative's.
    """

    origins: tuple[Origin, ...]
    make: Callable[[], Schema]
    overlay: tuple[Overlaid, ...] = ()
    is_nullable: bool = False

    def build(self) -> Schema:
        """The schema with its overlay."""
        made = self.make()
        return lay_over(made, self.overlay, nullable=self.is_nullable) if self.overlay else made


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


def _answers(package: str, module: str, folder: str, name: str, overlay: tuple[Overlaid, ...] = ()) -> Source:
    """Answers, or the items of a stream, as the models of an SDK read them."""
    return Source((Origin(package, module, folder),), partial(models.answer_schema, module, name), overlay)


_OPENAI_CHAT: Final = Source(
    (Origin("openai", _OPENAI, "openai/types/"),),
    partial(typed_dicts.request_schema, _OPENAI, _BOTH, overlay=_STREAM),
)
_RESPONSES: Final = "openai.types.responses.response_create_params"
_RESPONSES_ANSWERS: Final = ("openai", "openai.types.responses", "openai/types/responses/")
_OPENAI_ANSWERS: Final = ("openai", "openai.types.chat", "openai/types/")
_GROQ: Final = "groq.types.chat.completion_create_params"
_GROQ_ANSWERS: Final = ("groq", "groq.types.chat", "groq/types/")
_MISTRAL: Final = ("mistralai", "mistralai.client.models", "mistralai/client/models/")
_OLLAMA: Final = ("ollama", "ollama._types", "ollama/")
_COHERE: Final = ("cohere", "cohere.v2.types", "cohere/")
_OPENROUTER: Final = ("openrouter", "openrouter.components", "openrouter/components/")

_BEDROCK: Final = "data/bedrock-runtime/2023-09-30/service-2.json.gz"
_BEDROCK_ANSWER: Final = partial(service_model.answer_schema, any_text=frozenset({"ToolUseType"}))
"""Recorded answers call the caller's tools `tool_use`, which the model lacks."""


def _bedrock(make: Callable[[str, str], Schema], name: str) -> Source:
    return Source((Origin("botocore", "botocore", f"botocore/{_BEDROCK}"),), partial(make, _BEDROCK, name))


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
    "bedrock-converse": _bedrock(service_model.request_schema, "ConverseRequest"),
    "bedrock-converse.answer": _bedrock(_BEDROCK_ANSWER, "ConverseResponse"),
    "bedrock-converse.stream": _bedrock(_BEDROCK_ANSWER, "ConverseStreamOutput"),
    "cohere-chat-v2": Source(
        (Origin("cohere", "cohere.v2.client", "cohere/"),),
        partial(
            signatures.request_schema,
            "cohere.v2.client",
            "V2Client.chat",
            without=frozenset({"request_options"}),
            overlay=_STREAM,
        ),
    ),
    "cohere-chat-v2.answer": _answers(*_COHERE, "V2ChatResponse"),
    "cohere-chat-v2.stream": _answers(*_COHERE, "V2ChatStreamResponse"),
    "gemini-generate": Source(
        (
            Origin("google-ai-generativelanguage", gemini.PROTO, "google/ai/generativelanguage_v1beta/types/"),
            Origin("google-genai", gemini.GENAI, "google/genai/"),
        ),
        gemini.request_schema,
    ),
    "gemini-generate.answer": _GEMINI_ANSWER,
    "gemini-generate.stream": _GEMINI_ANSWER,
    "openai-chat": _OPENAI_CHAT,
    "openai-chat.answer": _answers(*_OPENAI_ANSWERS, "ChatCompletion"),
    "openai-chat.stream": _answers(*_OPENAI_ANSWERS, "ChatCompletionChunk"),
    "openai-responses": Source(
        (Origin("openai", _RESPONSES, "openai/types/responses/"),),
        partial(
            typed_dicts.request_schema,
            _RESPONSES,
            ("ResponseCreateParamsNonStreaming", "ResponseCreateParamsStreaming"),
            overlay=_STREAM,
        ),
    ),
    "openai-responses.answer": _answers(*_RESPONSES_ANSWERS, "Response"),
    "openai-responses.stream": _answers(*_RESPONSES_ANSWERS, "ResponseStreamEvent"),
    "groq-chat": Source(
        (Origin("groq", _GROQ, "groq/types/"),),
        partial(typed_dicts.request_schema, _GROQ, ("CompletionCreateParams",), overlay={}),
        groq.REQUEST,
    ),
    "groq-chat.answer": _answers(*_GROQ_ANSWERS, "ChatCompletion"),
    "groq-chat.stream": _answers(*_GROQ_ANSWERS, "ChatCompletionChunk"),
    "mistral-chat": Source((Origin(*_MISTRAL),), partial(models.request_schema, _MISTRAL[1], "ChatCompletionRequest")),
    "mistral-chat.answer": _answers(*_MISTRAL, "ChatCompletionResponse"),
    "mistral-chat.stream": _answers(*_MISTRAL, "CompletionChunk"),
    "deepseek-chat": Source(_OPENAI_CHAT.origins, _OPENAI_CHAT.make, deepseek.REQUEST, is_nullable=True),
    "deepseek-chat.answer": _answers(*_OPENAI_ANSWERS, "ChatCompletion", deepseek.ANSWER),
    "deepseek-chat.stream": _answers(*_OPENAI_ANSWERS, "ChatCompletionChunk", deepseek.STREAM),
    "openai-compatible": Source(_OPENAI_CHAT.origins, _OPENAI_CHAT.make, compatible.REQUEST),
    "openai-compatible.answer": _answers(*_OPENAI_ANSWERS, "ChatCompletion", compatible.ANSWER),
    "openai-compatible.stream": _answers(*_OPENAI_ANSWERS, "ChatCompletionChunk", compatible.STREAM),
    "ollama-chat": Source(
        (Origin(*_OLLAMA),), partial(models.request_schema, _OLLAMA[1], "ChatRequest"), ollama.REQUEST
    ),
    "ollama-chat.answer": _answers(*_OLLAMA, "ChatResponse"),
    "ollama-chat.stream": _answers(*_OLLAMA, "ChatResponse"),
    "openrouter-chat": Source(
        (Origin(*_OPENROUTER),), partial(models.request_schema, _OPENROUTER[1], "ChatRequest"), openrouter.REQUEST
    ),
    "openrouter-chat.answer": _answers(*_OPENROUTER, "ChatResult"),
    "openrouter-chat.stream": _answers(*_OPENROUTER, "ChatStreamChunk"),
}
"""The kept schemas by name: a dialect's requests, its `.answer` and each item of its `.stream`."""
