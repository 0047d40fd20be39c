"""Plays a cassette: the loopback provider answers each request with what was recorded for one that means the same.

Each interaction answers once. A request that nothing answers gets an error that is not worth a retry; the checks look
at the requests, never at that error.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from art_compliance.cassettes.exchange import Exchange
from art_compliance.cassettes.matching import ScrubbedRequest, Tape, identity
from art_compliance.cassettes.reading import Cassette
from art_compliance.cassettes.scrubbing import Scrubber
from art_compliance.dialects import Dialect
from art_compliance.provider import Asked, Request, Response


class Player:
    """Answers requests from a cassette, and keeps each different one; `secrets` are left out of what is kept."""

    def __init__(self, cassette: Cassette, dialect: Dialect, secrets: tuple[str, ...] = ()) -> None:
        self._exchanges = cassette.exchanges
        self._dialect = dialect
        self._scrubber = Scrubber(secrets)
        self._unplayed: dict[Hashable, list[int]] = {}
        for at, one in enumerate(cassette.exchanges):
            self._unplayed.setdefault(identity(dialect, self._scrubbed(ScrubbedRequest.of(one))), []).append(at)

    def answer(self, asked: Asked) -> Response:
        """The recorded answer to this request."""
        waiting = self._unplayed.get(identity(self._dialect, self._request(asked.request)))
        if not waiting:
            return Response(400, self._dialect.answers.write_error(400, _UNKNOWN))
        return _response(self._exchanges[waiting.pop(0)])

    def tape(self, arrived: tuple[Request, ...]) -> Tape:
        """What was played, for these requests."""
        requests = dict.fromkeys(map(self._request, arrived))
        return Tape([*requests], sorted(at for waiting in self._unplayed.values() for at in waiting))

    def _request(self, request: Request) -> ScrubbedRequest:
        return self._scrubbed(ScrubbedRequest(request.method, request.target, request.body))

    def _scrubbed(self, given: ScrubbedRequest) -> ScrubbedRequest:
        return ScrubbedRequest(given.method, self._scrubber.uri(given.uri), self._scrubber.body(given.body))


_UNKNOWN: Final = "no recorded request means the same as this one"


def _response(one: Exchange) -> Response:
    kind = one.answer_headers.get("content-type", "application/json")
    headers = tuple((name, value) for name, value in one.answer_headers.items() if name in _SENT)
    return Response(one.status, one.answer_body, kind, headers)


_SENT: Final = frozenset({"retry-after", "retry-after-ms"})
"""The headers of an answer that are recorded, besides its type."""
