"""Long bodies of the faults: as long as the adapter reads them in time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from art_compliance.checks.faults.growing import Shortened, grow
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Reply

MB = 1_000_000


class Reader:
    """An adapter to which time passes in calls alone, so many seconds for so many bytes."""

    def __init__(self, seconds: Callable[[int], float]) -> None:
        self.now, self.sizes, self._seconds = 0.0, list[int](), seconds

    def call(self, size: int) -> Reply:
        self.sizes.append(size)
        self.now += self._seconds(size)
        return Answered(({"size": size},))

    def grow(self) -> tuple[Reply, Shortened | None]:
        return grow(self.call, 10 * MB, lambda: self.now)


@pytest.mark.parametrize("a_megabyte", [0.0, 0.01, 0.1, 0.2])
def test_a_fast_adapter_reads_the_whole_in_few_calls(a_megabyte: float):
    reader = Reader(lambda size: a_megabyte * size / MB)
    reply, shortened = reader.grow()
    assert (reply, shortened) == (Answered(({"size": 10 * MB},)), None)
    assert len(reader.sizes) <= 4


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("a_megabyte", [1.5, 4.0, 60.0])
def test_a_slow_adapter_is_given_up_before_it_takes_long(a_megabyte: float, power: int):
    reader = Reader(lambda size: a_megabyte * (size / MB) ** power)
    reply, shortened = reader.grow()
    assert shortened is not None
    assert reply == Answered(({"size": shortened.size},))
    assert shortened.size == reader.sizes[-1] < 10 * MB
    assert reader.now < max(10, 2 * a_megabyte / 3.2)


def test_a_short_body_says_little_about_a_long_one():
    reader = Reader(lambda size: 0.4 * max(0, size / MB - 0.3) ** 2)
    reader.grow()
    assert reader.now < 10


def test_what_was_not_tried_is_said():
    _, shortened = Reader(lambda size: 3.0 * size / MB).grow()
    assert str(shortened) == "the call took 1.9 s with 0.6 MB; longer bodies were not tried"
