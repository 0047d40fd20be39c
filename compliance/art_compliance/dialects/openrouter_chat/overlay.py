"""What the published types of OpenRouter leave open although they mean less."""

from __future__ import annotations

from typing import Any, Final

from art_compliance.dialects.overlay import Overlaid

_NOT_A_FUNCTION: Final[dict[str, Any]] = {"type": "string", "pattern": "^(?!function$)"}

REQUEST: Final = tuple(
    Overlaid(f"{name}/type", _NOT_A_FUNCTION, f"{name} of the same types is for tools that run on the server")
    for name in ("ChatDynamicServerTool", "ChatWebSearchShorthand")
)
"""A tool of the type function is one with a function, not a server's."""
