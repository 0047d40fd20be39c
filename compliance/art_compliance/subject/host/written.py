"""Whatever an adapter has made, as text."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from art_sdk.sendable import find_unsendable

_ENCODER: Final = msgspec.json.Encoder(order="deterministic")


def why_unwritable(payload: Any) -> str | None:
    """Why no text can be made of a payload: it is nested too deeply."""
    try:
        _ENCODER.encode(payload)
    except RecursionError:
        found = find_unsendable(payload)
        return None if found is None or not found.is_too_deep else found.reason
    except (TypeError, ValueError):  # a part of it is not JSON data: see preflight
        return None
    return None


def as_text(value: Any) -> bytes | str:
    """The value as text, to see whether it changed; adapters may put anything into it."""
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError):  # a lone surrogate is a ValueError
        return repr(value)
