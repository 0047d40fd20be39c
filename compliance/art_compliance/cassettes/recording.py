"""Records an adapter's calls and plays them back, with vcrpy. No other module imports vcrpy.

vcrpy replaces methods of the HTTP clients' classes, which affects all threads of the process: a lock makes sure that
one cassette is active at a time. If no recorded request matches, vcrpy raises an error through the adapter that shows
the whole URL; the checks look at the requests, never at that error.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, Final

import vcr as _vcr  # pyright: ignore[reportMissingTypeStubs] - it has no types
from vcr.persisters.filesystem import CassetteNotFoundError  # pyright: ignore[reportMissingTypeStubs]
from vcr.request import Request  # pyright: ignore[reportMissingTypeStubs]

from art_compliance.cassettes.exchange import Exchange
from art_compliance.cassettes.matching import ScrubbedRequest, Tape, is_same
from art_compliance.cassettes.reading import Cassette
from art_compliance.cassettes.scrubbing import Scrubber
from art_compliance.dialects import Dialect
from art_compliance.findings import HarnessError

_LEAST: Final = (8, 2)
"""Older versions of vcrpy do not see httpx2, and silently record nothing."""

_ACTIVE: Final = threading.Lock()

PATIENCE: Final = 60.0
"""Seconds that a cassette waits until the previous one is no longer active."""


@contextmanager
def playing(cassette: Cassette, dialect: Dialect, secrets: tuple[str, ...] = ()) -> Generator[Tape]:
    """Answers every HTTP request of this process from the cassette until the block ends; none leaves the machine."""
    tape, scrubber = Tape(), Scrubber(secrets)

    def keep(request: Any) -> Any:
        scrubbed = _scrub(request, scrubber)
        if scrubbed not in tape.requests:
            tape.requests.append(scrubbed)
        return request

    def match(live: Any, kept: Any) -> bool:
        return is_same(dialect, _scrub(live, scrubber), _scrub(kept, scrubber))

    recorder = _recorder(_Shelf(cassette.exchanges))
    recorder.register_matcher("normal form", match)
    with _activate(recorder, record_mode="none", match_on=["normal form"], before_record_request=keep) as played:
        tape.requests.clear()  # vcrpy also filters the requests that it loads
        try:
            yield tape
        finally:
            counts = played.play_counts
            tape.unplayed = [at for at in range(len(cassette.exchanges)) if not counts[at]]


@contextmanager
def recording() -> Generator[list[Exchange]]:
    """The calls of this process until the block ends: unscrubbed, and only in memory."""
    calls: list[Exchange] = []
    with _activate(_recorder(_Shelf(())), record_mode="all", match_on=["method"]) as recorded:
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
        raise HarnessError(
            f"vcrpy {known} does not see httpx2, so it would record and play nothing: pip install 'vcrpy>=8.2'"
        )


def _recorder(shelf: _Shelf) -> Any:
    require_version()
    recorder: Any = _vcr.VCR()
    recorder.register_persister(shelf)
    return recorder


class _Shelf:
    """The storage that vcrpy reads from: the calls are already in memory, and nothing is written."""

    def __init__(self, exchanges: tuple[Exchange, ...]) -> None:
        self._exchanges = exchanges

    def load_cassette(self, _path: Any, **_settings: Any) -> tuple[list[Any], list[Any]]:
        if not self._exchanges:
            raise CassetteNotFoundError
        requests = [Request(e.method, e.uri, e.request_body, dict(e.request_headers)) for e in self._exchanges]
        return requests, [_answer(one) for one in self._exchanges]

    def save_cassette(self, _path: Any, _cassette: Any, **_settings: Any) -> None:
        """Does nothing: only `write_cassette` writes files."""


def _answer(one: Exchange) -> dict[str, Any]:
    headers = {name: [value] for name, value in one.answer_headers.items()}
    status = {"code": one.status, "message": one.reason}
    return {"status": status, "headers": headers, "body": {"string": one.answer_body}}


def _scrub(request: Any, scrubber: Scrubber) -> ScrubbedRequest:
    body = scrubber.body(_bytes(request.body))
    return ScrubbedRequest(str(request.method), scrubber.uri(str(request.uri)), body)


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
