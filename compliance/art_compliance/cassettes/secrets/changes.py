"""A replacement in a text, and how it moves the cuts between joined pieces."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Final, NamedTuple

REDACTED: Final = "REDACTED"
"""The text that replaces what was removed."""


class Change(NamedTuple):
    """A replacement: the start and end of the text that goes, the text that takes its place, and the kind of secret."""

    start: int
    end: int
    put: str
    kind: str


class Joined(NamedTuple):
    """A text, and where it is cut into the pieces that it was joined from."""

    text: str
    cuts: tuple[int, ...] = ()

    @classmethod
    def of(cls, pieces: list[str]) -> Joined:
        """The pieces, joined."""
        cuts: list[int] = []
        at = 0
        for piece in pieces[:-1]:
            at += len(piece)
            cuts.append(at)
        return cls("".join(pieces), tuple(cuts))

    def pieces(self) -> list[str]:
        """The text, cut again."""
        edges = (0, *self.cuts, len(self.text))
        return [self.text[start:end] for start, end in pairwise(edges)]

    def apply(self, changes: Iterable[Change]) -> Joined:
        """The text with these changes, in order. If a change spans several pieces, the first one gets the new text."""
        parts: list[str] = []
        cuts: list[int] = []
        waiting = list(self.cuts)
        waiting.reverse()
        at = length = 0
        for change in changes:
            while waiting and waiting[-1] <= change.start:
                cuts.append(waiting.pop() - at + length)
            parts += (self.text[at : change.start], change.put)
            length += change.start - at + len(change.put)
            at = change.end
            while waiting and waiting[-1] < at:
                waiting.pop()
                cuts.append(length)
        parts.append(self.text[at:])
        cuts += [cut - at + length for cut in reversed(waiting)]
        return Joined("".join(parts), tuple(cuts))
