"""Asks a server over HTTP, and says in one sentence why no answer came."""

from __future__ import annotations

import time

import httpx2
from msgspec import Struct

from art_sdk import HttpRequest


class Got(Struct, frozen=True):
    """An answer, as it came over the wire."""

    status: int
    content_type: str
    body: bytes

    @property
    def kind(self) -> str:
        """The content type alone, in lower case."""
        return self.content_type.partition(";")[0].strip().lower()


class NoAnswer(Exception):
    """No whole answer came; the text says why."""


class TooLate(NoAnswer):
    """It did not come in time."""


class Gone(NoAnswer):
    """Nothing listens there."""


class _Closed(NoAnswer):
    """The connection was closed before a byte of the answer."""


def ask(client: httpx2.Client, request: HttpRequest, seconds: float) -> Got:
    """The answer to a request, whole, within so many seconds. Raises NoAnswer.

    A server may close a connection that it kept open at any time (RFC 9112, 9.3.1 and 9.5), also while the next
    request is on its way: then that is sent again, on a connection of its own.
    """
    try:
        return _ask(client, request, seconds)
    except _Closed:
        with httpx2.Client() as fresh:
            return _ask(fresh, request, seconds)


def _ask(client: httpx2.Client, request: HttpRequest, seconds: float) -> Got:
    body, ends = bytearray(), time.monotonic() + seconds
    try:
        with client.stream(
            request.method, request.url, headers=dict(request.headers), content=request.body, timeout=seconds
        ) as response:
            for piece in response.iter_bytes():
                body += piece
                if len(body) > _MOST:
                    raise NoAnswer(f"its answer is longer than {_MOST:,} bytes")
                if time.monotonic() > ends:
                    raise TooLate(f"its answer did not end within {seconds:g} s")
    except httpx2.TimeoutException as error:
        late = "its answer did not end" if body else "it did not answer"
        raise TooLate(f"{late} within {seconds:g} s") from error
    except httpx2.ConnectError as error:
        raise Gone(f"nothing listens there: {error}") from error
    except httpx2.DecodingError as error:
        raise NoAnswer(f"its answer cannot be decoded: {error}") from error
    except httpx2.HTTPError as error:
        got = f" after {len(body):,} bytes of its answer" if body else ""
        kind = NoAnswer if body else _Closed
        raise kind(f"it closed the connection{got}: {str(error) or type(error).__name__}") from error
    return Got(response.status_code, response.headers.get("content-type", ""), bytes(body))


_MOST = 64 * 2**20
"""Bytes of the longest answer that is read."""
