"""What counts as data that somebody left out of a recording."""

from __future__ import annotations

import pytest

from art_compliance.dialects.placeholders import is_placeholder


@pytest.mark.parametrize(
    "text",
    [
        "<BASE64>",
        "[image]",
        "{{data}}",
        "{data}",
        "***",
        "...",
        "aGk\u2026",
        "aGk...",
        " <two\nlines> ",
        "a REDACTED\none",
    ],
)
def test_a_placeholder_is_known(text: str):
    assert is_placeholder(text)


@pytest.mark.parametrize("text", ["", "aGVsbG8=", "not base64!", "<BASE64", "**", "..", "<" + "a" * 299 + ">"])
def test_other_texts_are_none(text: str):
    assert not is_placeholder(text)
