"""How bytes arrive and what goes wrong: chunks of a body, schedules of faults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeVar

from hypothesis import strategies as st

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

Step = TypeVar("Step")

_MOST_CUTS: Final = 12


def chunkings(data: bytes) -> SearchStrategy[tuple[bytes, ...]]:
    """The data in pieces: whole, byte by byte, or cut anywhere.

    Cuts inside a UTF-8 character and between CR and LF are more likely than by chance. A piece may be empty.
    """
    if not data:
        return st.sampled_from(((), (b"",)))
    anywhere = st.integers(0, len(data))
    places = [*_inside(data)]
    cut = anywhere | st.sampled_from(places) if places else anywhere
    cuts = st.lists(cut, max_size=_MOST_CUTS).map(lambda at: _pieces(data, at))
    return st.one_of(cuts, st.just(_pieces(data, list(range(1, len(data))))))


def _inside(data: bytes) -> Iterator[int]:
    """Places where a cut hurts: before a UTF-8 continuation byte, and between CR and LF."""
    for at, (before, after) in enumerate(pairwise(data), 1):
        if after & 0xC0 == 0x80 or (before, after) == (13, 10):
            yield at


def _pieces(data: bytes, cuts: Sequence[int]) -> tuple[bytes, ...]:
    edges = [0, *sorted(cuts), len(data)]
    return tuple(data[start:stop] for start, stop in pairwise(edges))


@st.composite
def fault_schedules(draw: DrawFn, faults: Sequence[Step], *, calls: int = 4) -> tuple[Step | None, ...]:
    """What goes wrong in each of up to `calls` calls: one of the faults, or None for a call that succeeds.

    Shrinks to one fault, the first of `faults`. Raises ValueError if there are no faults.
    """
    if not faults:
        raise ValueError("there are no faults to choose from")
    steps = draw(st.lists(st.none() | st.sampled_from(faults), min_size=1, max_size=calls))
    if all(step is None for step in steps):
        steps[-1] = draw(st.sampled_from(faults))
    return tuple(steps)
