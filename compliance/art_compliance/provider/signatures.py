"""Signatures of reasoning: made of what was reasoned, and checked when they come back. Nothing need be remembered."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from art_compliance.dialects.ruling import Place, objects
from art_compliance.findings import Finding
from art_sdk.json_data import is_object

CHECK: Final = "provider.signature-comes-back-unchanged"

_SECRET: Final = b"written, not generated"
_NONCE: Final = 12

_UNCHECKED: Final = "skip_thought_signature_validator"
"""Google's documentation of thought signatures names it for turns that no model of its wrote."""


def sign(thought: str) -> str:
    """The signature of a thought."""
    nonce = hashlib.sha256(thought.encode("utf-8", "surrogatepass")).digest()[:_NONCE]
    return base64.b64encode(nonce + _mark(nonce)).decode()


def is_ours(signature: str) -> bool:
    """Whether it was made here, of whatever thought, and is unchanged."""
    try:
        raw = base64.b64decode(signature, validate=True)
    except ValueError:
        return False
    return hmac.compare_digest(_mark(raw[:_NONCE]), raw[_NONCE:])


def _mark(nonce: bytes) -> bytes:
    return hmac.digest(_SECRET, nonce, "sha256")[:24]


def find_changed(dialect: str, payload: object) -> list[Finding]:
    """The signatures in a request that were not given out so."""
    look = _LOOKS.get(dialect)
    return list(look(payload)) if look and is_object(payload) else []


def _anthropic(payload: dict[str, Any]) -> Iterator[Finding]:
    for message in objects(Place(payload), "messages"):
        for block in objects(message, "content"):
            told = block.value
            if told.get("type") == "thinking" and told.get("signature") != sign(str(told.get("thinking"))):
                place = block.pointer.removeprefix("/").replace("/", ".")
                words = f"{place}: Invalid `signature` in `thinking` block"
                yield _finding(f"{block.pointer}/signature", words, "https://github.com/microsoft/vscode/issues/322138")


def _gemini(payload: dict[str, Any]) -> Iterator[Finding]:
    for content in objects(Place(payload), "contents"):
        for part in objects(content, "parts"):
            signature = part.value.get("thoughtSignature", part.value.get("thought_signature"))
            if signature is None or signature == _UNCHECKED or is_ours(_padded(str(signature))):
                continue
            source = "https://github.com/google-gemini/gemini-cli/issues/13467"
            yield _finding(f"{part.pointer}/thoughtSignature", "Corrupted thought signature.", source)


def _padded(signature: str) -> str:
    """As protobuf's JSON reads bytes: of either alphabet, with or without padding."""
    plain = signature.rstrip("=").replace("-", "+").replace("_", "/")
    return plain + "=" * (-len(plain) % 4)


def _finding(pointer: str, words: str, source: str) -> Finding:
    message = "the signature is not the one that was given with this reasoning"
    return Finding(check=CHECK, message=message, pointer=pointer, provider_text=words, source=source)


_LOOKS: Final[Mapping[str, Callable[[dict[str, Any]], Iterator[Finding]]]] = {
    "anthropic-messages": _anthropic,
    "gemini-generate": _gemini,
}
