"""`[tool.art]` in the `pyproject.toml` of the working directory: defaults for `art` and for the pytest plugin.

[tool.art]
adapters = ["my_pkg.adapters:MyAdapter"]
dialect = "openai-chat"             # if the adapters do not declare one
cassettes = "cassettes"
baseline = "art-baseline.toml"
profile = "quick"

What the command line says wins.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from art_compliance.dialects import find_dialect
from art_compliance.findings import HarnessError
from art_compliance.generating.profiles import find_profile
from art_compliance.quoting import show
from art_sdk import BUILT_IN
from art_sdk.json_data import is_array, is_object

FILE: Final = Path("pyproject.toml")
BASELINE: Final = Path("art-baseline.toml")
"""The file with the known failures in an author's repository, unless another one is named."""


class Settings(Struct, frozen=True, kw_only=True):
    """What an author's `pyproject.toml` says. Paths are relative to the working directory.

    `dialect` and `profile` are known names. `cassettes` is None if nothing is said, and its folder may be missing;
    so may the file `baseline`.
    """

    adapters: tuple[str, ...] = ()
    dialect: str | None = None
    cassettes: Path | None = None
    baseline: Path = BASELINE
    profile: str = "default"

    def dialect_for(self, adapter: str) -> str | None:
        """The dialect of the adapter of that name; None for a reference adapter, which declares its own."""
        return None if adapter in BUILT_IN else self.dialect


def read_settings(folder: Path | None = None) -> Settings:
    """The settings in a folder's `pyproject.toml`; the defaults where there is none, or no `[tool.art]` in it.

    The folder is the working directory unless one is given. Raises HarnessError, which names the key.
    """
    table = _read_table(folder / FILE if folder else FILE)
    return Settings(**{key: _read(key, value) for key, value in table.items()})


def _read_table(file: Path) -> Mapping[str, Any]:
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise HarnessError(f"cannot read {FILE}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise HarnessError(f"{FILE} is not valid TOML: {error}") from error
    tool: Any = document.get("tool")
    table: Any = tool.get("art", {}) if is_object(tool) else {}
    if not is_object(table):
        raise _wrong("", "a table, [tool.art]", table)
    return table


def _read(key: str, value: Any) -> Any:
    if key not in _READERS:
        near = get_close_matches(key, _READERS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"settings: {', '.join(_READERS)}"
        raise HarnessError(f"{FILE}: tool.art.{key}: there is no such setting; {hint}")
    return _READERS[key](key, value)


def _read_text(key: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _wrong(f".{key}", "a non-empty string", value)
    return value


def _read_path(key: str, value: Any) -> Path:
    return Path(_read_text(key, value))


def _read_list(key: str, value: Any) -> tuple[str, ...]:
    if not is_array(value):
        raise _wrong(f".{key}", "a list of strings", value)
    return tuple(_read_text(f"{key}[{index}]", one) for index, one in enumerate(value))


def _read_known(find: Callable[[str], object]) -> Callable[[str, Any], str]:
    """Reads a name that `find` finds, or raises HarnessError for."""

    def read(key: str, value: Any) -> str:
        name = _read_text(key, value)
        try:
            find(name)
        except HarnessError as error:
            raise HarnessError(f"{FILE}: tool.art.{key}: {error}") from None
        return name

    return read


_READERS: Final[Mapping[str, Callable[[str, Any], Any]]] = {
    "adapters": _read_list,
    "dialect": _read_known(find_dialect),
    "cassettes": _read_path,
    "baseline": _read_path,
    "profile": _read_known(find_profile),
}


def _wrong(path: str, expected: str, value: object) -> HarnessError:
    return HarnessError(f"{FILE}: tool.art{path}: expected {expected}, got {show(value)}")
