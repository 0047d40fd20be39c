"""Which adapters are given typed values, and which JSON data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from art_sdk import BaseAdapter, parse_options, parse_prompt

Translated = tuple[tuple[Any, Any], Any]
"""The arguments that a translation was given, and what it returned."""


def takes_types(adapter: Any) -> bool:
    """Whether it is a `BaseAdapter`, or its `translate` is a method of one, as that of a proxy."""
    translate = getattr(adapter, "translate", None)
    return isinstance(adapter, BaseAdapter) or isinstance(getattr(translate, "__self__", None), BaseAdapter)


class Typing:
    """What `translate` of an adapter is given: typed values, or JSON data as it is.

    An adapter that has a `BaseAdapter` inside may pass on what it is given. If its first translation of JSON data
    raises TypeError or AttributeError, and that of typed values does not, it is given typed values from then on.
    """

    def __init__(self, adapter: Any) -> None:
        self._typed = takes_types(adapter)
        self._is_known = self._typed

    def arguments(self, prompt: Any, options: Any) -> tuple[Any, Any]:
        """The arguments of `translate`. Raises what typed values cannot be made of."""
        return _parsed(prompt, options) if self._typed else (prompt, options)

    def translated(self, translate: Callable[[Any, Any], Any], prompt: Any, options: Any) -> Translated:
        """What `translate` makes of its arguments, and these. Raises what it raises."""
        is_first, self._is_known = not self._is_known, True
        arguments = self.arguments(prompt, options)
        try:
            return arguments, translate(*arguments)
        except (TypeError, AttributeError):
            typed = _translated(translate, _parsed(prompt, options)) if is_first else None
            if typed is None:
                raise  # the first error says more
        self._typed = True
        return typed


def _parsed(prompt: Any, options: Any) -> tuple[Any, Any]:
    return parse_prompt(prompt), parse_options(options)


def _translated(translate: Callable[[Any, Any], Any], arguments: tuple[Any, Any]) -> Translated | None:
    try:
        payload = translate(*arguments)
    except Exception:  # noqa: BLE001 - whatever it raises, it does not take these arguments
        return None
    return None if payload is None else (arguments, payload)
