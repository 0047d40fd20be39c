"""The settings that an adapter is made with, checked before the first call. Each function raises InvalidConfig."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from art_sdk.errors import InvalidConfig
from art_sdk.http.time_limits import Timeouts
from art_sdk.json_data import is_utf8
from art_sdk.validation import parse_value


def require_key(key: object, provider: str) -> str:
    """The key, if an HTTP header can carry it. The error never shows it."""
    if not isinstance(key, str) or not key:
        raise InvalidConfig(f"{provider}: the API key must be a non-empty string")
    if not all("!" <= char <= "~" for char in key):
        raise InvalidConfig(
            f"{provider}: the API key has white space or characters outside ASCII; check that it was pasted whole"
        )
    return key


def require_url(url: object, provider: str) -> str:
    """The URL without a slash at its end, if requests can be sent to it."""
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise InvalidConfig(f"{provider}: base_url must begin with http:// or https://, is {url!r}")
    from urllib.parse import urlsplit  # noqa: PLC0415 - kept out of `import art_sdk`

    try:
        parts = urlsplit(url)
        is_usable = bool(parts.hostname) and parts.port != 0 and url.isprintable() and " " not in url
    except ValueError:
        is_usable = False
    if not is_usable:
        raise InvalidConfig(f"{provider}: base_url must be a URL with a valid host and port, is {url!r}")
    return url.rstrip("/")


def require_model(model: object, provider: str) -> str:
    """The name, if JSON and a URL can carry it."""
    if not isinstance(model, str) or not is_utf8(model):
        raise InvalidConfig(f"{provider}: the model's name must be valid Unicode text, is {model!r}")
    return model


def require_headers(headers: Mapping[Any, Any], provider: str) -> dict[str, str]:
    """The headers, if HTTP can carry them. The error shows no value, which may be a key."""
    for name, value in headers.items():
        if not all(isinstance(text, str) and text.isascii() and text.isprintable() for text in (name, value)):
            raise InvalidConfig(f"{provider}: the header {name!r} must have a name and a value of printable ASCII")
    return dict(headers)


def require_timeouts(timeouts: object, provider: str) -> Timeouts:
    """The limits, if all of them are valid."""
    try:
        return parse_value(timeouts, Timeouts)
    except ValueError as error:
        raise InvalidConfig(f"{provider}: bad timeouts: {error}") from error


def require_retries(retries: object, provider: str) -> int:
    """The number of retries, if it is one."""
    if not isinstance(retries, int) or isinstance(retries, bool) or retries < 0:
        raise InvalidConfig(f"{provider}: retries must be a whole number, 0 or more, is {retries!r}")
    return retries
