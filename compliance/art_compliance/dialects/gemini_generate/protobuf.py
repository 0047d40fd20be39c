"""How protobuf's JSON writes enums and bytes: https://protobuf.dev/programming-guides/json."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Final

MODES: Final = ("MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED")
"""The enum `FunctionCallingConfig.Mode` of google-ai-generativelanguage, in the order of its numbers."""

TYPES: Final = ("TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
"""Its enum `Type`. Schemas may be named in lower case, too."""

HARMS: Final = (
    "HARM_CATEGORY_UNSPECIFIED",
    "HARM_CATEGORY_DEROGATORY",
    "HARM_CATEGORY_TOXICITY",
    "HARM_CATEGORY_VIOLENCE",
    "HARM_CATEGORY_SEXUAL",
    "HARM_CATEGORY_MEDICAL",
    "HARM_CATEGORY_DANGEROUS",
    "HARM_CATEGORY_HARASSMENT",
    "HARM_CATEGORY_HATE_SPEECH",
    "HARM_CATEGORY_SEXUALLY_EXPLICIT",
    "HARM_CATEGORY_DANGEROUS_CONTENT",
    "HARM_CATEGORY_CIVIC_INTEGRITY",
)
"""Its enum `HarmCategory`."""

MODALITIES: Final = ("MODALITY_UNSPECIFIED", "TEXT", "IMAGE", "AUDIO", "VIDEO")
"""Its enum `GenerationConfig.Modality`, and VIDEO of later models."""


def enum_name(value: object, names: Sequence[str]) -> str | None:
    """The name, in upper case, of an enum's value, which may be written as its number; None for anything else."""
    if isinstance(value, str):
        return value.upper()
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value in range(len(names))
    return names[int(value)] if is_number else None  # type: ignore[call-overload]


def canonical_base64(text: str) -> str:
    """Bytes in the standard alphabet with padding; they may be written in either alphabet and without padding.

    A text that is not base64 stays as it is.
    """
    return _read_base64(text) or text


def is_base64(text: str) -> bool:
    """Whether a text is bytes in base64, in either alphabet, with or without padding. White space is skipped."""
    return _read_base64(text) is not None


def _read_base64(text: str) -> str | None:
    given = "".join(text.split()).replace("-", "+").replace("_", "/")
    plain = given.rstrip("=")
    padded = plain + "=" * (-len(plain) % 4)
    if given not in (plain, padded):
        return None
    try:
        base64.b64decode(padded, validate=True)
    except ValueError:
        return None
    return padded
