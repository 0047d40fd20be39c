"""Which call a result answers, where a dialect leaves ids out."""

from __future__ import annotations

import pytest

from art_compliance.dialects.numbering import OpenCalls

CALLS = [("b", "get_time"), (None, "get_time"), ("a", "get_weather")]
ANSWERS = {
    "by id, whatever stands before and after it": ([("a", None), ("b", None)], ["a", "b"]),
    "by id, whatever the name": ([("a", "get_time")], ["a"]),
    "an unknown id": ([("aa", "get_time"), ("", "get_time"), ("c", None)], [None, None, None]),
    "by name": ([(None, "get_weather"), (None, "get_time"), (None, "get_time")], ["a", "b", "call_2"]),
    "an unknown name": ([(None, "get_news")], [None]),
    "the only one": ([("b", None), ("a", None), (None, None), (None, None)], ["b", "a", "call_2", None]),
    "which one, nobody knows": ([(None, None), ("b", None), (None, None)], [None, "b", None]),
    "once": ([("b", None), ("b", None)], ["b", None]),
}


@pytest.mark.parametrize("how", ANSWERS)
def test_a_result_answers(how: str):
    calls = OpenCalls()
    assert [calls.open(*call) for call in CALLS] == ["b", "call_2", "a"]
    asked, found = ANSWERS[how]
    assert [calls.answer("".join(call_id) if call_id else call_id, name) for call_id, name in asked] == found


@pytest.mark.parametrize(
    ("ids", "have"), [((), True), (("a",), True), (("a", "b"), True), ((None, "b"), False), (("a", ""), False)]
)
def test_whether_all_calls_so_far_have_ids(ids: tuple[str | None, ...], have: bool):  # noqa: FBT001
    calls = OpenCalls()
    for one in ids:
        calls.open(one, "get_time")
    assert calls.all_have_ids is have
