"""One recorded call: a request and its answer."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Exchange(Struct, frozen=True, kw_only=True):
    """One request and its answer. Header names are lower-case, and bodies are decompressed."""

    method: str
    uri: str
    request_headers: Mapping[str, str]
    request_body: bytes
    status: int
    reason: str
    answer_headers: Mapping[str, str]
    answer_body: bytes
