"""Writes what is made of code and data, documentation and schemas: `make pages`. A test says when that is due."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from art_compliance.auditing.schema import audit_schema
from art_compliance.judging.explaining import rules_page
from art_compliance.publishing.report_schema import report_schema
from art_compliance.publishing.slot_pages import slot_maps_page
from art_compliance.schemas import SCHEMAS, published
from art_compliance.subject.factories import find_factory
from art_compliance.subject.meanings import describe_meanings
from art_sdk import BUILT_IN, BaseAdapter
from art_sdk.adapters.capabilities import CAPABILITIES
from limits_page import limits_page

ROOT: Final = Path(__file__).resolve().parents[2]


def adapter_row(name: str) -> str:
    """The adapter's row: what it is called, where it goes, what it cannot do, drops and repairs."""
    make = find_factory(name)
    assert isinstance(make, type)
    assert issubclass(make, BaseAdapter)
    lacks = sorted(CAPABILITIES - make.capabilities)
    url, model = make.default_base_url or "yours", f"`{make.default_model}`" if make.default_model else "none"
    cells = (f"`{name}`", f"`{make.dialect}`", url, model)
    lists = (_listed(lacks), _listed(sorted(make.losses)), _listed(sorted(make.repairs)))
    return f"| {' | '.join((*cells, *lists))} |"


def _listed(words: list[str]) -> str:
    return ", ".join(f"`{word}`" for word in words) or "-"


def with_adapters(page: str) -> str:
    """The page of the reference adapters with a row for each of them, in the first table."""
    rows = "\n".join(map(adapter_row, BUILT_IN))
    return re.sub(
        r"(^\| adapter \|.*\n\| ---.*\n)(?:\| .*\n)*", lambda head: f"{head[1]}{rows}\n", page, flags=re.MULTILINE
    )


def with_meanings(guide: str) -> str:
    """The guide with the tables of losses and repairs."""
    tables = r"^\| loss \| the adapter may.*?\n\n\| repair \| the adapter may.*?\n(?=\n)"
    return re.sub(tables, lambda _: describe_meanings(), guide, flags=re.MULTILINE | re.DOTALL)


_SCHEMAS: Final[Mapping[str, Callable[[], Any]]] = {**SCHEMAS, "report": report_schema, "audit": audit_schema}


def _schema_page(name: str) -> tuple[str, Callable[[str], str]]:
    file = "art-standard-prompt" if name == "prompt" else name
    return f"fixtures/schemas/{file}.schema.json", lambda _: f"{published(name, _SCHEMAS)}\n"


PAGES: Final[Mapping[str, Callable[[str], str]]] = {
    "docs/adapters.md": with_adapters,
    "docs/limits.md": lambda _: limits_page(),
    "docs/rules.md": lambda _: f"{rules_page().rstrip()}\n",
    "docs/slot-maps.md": lambda _: slot_maps_page(),
    "compliance/README.md": with_meanings,
    **dict(map(_schema_page, _SCHEMAS)),
}
"""By file, what its text becomes."""


def main() -> None:
    """Writes the pages."""
    for name, make in PAGES.items():
        file = ROOT / name
        file.write_text(make(file.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
