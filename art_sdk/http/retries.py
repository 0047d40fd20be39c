"""When a call that failed is tried again, and after how long. It decides; who asks does the waiting."""

from __future__ import annotations

from typing import Final

from art_sdk.errors import LLMProviderError
from art_sdk.http.transport import CallClock
from art_sdk.stream import ErrorEvent, StreamEvent

LONGEST_WAIT: Final = 60.0
"""Seconds. A provider that asks for more is not waited for: the error says how long, and the caller decides."""

_FIRST_WAIT: Final = 0.5
_LONGEST_BACKOFF: Final = 8.0
_JITTER: Final = 0.25
"""As the official OpenAI and Anthropic clients wait: twice as long each time, and up to a quarter less by chance."""


class Retries:
    """The retries of one call: `most` at most, while nothing of an answer was given, in the whole call's time."""

    def __init__(self, most: int, clock: CallClock) -> None:
        self._most = most
        self._clock = clock
        self._tried = 0
        self._has_given = False

    def wait_after(self, event: StreamEvent) -> float | None:
        """Seconds to wait before the next try, where the event is a failure to be tried again. None: it is given."""
        if not self._has_given and self._tried < self._most and isinstance(event, ErrorEvent):
            wait = self._wait_for(event.error) if isinstance(event.error, LLMProviderError) else None
            if wait is not None:
                self._tried += 1
                return wait
        self._has_given = True
        return None

    def _wait_for(self, error: LLMProviderError) -> float | None:
        if not error.is_retryable:
            return None
        wait = error.retry_after or _backoff(self._tried)
        left = self._clock.left()
        return wait if wait <= LONGEST_WAIT and (left is None or wait < left) else None


def _backoff(tried: int) -> float:
    import random  # noqa: PLC0415 - kept out of `import art_sdk`

    longest = min(_FIRST_WAIT * 2.0**tried, _LONGEST_BACKOFF)
    return longest * (1 - _JITTER * random.random())  # noqa: S311 - no secret: it keeps callers apart
