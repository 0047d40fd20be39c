"""Finds secrets in a text, whatever they are encoded in, and removes them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from typing import Final
from urllib.parse import quote, quote_plus

from art_compliance.cassettes.secrets.changes import REDACTED, Change, Joined
from art_compliance.cassettes.secrets.codings import IN_BYTES, IN_TEXTS, Coding
from art_compliance.cassettes.secrets.frames import FRAMES, find_frame
from art_compliance.cassettes.secrets.shapes import find_shapes

_DEPTH: Final = 3
"""How many encodings inside each other are undone: base64 of escaped JSON in a JSON text, and the like."""

_SHORTEST: Final = 8
"""A known secret with fewer letters is a word, such as local engines accept (`EMPTY`, `ollama`), and stays in texts."""

_SHORT: Final = 48
"""Texts up to this length are often repeated, such as the names of fields and the ids of a stream."""

KNOWN: Final = "the key that it was recorded with"

Find = Callable[[str], Iterator[Change]]
"""Finds everything of some kind in a text, in order."""


class Cleaner:
    """Finds and removes what looks like a secret, and the known `secrets` exactly, in every spelling."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = [secret for secret in secrets if len(secret) >= _SHORTEST]
        self._forms = sorted({form for secret in known for form in spellings(secret)}, key=len, reverse=True)
        self._clean_short = lru_cache(maxsize=2048)(self._clean_text)

    def clean(self, text: str, *, is_binary: bool = False, is_flat: bool = False) -> str:
        """The text without secrets.

        With `is_binary`, each character stands for a byte, and only text among the bytes is searched. With `is_flat`,
        nothing is decoded.
        """
        is_short = len(text) <= _SHORT
        return (self._clean_short if is_short else self._clean_text)(text, is_binary=is_binary, is_flat=is_flat)

    def _clean_text(self, text: str, *, is_binary: bool, is_flat: bool) -> str:
        return self._clean(Joined(text), 0 if is_flat else _DEPTH, is_binary=is_binary).text

    def clean_pieces(self, pieces: list[str]) -> list[str]:
        """Pieces of one text without the secrets in any of them, and those that are split over several."""
        return self._clean(Joined.of(pieces), _DEPTH, is_binary=False).pieces()

    def find(self, text: str) -> list[Change]:
        """Every secret in the text, with its place; one inside another is left out."""
        found = sorted(change for find in self._finders(text, _DEPTH, is_binary=False) for change in find(text))
        kept: list[Change] = []
        for change in found:
            if not kept or change.start >= kept[-1].end:
                kept.append(change)
        return kept

    def _clean(self, joined: Joined, depth: int, *, is_binary: bool) -> Joined:
        for find in self._finders(joined.text, depth, is_binary=is_binary):
            changes = list(find(joined.text))
            if changes:
                joined = joined.apply(changes)
        return joined

    def _finders(self, text: str, depth: int, *, is_binary: bool) -> Iterator[Find]:
        """What to look for, in order. Encoded text comes first: once a part of it is replaced, it cannot be decoded."""
        yield self._find_known
        if depth:
            for coding in IN_BYTES if is_binary else IN_TEXTS:
                if coding.needs.search(text):
                    yield partial(self._find_coded, coding, depth=depth - 1)
        if not is_binary:
            lower = text.lower()
            frames = [frame for frame in FRAMES if any(need in lower for need in frame.needs)]
            yield from (partial(find_frame, frame) for frame in frames if frame.comes_first)
            yield find_shapes
            yield from (partial(find_frame, frame) for frame in frames if not frame.comes_first)

    def _find_known(self, text: str) -> Iterator[Change]:
        taken: list[Change] = []
        for form in self._forms:
            if form in text:
                taken += (Change(*match.span(), REDACTED, KNOWN) for match in re.finditer(re.escape(form), text))
        at = 0
        for change in sorted(taken, key=lambda change: (change.start, -change.end)):
            if change.start >= at:
                at = change.end
                yield change

    def _find_coded(self, coding: Coding, text: str, *, depth: int) -> Iterator[Change]:
        if coding.undo is not None and not self._is_dirty(coding.undo(text), depth, is_binary=False):
            return
        at = 0
        for inner in coding.read(text):
            if inner.start < at or not self._is_dirty(inner.text, depth, is_binary=inner.is_binary):
                continue
            changed = self._clean(Joined(inner.text), depth, is_binary=inner.is_binary).text
            kind = self._first_kind(inner.text, depth, is_binary=inner.is_binary)
            at = inner.end
            yield Change(inner.start, inner.end, inner.write(changed), f"{kind}, in {coding.name}")

    def _is_dirty(self, text: str, depth: int, *, is_binary: bool) -> bool:
        return self._clean(Joined(text), depth, is_binary=is_binary).text != text

    def _first_kind(self, text: str, depth: int, *, is_binary: bool) -> str:
        found = (next(find(text), None) for find in self._finders(text, depth, is_binary=is_binary))
        return next((change.kind for change in found if change is not None), "a secret")


def spellings(secret: str) -> set[str]:
    """How a text may contain a secret: as it is, in a URL, in JSON, and in base64 at each of the three offsets."""
    found: set[str] = {spell(secret) for spell in _SPELLINGS}
    for raw in (secret.encode(), secret.encode("utf-16-le"), secret.encode("utf-16-be")):
        found.add(raw.hex())
        for offset in range(3):
            coded = base64.b64encode(b"\0" * offset + raw).decode()
            middle = coded[4 if offset else 0 : len(coded) // 4 * 4 - 4]  # what does not depend on its neighbours
            if len(middle) >= 12:
                found |= {middle, middle.replace("+", "-").replace("/", "_")}
    return found


_SPELLINGS: Final[tuple[Callable[[str], str], ...]] = (
    str,
    quote_plus,
    lambda secret: quote(secret, safe=""),
    lambda secret: json.dumps(secret)[1:-1],
    lambda secret: json.dumps(json.dumps(secret)[1:-1])[1:-1],
)
