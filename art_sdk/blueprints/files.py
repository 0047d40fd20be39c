"""Loads blueprints from JSON and YAML files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from stat import S_ISREG
from typing import Any

from art_sdk.blueprints.blueprint import Blueprint, check_limits, public_errors
from art_sdk.blueprints.json_text import object_of
from art_sdk.blueprints.limits import DEFAULT_LIMITS, BlueprintLimits
from art_sdk.blueprints.mustache import BlueprintError, Location


def load_blueprint(
    path: str | PathLike[str],
    *,
    name: str | None = None,
    partials: Mapping[str, str] | None = None,
    limits: BlueprintLimits = DEFAULT_LIMITS,
) -> Blueprint:
    """The blueprint in a `.json`, `.yaml` or `.yml` file: a list of messages, or `{"template": text}`.

    Errors name the blueprint by `name`, by default the file's name without its suffix. `partials` are what
    `{{> name}}` includes, for instance a manager's `fragments`. `limits` are those of `Blueprint.compile`; their
    `characters` also bound the file. YAML needs the extra `yaml`.

    Raises PromptAssemblyFailed for a file that cannot be read, is not JSON or YAML, or is not a blueprint.
    """
    file = Path(path)
    name = file.stem if name is None else name
    with public_errors(name):
        check_limits(limits)
        return Blueprint.compile(_read(file, limits.characters), name=name, partials=partials, limits=limits)


def _read(file: Path, most: int) -> Any:
    readers = {".json": _read_json, ".yaml": _read_yaml, ".yml": _read_yaml}
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise BlueprintError(f"the suffix of '{file.name}' must be one of {', '.join(readers)}")
    try:
        text = _read_text(file, most)
    except OSError as error:
        raise BlueprintError(f"'{file.name}' cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BlueprintError(f"'{file.name}' is not UTF-8") from error
    except ValueError as error:  # a NUL in the path
        raise BlueprintError(f"{file.name!r} is not a valid file name") from error
    return reader(text)


def _read_text(file: Path, most: int) -> str:
    if not S_ISREG(file.stat().st_mode):
        raise BlueprintError(f"'{file.name}' is not a file")
    with file.open(encoding="utf-8") as opened:
        text = opened.read(most + 1)  # the size that a file system names need not be true
    if len(text) > most:
        raise BlueprintError(f"'{file.name}' has more than {most:,} characters (the limit 'characters')")
    return text


def _read_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=object_of)
    except json.JSONDecodeError as error:
        raise BlueprintError(f"not JSON: {error.msg}", Location(error.lineno)) from error
    except ValueError as error:
        raise BlueprintError(f"not JSON: {error}") from error


def _read_yaml(text: str) -> Any:
    try:
        from art_sdk.yaml_data import NotYaml, read_yaml  # noqa: PLC0415 - an extra, needed only for YAML files
    except ImportError as error:
        raise BlueprintError("reading YAML needs PyYAML: pip install 'art-adapter-sdk[yaml]'") from error
    try:
        return read_yaml(text)
    except NotYaml as error:
        raise BlueprintError(f"invalid YAML: {error}", None if error.line is None else Location(error.line)) from error
