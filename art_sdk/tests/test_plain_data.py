from __future__ import annotations

import datetime as dt
import decimal
import enum
import math
from collections import OrderedDict, UserDict, deque
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from art_sdk import ToolResult, ToolSchema, UserMessage
from art_sdk.blueprints.plain_data import NotPlain, clean_text, to_plain

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "another"


class Number(int):
    def __int__(self) -> int:
        return 7


class Level(enum.StrEnum):
    HIGH = "high"


class Pair(NamedTuple):
    first: int
    second: str


class Tags(dict[str, Any]):
    pass


@dataclass
class Point:
    x: int
    rest: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Slotted:
    inner: Point


class Optional(msgspec.Struct):
    here: int
    gone: int | msgspec.UnsetType = msgspec.UNSET


class Hostile(UserDict[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)


class Named:
    name = "secret"

    def __call__(self) -> str:
        return "called"


CONVERTED: list[tuple[Any, Any]] = [
    ({"a": [1, 2.5, None, True, "x"]}, {"a": [1, 2.5, None, True, "x"]}),
    ((1, (2,)), [1, [2]]),
    (Text("one"), "one"),
    (Number(3), 3),
    (Pair(1, "x"), [1, "x"]),
    (Level.HIGH, "high"),
    (Tags(a=1), {"a": 1}),
    (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
    (MappingProxyType({"a": (1,)}), {"a": [1]}),
    (UserDict({"a": 1}), {"a": 1}),
    (Point(1, [Point(2)]), {"x": 1, "rest": [{"x": 2, "rest": []}]}),
    (Slotted(Point(1)), {"inner": {"x": 1, "rest": []}}),
    (UserMessage("hi"), {"role": "user", "content": "hi", "name": None}),
    (
        ToolSchema("f", "d", {"type": "object"}),
        {"name": "f", "description": "d", "inputSchema": {"type": "object"}, "outputSchema": None},
    ),
    (
        ToolResult("c", "f", "success", output={"a": (1,)}),
        {"callId": "c", "toolName": "f", "status": "success", "output": {"a": [1]}, "error": None},
    ),
    (Optional(1), {"here": 1}),
    ("a\ud800b\udfff", "a\ufffdb\ufffd"),
    ({"\ud800": "\udc00x"}, {"\ufffd": "\ufffdx"}),
    (10**4299, 10**4299),
]

REFUSED: list[tuple[Any, str, str]] = [
    ({"a": [1, {2}]}, ".a[1]", "a value of type set is not JSON data"),
    ([frozenset()], "[0]", "a value of type frozenset is not JSON data"),
    ({"a": b"x"}, ".a", "a value of type bytes is not JSON data"),
    ({"a": len}, ".a", "a value of type builtin_function_or_method is not JSON data"),
    ({"a": lambda: 1}, ".a", "a value of type function is not JSON data"),
    ({"a": Named()}, ".a", "a value of type Named is not JSON data"),
    ({"a": Point}, ".a", "a value of type type is not JSON data"),
    ({"a": (x for x in "ab")}, ".a", "a value of type generator is not JSON data"),
    ({"a": iter([])}, ".a", "a value of type list_iterator is not JSON data"),
    ({"a": range(3)}, ".a", "a value of type range is not JSON data"),
    ({"a": deque([1])}, ".a", "a value of type deque is not JSON data"),
    ({"a": dt.date(2020, 1, 1)}, ".a", "a value of type date is not JSON data"),
    ({"a": decimal.Decimal(1)}, ".a", "a value of type Decimal is not JSON data"),
    ({"a": 1j}, ".a", "a value of type complex is not JSON data"),
    ({"a": math.nan}, ".a", "nan is not a JSON number"),
    ([[-math.inf]], "[0][0]", "-inf is not a JSON number"),
    ({"a": {1: 2}}, ".a", "the key 1 is not a string"),
    ({None: 2}, "", "the key None is not a string"),
    ({"a": 10**4300}, ".a", "more than 4300 digits"),
    ({"a": -(10**5000)}, ".a", "more than 4300 digits"),
    ({"a": Hostile(b=1)}, ".a", "reading a Hostile failed (KeyError)"),
    (Point(1, [Point({3})]), ".rest[0].x", "a value of type set"),  # type: ignore[arg-type]
    (UserMessage(object()), ".content", "a value of type object"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("value", "plain"), CONVERTED)
def test_json_like_values_become_plain(value: Any, plain: Any):
    found = to_plain(value)
    assert found == plain
    assert type(found) is type(plain)


@pytest.mark.parametrize(("value", "path", "reason"), REFUSED)
def test_other_values_are_errors_with_a_path(value: Any, path: str, reason: str):
    with pytest.raises(NotPlain) as caught:
        to_plain(value)
    assert caught.value.path == path
    assert reason in caught.value.reason


def test_a_dataclass_with_a_missing_field_is_an_error():
    point = Point(1)
    del point.x
    with pytest.raises(NotPlain, match=r"reading a Point failed \(AttributeError\)"):
        to_plain(point)


@pytest.mark.unmeasured
@given(JSON)
def test_json_data_stays_the_same(value: Any):
    assert to_plain(value) == value


def test_nothing_is_shared_with_the_original():
    original = {"a": [{"b": 1}]}
    copied = to_plain(original)
    copied["a"][0]["b"] = 2
    assert original == {"a": [{"b": 1}]}


@pytest.mark.parametrize(("levels", "taken"), [(200, True), (201, False), (5_000, False)])
def test_data_may_be_nested_200_levels(levels: int, taken: bool):  # noqa: FBT001
    value: Any = 1
    for _ in range(levels):
        value = [value]
    if taken:
        assert to_plain(value) == value
    else:
        with pytest.raises(NotPlain, match="nested deeper than 200 levels"):
            to_plain(value)


def test_data_that_contains_itself_is_an_error():
    value: dict[str, Any] = {}
    value["a"] = [value]
    with pytest.raises(NotPlain, match="or contains itself") as caught:
        to_plain(value)
    assert caught.value.path.startswith(".a[0].a[0]")


@pytest.mark.unmeasured
def test_data_that_shares_its_parts_cannot_grow_without_end():
    value: Any = "x"
    for _ in range(60):
        value = [value, value]
    with pytest.raises(NotPlain, match="more than 250,000 values"):
        to_plain(value)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("\U0001f600 \ud83d", "\U0001f600 \ufffd"),
        ("\ud83d", "\ufffd"),
        ("\ud83dx\ude00", "\ufffdx\ufffd"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ud83d" + "\ude00", "\ufffd\ufffd"),
        ("\ufeff\ud800", "\ufeff\ufffd"),
    ],
)
def test_only_surrogates_are_replaced(text: str, clean: str):
    assert clean_text(text) == clean
