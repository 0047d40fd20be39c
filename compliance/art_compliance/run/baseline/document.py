"""The TOML of a baseline, changed in place: what an author wrote and commented stays as it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import tomlkit
from msgspec import structs
from tomlkit.items import AoT, Table

from art_compliance.run.baseline.entries import KEY, Entry

_HEADING: Final = (
    "Known failures. They do not fail a run; an entry whose check passes again must be removed.",
    "Say why in `reason` and `issue`, and until when in `expires` (a date: 2027-01-31).",
)


_WHY: Final = "say why this failure is known"


def change(text: str | None, gone: Iterable[int], added: Iterable[Entry]) -> str:
    """The text without the entries of these numbers, the highest first, and with new ones; None is a new file."""
    document = _new_document() if text is None else tomlkit.parse(text)
    tables: Any = _as_tables(document)
    for number in gone:
        del tables[number - 1]
    for entry in added:
        tables.append(_table(entry))
    return tomlkit.dumps(document)


def _as_tables(document: tomlkit.TOMLDocument) -> Any:
    """The entries of a document as tables `[[known]]`, as which a new one can stand behind them."""
    found: Any = document
    if not isinstance(found.get(KEY), AoT):
        tables: Any = tomlkit.aot()
        for entry in found.get(KEY, ()):
            tables.append(tomlkit.item(dict(entry)))
        found[KEY] = tables
    return found[KEY]


def _new_document() -> tomlkit.TOMLDocument:
    document = tomlkit.document()
    for line in _HEADING:
        document.add(tomlkit.comment(line))
    document.add(tomlkit.nl())
    return document


def _table(entry: Entry) -> Table:
    table = tomlkit.table()
    for name, value in structs.asdict(entry).items():
        if value or name == "reason":
            table.add(name, tomlkit.string(value, literal=True) if _is_literal(name, value) else value)
    if not entry.reason:
        table["reason"].comment(_WHY)
    return table


def _is_literal(name: str, value: object) -> bool:
    """JSON text is easier to read without escapes."""
    return name == "request" and "'" not in str(value)
