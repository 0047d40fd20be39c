"""The environment variables by which official clients find a key and a URL where they are given none."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Final

PREFIXES: Final = (
    "ANTHROPIC",
    "AZURE_OPENAI",
    "DEEPSEEK",
    "GEMINI",
    "GOOGLE",
    "GROQ",
    "MISTRAL",
    "OPENAI",
    "OPENROUTER",
    "XAI",
)
"""How their names begin: `OPENAI_API_KEY`, `OPENAI_BASE_URL`."""


@contextmanager
def environment_with(values: Mapping[str, str]) -> Generator[None]:
    """Sets a variable for each prefix and each of these endings; puts back afterwards what was there."""
    given = {f"{prefix}_{ending}": value for prefix in PREFIXES for ending, value in values.items()}
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
