"""Values that a configuration names by their place, `module:NAME`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from art_sdk.errors import InvalidConfig


def import_place(place: str) -> Any:
    """The value at `module:NAME`. Raises InvalidConfig if it cannot be imported."""
    module, _, name = place.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidConfig(f"{place!r} cannot be imported: {error}", cause=error) from error
