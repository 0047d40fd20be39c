"""`art wire rebuild`: generates the schemas from the installed SDKs, and lists what changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from art_compliance.findings import HarnessError
from art_compliance.judging.wire.shaping import DRAFT, Schema
from art_compliance.judging.wire.sources import SOURCES, Origin
from art_compliance.quoting import shorten
from art_compliance.resources import data_folder
from art_sdk.json_data import is_array, is_object


def rebuild(name: str) -> Schema:
    """The schema of that name, with its provenance. Raises HarnessError where its SDK is not installed."""
    source = SOURCES.get(name)
    if source is None:
        raise HarnessError(f"unknown schema {name!r}; known: {', '.join(SOURCES)}")
    sources = [_provenance(origin) for origin in source.origins]
    made = source.build()
    provenance: dict[str, Any] = {"sources": sources, "date": datetime.now(UTC).date().isoformat()}
    if source.overlay:
        provenance["overlay"] = [{"at": piece.at, "source": piece.source} for piece in source.overlay]
    return {"$schema": DRAFT, "provenance": provenance, **made}


def before(name: str) -> Schema:
    """The schema in the file; empty if there is no file."""
    path = _path(name)
    kept: Schema = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return kept


def write(name: str, schema: Schema) -> Path:
    """Writes a schema to its file."""
    path = _path(name)
    path.write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def changes(before: Any, after: Any) -> Iterator[str]:
    """The differences between two schemas, one per line. Dates and the order of lists do not count.

    Lists in a schema are sets, and Python caches one of two equal unions, in the order that came first.
    """
    return _changes(_in_order(before), _in_order(after), "")


def _in_order(value: Any) -> Any:
    if is_object(value):
        return {name: _in_order(item) for name, item in value.items()}
    if is_array(value):
        return sorted(map(_in_order, value), key=partial(json.dumps, sort_keys=True))
    return value


def _changes(before: Any, after: Any, pointer: str) -> Iterator[str]:
    if is_object(before) and is_object(after):
        for name in dict.fromkeys((*before, *after)):
            if (pointer, name) != ("/provenance", "date"):
                yield from _changes(before.get(name, _ABSENT), after.get(name, _ABSENT), f"{pointer}/{name}")
    elif is_array(before) and is_array(after) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _changes(old, new, f"{pointer}/{index}")
    elif before != after:
        yield f"{pointer}: {_short(before)} -> {_short(after)}"


def _path(name: str) -> Path:
    return data_folder("fixtures") / "wire" / f"{name}.schema.json"


class _Absent:
    """Stands for a missing value."""


_ABSENT = _Absent()


def _short(value: Any) -> str:
    if value is _ABSENT:
        return "nothing"
    return shorten(json.dumps(value, ensure_ascii=False))


def _provenance(origin: Origin) -> dict[str, str]:
    """Package, version, and the sha256 over the hashes that the wheel lists for the files with the types."""
    try:
        found = distribution(origin.package)
    except PackageNotFoundError as error:
        raise HarnessError(
            f"{origin.package} is not installed; install: pip install 'art-adapter-sdk[judges]'"
        ) from error
    listed = sorted(
        f"{file.as_posix()} {file.hash.value}"
        for file in found.files or ()
        if file.hash is not None and file.suffix in {".py", ".gz"} and file.as_posix().startswith(origin.folder)
    )
    digest = hashlib.sha256("\n".join(listed).encode()).hexdigest()
    return {"package": origin.package, "version": found.version, "module": origin.module, "sha256": digest}
