"""What messages show of long values."""

from __future__ import annotations

import pytest

from art_compliance.quoting import (
    as_json,
    describe_change,
    quote,
    quote_difference,
    shorten,
    show,
    show_both,
    with_article,
)


def test_long_texts_and_values_are_cut_with_an_ellipsis():
    assert shorten("x" * 120) == "x" * 120
    assert shorten("x" * 121) == "x" * 120 + "…"
    assert shorten("abc", 2) == "ab…"
    assert show("x" * 119) == '"' + "x" * 119 + "…"
    assert show([1]) == "[1]"


def test_a_cut_quotation_has_the_length_of_its_text():
    assert quote("a\nb") == r'"a\nb"'
    assert quote("x" * 60) == as_json("x" * 60)
    assert quote("x" * 61) == as_json("x" * 60) + "… (61 characters)"


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        ("abc", "abd", (2, '"abc"', '"abd"')),
        ("ab", "abd", (2, '"ab"', '"abd"')),
        ("", "a", (0, '""', '"a"')),
        ("x" * 20 + "y", "x" * 20 + "z", (20, as_json("x" * 20 + "y"), as_json("x" * 20 + "z"))),
        ("x" * 21 + "y", "x" * 21 + "z", (21, as_json("…" + "x" * 20 + "y"), as_json("…" + "x" * 20 + "z"))),
        ("y" * 61, "", (0, as_json("y" * 60 + "…"), '""')),
    ],
)
def test_two_texts_are_shown_where_they_first_differ(one: str, other: str, shown: tuple[int, str, str]):
    assert quote_difference(one, other) == shown


def test_texts_that_look_the_same_are_shown_with_escapes():
    change = r'expected "caf\u00e9", found "cafe\u0301", from character 3 on'
    assert describe_change("caf\u00e9", "cafe\u0301") == change
    assert describe_change({"at": "\uff21"}, {"at": "A"}) == (
        r'expected {"at": "\uff21"}, found {"at": "A"}, from character 8 on'
    )
    assert describe_change("\u00e9\u00e8", "\u00e9") == 'expected "\u00e9\u00e8", found "\u00e9", from character 1 on'


def test_a_change_shows_both_texts():
    text = describe_change("x" * 100 + "one", "x" * 100 + "two")
    assert text == f'expected "…{"x" * 20}one", found "…{"x" * 20}two", from character 100 on'


@pytest.mark.parametrize(
    ("wanted", "found", "text"),
    [
        (0.1, 0.2, "expected 0.1, found 0.2"),
        (True, None, "expected true, found null"),
        (1, "1", 'expected 1, found "1"'),
        ({"a": 1}, {"a": 2}, 'expected {"a": 1}, found {"a": 2}, from character 6 on'),
    ],
)
def test_a_number_is_shown_without_the_place_where_it_differs(wanted: object, found: object, text: str):
    assert describe_change(wanted, found) == text


def test_two_long_values_that_begin_alike_are_shown_from_where_they_differ():
    first, second = show_both(["x" * 200, 1], ["x" * 200, 2])
    assert (first, second) == ("…" + "x" * 17 + '", 1]', "…" + "x" * 17 + '", 2]')
    assert show_both([1], [2]) == ("[1]", "[2]")
    assert show_both("a" + "x" * 200, "b") == ('"a' + "x" * 118 + "…", '"b"')


@pytest.mark.parametrize(("word", "shown"), [("assistant", "an assistant"), ("user", "a user"), ("result", "a result")])
def test_a_word_gets_its_article(word: str, shown: str):
    assert with_article(word) == shown
