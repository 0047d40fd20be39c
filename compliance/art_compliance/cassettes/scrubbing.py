"""Removes private data from a call before it is written.

Only headers and query parameters on a list of harmless ones are kept, so that new ones are left out. Bodies are kept,
except for what looks like a key, an account, a request id or an e-mail address. A live request is scrubbed in the same
way before it is compared with a recorded one.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, quote, quote_plus, urlencode, urlsplit, urlunsplit

from art_compliance.cassettes.exchange import Exchange
from art_sdk.json_data import is_array, is_object

REDACTED: Final = "REDACTED"
"""The text that replaces what was removed."""

KEPT_REQUEST_HEADERS: Final = frozenset(
    {"accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta"}
)
KEPT_ANSWER_HEADERS: Final = frozenset({"content-encoding", "content-type", "retry-after", "retry-after-ms"})
KEPT_PARAMETERS: Final = frozenset({"alt", "api-version", "beta"})

_EDGE: Final = r"(?<![A-Za-z0-9])"
_PATTERNS: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern), put)
    for pattern, put in (
        (r"(?i)\b(bearer|basic)(\s+|%20|\+)(?=[a-z._~+/*-]*[0-9=])[A-Za-z0-9._~+/=*-]{8,}", r"\1 REDACTED"),
        (_EDGE + r"eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{4,}(\.[A-Za-z0-9_-]*)?", REDACTED),
        (_EDGE + r"(sk|pk|rk|csk|pplx|nvapi|xai|tgp|gw|vck)[-_][A-Za-z0-9_*-]{8,}", REDACTED),
        (_EDGE + r"(gsk|hf|r8|fw|fpk|tgp_v1|ghp|gho|github_pat|api_org)_[A-Za-z0-9_*-]{16,}", REDACTED),
        (_EDGE + r"dapi[0-9a-f]{32}", REDACTED),
        (_EDGE + r"AIza[A-Za-z0-9_*-]{16,}", REDACTED),
        (_EDGE + r"AQ\.[A-Za-z0-9_-]{20,}", REDACTED),
        (_EDGE + r"ya29\.[A-Za-z0-9_.-]{8,}", REDACTED),
        (_EDGE + r"(AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}", REDACTED),
        (r"((?:[?&]|\\\\u0026)(?:key|api_?key|access_token|token|sig|signature)=)[^&\\s'\"\\\\]+", r"\1REDACTED"),
        (r"-----BEGIN [A-Z ]*PRIVATE KEY-----(.|\n)*?(-----END [A-Z ]*PRIVATE KEY-----|$)", REDACTED),
        (_EDGE + r"(req|org|proj|acct|wrkspc)_([A-Za-z0-9]{16,}|(?=[A-Za-z]*\d)[A-Za-z0-9]{8,})", r"\1_REDACTED"),
        (_EDGE + r"(org|user|proj)-([A-Za-z0-9]{16,}|(?=[A-Za-z]*\d)[A-Za-z0-9]{10,})", r"\1-REDACTED"),
        (r"\bprojects/(?!REDACTED)[A-Za-z0-9_-]+(?=/|\b)", "projects/REDACTED"),
        (r"(?i)\bproject(s|[ _]number|[ _]id)?([ :=\"']{1,4})\d{5,}", r"project\1\2REDACTED"),
        (
            r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]+@(?!example\.(com|org|net)\b)[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}",
            REDACTED,
        ),
    )
)
"""What is removed from any text, and what replaces it."""

_CREDENTIALS: Final = frozenset(
    {
        "api_key", "apikey", "api-key", "x-api-key", "x-goog-api-key", "key_id", "authorization", "access_token",
        "refresh_token", "id_token", "client_secret", "secret_key", "secret_access_key", "password", "cookie",
        "set-cookie", "session_token",
    }
)  # fmt: skip
"""Fields whose value is always removed."""

_ACCOUNTS: Final = frozenset(
    {
        "account", "account_id", "consumer", "organization", "organization_id", "org_id", "project", "project_id",
        "project_number", "containerinfo", "request_id", "requestid", "user_id", "workspace_id",
    }
)  # fmt: skip
"""Fields whose value is removed at the root, and anywhere in an error; elsewhere they are part of the conversation."""


_SHORTEST: Final = 8
"""A key with fewer letters is a word, such as local engines accept (`EMPTY`, `ollama`), and stays in texts."""


class Scrubber:
    """Removes private data. The known `secrets` are removed exactly, in every spelling."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = [secret for secret in secrets if len(secret) >= _SHORTEST]
        self._forms = sorted({form for secret in known for form in spellings(secret)}, key=len)[::-1]

    def exchange(self, given: Exchange) -> Exchange:
        """The call without private data."""
        is_error = given.status >= 400
        return Exchange(
            method=given.method,
            uri=self.uri(given.uri),
            request_headers=self._headers(given.request_headers, KEPT_REQUEST_HEADERS),
            request_body=self.body(given.request_body),
            status=given.status,
            reason=given.reason,
            answer_headers=self._headers(given.answer_headers, KEPT_ANSWER_HEADERS - {"content-encoding"}),
            answer_body=self.body(given.answer_body, is_error=is_error),
        )

    def uri(self, uri: str) -> str:
        """The URL without user, fragment, loopback port, and the values of parameters that may identify the caller."""
        parts = urlsplit(uri)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port and host not in LOOPBACK else ""
        parameters = [
            (self.text(name), self.text(value) if name.lower() in KEPT_PARAMETERS else REDACTED)
            for name, value in parse_qsl(parts.query, keep_blank_values=True)
        ]
        return urlunsplit((parts.scheme, self.text(host) + port, self.text(parts.path), urlencode(parameters), ""))

    def body(self, body: bytes, *, is_error: bool = False) -> bytes:
        """A body. JSON and streams of JSON are also scrubbed value by value."""
        try:
            text, coding = body.decode(), "utf-8"
        except UnicodeDecodeError:
            text, coding = body.decode("latin-1"), "latin-1"  # every byte is kept
        return self._structured(self.text(text), is_error=is_error).encode(coding, "surrogatepass")

    def text(self, text: str) -> str:
        """Any text."""
        for form in self._forms:
            text = text.replace(form, REDACTED)
        for pattern, put in _PATTERNS:
            text = pattern.sub(put, text)
        return text

    def _structured(self, text: str, *, is_error: bool) -> str:
        if text.lstrip()[:1] in ("{", "["):
            whole = self._json(text, is_error=is_error)
            if whole is not None:
                return whole
        return "".join(self._line(line, is_error=is_error) for line in text.splitlines(keepends=True))

    def _line(self, line: str, *, is_error: bool) -> str:
        found = _STREAMED.match(line)
        if found is None:
            return line
        changed = self._json(found["json"], is_error=is_error)
        return line if changed is None else found["before"] + changed + found["after"]

    def _json(self, text: str, *, is_error: bool) -> str | None:
        """The JSON text, written again only if something was removed; None if it is not JSON."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return None
        scrubbed = self._value(value, depth=0, is_error=is_error)
        return text if scrubbed == value else json.dumps(scrubbed, ensure_ascii=False, separators=(",", ":"))

    def _value(self, value: Any, *, depth: int, is_error: bool) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if is_array(value):
            return [self._value(item, depth=depth + 1, is_error=is_error) for item in value]
        if not is_object(value):
            return value
        names = _CREDENTIALS | _ACCOUNTS if is_error or depth == 0 else _CREDENTIALS
        return {
            self.text(name): REDACTED
            if name.lower() in names and isinstance(item, (str, int)) and not isinstance(item, bool)
            else self._value(item, depth=depth + 1, is_error=is_error)
            for name, item in value.items()
        }

    def _headers(self, headers: Mapping[str, str], kept: frozenset[str]) -> dict[str, str]:
        return {name.lower(): self.text(value) for name, value in headers.items() if name.lower() in kept}


LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_STREAMED: Final = re.compile(r"(?P<before>(data:)?[ \t]*)(?P<json>\{.*\})(?P<after>\s*)$", re.DOTALL)


def spellings(secret: str) -> set[str]:
    """How a text may contain a secret: as it is, in a URL, in JSON, and in base64 at each of the three offsets."""
    found: set[str] = {spell(secret) for spell in _SPELLINGS}
    for offset in range(3):
        coded = base64.b64encode(b"\0" * offset + secret.encode()).decode()
        middle = coded[4 if offset else 0 : len(coded) // 4 * 4 - 4]  # what does not depend on its neighbours
        if len(middle) >= 12:
            found.add(middle)
    return found


_SPELLINGS: Final[tuple[Callable[[str], str], ...]] = (
    str,
    quote_plus,
    lambda secret: quote(secret, safe=""),
    lambda secret: json.dumps(secret)[1:-1],
    lambda secret: json.dumps(json.dumps(secret)[1:-1])[1:-1],
)
