"""Signs reasoning and verifies signatures that come back. Nothing has to be remembered for it."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Final

from art_compliance.dialects.base import Dialect, Signature
from art_compliance.findings import Finding
from art_sdk.json_data import is_object

CHECK: Final = "provider.signature-comes-back-unchanged"

_SECRET: Final = b"written, not generated"
_NONCE: Final = 12


def sign(thought: str) -> str:
    """The signature of a thought, in base64."""
    nonce = hashlib.sha256(thought.encode("utf-8", "surrogatepass")).digest()[:_NONCE]
    return base64.b64encode(nonce + _mark(nonce)).decode()


def is_ours(signature: str) -> bool:
    """Whether the signature was made here, for any thought, and is unchanged."""
    try:
        raw = base64.b64decode(signature, validate=True)
    except ValueError:
        return False
    return hmac.compare_digest(_mark(raw[:_NONCE]), raw[_NONCE:])


def _mark(nonce: bytes) -> bytes:
    return hmac.digest(_SECRET, nonce, "sha256")[:24]


def find_changed(dialect: Dialect, payload: object) -> list[Finding]:
    """The signatures in a request that differ from those given with the reasoning next to them."""
    signatures = dialect.requests.find_signatures(payload) if is_object(payload) else ()
    return [_finding(one) for one in signatures if not _is_unchanged(one)]


def _is_unchanged(signature: Signature) -> bool:
    if signature.thinking is None:
        return is_ours(str(signature.value))
    return signature.value == sign(signature.thinking)


def _finding(signature: Signature) -> Finding:
    return Finding(
        check=CHECK,
        finding_class="refused",
        message="the signature differs from the one that was given with this reasoning",
        pointer=signature.pointer,
        provider_text=signature.provider_text,
        source=signature.source,
    )
