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
    ANSWERED: "A request that the provider takes is answered with 200, in time.",
    STREAM_ANSWERED: "A request for a stream that the provider takes is answered with 200, in time.",
    WHOLE: "An answer is JSON of the provider's published types, and says something.",
    STREAMED: "A stream has events of the provider's published types, in their order, with an end, and says something.",
    REFUSED: "A request that nobody can read is refused with a status of 400 to 499.",
    ERROR: "A refusal has the fields that the provider's own one has.",
    STREAM_ERROR: "A refusal of a request for a stream has the fields that the provider's own one has.",
}
"""What each law demands, in one sentence."""
