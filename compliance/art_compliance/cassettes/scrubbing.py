"""Removes private data from a call before it is written.

Only headers and query parameters on a list of harmless ones are kept, so that new ones are left out. Bodies are kept,
except for what looks like a key, an account, a request id or an address. A live request is scrubbed in the same way
before it is compared with a recorded one.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from art_compliance.cassettes.exchange import Exchange
from art_compliance.cassettes.secrets import REDACTED, Cleaner, join_events, read_bytes
from art_compliance.dialects.aws_events import change_payloads, is_messages
from art_sdk.json_data import is_array, is_deep, is_object

__all__ = ["KEPT_ANSWER_HEADERS", "KEPT_PARAMETERS", "KEPT_REQUEST_HEADERS", "LOOPBACK", "REDACTED", "Scrubber"]

KEPT_REQUEST_HEADERS: Final = frozenset(
    {"accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta"}
)
KEPT_ANSWER_HEADERS: Final = frozenset({"content-encoding", "content-type", "retry-after", "retry-after-ms"})
KEPT_PARAMETERS: Final = frozenset({"alt", "api-version", "beta"})
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})

_CREDENTIALS: Final = frozenset(
    {
        "apikey", "xapikey", "xgoogapikey", "keyid", "authorization", "proxyauthorization", "accesstoken", "authtoken",
        "refreshtoken", "idtoken", "bearertoken", "sessiontoken", "securitytoken", "clientsecret", "secretkey",
        "secretaccesskey", "awssecretaccesskey", "awssessiontoken", "accesskeyid", "awsaccesskeyid", "privatekey",
        "privatekeyid", "subscriptionkey", "ocpapimsubscriptionkey", "password", "passwd", "cookie", "setcookie",
        "connectionstring", "sastoken",
    }
)  # fmt: skip
"""Fields whose value is always removed, by their letters and digits."""

_ACCOUNTS: Final = frozenset(
    {
        "account", "accountid", "accountuuid", "clientip", "consumer", "organization", "organizationid",
        "organizationuuid", "orgid", "project", "projectid", "projectnumber", "containerinfo", "remoteaddr",
        "requestid", "subscriptionid", "teamid", "tenantid", "userid", "useruuid", "workspaceid",
    }
)  # fmt: skip
"""Fields whose value is removed at the root, and anywhere in an error; elsewhere they are part of the conversation."""

_INNER: Final = 3
"""How many JSON texts inside each other are scrubbed by their fields: a gateway's error has the provider's as text."""


class Scrubber:
    """Removes private data. The known `secrets` are removed exactly, in every spelling."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._cleaner = Cleaner(secrets)

    def exchange(self, given: Exchange) -> Exchange:
        """The call without private data."""
        is_error = given.status >= 400
        return Exchange(
            method=self.text(given.method),
            uri=self.uri(given.uri),
            request_headers=self._headers(given.request_headers, KEPT_REQUEST_HEADERS),
            request_body=self.body(given.request_body),
            status=given.status,
            reason=self.text(given.reason),
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
        """A body. JSON and streams of JSON are scrubbed value by value, and a stream also over all of its events."""
        if is_messages(body):
            return self._messages(body, is_error=is_error)
        shown, coding = _decode(body)
        if coding is None:
            return self._cleaner.clean(shown, is_binary=True).encode("latin-1")
        return self._structured(shown, is_error=is_error).encode(coding, "backslashreplace")

    def _messages(self, body: bytes, *, is_error: bool) -> bytes:
        """The payloads of Amazon's messages, with the checksums of what is left; broken ones as other bytes."""
        try:
            return change_payloads(body, lambda payload: self.body(payload, is_error=is_error))
        except ValueError:
            return self._cleaner.clean(body.decode("latin-1"), is_binary=True).encode("latin-1")

    def text(self, text: str) -> str:
        """Any text."""
        return self._cleaner.clean(text)

    def _structured(self, text: str, *, is_error: bool) -> str:
        value = _parse(text)
        if value is not None:
            if is_array(value):
                join_events(list(value), self._cleaner.clean_pieces)
            return self._rewritten(text, value, depth=0, is_error=is_error)
        lines = [_Line(line) for line in _LINES.findall(text)]
        if all(line.event is None for line in lines):
            return self.text(text)
        join_events([line.event for line in lines if line.event is not None], self._cleaner.clean_pieces)
        return "".join(self._segments(lines, is_error=is_error))

    def _segments(self, lines: list[_Line], *, is_error: bool) -> Iterator[str]:
        """Lines of JSON one by one, and what is between them together: it may be one text over several lines."""
        for is_json, group in groupby(lines, key=lambda line: line.is_json):
            if not is_json:
                yield self.text("".join(line.text for line in group))
                continue
            for line in group:
                yield line.before + self._rewritten(line.text, line.event, depth=0, is_error=is_error) + line.after

    def _rewritten(self, text: str, value: Any, *, depth: int, is_error: bool) -> str:
        """The JSON text, written again only if something was removed."""
        scrubbed = self._value(value, depth=depth, is_error=is_error)
        if scrubbed != _parse(text):
            blank = len(text) - len(text.lstrip())
            text = text[:blank] + _dump(scrubbed) + text[len(text.rstrip()) :]
        beside = self._cleaner.clean(text, is_flat=True)  # such as a key whose name alone says what it is
        return text if _parse(beside) is None else beside

    def _value(self, value: Any, *, depth: int, is_error: bool, inner: int = _INNER) -> Any:
        if isinstance(value, str):
            return self._text(value, is_error=is_error, inner=inner)
        if is_array(value):
            return [self._value(item, depth=depth + 1, is_error=is_error, inner=inner) for item in value]
        if not is_object(value):
            return value
        names = _CREDENTIALS | _ACCOUNTS if is_error or depth == 0 else _CREDENTIALS
        pair = any(isinstance(item, str) and _AWS_ID.search(item) for item in value.values())
        return {
            self.text(name): REDACTED
            if _is_private(name, item, names) or (pair and _is_aws_secret(item))
            else self._value(item, depth=depth + 1, is_error=is_error, inner=inner)
            for name, item in value.items()
        }

    def _text(self, text: str, *, is_error: bool, inner: int) -> str:
        """A text in JSON. In an error it may be JSON itself, with fields; elsewhere that is the conversation."""
        value = _parse(text) if is_error and inner else None
        if value is None:
            return self.text(text)
        scrubbed = self._value(value, depth=1, is_error=is_error, inner=inner - 1)
        return self._cleaner.clean(text if scrubbed == value else _dump(scrubbed), is_flat=True)

    def _headers(self, headers: Mapping[str, str], kept: frozenset[str]) -> dict[str, str]:
        return {name.lower(): self.text(value) for name, value in headers.items() if name.lower() in kept}


def _is_private(name: str, item: object, names: frozenset[str]) -> bool:
    return (
        isinstance(item, (str, int))
        and not isinstance(item, bool)
        and "".join(filter(str.isalnum, name.lower())) in names
    )


_AWS_ID: Final = re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])")
_AWS_SECRET: Final = re.compile(r"[A-Za-z0-9/+]{40}")


def _is_aws_secret(item: object) -> bool:
    """Whether it looks like the secret of an AWS key id: it has no form of its own, and only appears next to the id."""
    return isinstance(item, str) and _AWS_SECRET.fullmatch(item) is not None


_LINES: Final = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_STREAMED: Final = re.compile(r"(?P<before>(?:data:)?[ \t]*)(?P<json>\{.*\})(?P<after>\s*)", re.DOTALL)
_PLAIN: Final = re.compile(r"(?P<before>data:[ \t]*)(?P<plain>[^\r\n]*)(?P<after>\s*)")


class _Line:
    """One line of a stream: JSON, with or without `data:`; data that are not JSON; or anything else."""

    def __init__(self, line: str) -> None:
        found = _STREAMED.fullmatch(line)
        self._whole = line
        self.before, self.json, self.after = found.group("before", "json", "after") if found else ("", line, "")
        self.event: Any = _parse(self.json) if found else None
        self.is_json = self.event is not None
        plain = None if self.is_json else _PLAIN.fullmatch(line)
        if plain is not None:
            self.before, self.after = plain.group("before", "after")
            self.event = {"plain": plain["plain"]}

    @property
    def text(self) -> str:
        """The JSON, or the whole line."""
        if self.is_json:
            return self.json
        return self._whole if self.event is None else self.before + self.event["plain"] + self.after


def _parse(text: str) -> Any:
    """A JSON text's object or list; None for anything else, and where writing it again would change more."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return None if is_deep(value) else value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name twice in one object: only the last value would be seen")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} cannot be written as JSON")


def _finite(number: str) -> float:
    value = float(number)
    return value if math.isfinite(value) else _refuse(number)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _decode(body: bytes) -> tuple[str, str | None]:
    """A body as text, and its encoding; None for bytes that are not text, each of which is one letter then."""
    try:
        return body.decode(), "utf-8"
    except UnicodeDecodeError:
        shown, is_binary = read_bytes(body)
        return shown, None if is_binary else "latin-1"
