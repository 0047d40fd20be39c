"""What is wrong with a request whatever its body says."""

from __future__ import annotations

import pytest

from art_compliance.checks.arriving import wrong_with
from art_compliance.dialects import DIALECTS
from art_compliance.provider import Request

HEADERS = {"x-goog-api-key": "k-123", "content-type": "application/json"}


@pytest.mark.parametrize(("version", "is_served"), [("v1beta", True), ("v1", True), ("v2", False)])
def test_gemini_is_served_in_two_versions(version: str, *, is_served: bool) -> None:
    """google-genai 3.4 goes to v1, version 2.34 to v1beta."""
    target = f"/{version}/models/gemini-2.5-flash:generateContent"
    request = Request("POST", target, HEADERS, b"{}")
    wrong = [*wrong_with(DIALECTS["gemini-generate"], request, "http://127.0.0.1:9/v1beta")]
    assert (not any("goes to the path" in one for one in wrong)) is is_served


@pytest.mark.parametrize(
    ("base_url", "target", "is_repeated"),
    [
        ("http://127.0.0.1:9/v1beta", "/v1beta/v1beta/models/gemini-2.5-flash:generateContent", True),
        ("http://127.0.0.1:9/v1beta", "/v1beta/gemini-2.5-flash:generateContent", False),
        ("http://127.0.0.1:9/", "//models/gemini-2.5-flash:generateContent", False),
    ],
)
def test_a_path_that_repeats_the_base_url_says_so(base_url: str, target: str, *, is_repeated: bool) -> None:
    first, *_ = wrong_with(DIALECTS["gemini-generate"], Request("POST", target, HEADERS, b"{}"), base_url)
    assert "goes to the path" in first
    assert ("base_url already ends with" in first) is is_repeated
