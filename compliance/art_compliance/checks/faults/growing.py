"""Bodies that grow as long as the adapter reads them in time: no call takes minutes for 10 MB."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

from art_compliance.checks.limits import BODY_GROWTH, FIRST_BODY_SHARE, LONG_BODY_SECONDS
from art_compliance.subject.observations import Reply


class Shortened(NamedTuple):
    """How long the longest body was that an adapter was given, and how long the call with it took."""

    size: int
    seconds: float

    def __str__(self) -> str:
        read = f"the call took {self.seconds:.1f} s with {self.size / 1e6:.1f} MB"
        return f"{read}; longer bodies were not tried"


def grow(
    call: Callable[[int], Reply], longest: int, clock: Callable[[], float] = time.monotonic
) -> tuple[Reply, Shortened | None]:
    """The reply to a body of `longest` bytes, or to the longest that can be expected to be read in time.

    At worst, a client that searches each piece anew takes four times as long for twice as many bytes.
    """
    size = longest // FIRST_BODY_SHARE
    while True:
        began = clock()
        reply = call(size)
        seconds = clock() - began
        if size >= longest:
            return reply, None
        grown = size * math.sqrt(LONG_BODY_SECONDS / max(seconds, 1e-6))
        if grown < min(2 * size, longest):
            return reply, Shortened(size, seconds)
        size = min(int(grown), BODY_GROWTH * size, longest)
