"""The tables of faults that tests have, as rows: hostile blueprints, cassettes and texts."""

from __future__ import annotations

import importlib
import os
import resource
import time
from functools import partial
from pathlib import Path
from typing import Any

from rows import Ended, Failed, Row

from art_compliance.cassettes import BadCassette, load_cassette
from art_compliance.cassettes.scanning import find_leaks
from art_compliance.cassettes.scrubbing import Scrubber
from art_sdk import ARTError

LENGTH = 80_000
"""Characters of a text that is scrubbed."""
SLOWEST = 4.0
"""Seconds of CPU in which one such text must be scrubbed and scanned."""
EXAMPLES = {
    "bearer": "bearer+",
    "letters": "a",
    "digits": "7",
    "dots": "a.",
    "at signs": "a@",
    "blanks": " ",
    "percent": "%2541",
    "web tokens": "eyJ",
    "PEM heads": "-----BEGIN " + "PRIVATE KEY-----",
    "escapes": "\\u0041",
    "URLs": "://a:b",
    "dashes": "sk-",
}


def table(module: str, name: str) -> Any:
    """A table of a test's module, or nothing where the tree that is tried lacks what the module needs."""
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError:
        return ()


def assemble(fault: Any) -> Ended:
    """The fault works, or ends in an error of the SDK. Only the work is measured, not the making of its input."""
    given = fault.given()
    began = time.process_time()
    try:
        fault.work(given)
        said = "works"
    except ARTError as error:
        said = f"{type(error).__name__}: {error}"
    return Ended(said, time.process_time() - began)


def load(make: Any) -> Ended:
    """Reading the file is refused."""
    path = Path(os.environ["ART_TORTURE_FOLDER"]) / f"{os.getpid()}.yaml"
    path.write_bytes(make())
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    try:
        load_cassette(path)
    except BadCassette as error:
        said = f"BadCassette: {error}".replace(f"{path}: ", "")
    else:
        raise Failed("it was read")
    finally:
        path.unlink()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Ended(f"{said} (+{max(0, after - before) // 1024} MB)", time.process_time() - began)


def scrub(texts: dict[str, str]) -> Ended:
    """Each text is scrubbed and scanned in time."""
    worst, slowest = "", 0.0
    for name, text in texts.items():
        began = time.process_time()
        Scrubber(["k" * 20]).body(text.encode())
        find_leaks(text)
        took = time.process_time() - began
        if took > slowest:
            worst, slowest = name, took
        if took > SLOWEST:
            raise Failed(f"{name}: {len(text):,} characters take {took:.1f} s")
    return Ended(f"{len(texts)} texts of {LENGTH:,} characters; the slowest ({worst}) takes {slowest:.2f} s")


def scrub_one(unit: str) -> Ended:
    """One unit, again and again."""
    return scrub({"this": unit * (LENGTH // len(unit))})


def scrub_table() -> Ended:
    """All texts of the table."""
    return scrub(dict(table("hostile_secrets", "hostile_texts")(LENGTH)))


ROWS = [
    *(
        Row("blueprints and contexts", fault.name, partial(assemble, fault), 10, 900)
        for fault in table("hostile_blueprints", "FAULTS")
    ),
    *(Row("prompts", fault.name, partial(assemble, fault), 10, 900) for fault in table("hostile_prompts", "FAULTS")),
    *(
        Row("cassettes", name, partial(load, hostile.make), 10, 500)
        for name, hostile in dict(table("hostile_cassettes", "HOSTILE")).items()
    ),
    *(Row("scrubbing", f"{LENGTH:,} characters: {name}", partial(scrub_one, unit)) for name, unit in EXAMPLES.items()),
    *([Row("scrubbing", "the whole table of texts", scrub_table, 300)] if table("hostile_secrets", "UNITS") else []),
]
