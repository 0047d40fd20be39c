"""Call ids that a provider refuses, mapped: the same id for call and result, in any prompt, and never two alike."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from typing import Final

_MAPPED: Final = re.compile(r"artid_[0-9a-f]{32}")
"""What a mapped id looks like. An id that looks so by itself is mapped too, so that the two never meet."""


def keep_call_ids(call_ids: Iterable[str]) -> dict[str, str]:
    """No id is changed."""
    del call_ids
    return {}


def map_refused_ids(call_ids: Iterable[str], is_taken: Callable[[str], object]) -> dict[str, str]:
    """Per call id that the provider does not take, the one that is sent: letters, digits and `_`, 38 of them."""
    return {call_id: _digest(call_id) for call_id in call_ids if not is_taken(call_id) or _MAPPED.fullmatch(call_id)}


def _digest(call_id: str) -> str:
    """Two ids meet only where SHA-256 meets in 128 bits."""
    return f"artid_{hashlib.sha256(call_id.encode()).hexdigest()[:32]}"
