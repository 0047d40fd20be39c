"""The wire formats that the suite knows, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from art_compliance.dialects.anthropic_messages import ANTHROPIC_MESSAGES
from art_compliance.dialects.base import Dialect
from art_compliance.dialects.bedrock_converse import BEDROCK_CONVERSE
from art_compliance.dialects.cohere_chat import COHERE_CHAT
from art_compliance.dialects.decoding import Decoded, DecodeFailed
from art_compliance.dialects.deepseek_chat import DEEPSEEK_CHAT
from art_compliance.dialects.endpoints import find_spoken
from art_compliance.dialects.gemini_generate import GEMINI_GENERATE
from art_compliance.dialects.groq_chat import GROQ_CHAT
from art_compliance.dialects.mistral_chat import MISTRAL_CHAT
from art_compliance.dialects.ollama_chat import OLLAMA_CHAT
from art_compliance.dialects.openai_chat import OPENAI_CHAT
from art_compliance.dialects.openai_compatible import OPENAI_COMPATIBLE
from art_compliance.dialects.openai_responses import OPENAI_RESPONSES
from art_compliance.dialects.openrouter_chat import OPENROUTER_CHAT
from art_compliance.dialects.urls import host_of, is_one_of
from art_compliance.dialects.writing import CannotWrite
from art_compliance.findings import HarnessError

DIALECTS: Final[Mapping[str, Dialect]] = {
    dialect.name: dialect
    for dialect in (
        ANTHROPIC_MESSAGES,
        BEDROCK_CONVERSE,
        COHERE_CHAT,
        GEMINI_GENERATE,
        OPENAI_CHAT,
        OPENAI_RESPONSES,
        MISTRAL_CHAT,
        DEEPSEEK_CHAT,
        OPENROUTER_CHAT,
        GROQ_CHAT,
        OPENAI_COMPATIBLE,
        OLLAMA_CHAT,
    )
}
"""Every dialect; `base` says what a new one takes."""


def find_dialect(name: str) -> Dialect:
    """The dialect of that name. Raises HarnessError, which lists the known names."""
    dialect = DIALECTS.get(name)
    if dialect is None:
        raise HarnessError(f"unknown dialect {name!r}; known: {', '.join(sorted(DIALECTS))}")
    return dialect


def find_by_url(url: str) -> Dialect | None:
    """The first dialect whose requests go to the path of this URL; a path alone will do.

    Paths are short, and a provider may use another format's path for something else, as OpenAI does with `/messages`
    in its threads. So a URL at a provider of a known format is never one of another format.
    """
    own = {dialect.service.path for dialect in DIALECTS.values() if _is_at(dialect, host_of(url))}
    return next(
        (one for one in DIALECTS.values() if one.service.takes(url) and (not own or one.service.path in own)), None
    )


def _is_at(dialect: Dialect, host: str | None) -> bool:
    return host is not None and is_one_of(host, dialect.service.hosts)


def decode(dialect: str, payload: object, *, url: str | None = None) -> Decoded:
    """A request of the dialect in the standard format.

    Raises DecodeFailed, with a JSON pointer, for a request that the dialect cannot have.
    """
    decoder = find_spoken(find_dialect(dialect), url).requests.decode
    try:
        return decoder(payload, url=url)
    except RecursionError as error:
        raise DecodeFailed("", "the payload is nested too deep to be decoded") from error


__all__ = ["DIALECTS", "CannotWrite", "DecodeFailed", "Decoded", "Dialect", "decode", "find_by_url", "find_dialect"]
