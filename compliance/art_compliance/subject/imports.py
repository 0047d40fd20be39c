"""Why the name of a factory finds none: in one sentence, with what to write or install instead."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Final

from art_compliance.subject.places import describe_error, is_raised_by_environment, place_of


def explain_import(module: str, error: Exception) -> str:
    """Why the module cannot be imported."""
    if (name := _module_of(module)) != module:
        return f"{module!r} is the name of a file; name its module: {name}:MyAdapter"
    if isinstance(error, ModuleNotFoundError) and _is_part(error.name or "", module):
        return _explain_missing(module, error.name or "")
    place = place_of(error)
    what = f"SyntaxError: {error.msg}" if isinstance(error, SyntaxError) else describe_error(error)
    said = f"importing {module!r} failed: {what}" + (f", at {place}" if place else "")
    if isinstance(error, ModuleNotFoundError):
        return f"{said}; install it in the environment of {sys.executable}"
    if is_raised_by_environment(error):
        return f"{said}; read this environment variable in the factory, or not at all: it is given an api_key"
    return said


def hint_at_name(name: str) -> str:
    """What to write instead of a name without a colon, if the name looks like that of a file or a module."""
    module = _module_of(name)
    if _is_importable(module):
        return f"; to take an adapter from this module, write {module}:MyAdapter"
    package, _, attribute = module.rpartition(".")
    return f"; did you mean {package}:{attribute}?" if package and _is_importable(package) else ""


def hint_at_known(name: str, known: Sequence[str]) -> str:
    """The installed adapter of a similar name, if there is one."""
    near = get_close_matches(name.lower(), known, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def hint_at_attribute(owner: object, attribute: str) -> str:
    """Which attributes of the owner there are, those of a similar name first."""
    if not isinstance(owner, ModuleType):
        return ""
    kinds = (type, FunctionType)
    values = vars(owner).items()
    defined = [name for name, value in values if isinstance(value, kinds) and value.__module__ == owner.__name__]
    near = get_close_matches(attribute, defined, n=1)
    if near:
        return f"; did you mean {near[0]}?"
    return f"; it defines {', '.join(defined[:_MOST])}" if defined else ""


_MOST: Final = 5
"""Names that a message lists."""


def _is_part(missing: str, module: str) -> bool:
    """Whether the missing module is the wanted one, or a package that it is in."""
    return bool(missing) and f"{module}.".startswith(f"{missing}.")


def _explain_missing(module: str, missing: str) -> str:
    looked = f"looked in the working directory and {len(sys.path)} places of sys.path"
    said = f"there is no module {missing!r} ({looked})"
    top = module.partition(".")[0]
    if (Path("src") / top).is_dir() or (Path("src") / f"{top}.py").is_file():
        return f"{said}; it is in src/: install your package with pip install -e ., or set PYTHONPATH=src"
    near = get_close_matches(module, _modules_here(), n=1)
    return f"{said}; did you mean {near[0]}?" if near else said


def _modules_here() -> list[str]:
    """The modules and packages in the working directory."""
    return [path.stem for path in Path().iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()]


def _module_of(name: str) -> str:
    """The module that a path such as `my_pkg/adapters.py` stands for; the name itself if it is not a path."""
    return name.removeprefix("./").removesuffix(".py").replace("/", ".").replace("\\", ".").strip(".")


def _is_importable(module: str) -> bool:
    try:
        return bool(module) and find_spec(module) is not None
    except Exception:  # noqa: BLE001 - importing a package may raise anything
        return False
