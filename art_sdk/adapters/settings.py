"""What an adapter is made with, doubted before the first call: each raises InvalidConfig in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from art_sdk.errors import InvalidConfig
from art_sdk.http.transport import Timeouts
from art_sdk.json_data import is_utf8
from art_sdk.validation import parse_value


def sendable_key(key: object, provider: str) -> str:
    """The key, if an HTTP header can carry it. The error never shows it."""
    if not isinstance(key, str) or not key:
        message = f"{provider}: the API key is empty, or no string"
        raise InvalidConfig(message)
    if not all("!" <= char <= "~" for char in key):
        message = f"{provider}: the API key holds white space or characters outside ASCII; it was likely pasted wrongly"
        raise InvalidConfig(message)
    return key


def sendable_url(url: object, provider: str) -> str:
    """The URL without its last slash, if it can be called."""
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        message = f"{provider}: base_url must begin with http:// or https://, is {url!r}"
        raise InvalidConfig(message)
    from urllib.parse import urlsplit  # noqa: PLC0415 - kept out of `import art_sdk`

    try:
        parts = urlsplit(url)
        usable = bool(parts.hostname) and parts.port != 0 and url.isprintable() and " " not in url
    except ValueError:
        usable = False
    if not usable:
        message = f"{provider}: base_url is no URL with a host that can be called: {url!r}"
        raise InvalidConfig(message)
    return url.rstrip("/")


def sendable_model(model: object, provider: str) -> str:
    """The name, if JSON and a URL can carry it."""
    if not isinstance(model, str) or not is_utf8(model):
        message = f"{provider}: the model's name must be text that UTF-8 can hold, is {model!r}"
        raise InvalidConfig(message)
    return model


def sendable_headers(headers: Mapping[Any, Any], provider: str) -> dict[str, str]:
    """The headers, if HTTP can carry them. The error shows no value: keys may stand there."""
    for name, value in headers.items():
        if not all(isinstance(text, str) and text.isascii() and text.isprintable() for text in (name, value)):
            message = f"{provider}: the header {name!r} must have a name and a value of printable ASCII"
            raise InvalidConfig(message)
    return dict(headers)


def usable_timeouts(timeouts: object, provider: str) -> Timeouts:
    """The limits, if the network can hold them."""
    try:
        return parse_value(timeouts, Timeouts)
    except ValueError as error:
        message = f"{provider}: bad timeouts: {error}"
        raise InvalidConfig(message) from error


def usable_retries(retries: object, provider: str) -> int:
    """The number, if a call can be tried again as often."""
    if not isinstance(retries, int) or isinstance(retries, bool) or retries < 0:
        message = f"{provider}: retries must be a whole number, 0 or more, is {retries!r}"
        raise InvalidConfig(message)
    return retries
