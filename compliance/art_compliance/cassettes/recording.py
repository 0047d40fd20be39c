"""vcrpy: what it records of an adapter's calls, and what it plays to it. Nothing else here imports it.

vcrpy replaces methods of the HTTP clients' own classes, so all threads of the process are under it while it
is in force: one cassette at a time, which a lock holds. Where it finds no match it raises, through the adapter,
an error that shows the whole URL; whoever replays looks at what was asked and never at that error.
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
from art_compliance.cassettes.matching import Asked, Tape, is_same
from art_compliance.cassettes.reading import Cassette
from art_compliance.cassettes.scrubbing import Scrubber
from art_compliance.dialects import Dialect
from art_compliance.findings import HarnessError

_LEAST: Final = (8, 2)
"""Older ones do not see httpx2, and record nothing of it without a word."""

_IN_FORCE: Final = threading.Lock()

PATIENCE: Final = 60.0
"""Seconds for which a cassette waits until the one before is no longer in force."""


@contextmanager
def playing(cassette: Cassette, dialect: Dialect, secrets: tuple[str, ...] = ()) -> Generator[Tape]:
    """Every HTTP request of this process is answered from the cassette, for a while; none goes out."""
    tape, scrubber = Tape(), Scrubber(secrets)

    def hear(request: Any) -> Any:
        asked = _asked(request, scrubber)
        if asked not in tape.asked:
            tape.asked.append(asked)
        return request

    def match(live: Any, kept: Any) -> bool:
        return is_same(dialect, _asked(live, scrubber), _asked(kept, scrubber))

    recorder = _recorder(_Shelf(cassette.exchanges))
    recorder.register_matcher("normal form", match)
    with _in_force(recorder, record_mode="none", match_on=["normal form"], before_record_request=hear) as played:
        tape.asked.clear()  # vcrpy calls its filter on what it loads, too
        try:
            yield tape
        finally:
            counts = played.play_counts
            tape.unplayed = [at for at in range(len(cassette.exchanges)) if not counts[at]]


@contextmanager
def recording() -> Generator[list[Exchange]]:
    """What goes over the wire meanwhile, request by request; unscrubbed, and in memory alone."""
    heard: list[Exchange] = []
    with _in_force(_recorder(_Shelf(())), record_mode="all", match_on=["method"]) as recorded:
        try:
            yield heard
        finally:
            pairs = zip(recorded.requests, recorded.responses, strict=True)
            heard += [_exchange(request, answer) for request, answer in pairs]
            recorded.dirty = False  # nothing is for vcrpy to write


@contextmanager
def _in_force(recorder: Any, **settings: Any) -> Generator[Any]:
    if not _IN_FORCE.acquire(timeout=PATIENCE):
        message = "another cassette is in force in this process: vcrpy can have but one"
        raise HarnessError(message)
    try:
        with recorder.use_cassette("in memory", **settings) as cassette:
            yield cassette
    finally:
        _IN_FORCE.release()


def hold_version() -> None:
    """Whether the vcrpy that is installed sees every client. Raises HarnessError."""
    known = version("vcrpy")
    if tuple(int(part) for part in known.split(".")[:2]) < _LEAST:
        message = f"vcrpy {known} does not see httpx2, and would record and play nothing: pip install 'vcrpy>=8.2'"
        raise HarnessError(message)


def _recorder(shelf: _Shelf) -> Any:
    hold_version()
    recorder: Any = _vcr.VCR()
    recorder.register_persister(shelf)
    return recorder


class _Shelf:
    """Where vcrpy finds what was read already, and puts nothing."""

    def __init__(self, exchanges: tuple[Exchange, ...]) -> None:
        self._exchanges = exchanges

    def load_cassette(self, _path: Any, **_settings: Any) -> tuple[list[Any], list[Any]]:
        if not self._exchanges:
            raise CassetteNotFoundError
        requests = [Request(e.method, e.uri, e.request_body, dict(e.request_headers)) for e in self._exchanges]
        return requests, [_answer(one) for one in self._exchanges]

    def save_cassette(self, _path: Any, _cassette: Any, **_settings: Any) -> None:
        """Files are written by `write_cassette` alone."""


def _answer(one: Exchange) -> dict[str, Any]:
    headers = {name: [value] for name, value in one.answer_headers.items()}
    status = {"code": one.status, "message": one.reason}
    return {"status": status, "headers": headers, "body": {"string": one.answer_body}}


def _asked(request: Any, scrubber: Scrubber) -> Asked:
    body = scrubber.body(_bytes(request.body))
    return Asked(str(request.method), scrubber.uri(str(request.uri)), body)


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
