"""Data that a recorder replaced says nothing about its provider."""

from __future__ import annotations

import pytest

from art_compliance.dialects.image_data import is_masked

DATA = "iVBORw0KGgo" * 40


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (DATA, False),
        ("", False),
        ("<image>", True),
        ("[removed]", True),
        ("  {data}", True),
        (f"REDACTED{DATA}", True),
        (f"{DATA}...", True),
        (f"{DATA}(truncated)", True),
        (f"{DATA}MASKED{DATA}", False),
    ],
)
def test_a_mask_stands_at_the_beginning_or_at_the_end(data: str, expected: bool):  # noqa: FBT001
    assert is_masked(data) == expected
