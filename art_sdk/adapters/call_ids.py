"""Call ids that a provider refuses, mapped: the same id for call and result, in any prompt, and never two alike."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from typing import Final

_LEAD: Final = "artid_"
_MAPPED: Final = re.compile(rf"{_LEAD}[0-9a-f]{{32}}")


def keep_call_ids(call_ids: Iterable[str]) -> dict[str, str]:
    """No id is changed."""
    del call_ids
    return {}


def map_refused_ids(call_ids: Iterable[str], is_taken: Callable[[str], object]) -> dict[str, str]:
    """Per call id that the provider does not take, the one that is sent: letters, digits and `_`, 38 of them."""
    return {call_id: _digest(call_id) for call_id in call_ids if not is_taken(call_id) or _looks_mapped(call_id)}


def _looks_mapped(call_id: str) -> bool:
    """Whether an id looks like a mapped one by itself: it is mapped too, so that the two never meet."""
    return call_id.startswith(_LEAD) and _MAPPED.fullmatch(call_id) is not None


def _digest(call_id: str) -> str:
    """Two ids meet only where SHA-256 meets in 128 bits."""
    return f"{_LEAD}{hashlib.sha256(call_id.encode()).hexdigest()[:32]}"
