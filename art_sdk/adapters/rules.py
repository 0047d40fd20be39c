"""What a provider accepts, as data: names, ids, numbers, counts and schemas. Each has the id of the provider's rule."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Final, NamedTuple


class NameRule(NamedTuple):
    """The names that a provider accepts, the id of its rule, and how other names are sent.

    A renamed tool keeps what is readable of its name, before digits of its SHA-256. Names that look like renamed ones
    are renamed too, so that a given name never equals one. Two tools share a name only if these digits are equal.
    """

    pattern: re.Pattern[str]
    rule: str | None = None

    def map(self, names: Iterable[str]) -> dict[str, str]:
        """The name that is sent per name that the provider rejects. A function of the name alone.

        A name stays if the provider would refuse the other one, too.
        """
        is_taken = self.pattern.fullmatch
        return {one: sent for one in self.find_odd(names) if is_taken(sent := _rename(one))}

    def find_odd(self, names: Iterable[str]) -> list[str]:
        """The names that the provider rejects, and those that look like renamed ones."""
        is_taken = self.pattern.fullmatch
        return [one for one in names if not is_taken(one) or (one[-13:-12] == "_" and _RENAMED.fullmatch(one))]


_RENAMED: Final = re.compile(r"\w+_[0-9a-f]{12}", re.ASCII)


def _rename(name: str) -> str:
    """Letters, digits and `_`, at most 64, the first no digit: all known providers take it."""
    readable = re.sub(r"\W+", "_", name, flags=re.ASCII)[:50]
    lead = "_" if readable[:1].isdigit() else ""
    return f"{lead}{readable}_{hashlib.sha256(name.encode()).hexdigest()[:12]}"


class RangeRule(NamedTuple):
    """The numbers that a provider accepts for an option, both ends included."""

    low: float
    high: float
    rule: str | None = None


class CountRule(NamedTuple):
    """How many of something a provider accepts."""

    most: int
    rule: str | None = None


class RootRule(NamedTuple):
    """The keywords that a provider rejects at the root of a tool's input schema, and whether `type` must be there."""

    keywords: tuple[str, ...]
    rule: str | None = None
    needs_type: bool = False


class CallIdRule(NamedTuple):
    """The call ids that a provider accepts, and how others are sent: as a prefix, and digits of their SHA-256.

    Ids that look like mapped ones are mapped too, so that a given id never equals a mapped one. Two mapped
    ids are equal only if `digits` hexadecimal digits of their hashes are.
    """

    pattern: re.Pattern[str]
    rule: str | None = None
    lead: str = "artid_"
    digits: int = 32

    def map(self, call_ids: Iterable[str]) -> dict[str, str]:
        """The id that is sent per call id that the provider rejects. A function of the id alone."""
        is_taken, length = self.pattern.fullmatch, len(self.lead) + self.digits
        odd = [one for one in call_ids if not is_taken(one) or (len(one) == length and self._looks_mapped(one))]
        return {one: self._mapped(one) for one in odd}

    def _mapped(self, call_id: str) -> str:
        return f"{self.lead}{hashlib.sha256(call_id.encode()).hexdigest()[: self.digits]}"

    def _looks_mapped(self, call_id: str) -> bool:
        return call_id.startswith(self.lead) and _HEX.issuperset(call_id[len(self.lead) :])


_HEX: Final = frozenset("0123456789abcdef")
