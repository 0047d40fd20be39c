"""Where clients find a key and a URL that they are not given: environment variables, and the user's netrc file."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from art_compliance.subject.access import ENVIRONMENT_LOGIN

PREFIXES: Final = (
    "ANTHROPIC",
    "AZURE_OPENAI",
    "CO",
    "COHERE",
    "DEEPSEEK",
    "GEMINI",
    "GOOGLE",
    "GROQ",
    "MISTRAL",
    "OLLAMA",
    "OPENAI",
    "OPENROUTER",
    "XAI",
)
"""How their names begin: `OPENAI_API_KEY`, `ANTHROPIC_AUTH_TOKEN`, `CO_API_KEY`, `OPENAI_BASE_URL`."""


@contextmanager
def environment_with(values: Mapping[str, str]) -> Generator[None]:
    """Sets a variable for each prefix and each of these endings; puts back afterwards what was there."""
    with _variables({f"{prefix}_{ending}": value for prefix in PREFIXES for ending, value in values.items()}):
        yield


@contextmanager
def home_with_login(host: str, key: str) -> Generator[None]:
    """Gives this process another home, whose netrc file has a login for the host, with the key as its password."""
    with TemporaryDirectory(prefix="art-home-") as home:
        path = Path(home, ".netrc")
        path.touch(mode=0o600)  # one that others may read is refused
        path.write_text(f"machine {host} login {ENVIRONMENT_LOGIN} password {key}\n", encoding="ascii")
        with _variables({"HOME": home, "USERPROFILE": home, "NETRC": str(path)}):
            yield


@contextmanager
def _variables(given: Mapping[str, str]) -> Generator[None]:
    """Sets these variables; puts back afterwards what was there."""
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
