"""Which settings a factory takes besides key, URL and model: those that it names, under the names that are common."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

KNOWN: Final[Mapping[str, tuple[str, ...]]] = {
    "headers": ("headers", "default_headers", "extra_headers"),
    "retries": ("retries", "max_retries"),
    "timeouts": ("timeouts",),
}
"""Each setting as the reference adapters name it, and as other libraries do. All of them mean the same by it."""


def find_settings(make: Any) -> dict[str, str]:
    """The known settings of a factory, each with its own name for it; none of one that takes any name."""
    named = {name for function in _functions(inspect.unwrap(make)) for name in _named(function)}
    known = ((setting, [name for name in names if name in named]) for setting, names in KNOWN.items())
    return {setting: found[0] for setting, found in known if found}


def _functions(make: Any) -> Iterator[Any]:
    """What is called: of a class, its own `__init__`, and its base's as long as that takes what the base names."""
    if not isinstance(make, type):
        yield make
        return
    for one in cast("type[object]", make).__mro__:
        own = vars(one).get("__init__")
        if own is None:
            continue
        yield own
        if not any(each.kind is each.VAR_KEYWORD for each in _parameters(own)):
            return


def _named(function: Any) -> Iterator[str]:
    kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return (one.name for one in _parameters(function) if one.kind in kinds)


def _parameters(function: Any) -> list[inspect.Parameter]:
    try:
        return [*inspect.signature(function).parameters.values()]
    except (ValueError, TypeError):  # it is not written in Python, or is no function
        return []
