"""The laws of a server's answers, by their ids in reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ANSWERED: Final = "endpoint.good-request-is-answered"
STREAM_ANSWERED: Final = "endpoint.stream-request-is-answered"
WHOLE: Final = "endpoint.answer-is-of-its-format"
STREAMED: Final = "endpoint.stream-is-of-its-format"
REFUSED: Final = "endpoint.bad-request-is-refused"
ERROR: Final = "endpoint.error-is-of-its-format"
STREAM_ERROR: Final = "endpoint.stream-request-error-is-of-its-format"

LAWS: Final[Mapping[str, str]] = {
    ANSWERED: "A request that the provider accepts is answered with 200, in time.",
    STREAM_ANSWERED: "A request for a stream that the provider accepts is answered with 200, in time.",
    WHOLE: "An answer is JSON that matches the provider's published types, and is not empty.",
    STREAMED: "A stream has events that match the provider's published types, in order, to the end, and is not empty.",
    REFUSED: "An unreadable request is rejected with a status from 400 to 499.",
    ERROR: "An error has the same fields as the provider's own.",
    STREAM_ERROR: "An error for a request for a stream has the same fields as the provider's own.",
}
"""What each law demands, in one sentence."""
