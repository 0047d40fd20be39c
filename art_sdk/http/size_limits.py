"""How large an answer may become: bounds on bytes, counted after decompression and as they arrive."""

from __future__ import annotations

from typing import Annotated, Final, NamedTuple

from msgspec import Meta, Struct

Bytes = Annotated[int, Meta(gt=0, le=2**40)]

_MiB: Final = 2**20


class SizeLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The most bytes of one answer, after decompression; None means no limit.

    `answer` bounds the body of an answer, streamed or not, `error_body` that of an answer outside 2xx, and
    `event` each event and each line of a stream. A larger answer becomes an ERROR event that names the limit;
    of a larger error body, the start is kept.
    """

    answer: Bytes | None = 64 * _MiB
    error_body: Bytes | None = 1 * _MiB
    event: Bytes | None = 16 * _MiB

    def of_body(self, status: int) -> Bound:
        """The bound of the body that follows this status."""
        if 200 <= status < 300:
            return Bound("an answer", "answer", self.answer)
        return Bound("an error body", "error_body", self.error_body)

    def of_event(self) -> Bound:
        """The bound of one event of a stream."""
        return Bound("an event", "event", self.event)


class Bound(NamedTuple):
    """One limit: what it bounds, its name in `SizeLimits`, and its bytes."""

    what: str
    name: str
    most: int | None

    def is_broken_by(self, size: int) -> bool:
        """Whether this many bytes are too many."""
        return self.most is not None and size > self.most

    def __str__(self) -> str:
        return f"{self.what} of more than {self.most} bytes (the size limit {self.name!r})"


NO_BOUND: Final = Bound("", "", None)
