"""The badge: an SVG file, and the JSON that shields.io makes one of."""

from __future__ import annotations

import json
from html import escape
from typing import Final

from art_compliance.publishing.standing import LABEL, Colour, Standing
from art_compliance.quoting import escape as escape_unseen

_COLOURS: Final[dict[Colour, str]] = {
    "brightgreen": "#2f7d5b",
    "yellow": "#9a6a00",
    "red": "#b3392b",
    "lightgrey": "#6b675e",
}
_NARROW: Final = frozenset("fijlrtI,.:;'|()[] !1")
_PADDING: Final = 7


def badge_svg(standing: Standing) -> str:
    """The badge as an SVG picture: white letters on two grounds, with a title for those who do not see it."""
    left, right = _width(LABEL), _width(standing.words)
    label, words = escape(LABEL), escape(escape_unseen(standing.words))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" \
aria-label="{label}: {words}">
<title>{label}: {words}</title>
<clipPath id="r"><rect width="{left + right}" height="20" rx="4"/></clipPath>
<g clip-path="url(#r)"><rect width="{left}" height="20" fill="#3d3b37"/>\
<rect x="{left}" width="{right}" height="20" fill="{_COLOURS[standing.colour]}"/></g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">\
<text x="{_PADDING}" y="14" textLength="{left - 2 * _PADDING}">{label}</text>\
<text x="{left + _PADDING}" y="14" textLength="{right - 2 * _PADDING}">{words}</text></g>
</svg>
"""


def badge_json(standing: Standing) -> str:
    """The badge as shields.io reads it from an address (https://shields.io/badges/endpoint-badge)."""
    badge = {"schemaVersion": 1, "label": LABEL, "message": standing.words, "color": standing.colour}
    return json.dumps(badge, indent=2) + "\n"


def _width(text: str) -> int:
    """Pixels that the text takes at 11 px in Verdana, about."""
    return round(sum(4.3 if char in _NARROW else 7.0 for char in text)) + 2 * _PADDING
