"""A plot of bars as SVG, small enough to read in a diff."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from xml.sax.saxutils import escape

WIDTH: Final = 640
LABELS: Final = 200
BAR: Final = 22


def draw_bars(title: str, bars: Iterable[tuple[str, float]]) -> str:
    """The plot: a bar with its number for each label. A line marks 1."""
    rows = list(bars)
    most = max((number for _, number in rows), default=1.0)
    scale = (WIDTH - LABELS - 60) / most
    height = BAR * (len(rows) + 2)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}"',
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="8" y="18" font-weight="bold">{escape(title)}</text>',
        f'<path d="M{LABELS + scale:.0f} {BAR}V{height - 8}" stroke="#c33" stroke-dasharray="3 3"/>',
    ]
    for at, (label, number) in enumerate(rows):
        y, color = BAR * (at + 1.4), "#2a6f4e" if label.startswith("art_sdk") else "#8a97a8"
        lines += [
            f'<text x="{LABELS - 8}" y="{y + 13:.0f}" text-anchor="end">{escape(label)}</text>',
            f'<rect x="{LABELS}" y="{y:.0f}" width="{max(number * scale, 1):.0f}" height="{BAR - 6}" fill="{color}"/>',
            f'<text x="{LABELS + number * scale + 6:.0f}" y="{y + 13:.0f}">{number:.1f}</text>',
        ]
    return "\n".join([*lines, "</svg>\n"])
