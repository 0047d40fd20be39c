"""Reads the parts that are left, adds up what comes of them, and keeps it for a run that goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from art_compliance.auditing.keeping import Keeper, Kept
from art_compliance.auditing.plan import Part, Plan
from art_compliance.auditing.reading import Read, read_part
from art_compliance.auditing.tally import Tally
from art_compliance.auditing.totals import Ending

Engine = Callable[[Plan, Iterable[Part]], Iterator[Read]]
"""Reads parts somewhere, and gives what came of each, in any order."""

_SAVED_EVERY: Final = 5.0
"""Seconds of work that a kill may cost, besides the parts in progress."""


def read_here(plan: Plan, parts: Iterable[Part]) -> Iterator[Read]:
    """Reads the parts in this process, one by one."""
    return (read_part(plan, part) for part in parts)


class Audit:
    """What is counted so far of a plan."""

    def __init__(self, plan: Plan, kept: Kept | None = None) -> None:
        """`kept` is what an earlier run of the same plan has counted."""
        self.plan = plan
        self.tally = Tally()
        self.endings: dict[tuple[int, int], Ending] = {}
        self.failed: dict[tuple[int, int], str] = {}
        """Why parts could not be read; another run tries them again."""
        if kept is not None:
            self.tally.merge(kept.tally)
            self.endings = {(one.file, one.start): one for one in kept.endings}

    @property
    def left(self) -> list[Part]:
        """The parts that are not read yet."""
        return [part for part in self.plan.parts() if (part.file, part.start) not in self.endings]

    @property
    def is_whole(self) -> bool:
        """Whether every part is read."""
        return not self.left

    @property
    def is_damaged(self) -> bool:
        """Whether a file's compressed data is cut off or damaged, so that not all of it is counted."""
        return any(one.is_damaged for one in self.endings.values())

    @property
    def bytes_read(self) -> int:
        """The bytes of the parts that are read."""
        return sum(one.end - one.start for one in self.endings.values())

    def add(self, read: Read) -> None:
        """Adds what came of a part; of one that is counted already, nothing: it may be read twice."""
        key = (read.part.file, read.part.start)
        if read.tally is None:
            self.failed[key] = read.problem
        elif key not in self.endings:
            self.tally.merge(read.tally)
            self.endings[key] = Ending.of(read)

    def run(self, engine: Engine, keeper: Keeper, show: Callable[[Audit], None]) -> None:
        """Reads what is left. Whatever ends it, what was counted is kept."""
        saved = time.monotonic()
        try:
            for read in engine(self.plan, self.left):
                self.add(read)
                show(self)
                if time.monotonic() - saved >= _SAVED_EVERY:
                    keeper.save(self.kept())
                    saved = time.monotonic()
        except BaseException:
            keeper.save(self.kept())
            raise

    def kept(self) -> Kept:
        """What is counted, for another run."""
        return Kept(plan=self.plan, tally=self.tally.as_data(), endings=list(self.endings.values()))
