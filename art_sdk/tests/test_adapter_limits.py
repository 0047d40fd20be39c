"""What a provider takes, as data: call ids and images."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from art_sdk import ImagePart
from art_sdk.adapters.images import ANY_IMAGE, explain_bad_image
from art_sdk.adapters.rules import CallIdRule

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

PLAIN = CallIdRule(re.compile(r"[a-zA-Z0-9_-]{1,40}"))
NINE = CallIdRule(re.compile(r"[a-zA-Z0-9]{9}"), lead="", digits=9)
RULES = pytest.mark.parametrize("rule", [PLAIN, NINE], ids=["long", "nine characters"])
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
MAPPED = st.tuples(TEXT, st.sampled_from([PLAIN, NINE])).map(
    lambda drawn: drawn[1].map(["ä" + drawn[0]])["ä" + drawn[0]]
)
IDS = st.lists(TEXT | MAPPED, unique=True)


def test_an_accepted_call_id_is_not_changed() -> None:
    assert PLAIN.map(["a", "b"]) == {}
    assert NINE.map(["abcdefghZ"]) == {}


@RULES
@given(ids=IDS)
def test_every_call_id_can_be_sent_and_no_two_become_equal(rule: CallIdRule, ids: list[str]) -> None:
    mapped = rule.map(ids)
    sent = [mapped.get(one, one) for one in ids]
    assert all(rule.pattern.fullmatch(one) for one in sent)
    assert len({*sent}) == len(ids)


@RULES
@given(ids=IDS)
def test_a_call_id_is_mapped_alike_whatever_the_others_are(rule: CallIdRule, ids: list[str]) -> None:
    alone = [rule.map([one]) for one in reversed(ids)]
    assert rule.map(ids) == {own: sent for one in alone for own, sent in one.items()}


def test_a_call_id_that_looks_mapped_is_mapped_even_where_it_would_be_accepted() -> None:
    ((_, looks_mapped),) = PLAIN.map(["ä"]).items()
    assert PLAIN.map([looks_mapped, "artid_", f"{looks_mapped}0"]).keys() == {looks_mapped}
    assert NINE.map(["012345678", "01234567g"]).keys() == {"012345678"}


TYPES = frozenset({"image/png", "image/gif"})


@pytest.mark.parametrize(
    ("mime_type", "source", "reason"),
    [
        ("image/png", {"data": "AAEC"}, None),
        ("image/gif", {"data": "AA=="}, None),
        ("image/png", {"url": "https://x/y"}, None),
        (ANY_IMAGE, {"url": "https://x/y"}, None),
        (ANY_IMAGE, {"data": "AAEC"}, "the image type 'image/*' is not supported; supported: image/gif, image/png"),
        (
            "image/tiff",
            {"data": "AAEC"},
            "the image type 'image/tiff' is not supported; supported: image/gif, image/png",
        ),
        (
            "IMAGE/PNG",
            {"url": "https://x/y"},
            "the image type 'IMAGE/PNG' is not supported; supported: image/gif, image/png",
        ),
        ("image/png", {"data": "AA-_"}, None),  # the alphabet for URLs
        ("image/png", {"data": ""}, "the image has no data"),
        ("image/png", {"url": ""}, "must begin with one of https://, http://, gs://"),
        (ANY_IMAGE, {"url": " "}, "must begin with one of https://, http://, gs://"),
        *[
            ("image/png", {"data": data}, "the image data is not base64")
            for data in ("A", "AAE", "====", "AA=", "AA==AA==", "AA\nEC", " AAEC", "AA-_A", "ÄÄÄÄ", "data:,AAEC")
        ],
    ],
)
def test_an_image_is_taken_or_the_reason_is_given(mime_type: str, source: dict[str, Any], reason: str | None) -> None:
    found = explain_bad_image(ImagePart(mime_type, **source), TYPES)
    assert found is None if reason is None else found is not None and reason in found


@given(data=st.text(max_size=12))
def test_any_text_is_base64_or_the_reason_is_given(data: str) -> None:
    found = explain_bad_image(ImagePart("image/png", data=data), TYPES)
    assert found is None or found.startswith("the image ")
