"""Writes docs/performance.md and its plot, of what `benchmarks.run` has measured."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.peers import PEERS
from benchmarks.plot import draw_bars

Cells = dict[str, dict[str, dict[str, str]]]
"""A number as text, by table, row and column."""

SIZES: Final = ("10", "100", "1,000")
OURS: Final = "ours beside it"
NAMES: Final = {"openai": "OpenAI", "anthropic": "Anthropic", "gemini": "Gemini"}

TEMPLATE: Final = Path(__file__).with_name("page.md")


def write_page(results: Path, docs: Path) -> Path:
    """Writes the page and its plot into the folder. What was not measured is said."""
    ours, also = _read(results / "ours.json"), _read(results / "also.json")
    peers = [one for name in PEERS if (one := _read(results / f"{name}.json"))]
    cells = _cells(ours)
    title = "OpenAI, 100 messages, to the floor"
    translations, calls = (_bars(peers, *place) for place in (("openai", "100"), ("calls openai", "whole")))
    (docs / "pictures" / "performance.svg").write_text(draw_bars(f"Translation: {title}", translations))
    (docs / "pictures" / "performance-calls.svg").write_text(draw_bars(f"A whole call: {title}", calls))
    page = TEMPLATE.read_text().format(
        translation=_translation([one for one in (ours, also) if one]),
        turn=_turn(cells),
        plot="![Other libraries and ours, to the floor.](pictures/performance.svg)",
        peers="\n\n".join(_peer_table(provider, peers) for provider in NAMES),
        call=_table("adapter", cells.get("call", {}), ["whole call", "in asyncio", "streamed call", "peak memory"]),
        calls_plot="![Whole calls of other libraries and ours, to the floor.](pictures/performance-calls.svg)",
        peer_calls="\n\n".join(_calls_table(provider, peers) for provider in NAMES),
        peer_imports=_imports_table(peers),
        imports=_table("what", cells.get("import", {}), ["CPU, ms", "to httpx2's"]),
        stream=_table("format", cells.get("stream", {}), ["times as fast", "MB/s"]),
        certificate=_table("scenarios", cells.get("certificate", {}), ["CPU", "peak memory"]),
    )
    path = docs / "performance.md"
    path.write_text(page)
    return path


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}


def _cells(measured: dict[str, Any]) -> Cells:
    cells: Cells = {}
    for table, row, column, value in measured.get("cells", ()):
        cells.setdefault(table, {}).setdefault(row, {})[column] = value
    return cells


def _translation(measured: list[dict[str, Any]]) -> str:
    """A column per Python and size."""
    rows: dict[str, dict[str, str]] = {}
    for one in measured:
        python = one["python"].rpartition(".")[0]
        for row, found in _cells(one).get("translation", {}).items():
            rows.setdefault(row, {}).update({f"{python}: {size}": found[size] for size in SIZES if size in found})
    pythons = [one["python"].rpartition(".")[0] for one in measured]
    return _table("adapter", rows, [f"{python}: {size}" for python in pythons for size in SIZES])


def _turn(cells: Cells) -> str:
    rows: dict[str, dict[str, str]] = {}
    forms = ("typed values", "JSON data")
    for form in forms:
        for row, found in cells.get(form, {}).items():
            rows.setdefault(row, {})[form] = found["1,000"]
    return _table("adapter, 1,000 messages", rows, forms)


def _peer_table(provider: str, peers: list[dict[str, Any]]) -> str:
    rows: dict[str, dict[str, str]] = {}
    for peer in peers:
        found = peer.get(provider)
        name = _named(peer)
        if isinstance(found, str):
            rows[name] = {"10": found}
        elif found:
            beside = " / ".join(f"{_number(found[size]['ours']):.2f}" for size in SIZES)
            rows[name] = {size: found[size]["theirs"] for size in SIZES} | {OURS: beside}
            if "own types" in found["10"]:
                rows[f"{name}, from its own types"] = {size: found[size]["own types"] for size in SIZES}
    return _table(NAMES[provider], rows, (*SIZES, OURS))


def _calls_table(provider: str, peers: list[dict[str, Any]]) -> str:
    rows: dict[str, dict[str, str]] = {}
    for peer in peers:
        found, memory = peer.get(f"calls {provider}"), peer.get(f"memory {provider}")
        if isinstance(found, str):
            rows[_named(peer)] = {"whole call": found}
        elif found:
            beside = " / ".join(f"{_number(found[kind]['ours']):.2f}" for kind in ("whole", "streamed"))
            rows[_named(peer)] = {f"{kind} call": found[kind]["theirs"] for kind in ("whole", "streamed")}
            rows[_named(peer)] |= {OURS: beside}
            if isinstance(memory, dict):
                rows[_named(peer)] |= {"peak memory": memory["theirs"], "ours": memory["ours"]}
    return _table(NAMES[provider], rows, ("whole call", "streamed call", OURS, "peak memory", "ours"))


def _imports_table(peers: list[dict[str, Any]]) -> str:
    rows: dict[str, dict[str, str]] = {}
    for peer in peers:
        found = peer.get("import")
        if isinstance(found, str):
            rows[_named(peer)] = {"CPU": found}
        elif found:
            rows[_named(peer)] = {"CPU": found["theirs"], OURS: found["ours"], "to ours": found["ratio"]}
    return _table("library", rows, ("CPU", OURS, "to ours"))


def _named(peer: dict[str, Any]) -> str:
    return f"{peer['library'].replace('_', '-')} {peer['version']}"


def _bars(peers: list[dict[str, Any]], name: str, column: str) -> Iterator[tuple[str, float]]:
    """The library and its ratio, and ours: the median of all of them."""
    theirs: list[tuple[str, float]] = []
    ours: list[float] = []
    for peer in peers:
        if isinstance(peer.get(name), dict):
            theirs.append((peer["library"].replace("_", "-"), _number(peer[name][column]["theirs"])))
            ours.append(_number(peer[name][column]["ours"]))
    if ours:
        theirs.append(("art_sdk, with all checks", sorted(ours)[len(ours) // 2]))
    yield from sorted(theirs, key=lambda bar: bar[1])


def _number(text: str) -> float:
    return float(text.partition(" ")[0])


def _table(first: str, rows: dict[str, dict[str, str]], columns: Sequence[str]) -> str:
    if not rows:
        return "(Not measured in this run.)"
    lines = [_line([first, *columns]), _line(["---"] * (len(columns) + 1))]
    lines += [_line([row, *(found.get(column, "-") for column in columns)]) for row, found in rows.items()]
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
