"""`openai-compatible`: chat completions at a server whose limits nobody knows, such as vLLM or llama-server.

Its shape and the pairing of calls and results are judged; OpenAI's fields and limits are notes. Services that are
known are rows of `services`, with rules of their own in `fixtures/rules/openai-compatible.toml`.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from art_compliance.dialects.openai_chat.answers import write_error
from art_compliance.dialects.openai_chat.failures import (
    BESIDE_CHOICES,
    ERROR_AS_TEXT,
    ERROR_EVENT,
    ERROR_THEN_DONE,
    IN_CHOICE,
)
from art_compliance.dialects.openai_chat.family import ChatForm
from art_compliance.dialects.openai_chat.streams import ChatStyle
from art_compliance.dialects.openai_compatible.answers import ERROR_FORMS, reasoning, write_response
from art_compliance.dialects.openai_compatible.rules import RULES
from art_compliance.dialects.openai_compatible.variations import VARIATIONS

_OF_GATEWAYS: Final = (replace(BESIDE_CHOICES, some_servers=True), replace(IN_CHOICE, some_servers=True))

FORM: Final = ChatForm(
    name="openai-compatible",
    like="openai-chat",
    base_path="/v1",
    foreign_base_path="/api/v3",  # as Volcano's: https://github.com/T8mars/comfyui-minimax-h3-prompt-enhancer-T8/pull/6
    rules=RULES,
    kept_fields=("reasoning_content", "reasoning", "reasoning_details"),
    has_thinking=True,
    write=write_response,
    write_error=write_error,
    error_forms=ERROR_FORMS,
    models=("written",),
    other_models=("meta-llama/Llama-3.3-70B-Instruct", "o3-mini", "deepseek-r1:8b", "gpt-5-2025-08-07"),
    own_fields={"seed": 7, "min_p": 0.05, "chat_template_kwargs": {"enable_thinking": False}},
    reasoning_fields=({"reasoning_effort": "low"}, {"reasoning_effort": "none"}),
    reasoning=reasoning,
    variations=VARIATIONS,
    failures=(*_OF_GATEWAYS, ERROR_THEN_DONE, ERROR_AS_TEXT, ERROR_EVENT),
    lacks_end_mark=True,
    has_choices=True,
    style=ChatStyle(texts=("reasoning_content", "content")),
)

OPENAI_COMPATIBLE: Final = FORM.dialect()
