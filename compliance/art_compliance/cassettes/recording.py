"""Records an adapter's calls with vcrpy. No other module imports vcrpy.

vcrpy replaces methods of the HTTP clients' classes, which affects all threads of the process: a lock makes sure that
one recording is active at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, Final

import vcr as _vcr  # pyright: ignore[reportMissingTypeStubs] - it has no types
from vcr.persisters.filesystem import CassetteNotFoundError  # pyright: ignore[reportMissingTypeStubs]

from art_compliance.cassettes.exchange import Exchange
from art_compliance.findings import HarnessError

_LEAST: Final = (8, 2)
"""Older versions of vcrpy do not see httpx2, and silently record nothing."""

_ACTIVE: Final = threading.Lock()

PATIENCE: Final = 60.0
"""Seconds that a cassette waits until the previous one is no longer active."""


@contextmanager
def recording() -> Generator[list[Exchange]]:
    """The calls of this process until the block ends: unscrubbed, and only in memory."""
    calls: list[Exchange] = []
    with _activate(_recorder(), record_mode="all", match_on=["method"]) as recorded:
        try:
            yield calls
        finally:
            pairs = zip(recorded.requests, recorded.responses, strict=True)
            calls += [_exchange(request, answer) for request, answer in pairs]
            recorded.dirty = False  # vcrpy must not write anything


@contextmanager
def _activate(recorder: Any, **settings: Any) -> Generator[Any]:
    if not _ACTIVE.acquire(timeout=PATIENCE):
        raise HarnessError("another cassette is active in this process, and vcrpy can have only one")
    try:
        with recorder.use_cassette("in memory", **settings) as cassette:
            yield cassette
    finally:
        _ACTIVE.release()


def require_version() -> None:
    """Raises HarnessError if the installed vcrpy is too old to see every client."""
    known = version("vcrpy")
    if tuple(int(part) for part in known.split(".")[:2]) < _LEAST:
        raise HarnessError(f"vcrpy {known} does not see httpx2, so it would record nothing: pip install 'vcrpy>=8.2'")


def _recorder() -> Any:
    require_version()
    recorder: Any = _vcr.VCR()
    recorder.register_persister(_Shelf())
    return recorder


class _Shelf:
    """The storage that vcrpy reads from: it is empty, and nothing is written."""

    def load_cassette(self, _path: Any, **_settings: Any) -> tuple[list[Any], list[Any]]:
        raise CassetteNotFoundError

    def save_cassette(self, _path: Any, _cassette: Any, **_settings: Any) -> None:
        """Does nothing: only `write_cassette` writes files."""


def _exchange(request: Any, answer: Any) -> Exchange:
    headers = {str(name).lower(): ", ".join(map(str, values)) for name, values in answer["headers"].items()}
    return Exchange(
        method=str(request.method),
        uri=str(request.uri),
        request_headers={str(name).lower(): str(value) for name, value in request.headers.items()},
        request_body=_bytes(request.body),
        status=int(answer["status"]["code"]),
        reason=str(answer["status"].get("message") or ""),
        answer_headers=headers,
        answer_body=_bytes(answer["body"]["string"]),
    )


def _bytes(body: Any) -> bytes:
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, (bytes, bytearray)):
        return bytes(body)
    read: Callable[[], bytes] | None = getattr(body, "read", None)
    return read() if read is not None else b"".join(body)
