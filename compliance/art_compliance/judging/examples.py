"""For every rule that can be checked: a request that breaks only this rule, and a near miss that breaks none.

They are in `fixtures/rules/examples/<dialect>.json`. Long values are abbreviated: `{"$times": 129, "$of": X}` stands
for 129 items X in a list (`{n}` in their texts is the item's number), and elsewhere for the text X repeated 129 times.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from art_compliance.findings import HarnessError
from art_compliance.resources import data_folder
from art_sdk.json_data import is_array, is_object


class Example(Struct, frozen=True, forbid_unknown_fields=True):
    """Two abbreviated requests, their URL if the model is in it, and the version of the API if it matters."""

    breaks: Any
    keeps: Any
    url: str | None = None
    version: str | None = None


def load_examples(dialect: str) -> dict[str, Example]:
    """The examples by rule id. Raises HarnessError, naming the file."""
    path = data_folder("fixtures") / "rules" / "examples" / f"{dialect}.json"
    try:
        return msgspec.convert(json.loads(path.read_text(encoding="utf-8")), type=dict[str, Example])
    except (OSError, ValueError) as error:
        raise HarnessError(f"{path}: {error}") from error


def unfold(value: Any) -> Any:
    """The value with its abbreviations written out."""
    if is_object(value):
        if "$times" in value:
            return value["$of"] * value["$times"]
        return {name: unfold(item) for name, item in value.items()}
    return [one for item in value for one in _items(item)] if is_array(value) else value


def _items(item: Any) -> Iterator[Any]:
    if not (is_object(item) and "$times" in item):
        yield unfold(item)
        return
    for at in range(item["$times"]):
        yield _numbered(item["$of"], at)


def _numbered(value: Any, at: int) -> Any:
    return json.loads(json.dumps(value).replace("{n}", str(at)))
