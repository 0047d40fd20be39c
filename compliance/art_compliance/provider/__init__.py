"""Providers on the loopback interface: they take the requests of every dialect and give written answers."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager

from art_compliance.dialects import DIALECTS, Dialect, find_by_url
from art_compliance.provider.asking import (
    WRITTEN_TEXT,
    Answerer,
    Asked,
    Change,
    answer_as_written,
    answering_with,
    ask,
)
from art_compliance.provider.limits import DEFAULT, ServerLimits
from art_compliance.provider.receiving import Request
from art_compliance.provider.script import (
    Announce,
    Crawl,
    Drop,
    Hang,
    Pause,
    Raw,
    Reset,
    Response,
    Send,
    Start,
    Step,
    delayed,
    in_one_write,
    stream_of,
)
from art_compliance.provider.server import LoopbackServer
from art_compliance.provider.strict import Exchange, StrictProvider


class LoopbackProvider(LoopbackServer):
    """A server that gives written answers. Enter it with `with`."""

    def __init__(self, limits: ServerLimits = DEFAULT, *, port: int = 0) -> None:
        super().__init__(self._respond, port=port, limits=limits)
        self._answerer: Answerer = answer_as_written
        self.dialect: Dialect | None = None
        """The dialect of all requests. Without it, and at other dialects' paths, the path decides."""

    @contextmanager
    def answering(self, answerer: Answerer) -> Generator[None]:
        """Answers every request with this answerer inside the `with`."""
        before, self._answerer = self._answerer, answerer
        try:
            yield
        finally:
            self._answerer = before

    def _respond(self, request: Request) -> Response:
        dialect = self.dialect
        if dialect is None or not dialect.service.takes(request.target):
            dialect = find_by_url(request.target)
        return _explain_path(request.target) if dialect is None else self._answerer(ask(dialect, request))


def _explain_path(target: str) -> Response:
    endings = ", ".join(sorted({ending for dialect in DIALECTS.values() for ending in dialect.service.endings}))
    error = {"error": {"message": f"unknown path {target!r}; known paths end in {endings}", "code": 404}}
    return Response(404, json.dumps(error).encode())


__all__ = [
    "WRITTEN_TEXT",
    "Announce",
    "Answerer",
    "Asked",
    "Change",
    "Crawl",
    "Drop",
    "Exchange",
    "Hang",
    "LoopbackProvider",
    "Pause",
    "Raw",
    "Request",
    "Reset",
    "Response",
    "Send",
    "ServerLimits",
    "Start",
    "Step",
    "StrictProvider",
    "answer_as_written",
    "answering_with",
    "ask",
    "delayed",
    "in_one_write",
    "stream_of",
]
