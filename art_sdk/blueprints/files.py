"""Loads blueprints from JSON and YAML files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from stat import S_ISREG
from typing import Any

from art_sdk.blueprints.blueprint import Blueprint, public_errors
from art_sdk.blueprints.compiling import SIZE_LIMIT
from art_sdk.blueprints.json_text import check_unique, object_of
from art_sdk.blueprints.mustache import BlueprintError, Location, clip


def load_blueprint(
    path: str | PathLike[str], *, name: str | None = None, partials: Mapping[str, str] | None = None
) -> Blueprint:
    """The blueprint in a `.json`, `.yaml` or `.yml` file: a list of messages, or `{"template": text}`.

    Errors name the blueprint by `name`, by default the file's name without its suffix. `partials` are what
    `{{> name}}` includes, for instance a manager's `fragments`. YAML needs the extra `yaml`.

    Raises PromptAssemblyFailed for a file that cannot be read, is not JSON or YAML, or is not a blueprint.
    """
    file = Path(path)
    name = file.stem if name is None else name
    with public_errors(name):
        return Blueprint.compile(_read(file), name=name, partials=partials)


def _read(file: Path) -> Any:
    readers = {".json": _read_json, ".yaml": _read_yaml, ".yml": _read_yaml}
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise BlueprintError(f"the suffix of '{file.name}' must be one of {', '.join(readers)}")
    try:
        if not S_ISREG(file.stat().st_mode):
            raise BlueprintError(f"'{file.name}' is not a file")
        if file.stat().st_size > 4 * SIZE_LIMIT:  # UTF-8 has at most four bytes per character
            raise BlueprintError(f"'{file.name}' has more than {SIZE_LIMIT:,} characters")
        return reader(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BlueprintError(f"'{file.name}' cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BlueprintError(f"'{file.name}' is not UTF-8") from error
    except ValueError as error:  # a NUL in the path
        raise BlueprintError(f"{file.name!r} is not a valid file name") from error


def _read_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=object_of)
    except json.JSONDecodeError as error:
        raise BlueprintError(f"not JSON: {error.msg}", Location(error.lineno)) from error
    except ValueError as error:
        raise BlueprintError(f"not JSON: {error}") from error


def _read_yaml(text: str) -> Any:
    try:
        import yaml  # noqa: PLC0415 - an extra, needed only for YAML files
    except ImportError as error:
        raise BlueprintError("reading YAML needs PyYAML: pip install 'art-adapter-sdk[yaml]'") from error

    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - PyYAML's own signature
            check_unique([str(key.value) for key, _ in node.value], Location(node.start_mark.line + 1))
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(text, Loader)  # noqa: S506 - it is a safe one
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = None if mark is None else Location(mark.line + 1)
        raise BlueprintError(f"not YAML: {clip(str(error.problem))}", place) from error
    except (yaml.YAMLError, ValueError) as error:
        raise BlueprintError(f"not YAML: {clip(str(error))}") from error
