"""The settings that an adapter is made with, checked before the first call. Each function raises InvalidConfig."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar, cast, get_args
from urllib.parse import SplitResult

from art_sdk.errors import InvalidConfig
from art_sdk.http.secret import Secret, without_frames
from art_sdk.http.size_limits import SizeLimits
from art_sdk.http.time_limits import Timeouts
from art_sdk.json_data import is_utf8, json_type
from art_sdk.options import LateSystem
from art_sdk.validation import parse_value

if TYPE_CHECKING:
    import httpx2

_Settings = ParamSpec("_Settings")
_Word = TypeVar("_Word", bound=str)
_Limits = TypeVar("_Limits", Timeouts, SizeLimits)

_WRITTEN_BY_HTTP: Final = frozenset({"connection", "content-length", "transfer-encoding"})
"""Headers that say how the body is sent: the HTTP client writes them."""

_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""RFC 9110, 5.6.2: a token."""

_REQUEST_PATH: Final = re.compile(
    r"/(chat/completions|messages|responses|models/[^/]+:(g|streamG)enerateContent|model/[^/]+/converse(-stream)?)$"
)
"""What the adapters add to the base URL themselves."""

_PORT: Final = re.compile(r":\d*$")

_HOST_NAME: Final = re.compile(rb"[0-9A-Za-z._-]+")

_SHOWN: Final = 100
"""Characters of a text that an error shows."""


def hides_settings(make: Callable[_Settings, None]) -> Callable[_Settings, None]:
    """Decorates an `__init__` with settings of its own: no frame of its errors shows the key or a header."""

    @wraps(make)
    def make_or_refuse(*args: _Settings.args, **settings: _Settings.kwargs) -> None:
        try:
            make(*args, **settings)
        except Exception as error:  # noqa: BLE001 - raised below, such as that of a setting that does not exist
            without_frames(error)
            fault = error
        else:
            return
        settings.clear()  # which a traceback with local variables would show
        raise fault

    return make_or_refuse


def as_config_error(error: Exception, provider: str) -> InvalidConfig:
    """The error itself, or one of ours in its place, without the frames that had the settings."""
    without_frames(error)
    if isinstance(error, InvalidConfig):
        return error
    return InvalidConfig(f"{provider}: the settings cannot be read ({type(error).__name__})", cause=error)


def require_given(settings: Mapping[str, object], required: Mapping[str, str], provider: str) -> None:
    """Raises for the first required setting that is missing, with what to give."""
    for name, advice in required.items():
        if not is_given(settings[name]):
            raise InvalidConfig(f"{provider}: {name} is missing; {advice}")


def require_key(key: object, provider: str) -> Secret:
    """The key, if an HTTP header can carry it. The error never shows it."""
    text = _plain(key)
    if not text:
        raise InvalidConfig(f"{provider}: the API key must be a non-empty string")
    if not all("!" <= char <= "~" for char in text):
        raise InvalidConfig(
            f"{provider}: the API key has whitespace or non-ASCII characters; check that it was pasted correctly"
        )
    return Secret(text)


def require_url(url: object, provider: str) -> str:
    """The URL without a slash at its end, if requests can be sent to it. The error shows no user name and password."""
    text = _plain(url)
    if text is not None and "@" in text:
        raise InvalidConfig(f"{provider}: base_url must not contain a user name or password; pass the key as api_key")
    if text is None or not text.startswith(("http://", "https://")):
        raise InvalidConfig(f"{provider}: base_url must begin with http:// or https://, not {_show(url)}")
    if " " in text or not text.isprintable():
        raise InvalidConfig(f"{provider}: base_url must not contain spaces or invisible characters: {_show(text)}")
    parts = _split(text)
    if parts is None or not _is_host(parts.hostname):
        raise InvalidConfig(f"{provider}: base_url must be a URL with a valid host and port, not {_show(text)}")
    if "?" in text or "#" in text:
        raise InvalidConfig(f"{provider}: base_url must not have a query or fragment: {_show(text)}")
    base = text.rstrip("/")
    whole = _REQUEST_PATH.search(base)
    if whole is not None:
        raise InvalidConfig(
            f"{provider}: base_url {_show(base)} is the URL of an endpoint; pass {base[: whole.start()]}"
        )
    return base


def require_version(url: str, usual: str, provider: str) -> str:
    """The URL itself, unless it is at the host of the usual one and lacks that one's path, as its version."""
    from urllib.parse import urlsplit  # noqa: PLC0415 - kept out of `import art_sdk`

    if usual and is_host_of(url, usual) and urlsplit(usual).path and not urlsplit(url).path:
        raise InvalidConfig(f"{provider}: base_url {_show(url)} has no version; pass {url}{urlsplit(usual).path}")
    return url


def _split(url: str) -> SplitResult | None:
    """The URL's parts, or None for what is not a URL."""
    from urllib.parse import urlsplit  # noqa: PLC0415 - kept out of `import art_sdk`

    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    return None if port == 0 else parts


def _is_host(host: str | None) -> bool:
    """Whether a socket can be given the host: an address, or a name whose labels DNS can carry."""
    if not host:
        return False
    try:
        return ":" in host or _HOST_NAME.fullmatch(host.removesuffix(".").encode("idna")) is not None
    except UnicodeError:  # such as an empty label, or one of more than 63 characters
        return False


def is_host_of(url: str, provider_url: str) -> bool:
    """Whether the URL's host is the provider's own, or a name below it (a region's). Both are URLs that can be used."""
    host, own = (_PORT.sub("", one.partition("://")[2].partition("/")[0]).lower() for one in (url, provider_url))
    return host == own or host.endswith(f".{own}")


def require_model(model: object, provider: str) -> str:
    """The name, if JSON and a URL can carry it."""
    text = _plain(model)
    if text is None or not is_utf8(text):
        raise InvalidConfig(f"{provider}: the model's name must be valid Unicode text, not {_show(model)}")
    return text


def require_headers(headers: object, provider: str) -> dict[str, str]:
    """The headers with lower-case names, if HTTP can carry them. The error shows no value, which may be a key."""
    if not isinstance(headers, Mapping):
        raise InvalidConfig(f"{provider}: headers must be a mapping of names to values, not {json_type(headers)}")
    given: dict[Any, Any] = {**headers}
    return dict(_require_header(name, value, provider) for name, value in given.items())


def _require_header(name: object, value: object, provider: str) -> tuple[str, str]:
    title, text = _plain(name) or "", _plain(value)
    if text is None or not (text.isascii() and text.isprintable()) or not _HEADER_NAME.fullmatch(title):
        raise InvalidConfig(f"{provider}: the header {_show(name)} must have a name and a value of printable ASCII")
    if title.lower() in _WRITTEN_BY_HTTP:
        raise InvalidConfig(f"{provider}: the header {title!r} is set by the adapter and cannot be overridden")
    return title.lower(), text


def require_timeouts(timeouts: object, provider: str) -> Timeouts:
    """The limits, if all of them are valid."""
    return _require_limits(timeouts, Timeouts, "timeouts", provider)


def require_size_limits(limits: object, provider: str) -> SizeLimits:
    """The limits, if all of them are valid."""
    return _require_limits(limits, SizeLimits, "size_limits", provider)


def _require_limits(limits: object, kind: type[_Limits], name: str, provider: str) -> _Limits:
    try:
        return parse_value(limits, kind)
    except ValueError as error:
        raise InvalidConfig(f"{provider}: bad {name}: {error}") from error


def require_retries(retries: object, provider: str) -> int:
    """The number of retries, if it is one."""
    if not isinstance(retries, int) or isinstance(retries, bool) or retries < 0:
        raise InvalidConfig(f"{provider}: retries must be a whole number, 0 or more, not {_show(retries)}")
    return retries


def require_late_system(choice: object, provider: str) -> LateSystem:
    """What to do with late system messages, if it is one of the two choices."""
    if type(choice) is not str or choice not in get_args(LateSystem):
        known = ", ".join(get_args(LateSystem))
        raise InvalidConfig(f"{provider}: late_system must be one of {known}, not {_show(choice)}")
    return cast("LateSystem", choice)


def require_words(words: object, name: str, known: frozenset[_Word], provider: str) -> frozenset[_Word]:
    """The words, if all of them are known; the error has the known ones."""
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise InvalidConfig(f"{provider}: {name} must be a list of words, not {json_type(words)}")
    given: list[object] = [*words]
    for word in given:
        if not isinstance(word, str) or word not in known:
            raise InvalidConfig(
                f"{provider}: unknown word {_show(word)} in {name}; known words: {', '.join(sorted(known))}"
            )
    return frozenset(word for word in known if word in given)


def require_name(name: object, base_url: object, usual: str) -> str:
    """The server's name in errors: the given one, else the URL's host and port, which are checked later."""
    text = _plain(name)
    if text is None and name is not None:
        raise InvalidConfig(f"{usual}: the name must be a string, not {_show(name)}")
    after = (_plain(base_url) or "").partition("://")[2]
    return text or after.rpartition("@")[2].partition("/")[0] or usual


def require_client(client: object, provider: str) -> httpx2.Client | httpx2.AsyncClient | None:
    """The caller's client, if it is one of httpx2."""
    if client is None:
        return None
    import httpx2  # noqa: PLC0415 - kept out of `import art_sdk`

    if not isinstance(client, httpx2.Client | httpx2.AsyncClient):
        given = f"{type(client).__module__}.{type(client).__qualname__}"
        raise InvalidConfig(f"{provider}: http_client must be an httpx2.Client or httpx2.AsyncClient, not a {given}")
    return client


def is_given(value: object) -> bool:
    """Whether a setting is there: an empty string, as of an unset environment variable, is not."""
    return value is not None and not (type(value) is str and not value)


def _plain(text: object) -> str | None:
    """The text itself, also of a subclass such as a member of a StrEnum; None for anything else."""
    return str.__str__(text) if isinstance(text, str) else None


def _show(value: object) -> str:
    """A setting in an error: short text and numbers as they are, anything else by its type."""
    if type(value) is str and len(value) <= _SHOWN:
        return repr(value)
    is_short_number = type(value) is float or (type(value) is int and abs(value) < 2**64)
    return repr(value) if is_short_number else json_type(value)
