"""The page of the table: docs/robustness.md."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from art_compliance.findings import MOST_FINDINGS
from art_compliance.provider.limits import ServerLimits
from art_compliance.provider.refusing import MOST_VALUES
from art_sdk import SizeLimits, Timeouts
from art_sdk.blueprints.limits import BlueprintLimits
from art_sdk.http.exchange import LONGEST_WAIT

LONGEST: Final = 110
INTRODUCTION: Final = Path(__file__).with_name("introduction.md")


def page_of(data: dict[str, Any], before: dict[str, Any]) -> str:
    """The page for these results."""
    return "\n".join([INTRODUCTION.read_text(), *_bounds(), *_summary(data, before), *_tables(data, before)]) + "\n"


def _bounds() -> Iterator[str]:
    yield "## The bounds\n"
    yield "| what is bounded | name | default |"
    yield "| --- | --- | --- |"
    for title, limits in (
        ("an answer, in bytes after decompression", SizeLimits()),
        ("a call, in seconds", Timeouts()),
        ("a blueprint or a context", BlueprintLimits()),
        ("a client of `art serve` and `StrictProvider`", ServerLimits()),
    ):
        for name, value in msgspec.structs.asdict(limits).items():
            yield f"| {title} | `{type(limits).__name__}.{name}` | {_figure(value)} |"
    yield f"| a wait before a retry, in seconds | `LONGEST_WAIT` | {_figure(LONGEST_WAIT)} |"
    yield f"| the JSON values in a request to the strict provider | `MOST_VALUES` | {_figure(MOST_VALUES)} |"
    yield f"| the findings about a request that its schema, or one rule, may have | `MOST_FINDINGS` | {MOST_FINDINGS} |"
    yield from _bounds_of_files()


def _bounds_of_files() -> Iterator[str]:
    """The bounds on files, as far as this version has them."""
    from art_compliance.cassettes import compression, reading  # noqa: PLC0415 - both are only read here
    from art_sdk.yaml_data import YamlLimits  # noqa: PLC0415 - as above

    for name, value in YamlLimits()._asdict().items():
        yield f"| a YAML file, before it is built | `YamlLimits.{name}` | {_figure(value)} |"
    yield f"| a cassette's file, in bytes | `LARGEST` | {_figure(reading.LARGEST)} |"
    yield f"| a cassette's bodies, decompressed, in bytes | `LIMIT` | {_figure(compression.LIMIT)} |"
    yield ""


def _figure(value: object) -> str:
    if isinstance(value, int) and value >= 2**20 and value % 2**20 == 0:
        return f"{value // 2**20} MiB"
    return "none" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _summary(data: dict[str, Any], before: dict[str, Any]) -> Iterator[str]:
    yield "## What was tried\n"
    for one in (before, data):
        rows = one["rows"].values()
        passed = sum(row["outcome"] == "held" for row in rows)
        yield f"- {one['of']}, on Python {one['python']}: {passed} passed, of {len(rows)} tried."
    yield ""


def _tables(data: dict[str, Any], before: dict[str, Any]) -> Iterator[str]:
    last = ""
    for name, row in data["rows"].items():
        kind, _, fault = name.partition(": ") if not name.startswith("art serve") else _of_serve(name)
        if kind != last:
            yield f"\n### {kind[0].upper()}{kind[1:]}\n"
            yield "| fault | now | CPU | memory | before | CPU | memory |"
            yield "| --- | --- | --- | --- | --- | --- | --- |"
            last = kind
        yield f"| {_cell(fault)} | {_result(row)} | {_result(before['rows'].get(name))} |"


def _of_serve(name: str) -> tuple[str, str, str]:
    command, kind, fault = name.split(": ", 2)
    return f"{command}: {kind}", ": ", fault


def _result(row: dict[str, Any] | None) -> str:
    if row is None:
        return "not measured | | "
    harm = "**harm**: " if row["outcome"] != "held" else ""
    return f"{harm}{_cell(row['words'])} | {row['seconds']:.1f} s | {row['megabytes']} MB"


def _cell(text: str) -> str:
    """The text in one cell."""
    plain = " ".join("".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text).split())
    short = plain if len(plain) <= LONGEST else f"{plain[:LONGEST]}…"
    return "".join(f"\\{char}" if char in "\\|<`[" else char for char in short)
