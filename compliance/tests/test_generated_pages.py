"""What the documentation says of code and data is what they say."""

from __future__ import annotations

import pytest

from generated_pages import PAGES, ROOT, adapter_row, with_adapters


@pytest.mark.once
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_current(name: str):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert (PAGES[name](text) == text) is True, "run: make pages"


def test_a_row_that_was_edited_or_is_missing_comes_back():
    text = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
    row = adapter_row("gemini")
    for edited in (text.replace(row, row.upper()), text.replace(f"{row}\n", "")):
        assert edited != text
        assert with_adapters(edited) == text
