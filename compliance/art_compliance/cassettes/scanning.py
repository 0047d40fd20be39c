"""Looks for secrets in the finished file, before it is written.

It shares no pattern with the scrubbing: what the scrubbing misses is found here, and then the cassette is not written.
A finding never shows the secret.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote, unquote

from msgspec import Struct

_FORMS: Final[dict[str, re.Pattern[str]]] = {
    kind: re.compile(pattern)
    for kind, pattern in {
        "a key of Anthropic's form": r"sk-ant-[\w-]{8,}",
        "a key of OpenAI's form": r"(?<![a-zA-Z0-9])sk-(?!ant-)[\w-]{12,}",
        "a key of Google's form": r"AIza[\w-]{20,}|\bAQ\.[\w-]{24,}|ya29\.[\w.-]{10,}",
        "a key of Groq's form": r"(?<![a-zA-Z0-9])gsk_\w{16,}",
        "a key of xAI's form": r"(?<![a-zA-Z0-9])xai-[\w-]{16,}",
        "a key of Hugging Face's form": r"(?<![a-zA-Z0-9])(hf|api_org)_[A-Za-z0-9]{16,}",
        "a key of AWS's form": r"(?<![A-Z0-9a-z])(AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])",
        "a key of another provider's form": r"(?<![a-zA-Z0-9])(pplx-|csk-|nvapi-|r8_|fw_|tgp_v1_|ghp_)[\w-]{16,}",
        "a bearer token": r"(?i)\bbearer\s+(?!redacted)(?=[a-z._~+/-]*\d)[\w.~+/-]{12,}",
        "a basic authorization": r"(?i)\bbasic\s+(?!redacted)(?=[a-z+/]*[\d=])[A-Za-z0-9+/]{16,}={0,2}",
        "a JSON web token": r"eyJ[\w-]{10,}\.[\w-]{8,}\.[\w-]{8,}",
        "a private key": r"BEGIN [A-Z ]*PRIVATE KEY",
        "an authorization header": r"(?im)^[ \t]*['\"]?(proxy-)?authorization['\"]?:",
        "a header with a key": r"(?im)^[ \t]*['\"]?(x-api-key|x-goog-api-key|api-key|x-amz-security-token)['\"]?:",
        "a cookie": r"(?im)^[ \t]*['\"]?(set-)?cookie['\"]?:",
        "a key in a URL": r"[?&](key|api_key|apikey|access_token|token|sig|signature)=(?!REDACTED)[^&\s'\"]+",
        "an organisation's id": r"(?<![a-zA-Z0-9])org[-_][A-Za-z0-9]{16,}",
        "a project's id": r"(?<![a-zA-Z0-9])proj[-_][A-Za-z0-9]{16,}|\bprojects/\d{5,}",
        "a request's id": r"(?<![a-zA-Z0-9])req_[A-Za-z0-9]{16,}",
        "an e-mail address": r"(?<![\w.%+-])[\w.%+-]+@(?!example\.(?:com|org|net)\b)[\w-]+(?:\.[\w-]+)*\.[a-zA-Z]{2,}",
    }.items()
}

_SHORTEST: Final = 8
"""A known secret with fewer letters is a common word, and is not looked for."""


class Leak(Struct, frozen=True):
    """What looks like a secret: its kind, and the line and column where it begins. Never the secret itself."""

    kind: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.kind}"


def find_leaks(text: str, secrets: Iterable[str] = ()) -> list[Leak]:
    """Everything in the text that looks like a secret, and every known one of `secrets`."""
    found = {(leak.line, leak.kind): leak for leak in (*_formed(text), *_known(text, secrets))}
    return sorted(found.values(), key=lambda leak: (leak.line, leak.column))


def _formed(text: str) -> Iterator[Leak]:
    for shown in _readings(text):
        for kind, form in _FORMS.items():
            for match in form.finditer(shown):
                yield _leak(kind, shown, match.start())


def _readings(text: str) -> Iterator[str]:
    """The text as it is, and with its escapes decoded; line breaks stay where they are."""
    yield text
    if "%" in text:
        yield "\n".join(unquote(line) for line in text.split("\n"))
    if "\\u" in text or "\\x" in text:
        yield _ESCAPE.sub(_unescape, text)


_ESCAPE: Final = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")


def _unescape(match: re.Match[str]) -> str:
    char = chr(int(match[1] or match[2], 16))
    return char if char.isprintable() else " "


def _known(text: str, secrets: Iterable[str]) -> Iterator[Leak]:
    for secret in secrets:
        if len(secret) < _SHORTEST:
            continue
        coded = base64.b64encode(secret.encode()).decode().rstrip("=")
        for form in {secret, quote(secret, safe=""), json.dumps(secret)[1:-1], coded[: len(coded) // 4 * 4]}:
            at = text.find(form)
            if at >= 0:
                yield _leak("the key that it was recorded with", text, at)


def _leak(kind: str, text: str, at: int) -> Leak:
    return Leak(kind, text.count("\n", 0, at) + 1, at - (text.rfind("\n", 0, at) + 1) + 1)
