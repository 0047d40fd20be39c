"""JSON data as a program writes it that uses its constants in several places."""

from __future__ import annotations

import json
from typing import Any

from art_sdk.json_data import is_array, is_object


def with_shared_parts(value: Any) -> Any:
    """A copy in which all equal objects and arrays are one Python object each."""
    known: dict[str, Any] = {}

    def share(part: Any) -> Any:
        if is_object(part):
            made: Any = {name: share(item) for name, item in part.items()}
        elif is_array(part):
            made = [share(item) for item in part]
        else:
            return part
        return known.setdefault(json.dumps(made), made)

    return share(value)
