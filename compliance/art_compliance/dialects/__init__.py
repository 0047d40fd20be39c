"""The wire formats that the suite knows, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from art_compliance.dialects.base import Dialect
from art_compliance.dialects.decoding import Decoded, DecodeFailed
from art_compliance.dialects.endpoints import find_spoken
from art_compliance.dialects.urls import host_of, is_one_of
from art_compliance.dialects.writing import CannotWrite
from art_compliance.findings import HarnessError


def _discover() -> Iterator[Dialect]:
    """The dialect of each folder here."""
    for found in iter_modules(__path__):
        if found.ispkg:
            values = vars(import_module(f"{__name__}.{found.name}")).values()
            yield next(value for value in values if isinstance(value, Dialect))


def _in_order(dialect: Dialect) -> tuple[bool, str]:
    """Relatives of another format come last: where a URL may belong to several, it belongs to the first."""
    return dialect.service.shape is None, dialect.name


DIALECTS: Final[Mapping[str, Dialect]] = {dialect.name: dialect for dialect in sorted(_discover(), key=_in_order)}
"""Every dialect; `base` says what a new one takes."""


def find_dialect(name: str) -> Dialect:
    """The dialect of that name. Raises HarnessError, which lists the known names."""
    dialect = DIALECTS.get(name)
    if dialect is None:
        raise HarnessError(f"unknown dialect {name!r}{_hint_at(name)}; known: {', '.join(sorted(DIALECTS))}")
    return dialect


def _hint_at(name: str) -> str:
    """The dialect of a similar name, or of one that begins so, as a provider's does."""
    near = get_close_matches(name.lower(), DIALECTS, n=1)
    near += [one for one in DIALECTS if name and one.startswith(name.lower())]
    return f"; did you mean {near[0]!r}?" if near else ""


def find_by_url(url: str) -> Dialect | None:
    """The first dialect whose requests go to the path of this URL; a path alone will do.

    Paths are short, and a provider may use another format's path for something else, as OpenAI does with `/messages`
    in its threads. So a URL at a provider of a known format is never one of another format.
    """
    own = {dialect.service.path for dialect in DIALECTS.values() if _is_at(dialect, host_of(url))}
    return next(
        (one for one in DIALECTS.values() if one.service.takes(url) and (not own or one.service.path in own)), None
    )


def _is_at(dialect: Dialect, host: str | None) -> bool:
    return host is not None and is_one_of(host, dialect.service.hosts)


def decode(dialect: str, payload: object, *, url: str | None = None) -> Decoded:
    """A request of the dialect in the standard format.

    Raises DecodeFailed, with a JSON pointer, for a request that the dialect cannot have.
    """
    decoder = find_spoken(find_dialect(dialect), url).requests.decode
    try:
        return decoder(payload, url=url)
    except RecursionError as error:
        raise DecodeFailed("", "the payload is nested too deep to be decoded") from error


__all__ = ["DIALECTS", "CannotWrite", "DecodeFailed", "Decoded", "Dialect", "decode", "find_by_url", "find_dialect"]
