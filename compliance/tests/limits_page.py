"""docs/limits.md: how long the suite waits, and how much it sends and shows, from `checks/limits.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from art_compliance.checks import limits
from art_compliance.provider.faults import LONG
from art_compliance.subject.deadlines import LIMIT

_INTRODUCTION: Final = f"""\
# Limits

An adapter author asks: how long may a call take, how large are bodies, how many calls run at once? In short:

- One translation or one call may take {LIMIT:g} s. After that, the adapter counts as hanging.
- The longest body has {LONG / 1e6:g} MB, the longest prompt {limits.TURNS} turns or a text of {limits.WORDS:,} words.
- {limits.CALLS_AT_ONCE} calls run at once.

No limit depends on the adapter or the provider. `make pages` writes this page from `checks/limits.py`.
"""
_TITLE_OR_LIMIT: Final = re.compile(
    r'^# (?P<title>.+)$|^(?P<name>[A-Z_]+): Final = .+\n"""(?P<text>(?:.|\n)+?)"""', re.MULTILINE
)


def limits_page() -> str:
    """The page."""
    rows = _lines(Path(limits.__file__).read_text(encoding="utf-8"))
    return _INTRODUCTION + "\n".join(rows) + "\n"


def _lines(source: str) -> Iterator[str]:
    for found in _TITLE_OR_LIMIT.finditer(source):
        if found["title"]:
            yield f"\n## {found['title']}\n\n| limit | |\n| ---: | --- |"
        else:
            text = found["text"].replace("\\\n", "")
            yield f"| {getattr(limits, found['name']):,} | {text} |"
