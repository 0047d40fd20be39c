"""Reads one part of a file and counts what is in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from art_compliance.auditing.counting import Clock, Counting
from art_compliance.auditing.lines import LONGEST, lines_of
from art_compliance.auditing.opening import damages, open_bytes, stat_of
from art_compliance.auditing.parquet import rows_of
from art_compliance.auditing.plan import Part, Plan, Source
from art_compliance.auditing.settings import Settings
from art_compliance.auditing.tally import TallyData
from art_compliance.findings import HarnessError
from art_compliance.traffic.reading import read_line, read_text

LARGEST_DOCUMENT: Final = 256 * 1024 * 1024
"""Bytes of the largest file that is read as a whole."""

_BOM: Final = b"\xef\xbb\xbf"


class Read(Struct):
    """What came of a part: how many lines begin in it, their times, the counts, and what was wrong with the file.

    There is no `tally` of a part that could not be read: it is for another run to read. One that `is_damaged` is
    counted up to the damage: another run would not read more.
    """

    part: Part
    lines: int = 0
    clock: Clock = field(default_factory=Clock)
    tally: TallyData | None = None
    problem: str = ""
    is_damaged: bool = False


def read_part(plan: Plan, part: Part) -> Read:
    """Judges and counts a part of a plan."""
    return read_source_part(plan.settings, plan.sources[part.file], part)


def read_source_part(settings: Settings, source: Source, part: Part) -> Read:
    """Judges and counts a part of a file. Lines that cannot be read are counted."""
    counting = Counting(settings, part.file, part.start)
    try:
        lines, damage = _READERS[source.kind](source, part, counting)
        problem = damage or _change(source)
    except HarnessError as error:
        return Read(part, problem=str(error).removeprefix(f"cannot read {source.path}: "))
    except OSError as error:
        return Read(part, problem=f"cannot read on from byte {part.start:,}: {error.strerror or error}")
    return Read(part, lines, counting.clock, counting.tally.as_data(), problem, bool(damage))


def _change(source: Source) -> str:
    """How the file differs from what it was when the audit began; empty if it does not."""
    size, changed = stat_of(source.path)
    if size > source.size:
        return f"it grew while it was read: only its first {source.size:,} bytes are counted"
    if size < source.size:
        return f"it shrank while it was read, from {source.size:,} to {size:,} bytes"
    return "" if changed == source.changed else "it was changed while it was read"


def _read_lines(source: Source, part: Part, counting: Counting) -> tuple[int, str]:
    """How many lines were read, and why not all."""
    number = 0
    with open_bytes(source.path, source.coding) as file:
        lines = lines_of(file, part.start, _ENDLESS if source.coding else part.end)
        try:
            for line in lines:
                _count_line(line, number, counting)
                number += 1
        except damages(source.path, source.coding):
            return number, f"its {source.coding} data is cut off or damaged: {number:,} lines before that are counted"
    return number, ""


_ENDLESS: Final = 2**63


def _count_line(line: bytes | None, number: int, counting: Counting) -> None:
    if line is None:
        counting.tally.cannot_read(counting.place(number), f"a line of more than {LONGEST // 2**20} MiB")
    elif not line.isspace():
        for item in read_line(line.removeprefix(_BOM), ""):
            counting.count(item, counting.place(number, item.where.removeprefix(": ")))


def _read_document(source: Source, _: Part, counting: Counting) -> tuple[int, str]:
    with open_bytes(source.path, source.coding) as file:
        try:
            raw = file.read(LARGEST_DOCUMENT + 1)
        except damages(source.path, source.coding):
            return 0, f"its {source.coding} data is cut off or damaged: nothing of it is counted"
    if len(raw) > LARGEST_DOCUMENT:
        why = f"a file of more than {LARGEST_DOCUMENT // 2**20} MiB that is not JSON Lines"
        counting.tally.cannot_read(counting.place(0), why)
        return 0, ""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        counting.tally.cannot_read(counting.place(0), "it is not UTF-8")
        return 0, ""
    for number, item in enumerate(read_text(text, source.path, Path(source.path))):
        counting.count(item, counting.place(number, item.where.removeprefix(source.path).lstrip(": ")))
    return 0, ""


def _read_parquet(source: Source, _: Part, counting: Counting) -> tuple[int, str]:
    """How many rows were read."""
    number = 0
    with open_bytes(source.path) as file:
        for number, item in enumerate(rows_of(source.path, file), 1):
            counting.count(item, counting.place(number - 1))
    return number, ""


_Reader = Callable[[Source, Part, Counting], tuple[int, str]]
_READERS: Final[Mapping[str, _Reader]] = {
    "lines": _read_lines,
    "document": _read_document,
    "parquet": _read_parquet,
}
