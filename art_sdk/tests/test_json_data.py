from __future__ import annotations

import datetime as dt
import math
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from art_sdk import TextPart, UserMessage
from art_sdk.json_data import DEPTH_LIMIT, is_utf8, json_type
from art_sdk.sendable import Unsendable, find_unsendable, is_surely_sendable

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_json_data_can_be_sent(value: Any) -> None:
    assert find_unsendable(value) is None


BAD = [
    ({"a": [0, {"b": math.nan}]}, "$.a[1].b", "nan is not a JSON number"),
    ([math.inf], "$[0]", "inf is not a JSON number"),
    ("\ud800", "$", "a lone surrogate cannot be sent as UTF-8; replace it with U+FFFD"),
    ({"x\udfff": 1}, "$", "the key 'x\\udfff' contains a lone surrogate"),
    ({"a": {1: 2}}, "$.a", "the key 1 is not a string"),
    ({"a": {None: 2}}, "$.a", "the key None is not a string"),
    ((1, b"x"), "$[1]", "a value of type bytes is not JSON data"),
    ({"a": {1, 2}}, "$.a", "a value of type set is not JSON data"),
    ([dt.date(2020, 1, 1)], "$[0]", "a value of type date is not JSON data"),
    ([object()], "$[0]", "a value of type object is not JSON data"),
    (UserMessage((TextPart("ok"), TextPart("\ud800"))), "$.content[1].text", "a lone surrogate cannot be sent"),
]


@pytest.mark.parametrize(("value", "path", "reason"), BAD)
def test_a_value_that_json_cannot_carry_is_found_with_its_path(value: Any, path: str, reason: str) -> None:
    found = find_unsendable(value)
    assert found is not None
    assert found.path == path
    assert found.reason.startswith(reason)


@pytest.mark.parametrize("value", [case[0] for case in BAD])
def test_the_fast_check_never_accepts_what_cannot_be_sent(value: Any) -> None:
    assert not is_surely_sendable(value)


@given(JSON)
def test_the_fast_check_accepts_plain_data(value: Any) -> None:
    assert is_surely_sendable(value)


@pytest.mark.parametrize("at", [0, 23, 24, 99])
@pytest.mark.parametrize("fault", [math.nan, b"x", dt.date(2020, 1, 1), {1: 2}, "\ud800", {"a": [{1}]}], ids=repr)
def test_the_fast_check_sees_every_item_of_a_long_list(at: int, fault: Any) -> None:
    messages: list[Any] = [{"role": "user"}] * 100
    assert is_surely_sendable({"model": "m", "messages": messages})
    messages[at] = fault
    assert not is_surely_sendable({"model": "m", "messages": messages})


@pytest.mark.parametrize("levels", [DEPTH_LIMIT - 2, DEPTH_LIMIT - 1, DEPTH_LIMIT])
def test_the_fast_check_counts_depth_from_the_root(levels: int, nested: Callable[[int], Any]) -> None:
    value = {"messages": [nested(levels)]}
    assert is_surely_sendable(value) == (find_unsendable(value) is None)


def test_the_fast_check_does_not_copy_a_long_conversation() -> None:
    value = {"messages": [{"role": "user", "content": str(number)} for number in range(10_000)]}
    tracemalloc.start()
    assert is_surely_sendable(value)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000


def test_the_first_problem_in_reading_order_is_reported() -> None:
    assert find_unsendable([1, {"a": [math.nan], "b": b""}, math.nan]) == Unsendable(
        "$[1].a[0]", "nan is not a JSON number"
    )


@pytest.mark.parametrize("levels", [DEPTH_LIMIT, DEPTH_LIMIT + 1])
def test_nesting_has_a_limit(levels: int, nested: Callable[[int], Any]) -> None:
    assert find_unsendable(nested(levels)) is None
    found = find_unsendable(nested(DEPTH_LIMIT + 2))
    assert found is not None
    assert found.reason == f"nested deeper than {DEPTH_LIMIT} levels"


def test_a_value_that_contains_itself_is_too_deep() -> None:
    value: list[Any] = []
    value.append(value)
    found = find_unsendable(value)
    assert found is not None
    assert "nested deeper" in found.reason
    assert not is_surely_sendable(value)


def test_a_deep_stack_of_the_caller_is_fine(nested: Callable[[int], Any]) -> None:
    def dig(levels: int) -> Any:
        return dig(levels - 1) if levels else find_unsendable(nested(DEPTH_LIMIT))

    assert dig(sys.getrecursionlimit() * 7 // 10) is None


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({}, "an object"),
        ([], "an array"),
        ((), "an array"),
        ("", "a string"),
        (True, "a boolean"),
        (1, "a number"),
        (1.5, "a number"),
        (None, "null"),
        (b"", "a bytes"),
    ],
)
def test_types_are_named_as_in_json(value: Any, name: str) -> None:
    assert json_type(value) == name


@pytest.mark.parametrize(("text", "is_good"), [("", True), ("\x00ä\U0001f600", True), ("a\udc80", False)])
def test_a_lone_surrogate_is_not_utf8(text: str, is_good: bool) -> None:  # noqa: FBT001
    assert is_utf8(text) is is_good
