"""Services that speak chat completions with fields and errors of their own: each as its answers, and what it keeps."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from art_compliance.dialects.base import Dialect
from art_compliance.dialects.openai_chat.access import chat_access
from art_compliance.dialects.openai_chat.family import ChatForm
from art_compliance.dialects.openai_chat.streams import ChatStyle
from art_compliance.dialects.openai_compatible import FORM
from art_compliance.dialects.openai_compatible.answers import (
    dress_ollama,
    dress_xai,
    reasoning,
    write_cerebras,
    write_cerebras_error,
    write_fireworks_error,
    write_huggingface_error,
    write_ollama,
    write_ollama_error,
    write_perplexity_error,
    write_response,
    write_together_error,
    write_xai,
    write_xai_error,
)
from art_compliance.dialects.openai_compatible.fields import EMPTY_VALUES
from art_compliance.dialects.openai_compatible.rules import IGNORED_BY_OLLAMA, RULES
from art_compliance.dialects.recorded import TokenCounts

_NAME: Final = FORM.name

XAI: Final[Dialect] = ChatForm(
    name=_NAME,
    like="openai-chat",
    base_path="/v1",
    access=chat_access(  # the second is recorded, at its other API
        no_key="No credentials were given.",  # inferred
        wrong_key="Incorrect API key provided. You can obtain an API key from https://console.x.ai.",
    ),
    rules=RULES,
    kept_fields=("reasoning_content",),  # recorded in requests
    has_thinking=True,
    write=write_xai,
    write_error=write_xai_error,
    models=("grok-4.3", "grok-code-fast-1"),
    other_models=("grok-3-mini", "grok-4-fast-non-reasoning"),
    own_fields={"seed": 7},  # XAIChatConfig of BerriAI/litellm
    reasoning=reasoning,
    call_id_prefix="call_",
    has_choices=True,  # `n`: docs.x.ai/docs/api-reference; XAIChatConfig of BerriAI/litellm sends it, too
    counts=TokenCounts(
        input=("/usage/prompt_tokens",),
        output=("/usage/completion_tokens", "/usage/completion_tokens_details/reasoning_tokens"),
    ),
    style=ChatStyle(  # recorded in 2026
        texts=("reasoning_content", "content"), whole_calls=True, splits_calls=True, dress=dress_xai
    ),
).dialect()

OLLAMA: Final[Dialect] = ChatForm(
    name=_NAME,
    like="openai-chat",
    base_path="/v1",
    access=chat_access(no_key="Unauthorized", wrong_key="Unauthorized"),  # recorded at ollama.com; a local one has none
    rules=RULES,
    kept_fields=("reasoning",),  # recorded in requests; `Message` in openai/openai.go
    ignored_fields=IGNORED_BY_OLLAMA,
    has_thinking=True,
    write=write_ollama,
    write_error=write_ollama_error,
    models=("gpt-oss:20b", "qwen3:8b"),
    other_models=("hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M", "llama3.2"),
    own_fields={"seed": 7},  # docs.ollama.com/api/openai-compatibility, as the next one
    reasoning_fields=({"reasoning_effort": "low"}, {"reasoning_effort": "none"}),
    reasoning=reasoning,
    call_id_prefix="call_",
    variations=(EMPTY_VALUES,),  # as its servers did in May 2024: https://github.com/ollama/ollama/issues/4357
    style=ChatStyle(texts=("reasoning", "content"), whole_calls=True, dress=dress_ollama),  # recorded in 2026
).dialect()

CEREBRAS: Final[Dialect] = ChatForm(
    name=_NAME,
    like="openai-chat",
    base_path="/v1",
    access=chat_access(no_key="Wrong API Key", wrong_key="Wrong API Key"),  # inferred
    rules=RULES,
    kept_fields=("reasoning",),  # recorded in requests
    has_thinking=True,
    write=write_cerebras,
    write_error=write_cerebras_error,
    models=("gpt-oss-120b", "zai-glm-4.7"),
    own_fields={"seed": 7},  # inferred
    reasoning=reasoning,
    lacks_end_mark=True,  # recorded behind router.huggingface.co: its streams just end after the finish
    style=ChatStyle(texts=("reasoning", "content")),
).dialect()

PERPLEXITY: Final[Dialect] = ChatForm(
    name=_NAME,
    like="openai-chat",
    base_path="",
    access=chat_access(  # the second is recorded
        no_key="Invalid API key provided. Ensure your API key is correct and active.",
        wrong_key="Invalid API key provided. Ensure your API key is correct and active.",
    ),
    rules=RULES,
    write=write_response,
    write_error=write_perplexity_error,
    models=("sonar", "sonar-pro"),
    own_fields={"return_images": False},  # docs.perplexity.ai/api-reference/chat-completions-post
    style=ChatStyle(texts=("reasoning_content", "content")),
).dialect()

_TOGETHER_KEY: Final = (
    "Invalid API key provided. You can find your API key at https://api.together.ai/settings/api-keys."
)
TOGETHER: Final[Dialect] = ChatForm(
    name=_NAME,
    like="openai-chat",
    base_path="/v1",
    access=chat_access(no_key=_TOGETHER_KEY, wrong_key=_TOGETHER_KEY),  # the second is recorded
    rules=RULES,
    kept_fields=("reasoning", "reasoning_content"),
    has_thinking=True,
    write=write_response,
    write_error=write_together_error,
    models=("meta-llama/Llama-3.3-70B-Instruct-Turbo", "openai/gpt-oss-120b"),
    own_fields={"seed": 7},  # `CompletionCreateParamsBase` of togethercomputer/together-typescript
    reasoning=reasoning,
    call_id_prefix="call_",  # recorded behind router.huggingface.co
    style=ChatStyle(texts=("reasoning_content", "content")),
).dialect()

FIREWORKS: Final[Dialect] = replace(
    FORM,
    access=chat_access(no_key="Missing API key", wrong_key="The API key you provided is invalid."),  # inferred
    write_error=write_fireworks_error,
    error_forms=(),
    failures=(),
).dialect()

HUGGINGFACE: Final[Dialect] = replace(
    FORM,
    access=chat_access(  # https://github.com/coreply/coreply/issues/19
        no_key="Invalid username or password.", wrong_key="Invalid username or password."
    ),
    write_error=write_huggingface_error,
    error_forms=(),
    failures=(),
).dialect()
