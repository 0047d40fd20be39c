"""What the strict provider refuses, and in whose words: a wrong path, a missing key, what is no JSON, a bad request."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct

from art_compliance.findings import Finding
from art_compliance.judging import judge
from art_compliance.judging.rules import RULED, load_rules
from art_compliance.provider.asking import Asked
from art_compliance.provider.server import Request
from art_compliance.provider.signatures import find_changed

CHECK: Final = "provider.request-is-taken"

LONGEST: Final = 32 * 1024 * 1024
"""Bytes of a body; the limit that Anthropic documents for its messages."""


class Refusal(Struct, frozen=True):
    """A request that is not answered: status, the provider's words, and what was found."""

    status: int
    words: str
    findings: tuple[Finding, ...] = ()


class _Words(NamedTuple):
    """How a provider tells that it wants a key, and that it does not know one: status and words."""

    no_key: tuple[int, str]
    wrong_key: tuple[int, str]
    no_json: str


_OPENAI_NO_KEY: Final = (  # https://github.com/continuedev/continue/issues/9973
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth "
    "(i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if you're accessing the "
    "API from your browser and are prompted for a username and password. You can obtain an API key from "
    "https://platform.openai.com/account/api-keys."
)
_OPENAI_WRONG_KEY: Final = (  # recorded, but for the key's first letters, which it repeats
    "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys."
)
_GEMINI_NO_KEY: Final = (  # https://github.com/PublicAffairs/openai-gemini/issues/92
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other "
    "form of API consumer identity to call this API."
)

_OPENAI: Final = _Words(
    (401, _OPENAI_NO_KEY),
    (401, _OPENAI_WRONG_KEY),
    "We could not parse the JSON body of your request.",  # inferred
)

_WORDS: Final[Mapping[str, _Words]] = {
    "anthropic-messages": _Words(
        (401, "x-api-key header is required"),  # https://github.com/stackblitz-labs/bolt.diy/issues/156
        (401, "invalid x-api-key"),  # recorded
        "The request body is not valid JSON",  # https://github.com/anthropics/claude-code/issues/4932
    ),
    "gemini-generate": _Words(
        (403, _GEMINI_NO_KEY),
        (400, "API key not valid. Please pass a valid API key."),  # https://github.com/can1357/oh-my-pi/issues/449
        "Invalid JSON payload received.",  # inferred
    ),
    "deepseek-chat": _OPENAI._replace(wrong_key=(401, "Authentication Fails, Your api key is invalid")),  # recorded
    "mistral-chat": _OPENAI._replace(no_key=(401, "Invalid API Key"), wrong_key=(401, "Invalid API Key")),  # recorded
    "openrouter-chat": _OPENAI._replace(
        no_key=(401, "Missing Authentication header"),  # recorded
        wrong_key=(401, "No cookie auth credentials found"),  # recorded
    ),
}


def refuse(asked: Asked) -> Refusal | None:
    """Why the request is not even judged, or None: the first of what stands in its way."""
    return next((refusal for look in _LOOKS if (refusal := look(asked)) is not None), None)


def _method(asked: Asked) -> Refusal | None:
    if asked.request.method == "POST":
        return None
    return _plain(405, f"the method {asked.request.method} is not taken here: requests are sent by POST")


def _length(asked: Asked) -> Refusal | None:
    size = len(asked.request.body)
    return _plain(413, f"the request has {size:,} bytes, at most {LONGEST:,} are taken") if size > LONGEST else None


def _key(asked: Asked) -> Refusal | None:
    words = _WORDS.get(asked.dialect.name, _OPENAI)
    find = _KEYS.get(asked.dialect.name, _bearer)
    key = find(asked.request)
    if key is None:
        return _told(words.no_key, f"there is no key: {_WHERE.get(asked.dialect.name, _BEARER)}")
    if not re.fullmatch(r"[!-~]+", key):
        return _told(words.wrong_key, "the key is empty, or has blanks or letters that no key has")
    return None


def _bearer(request: Request) -> str | None:
    """The key of a header `authorization: Bearer ...`."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else None


def _anthropic_key(request: Request) -> str | None:
    return request.headers.get("x-api-key", _bearer(request))


def _gemini_key(request: Request) -> str | None:
    query = parse_qs(urlsplit(request.target).query, keep_blank_values=True).get("key", [_bearer(request)])
    return request.headers.get("x-goog-api-key", query[0])


_KEYS: Final[Mapping[str, Callable[[Request], str | None]]] = {
    "anthropic-messages": _anthropic_key,
    "gemini-generate": _gemini_key,
}
_BEARER: Final = "it is sent as the header authorization: Bearer KEY"
_WHERE: Final[Mapping[str, str]] = {
    "anthropic-messages": "it is sent as the header x-api-key",
    "gemini-generate": "it is sent as the header x-goog-api-key",
}


def _version(asked: Asked) -> Refusal | None:
    """Anthropic wants the version of its API in a header (its documentation of versioning)."""
    if asked.dialect.name != "anthropic-messages" or "anthropic-version" in asked.request.headers:
        return None
    return _told((400, "anthropic-version: header is required"), "the header anthropic-version is missing")


def _json(asked: Asked) -> Refusal | None:
    if asked.trouble is None:
        return None
    words = _WORDS.get(asked.dialect.name, _OPENAI).no_json
    return _told((400, words), f"the body is not JSON: {asked.trouble}")


def find_wrong(asked: Asked) -> tuple[Finding, ...]:
    """What the judges find in the body, and in the signatures that come back. Raises HarnessError."""
    dialect = asked.dialect.name
    return (*judge(dialect, asked.payload, url=asked.request.target), *find_changed(dialect, asked.payload))


def refuse_for(asked: Asked, findings: tuple[Finding, ...]) -> Refusal | None:
    """The refusal of a request of which that was found: in the words of the first finding that weighs enough."""
    first = next((finding for finding in findings if finding.severity == "reject"), None)
    return None if first is None else Refusal(_status(asked.dialect.name, first), _words(first), findings)


_LOOKS: Final[tuple[Callable[[Asked], Refusal | None], ...]] = (_method, _length, _key, _version, _json)


def _words(finding: Finding) -> str:
    """The provider's own text where it is known, and always where it is and what is wrong there."""
    place = finding.pointer or finding.path or "the body"
    told = f"{place}: {finding.message}"
    return f"{finding.provider_text} [{told}]" if finding.provider_text else told


def _status(dialect: str, finding: Finding) -> int:
    return _statuses(dialect).get(finding.message.partition(":")[0], 400)


@cache
def _statuses(dialect: str) -> Mapping[str, int]:
    """The status of each rule that has one, by its id."""
    return {rule.id: rule.status for rule in load_rules(dialect) if rule.status} if dialect in RULED else {}


def _plain(status: int, words: str) -> Refusal:
    return Refusal(status, words, (Finding(check=CHECK, message=words),))


def _told(answer: tuple[int, str], message: str) -> Refusal:
    status, words = answer
    return Refusal(status, words, (Finding(check=CHECK, message=message, provider_text=words),))
