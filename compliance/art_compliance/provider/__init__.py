"""A provider on the loopback: it takes every dialect's requests, keeps them, and gives written answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlsplit

from art_compliance.dialects import DIALECTS, Dialect
from art_compliance.provider.server import LoopbackServer, Request, Response
from art_compliance.scenarios import WrittenAnswer

WRITTEN_TEXT: Final = "This answer was written, not generated. \u2713"
"""The text of every answer that the loopback provider gives of its own accord."""

Answerer = Callable[[Dialect], Response]
"""What is answered to a request of a dialect."""


def answer_as_written(dialect: Dialect) -> Response:
    """The answer that is given where nothing else was asked for."""
    return Response(200, dialect.write_response(WrittenAnswer(content=WRITTEN_TEXT)))


class LoopbackProvider(LoopbackServer):
    """The server, to be entered with `with`."""

    def __init__(self) -> None:
        super().__init__(self._respond)
        self._answerer: Answerer = answer_as_written
        self.dialect: Dialect | None = None
        """The one that is spoken here. Without it, or at another's path, the path tells the dialect."""

    @contextmanager
    def answering(self, answerer: Answerer) -> Generator[None]:
        """Every request is answered so, for a while."""
        before, self._answerer = self._answerer, answerer
        try:
            yield
        finally:
            self._answerer = before

    def _respond(self, request: Request) -> Response:
        dialect = self.dialect
        if dialect is None or not _is_path_of(dialect, request.target):
            dialect = find_by_path(request.target)
        return _explain_path(request.target) if dialect is None else self._answerer(dialect)


def find_by_path(target: str) -> Dialect | None:
    """The dialect whose requests go to such a path; of those that share one, the first."""
    return next((dialect for dialect in DIALECTS.values() if _is_path_of(dialect, target)), None)


def _is_path_of(dialect: Dialect, target: str) -> bool:
    return re.search(dialect.path, urlsplit(target).path) is not None


def _explain_path(target: str) -> Response:
    paths = ", ".join(sorted({dialect.path for dialect in DIALECTS.values()}))
    error = {"error": {"message": f"no dialect answers {target!r}; known paths end in {paths}", "code": 404}}
    return Response(404, json.dumps(error).encode())
