from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from art_sdk import ImagePart
from art_sdk.adapters.images import UNKNOWN, explain_bad_image

TYPES = frozenset({"image/png", "image/gif"})


@pytest.mark.parametrize(
    ("mime_type", "source", "reason"),
    [
        ("image/png", {"data": "AAEC"}, None),
        ("image/gif", {"data": "AA=="}, None),
        ("image/png", {"url": "https://x/y"}, None),
        (UNKNOWN, {"url": "https://x/y"}, None),
        (UNKNOWN, {"data": "AAEC"}, "an image of the type 'image/*'; it takes image/gif, image/png"),
        ("image/tiff", {"data": "AAEC"}, "an image of the type 'image/tiff'; it takes image/gif, image/png"),
        ("IMAGE/PNG", {"url": "https://x/y"}, "an image of the type 'IMAGE/PNG'; it takes image/gif, image/png"),
        ("image/png", {"data": ""}, "an image without data"),
        ("image/png", {"url": ""}, "begins with none of https://, http://, gs://"),
        (UNKNOWN, {"url": " "}, "begins with none of https://, http://, gs://"),
        *[
            ("image/png", {"data": data}, "an image whose data is not base64")
            for data in ("A", "AAE", "====", "AA=", "AA==AA==", "AA\nEC", " AAEC", "AA-_", "ÄÄÄÄ", "data:,AAEC")
        ],
    ],
)
def test_an_image_is_taken_or_told_why_not(mime_type: str, source: dict[str, Any], reason: str | None) -> None:
    found = explain_bad_image(ImagePart(mime_type, **source), TYPES)
    assert found is None if reason is None else found is not None and reason in found


@given(data=st.text(max_size=12))
def test_any_text_is_base64_or_told_why_not(data: str) -> None:
    found = explain_bad_image(ImagePart("image/png", data=data), TYPES)
    assert found is None or found.startswith("an image w")
