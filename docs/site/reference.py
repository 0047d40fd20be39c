"""The API reference: one page per public module, one entry per name in its `__all__`."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from types import ModuleType


class Undocumented(Exception):
    """Public names without a docstring."""


def page(name: str) -> str:
    """The page of a module: mkdocstrings reads the docstrings. Raises Undocumented."""
    module = importlib.import_module(name)
    missing = [f"{name}.{one}" for one in undocumented(module)]
    if missing:
        raise Undocumented(f"public, but without a docstring: {', '.join(missing)}")
    intro = inspect.cleandoc(module.__doc__ or "")
    entries = "\n\n".join(f"::: {name}.{one}" for one in sorted(module.__all__, key=_kind_and_name(module)))
    return f"# `{name}`\n\n{intro}\n\n{entries}\n"


def undocumented(module: ModuleType) -> Iterator[str]:
    """The public names of a module, and public methods and properties of its classes, that have no docstring."""
    if not module.__doc__:
        yield "__doc__"
    for name in module.__all__:
        value = getattr(module, name)
        if (inspect.isclass(value) or inspect.isroutine(value)) and not value.__doc__:
            yield name
        if inspect.isclass(value):
            yield from (f"{name}.{member}" for member in _silent_members(value))


def _silent_members(owner: type) -> Iterator[str]:
    fields = inspect.get_annotations(owner)  # a field's default may be a function
    for name, value in vars(owner).items():
        is_code = (inspect.isroutine(value) or isinstance(value, property)) and name not in fields
        if is_code and not name.startswith("_") and not inspect.getdoc(getattr(owner, name)):
            yield name


def _kind_and_name(module: ModuleType) -> Callable[[str], tuple[int, str]]:
    """The order of a page: classes, functions, constants."""

    def key(name: str) -> tuple[int, str]:
        value = getattr(module, name)
        return (0 if inspect.isclass(value) else 1 if inspect.isroutine(value) else 2), name

    return key
