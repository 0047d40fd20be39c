"""The files of an audit, and the parts that they are read in. A part is a range of bytes, or a whole file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from msgspec import Struct

from art_compliance.auditing.opening import Coding
from art_compliance.auditing.settings import Settings

Kind = Literal["lines", "document", "parquet"]
"""`lines` of JSON, each by itself; a `document` that is read as a whole, such as a HAR; or rows of `parquet`."""

SMALLEST: Final = 256 * 1024
LARGEST: Final = 4 * 1024 * 1024
"""Bytes of a part: enough that starting one costs nothing, and few enough that little is lost with it."""

_PARTS_PER_JOB: Final = 8


class Source(Struct, frozen=True):
    """A file as it was found: its size in bytes, when it was changed last, and how it is compressed."""

    path: str
    kind: Kind
    size: int
    changed: int
    coding: Coding = ""


class Part(Struct, frozen=True):
    """What is read at once: the lines that begin in the bytes from `start` to before `end`."""

    file: int
    start: int
    end: int


class Plan(Struct, frozen=True):
    """What is read, and how: the same plan gives the same parts."""

    settings: Settings
    sources: tuple[Source, ...]
    part_bytes: int

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(source.size for source in self.sources)

    def parts(self) -> Iterator[Part]:
        """Every part, in order."""
        for number, source in enumerate(self.sources):
            if source.kind == "lines" and not source.coding:
                for start in range(0, source.size, self.part_bytes):
                    yield Part(number, start, min(start + self.part_bytes, source.size))
            else:
                yield Part(number, 0, source.size)


def part_bytes_for(size: int, jobs: int) -> int:
    """The bytes of a part, so that all cores have something to do until the end."""
    return min(max(size // (jobs * _PARTS_PER_JOB), SMALLEST), LARGEST)


def difference(before: Plan, now: Plan) -> str:
    """Why what was counted by one plan is of no use to the other; empty if it is."""
    if before.settings != now.settings:
        return "its options differ"
    if [one.path for one in before.sources] != [one.path for one in now.sources]:
        return "its files differ"
    changed = [one.path for one, other in zip(before.sources, now.sources, strict=True) if one != other]
    return f"{changed[0]} was changed since" if changed else ""
