"""Builds the documentation site: `make docs`.

Pages lie in `docs/`, next to the code that they describe, or are generated. They are gathered in `build/docs/pages`,
and Zensical makes the site of them, in `build/docs/site`. A link to nowhere, a page that the navigation leaves out and
a public name without a docstring fail the build.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import laws
import reference
from links import moved
from payloads import filled

ROOT: Final = Path(__file__).resolve().parents[2]
CONFIGURATION: Final = Path(__file__).with_name("zensical.toml")
BUILD: Final = ROOT / "build" / "docs"

RENAMED: Final = {
    "README.md": "index.md",
    "compliance/README.md": "guide.md",
    "benchmarks/README.md": "benchmarks.md",
    "CHANGELOG.md": "changelog.md",
}
"""Pages that do not lie in docs/: their paths in the repository, and in the site."""


class IncompleteNavigation(Exception):
    """Pages without a place in the navigation, or places without a page."""


def main() -> None:
    """Writes the pages, and runs Zensical; exits with its exit code."""
    shutil.rmtree(BUILD, ignore_errors=True)
    write_pages(BUILD / "pages")
    shutil.copy(CONFIGURATION, BUILD)  # Zensical builds only below the folder of its configuration
    sys.exit(subprocess.run([sys.executable, "-m", "zensical", "build", "--strict"], cwd=BUILD, check=False).returncode)


def write_pages(folder: Path) -> None:
    """Writes the Markdown of all pages. Raises IncompleteNavigation, reference.Undocumented and LookupError."""
    pages = dict(all_pages())
    check_navigation(set(pages), set(navigation()))
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for source, place in pictures().items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / source, folder / place)


def all_pages() -> Iterator[tuple[str, str]]:
    """Each page's path in the site, and its Markdown."""
    places = sources()
    for source, place in places.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        yield place, filled(moved(text, source, {**places, **pictures()}), ROOT / "fixtures" / "payloads")
    yield "laws.md", laws.page()
    for place in navigation():
        if place.startswith("api/"):
            yield place, reference.page(place.removeprefix("api/").removesuffix(".md"))


def sources() -> Mapping[str, str]:
    """The pages that somebody wrote: their paths in the repository, and in the site."""
    return {f"docs/{path.name}": path.name for path in sorted((ROOT / "docs").glob("*.md"))} | RENAMED


def pictures() -> Mapping[str, str]:
    """The pictures on the pages: their paths in the repository, and in the site."""
    names = sorted(path.name for path in (ROOT / "docs" / "pictures").glob("*.*"))
    return {f"docs/pictures/{name}": f"pictures/{name}" for name in names}


def navigation() -> Iterator[str]:
    """The pages that the navigation names."""
    yield from _leaves(tomllib.loads(CONFIGURATION.read_text(encoding="utf-8"))["project"]["nav"])


def _leaves(entries: Any) -> Iterator[str]:
    if isinstance(entries, str):
        yield entries
        return
    for entry in entries:
        for below in entry.values():
            yield from _leaves(below)


def check_navigation(pages: set[str], named: set[str]) -> None:
    """Raises IncompleteNavigation if a page is in one of the two alone."""
    if lost := sorted(pages - named):
        raise IncompleteNavigation(f"docs/site/zensical.toml has no place for {', '.join(lost)}")
    if missing := sorted(named - pages):
        raise IncompleteNavigation(f"docs/site/zensical.toml names pages that do not exist: {', '.join(missing)}")


if __name__ == "__main__":
    main()
