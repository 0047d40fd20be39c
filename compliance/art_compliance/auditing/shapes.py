"""The wire format of a body that has no URL, by its fields alone: a guess, and counted as one.

The fields are those of the formats' published types (`fixtures/wire`): each tells its format from the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from art_compliance.dialects.recorded import objects_of
from art_sdk.json_data import is_array, is_object

_CONVERSE: Final = frozenset({"inferenceConfig", "toolConfig", "additionalModelRequestFields", "guardrailConfig"})
_OLLAMA: Final = frozenset({"options", "keep_alive", "think"})
_ANTHROPIC: Final = frozenset({"system", "anthropic_version", "thinking", "stop_sequences"})
_OPENAI: Final = re.compile(r"(openai/)?(gpt-|chatgpt-|o\d)")

_Tells = Callable[[Mapping[str, Any], str], bool]
"""Whether a body is of a format, by its fields and the name of its model."""

_LISTS: Final[Mapping[str, str]] = {"contents": "gemini-generate", "input": "openai-responses"}
"""The formats whose conversation has its own name."""

_WITH_MESSAGES: Final[tuple[tuple[str, _Tells], ...]] = (
    ("bedrock-converse", lambda body, _: bool(_CONVERSE & body.keys())),
    ("anthropic-messages", lambda body, model: "max_tokens" in body and _is_anthropic(body, model)),
    ("ollama-chat", lambda body, _: bool(_OLLAMA & body.keys())),
    ("cohere-chat-v2", lambda _, model: model.startswith("command-")),
    ("openai-chat", lambda _, model: _OPENAI.match(model) is not None),
    ("openai-compatible", lambda _body, _model: True),
)


def dialect_by_shape(body: Any, model: str | None) -> str | None:
    """The format that a body is probably of, or None where nothing tells.

    A conversation is a list of objects: embeddings have an `input`, too, of texts or numbers.
    """
    if not is_object(body):
        return None
    if is_array(body.get("messages")):
        return next(name for name, tells in _WITH_MESSAGES if tells(body, model or ""))
    return next((dialect for name, dialect in _LISTS.items() if any(objects_of(body.get(name)))), None)


def _is_anthropic(body: Mapping[str, Any], model: str) -> bool:
    return "claude" in model or bool(_ANTHROPIC & body.keys())
