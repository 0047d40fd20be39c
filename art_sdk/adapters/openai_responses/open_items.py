"""Items of a response whose pieces are still coming.

The last events of an item repeat all that its pieces said. That is compared, so that no text is given that the pieces
had otherwise; a checksum shows that without a second copy of the text.
"""

from __future__ import annotations

from typing import Any, Final
from zlib import crc32

from art_sdk.adapters.answers import LongText


class Said:
    """What the pieces of a text have said: its length and its checksum, as the text itself may be long."""

    def __init__(self, kept: LongText | None) -> None:
        self.length = 0
        self.kept = kept
        self._sum = 0

    def write(self, piece: str) -> None:
        self.length += len(piece)
        self._sum = crc32(piece.encode(errors="surrogatepass"), self._sum)
        if self.kept is not None:
            self.kept.write(piece)

    def begins(self, whole: str) -> bool:
        """Whether the whole text begins with what was said."""
        found = 0
        for at in range(0, self.length, _SLICE):
            found = crc32(whole[at : min(at + _SLICE, self.length)].encode(errors="surrogatepass"), found)
        return len(whole) >= self.length and found == self._sum


_SLICE: Final = 65_536


class OpenItem:
    """An item whose pieces are still coming: what its texts have said, by kind and index. Arguments are kept."""

    def __init__(self, item: dict[str, Any], kind: str) -> None:
        self.item = item
        self.kind = kind
        self.texts: dict[tuple[str, int], Said] = {}

    def text(self, kind: str, index: int) -> Said:
        found = self.texts.get((kind, index))
        if found is None:
            found = self.texts[kind, index] = Said(LongText() if kind == "arguments" else None)
        return found

    def is_meant(self, item_id: str | None) -> bool:
        return item_id is not None and item_id in (self.item.get("id"), self.item.get("call_id"))
