from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from art_sdk.adapters.call_ids import keep_call_ids, map_refused_ids

PLAIN = re.compile(r"[a-zA-Z0-9_-]{1,40}")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
MAPPED = TEXT.map(lambda text: map_refused_ids([text], lambda _: False)[text])
IDS = st.lists(TEXT | MAPPED, unique=True)


def test_no_id_need_be_changed() -> None:
    assert keep_call_ids(["a", "ä" * 99]) == {}
    assert map_refused_ids(["a", "b"], PLAIN.fullmatch) == {}


@given(ids=IDS)
def test_every_id_can_be_sent_and_no_two_meet(ids: list[str]) -> None:
    mapped = map_refused_ids(ids, PLAIN.fullmatch)
    sent = [mapped.get(one, one) for one in ids]
    assert all(PLAIN.fullmatch(one) for one in sent)
    assert len({*sent}) == len(ids)


@given(ids=IDS)
def test_an_id_is_sent_alike_whatever_stands_beside_it(ids: list[str]) -> None:
    together = map_refused_ids(ids, PLAIN.fullmatch)
    alone = [map_refused_ids([one], PLAIN.fullmatch) for one in reversed(ids)]
    assert together == {own: sent for one in alone for own, sent in one.items()}


def test_an_id_that_looks_mapped_is_mapped_even_where_it_would_be_taken() -> None:
    ((_, looks_mapped),) = map_refused_ids(["ä"], PLAIN.fullmatch).items()
    assert map_refused_ids([looks_mapped, "artid_", f"{looks_mapped}0"], PLAIN.fullmatch).keys() == {looks_mapped}
