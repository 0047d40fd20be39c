"""What a file has: requests, what cannot be read, and what is not a request to judge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Answer(Struct, frozen=True, kw_only=True):
    """What came back: the status, and the body as JSON data, or as it came where it is text or bytes (a stream).

    `tokens` are those of request and answer where they are given without a body.
    """

    status: int | None = None
    body: Any = None
    tokens: tuple[int, int] | None = None


class Found(Struct, frozen=True, kw_only=True):
    """A request: `where` it stands, its body as JSON data, and its URL and headers (lower-case names) if it has any.

    `dialect` is its wire format where the form of the file says so. One that `is_recorded` stands among requests to
    anybody. `answer`, `time`, `client` and `model` are there if the recording has them: when it was sent (a text or a
    number), by whom, and the model where the body need not name it. A body that `is_sendable` was read from JSON text
    and is not nested deep.
    """

    where: str
    body: Any
    url: str | None = None
    headers: Mapping[str, str] = {}
    dialect: str | None = None
    is_recorded: bool = False
    answer: Answer | None = None
    time: str | float | None = None
    client: str | None = None
    model: str | None = None
    is_sendable: bool = False


class Unread(Struct, frozen=True, kw_only=True):
    """Something that cannot be judged, and why."""

    where: str
    why: str


class Skipped(Struct, frozen=True, kw_only=True):
    """A recorded request that has nothing to judge, such as one for a page."""

    where: str


Item = Found | Unread | Skipped


def find_body(
    where: str,
    text: str | bytes,
    *,
    url: str,
    headers: Mapping[str, str],
    is_recorded: bool = False,
    answer: Answer | None = None,
    time: str | None = None,
) -> Found | Unread:
    """The request with this body."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Unread(where=where, why=f"the body is not JSON: {error}")
    return Found(where=where, body=body, url=url, headers=headers, is_recorded=is_recorded, answer=answer, time=time)
