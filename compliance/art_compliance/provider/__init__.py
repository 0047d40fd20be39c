"""A provider on the loopback: it takes every dialect's requests, keeps them, and gives one written answer."""

from __future__ import annotations

import json
import re
from typing import Final
from urllib.parse import urlsplit

from art_compliance.dialects import DIALECTS, Dialect, WrittenAnswer
from art_compliance.provider.server import LoopbackServer, Request, Response
from art_sdk import AssistantMessage

WRITTEN_TEXT: Final = "This answer was written, not generated. \u2713"
"""The text of every answer that the loopback provider gives."""


def loopback_provider() -> LoopbackServer:
    """The server, to be entered with `with`."""
    return LoopbackServer(respond)


def respond(request: Request) -> Response:
    """The written answer in the dialect that the path belongs to; 404 for a path of none."""
    dialect = find_by_path(request.target)
    if dialect is None:
        paths = ", ".join(sorted(dialect.path for dialect in DIALECTS.values()))
        error = {
            "error": {"message": f"no dialect answers {request.target!r}; known paths end in {paths}", "code": 404}
        }
        return Response(404, json.dumps(error).encode())
    return Response(200, dialect.write_response(WrittenAnswer(message=AssistantMessage(WRITTEN_TEXT))))


def find_by_path(target: str) -> Dialect | None:
    """The dialect whose requests go to such a path."""
    path = urlsplit(target).path
    return next((dialect for dialect in DIALECTS.values() if re.search(dialect.path, path)), None)
