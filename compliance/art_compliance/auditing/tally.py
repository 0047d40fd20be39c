"""What is counted. Every number is a sum, and every list the first few by place: parts merge exactly, in any order."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import Final

import msgspec
from msgspec import Struct, field

from art_compliance.auditing.groups import Groups, Named

MOST_NAMES: Final = 10_000
"""The most models, days, clients or rules that are counted by name."""

FIRST: Final = 5
"""The first examples of a rule that are kept, and of each kind of bad line."""


class Counts(Struct):
    """Requests, what was said of them, and what came back.

    `refused` and `accepted` are answers with a status of 400 or 422, and below 300. `agreed` are the refused requests
    that the judges reject, `doubted` the accepted ones that they reject. `cost` is in millionths of a millionth: it may
    be larger than the integers of msgpack.
    """

    requests: int = 0
    rejected: int = 0
    noted: int = 0
    answered: int = 0
    accepted: int = 0
    refused: int = 0
    agreed: int = 0
    doubted: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal = Decimal(0)

    def add(self, other: Counts) -> None:
        """Adds the other's counts to these."""
        self.requests += other.requests
        self.rejected += other.rejected
        self.noted += other.noted
        self.answered += other.answered
        self.accepted += other.accepted
        self.refused += other.refused
        self.agreed += other.agreed
        self.doubted += other.doubted
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.cost += other.cost


class Place(Struct, frozen=True, order=True):
    """Where something stands: the file, the byte or row where its part begins, and the place in that part.

    `line` is the number of the line or row in the part, from 0; `item` is the place in a document.
    """

    file: int
    start: int
    line: int
    item: str = ""


class Example(Struct, frozen=True, order=True):
    """A finding: its place, the JSON pointer, and what is wrong if texts are shown."""

    place: Place
    pointer: str = ""
    text: str = ""


class RuleCounts(Struct):
    """The requests that break a rule, by what it says of them, and how the rejected ones were answered."""

    requests: int = 0
    reject: int = 0
    ignored: int = 0
    note: int = 0
    accepted: int = 0
    refused: int = 0
    first: list[Example] = field(default_factory=list[Example])

    def add(self, other: RuleCounts) -> None:
        """Adds the other's counts to these."""
        self.requests += other.requests
        self.reject += other.reject
        self.ignored += other.ignored
        self.note += other.note
        self.accepted += other.accepted
        self.refused += other.refused
        self.first = sorted([*self.first, *other.first])[:FIRST]

    def keep(self, example: Example) -> None:
        """Keeps the example if it is one of the first; within a part they come in order."""
        if len(self.first) < FIRST:
            self.first.append(example)


class Unreadable(Struct):
    """What could not be read for one reason: how many, and the first places."""

    count: int = 0
    first: list[Example] = field(default_factory=list[Example])

    def add(self, other: Unreadable) -> None:
        """Adds the other's counts to these."""
        self.count += other.count
        self.first = sorted([*self.first, *other.first])[:FIRST]


class TallyData(Struct):
    """A tally as data: between processes, and in the file that a run goes on from."""

    total: Counts
    groups: dict[str, Named[Counts]]
    rules: Named[RuleCounts]
    bad: Named[Unreadable]
    skipped: int
    guessed: int
    unread_answers: int
    unpriced: int


DIMENSIONS: Final = ("dialect", "model", "day", "client", "status")
"""What requests are counted by."""


class Tally:
    """Everything that is counted of some requests."""

    def __init__(self) -> None:
        self.total = Counts()
        self.groups = {name: Groups(Counts, MOST_NAMES) for name in DIMENSIONS}
        self.rules = Groups(RuleCounts, MOST_NAMES)
        self.bad = Groups(Unreadable, MOST_NAMES)
        self.skipped = 0
        self.guessed = 0
        self.unread_answers = 0
        self.unpriced = 0

    def cannot_read(self, place: Place, why: str) -> None:
        """Counts something that cannot be judged."""
        bad = self.bad[why]
        bad.count += 1
        if len(bad.first) < FIRST:
            bad.first.append(Example(place))

    def merge(self, other: TallyData) -> None:
        """Adds what was counted of other requests."""
        self.total.add(other.total)
        for name, groups in self.groups.items():
            groups.merge(other.groups[name])
        self.rules.merge(other.rules)
        self.bad.merge(other.bad)
        self.skipped += other.skipped
        self.guessed += other.guessed
        self.unread_answers += other.unread_answers
        self.unpriced += other.unpriced

    def as_data(self) -> TallyData:
        """The counts, the same for the same requests in any order."""
        return TallyData(
            total=self.total,
            groups={name: groups.as_data() for name, groups in self.groups.items()},
            rules=self.rules.as_data(),
            bad=self.bad.as_data(),
            skipped=self.skipped,
            guessed=self.guessed,
            unread_answers=self.unread_answers,
            unpriced=self.unpriced,
        )


encode: Final = msgspec.msgpack.Encoder().encode
decode_tally: Final = partial(msgspec.msgpack.decode, type=TallyData)
