"""Gemini's keys, and its answers to requests without them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qs, urlsplit

from art_compliance.dialects.access import find_bearer_key
from art_compliance.dialects.base import Access, Denial


def _find_key(headers: Mapping[str, str], target: str) -> str | None:
    query = parse_qs(urlsplit(target).query, keep_blank_values=True).get("key", [find_bearer_key(headers, target)])
    return headers.get("x-goog-api-key", query[0])


_NO_KEY: Final = Denial(  # https://github.com/PublicAffairs/openai-gemini/issues/92
    403,
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other "
    "form of API consumer identity to call this API.",
)

ACCESS: Final = Access(
    find_key=_find_key,
    advice="send it as the header x-goog-api-key",
    no_key=_NO_KEY,
    # https://github.com/can1357/oh-my-pi/issues/449
    wrong_key=Denial(400, "API key not valid. Please pass a valid API key."),
)

NOT_JSON: Final = Denial(400, "Invalid JSON payload received.")  # inferred
