"""Pages as a real Chromium renders them: what changes from step to step is named, and nothing else."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from art_sdk.agents.browser.pages.comparison import compare_pages
from art_sdk.agents.browser.pages.page import Page, read_page
from art_sdk.agents.browser.redaction import Redactor

CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--dump-dom",
)
PAGE = """<!doctype html><title>Cart</title><main><h1>Cart</h1><ul id=list></ul>
<form id=form><label for=q>Search</label><input id=q name=q><button id=go>Go</button></form><div id=note></div></main>
<script>
const items = Number(location.search.slice(1)) || 0;
document.body.dataset.rendered = performance.now();
document.querySelectorAll('li, h1').forEach(one => one.className = 'c' + Math.random());
for (let at = 0; at < items; at++) {
  const item = document.createElement('li');
  item.textContent = 'Item ' + at;
  item.className = 'x' + Math.random();
  list.prepend(item);
}
if (items > 2) { go.disabled = true; note.innerHTML = '<div role="status">Saved ' + items + '</div>'; }
</script>"""

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]


def render(folder: Path, items: int) -> Page:
    """The page after Chromium has run its script."""
    (folder / "page.html").write_text(PAGE, "utf-8")
    url = f"{(folder / 'page.html').as_uri()}?{items}"
    command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={folder / 'profile'}", url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return read_page(done.stdout, limit=100_000, scrub=Redactor().redact_all)


def test_what_a_script_changed_is_named_and_nothing_else(tmp_path: Path):
    two, three = render(tmp_path, 2), render(tmp_path, 3)
    result = compare_pages(two, three).result
    assert result.added_elements == (
        '#list>li:nth-of-type(1) "Item 2"',
        'div[role="status"] "Saved 3"',
    )
    assert result.modified_elements == ('#go "Go" (disabled: none -> "")',)
    assert result.removed_elements == ()
    assert result.summary.endswith('new messages: "Saved 3"')


def test_the_same_page_rendered_twice_has_not_changed(tmp_path: Path):
    assert not compare_pages(render(tmp_path, 2), render(tmp_path, 2)).result.has_changes
