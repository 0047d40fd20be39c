"""Keys in the header that most services use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

BEARER_ADVICE: Final = "send it as the header authorization: Bearer KEY"


def find_aws_key(headers: Mapping[str, str], target: str = "") -> str | None:
    """The signature of a request that AWS keys sign, or a bearer key; None without either."""
    signed = re.match(r"AWS4-HMAC-SHA256 .*\bSignature=(\S+)", headers.get("authorization", ""))
    return signed[1] if signed else find_bearer_key(headers, target)


def find_bearer_key(headers: Mapping[str, str], target: str = "") -> str | None:
    """The key of a header `authorization: Bearer ...`, or None."""
    del target
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else None
