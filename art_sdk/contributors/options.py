"""The options of a source or a memory provider: the keyword-only parameters of the function that takes them.

In configurations their names are camelCase: `{"omitIfUnavailable": true}` is the parameter `omit_if_unavailable`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter, signature
from typing import Any, Final, get_type_hints

from art_sdk.contributors.violations import type_violation
from art_sdk.validation import Violation

_CAPITAL: Final = re.compile("(?<!^)([A-Z])")


def python_names(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as keyword arguments."""
    return {_CAPITAL.sub(r"_\1", name).lower(): value for name, value in options.items()}


def option_violations(taker: Callable[..., Any], options: Mapping[str, Any], path: str) -> Iterator[Violation]:
    """Every option that the function does not accept, takes in another way, or needs and is not given."""
    parameters = _parameters(taker)
    if parameters is None:
        return
    hints = _hints(taker)
    known = {_json_name(name): name for name in parameters}
    for name, value in options.items():
        if name not in known:
            yield {"path": f"{path}.{name}", "message": f"unknown option; known options: {', '.join(known) or 'none'}"}
        elif found := type_violation(value, hints.get(known[name], Any), f"{path}.{name}"):
            yield found
    for name, one in zip(known, parameters.values(), strict=True):
        if one.default is Parameter.empty and name not in options:
            yield {"path": f"{path}.{name}", "message": "missing required option"}


def _parameters(taker: Callable[..., Any]) -> dict[str, Parameter] | None:
    """The keyword-only parameters; None for a function that takes any, or whose parameters are not known."""
    try:
        parameters = signature(taker).parameters.values()
    except (TypeError, ValueError):  # of some that are written in C
        return None
    if any(one.kind is Parameter.VAR_KEYWORD for one in parameters):
        return None
    return {one.name: one for one in parameters if one.kind is Parameter.KEYWORD_ONLY}


def _hints(taker: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(
            getattr(taker, "__init__", taker) if isinstance(taker, type) else taker, include_extras=True
        )
    except Exception:  # noqa: BLE001 - whatever evaluating another's annotations raises: its options are not checked
        return {}


def _json_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))
