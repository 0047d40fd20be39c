"""What the prompts of a browser agent cost, and what other ways of shortening a page keep of it.

    python -m venv peers && peers/bin/pip install -e '.[browser]' html2text trafilatura readability-lxml
    peers/bin/python -m benchmarks.browser_pages

Times are CPU time, the least of a few rounds; the pages are those of the tests. Only libraries that are installed are
measured: nothing depends on them, so they get an environment of their own. An element that can be used survives if its
text, label, name or address, of three characters or more, is in what the library makes of the page: this favours
the others, as only an outline says what kind of element it is, and how to address it. As they have no limit, what
survives in their first 100,000 characters is counted, too.
"""
# ruff: noqa: T201, BLE001 - imported only if installed, a table printed, whatever a library raises

from __future__ import annotations

import asyncio
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

sys.path.insert(0, str(Path(__file__).parents[1] / "art_sdk" / "tests"))

from art_sdk.agents.browser.pages.compression import outline
from art_sdk.agents.browser.pages.element import Element
from art_sdk.agents.browser.pages.page import read_page
from art_sdk.agents.browser.redaction import Redactor
from browser_agent import Contexts, action, manager
from browser_pages import PAGES, real_page

Shorten = Callable[[str], str]
LIMIT = 100_000
STEP = "Add the copper lantern to the cart"


def ours(html: str) -> str:
    return outline(read_page(html, limit=2_000_000, scrub=Redactor().redact_all).elements, LIMIT).text


def peers() -> Iterator[tuple[str, Shorten]]:
    yield "outline (ours)", ours
    for name, (module, make) in PEERS.items():
        with suppress(ImportError):
            yield name, make(import_module(module))


def _extracting(trafilatura: Any) -> Shorten:
    return lambda html: str(trafilatura.extract(html, include_links=True) or "")


def _summarizing(readability: Any) -> Shorten:
    return lambda html: str(readability.Document(html).summary())


PEERS: dict[str, tuple[str, Callable[[Any], Shorten]]] = {
    "html2text": ("html2text", lambda library: library.html2text),
    "trafilatura": ("trafilatura", _extracting),
    "readability-lxml": ("readability", _summarizing),
}
"""The module of each, and what it shortens pages with."""


def least(run: Callable[[], object], rounds: int = 3) -> float:
    """The least CPU time of a few rounds, in milliseconds."""
    times: list[float] = []
    for _ in range(rounds):
        began = time.process_time()
        run()
        times.append(time.process_time() - began)
    return 1000 * min(times)


def survivors(elements: list[Element], text: str) -> int:
    return sum(any(one in text for one in _signs(element)) for element in elements)


def _signs(element: Element) -> list[str]:
    given = element.attributes
    signs = [element.text, *(given.get(name, "") for name in ("aria-label", "name", "href", "data-testid"))]
    return [one[:60] for one in signs if len(one) > 2]


def compare() -> None:
    """Prints a table of the ways, page by page, after the versions of the libraries."""
    names = ("selectolax", "html2text", "trafilatura", "readability-lxml")
    print(", ".join(f"{one} {version(one)}" for one in names if find_spec(one.split("-")[0])), end="\n\n")
    print("| page, characters | way | ms | characters after | elements that can be used | in the first 100,000 |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in PAGES:
        html = real_page(name)
        read = read_page(html, limit=2_000_000, scrub=Redactor().redact_all)
        usable = [one for one in read.elements if one.is_interactive and _signs(one)]
        for way, shorten in peers():
            try:
                text = shorten(html)
                spent = f"{least(partial(shorten, html), 1):,.0f}"
            except Exception as error:
                print(f"| {name} | {way} | {type(error).__name__} | | | |")
                continue
            kept, first = survivors(usable, text), survivors(usable, text[:LIMIT])
            of = f"{kept:,} of {len(usable):,}"
            print(f"| {name}, {len(html):,} | {way} | {spent} | {len(text):,} | {of} | {first:,} |")


def prompt_of(html: str, previous: str | None = None) -> Any:
    config = {"performance": {"prompt_cache_enabled": False}}
    made = manager(Contexts(html, previous), config=config)
    return asyncio.run(made.generate_action_prompt(action(0 if previous is None else 1, STEP)))


def peak(run: Callable[[], object]) -> int:
    """The most memory that is taken at once, in bytes. The parser takes its own from Python, so it is included."""
    tracemalloc.start()
    run()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def growth() -> None:
    fixed = peak(lambda: LexborHTMLParser(b"", options=LexborDocumentOptions.WO_EVENTS))
    print(f"\nmemory that the parser takes for an empty page: {fixed:,} bytes\n")
    print("| page | first action, ms | with the page before, ms | peak memory over the page | with the page before |")
    print("| --- | --- | --- | --- | --- |")
    first: dict[int, float] = {}
    for size in (100_000, 300_000, 1_000_000, 2_000_000):
        html = PAGES["shop"](size)
        runs = [partial(prompt_of, html), partial(prompt_of, html.replace("Sold out", "Add to cart", 1), html)]
        times = [least(run, 5) for run in runs]
        peaks = [peak(run) for run in runs]
        over = [f"{most / len(html):.1f}, without the parser's own {(most - fixed) / len(html):.1f}" for most in peaks]
        first[size] = times[0]
        print(f"| {len(html):,} | {times[0]:,.0f} | {times[1]:,.0f} | {over[0]} | {over[1]} |")
    print(f"\nfrom 100 kB to 1 MB: {first[1_000_000] / first[100_000]:.1f} times the time")


if __name__ == "__main__":
    compare()
    growth()
