"""Plots as shapes for SVG: numbers only, so that a page without inline styles can draw them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from art_compliance.auditing.report import Figures

WIDTH: Final = 900
HEIGHT: Final = 160
_GAP: Final = 0.15
_LABELS: Final = 9


class Bar(NamedTuple):
    """A bar of one day: where it is, how high it is, how high its rejected part, and what it says."""

    x: float
    width: float
    height: float
    rejected: float
    title: str


def bars_of(days: Sequence[Figures]) -> list[Bar]:
    """A bar for each day that has a name, as high as its requests compared with those of the busiest day."""
    most = max((day.requests for day in days), default=0)
    step = WIDTH / max(len(days), 1)
    return [_bar(day, number * step, step, HEIGHT / most) for number, day in enumerate(days)]


def _bar(day: Figures, x: float, step: float, scale: float) -> Bar:
    title = f"{day.name}: {day.requests:,} requests, {day.rejected:,} rejected ({day.share:.2%})"
    heights = [round(count * scale, 2) for count in (day.requests, day.rejected)]
    return Bar(round(x + step * _GAP / 2, 2), round(step * (1 - _GAP), 2), heights[0], heights[1], title)


class Point(NamedTuple):
    """The share of one day: where it is, and what it says."""

    x: float
    y: float
    title: str


def points_of(days: Sequence[Figures]) -> list[Point]:
    """The share of rejected requests by day, relative to the largest share."""
    most = max((day.share for day in days), default=0) or 1
    return [
        Point(x, round(HEIGHT * (1 - day.share / most), 1), f"{day.name}: {day.share:.2%} rejected")
        for x, day in zip(_middles(len(days)), days, strict=True)
    ]


class Label(NamedTuple):
    """The name of a day below its bar."""

    x: float
    text: str


def labels_of(days: Sequence[Figures]) -> list[Label]:
    """The names of the first day and of others at equal distances: as many as fit beside each other."""
    every = max(-(-len(days) // _LABELS), 1)
    return [Label(x, day.name) for x, day in zip(_middles(len(days))[::every], days[::every], strict=True)]


def _middles(count: int) -> list[float]:
    step = WIDTH / max(count, 1)
    return [round((at + 0.5) * step, 1) for at in range(count)]
