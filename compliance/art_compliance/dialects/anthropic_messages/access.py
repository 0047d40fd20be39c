"""Anthropic's keys and headers, and its answers to requests without them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from art_compliance.dialects.access import find_bearer_key
from art_compliance.dialects.base import Access, Denial


def _find_key(headers: Mapping[str, str], target: str) -> str | None:
    return headers.get("x-api-key", find_bearer_key(headers, target))


ACCESS: Final = Access(
    find_key=_find_key,
    advice="send it as the header x-api-key",
    no_key=Denial(401, "x-api-key header is required"),  # https://github.com/stackblitz-labs/bolt.diy/issues/156
    wrong_key=Denial(401, "invalid x-api-key"),  # recorded
    # Anthropic's documentation of versioning
    headers={"anthropic-version": Denial(400, "anthropic-version: header is required")},
    known_values={
        "anthropic-version": ("2023-06-01", "2026-10-21", "2023-01-01")
    },  # platform.claude.com: api/versioning
    version_header="anthropic-version",
)

# https://github.com/anthropics/claude-code/issues/4932
NOT_JSON: Final = Denial(400, "The request body is not valid JSON")
