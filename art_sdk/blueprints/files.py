"""Blueprints that are kept in files, as JSON or YAML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from stat import S_ISREG
from typing import Any

from art_sdk.blueprints.blueprint import Blueprint, telling
from art_sdk.blueprints.compiling import SIZE_LIMIT
from art_sdk.blueprints.mustache import Fault, Place, clip


def load_blueprint(
    path: str | PathLike[str], *, name: str | None = None, partials: Mapping[str, str] | None = None
) -> Blueprint:
    """The blueprint that a `.json`, `.yaml` or `.yml` file holds: a list of messages, or `{"template": text}`.

    `name` stands in errors; it is the file's name without its suffix where none is given. `partials` are
    what `{{> name}}` puts in: a manager's `fragments`, for instance. YAML needs the extra `yaml`.

    Raises PromptAssemblyFailed for a file that cannot be read, is neither JSON nor YAML, or holds no blueprint.
    """
    file = Path(path)
    name = file.stem if name is None else name
    with telling(name):
        return Blueprint.compile(_read(file), name=name, partials=partials)


def _read(file: Path) -> Any:
    readers = {".json": _read_json, ".yaml": _read_yaml, ".yml": _read_yaml}
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise Fault(f"'{file.name}' is none of {', '.join(readers)}")
    try:
        if not S_ISREG(file.stat().st_mode):
            raise Fault(f"'{file.name}' is no file")
        if file.stat().st_size > 4 * SIZE_LIMIT:  # a character has four bytes at most
            raise Fault(f"'{file.name}' has more than {SIZE_LIMIT:,} characters")
        return reader(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise Fault(f"'{file.name}' cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Fault(f"'{file.name}' is not UTF-8") from error
    except ValueError as error:  # a NUL in the path
        raise Fault(f"{file.name!r} is no file's name") from error


def _read_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise Fault(f"not JSON: {error.msg}", Place(error.lineno)) from error
    except ValueError as error:
        raise Fault(f"not JSON: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object. A key that stands twice would lose one of its values silently."""
    _refuse_doubled([name for name, _ in pairs])
    return dict(pairs)


def _refuse_doubled(names: list[str], place: Place | None = None) -> None:
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise Fault(f"the key '{clip(doubled)}' stands twice in one object", place)


def _read_yaml(text: str) -> Any:
    try:
        import yaml  # noqa: PLC0415 - an extra, and needed for files in YAML alone
    except ImportError as error:
        raise Fault("YAML is read by PyYAML: pip install 'art-adapter-sdk[yaml]'") from error

    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - PyYAML's own signature
            _refuse_doubled([str(key.value) for key, _ in node.value], Place(node.start_mark.line + 1))
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(text, Loader)  # noqa: S506 - it is a safe one
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = None if mark is None else Place(mark.line + 1)
        raise Fault(f"not YAML: {clip(str(error.problem))}", place) from error
    except (yaml.YAMLError, ValueError) as error:
        raise Fault(f"not YAML: {clip(str(error))}") from error
