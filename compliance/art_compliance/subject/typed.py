"""Which adapters are given typed values, and which JSON data."""

from __future__ import annotations

from typing import Any

from art_sdk import BaseAdapter, parse_options, parse_prompt


def takes_types(adapter: Any) -> bool:
    """Whether it is a `BaseAdapter`, or its `translate` is a method of one, as that of a proxy."""
    translate = getattr(adapter, "translate", None)
    return isinstance(adapter, BaseAdapter) or isinstance(getattr(translate, "__self__", None), BaseAdapter)


def typed_arguments(adapter: Any, prompt: Any, options: Any) -> tuple[Any, Any]:
    """The arguments of `translate`: typed values, or JSON data as it is."""
    return (parse_prompt(prompt), parse_options(options)) if takes_types(adapter) else (prompt, options)
