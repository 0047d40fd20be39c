"""YAML is read as plain data, and what a short text can cost is bounded."""

from __future__ import annotations

import datetime as dt
import time
from string import ascii_lowercase

import pytest

from art_sdk.yaml_data import NotYaml, YamlLimits, read_yaml


def doubling(line: str, first: str = "a: &a {x: 1}") -> str:
    """24 lines, each of which names the line before it twice."""
    return "\n".join(
        [first, *(line.format(now=now, last=last) for last, now in zip("a" + LETTERS, LETTERS, strict=False))]
    )


LETTERS = ascii_lowercase[1:]

HOSTILE = {
    "brackets": ("[" * 50_000, "it expands to more than 100 levels of nesting", 1),
    "braces": ("{a: " * 50_000, "levels of nesting", 1),
    "dashes": ("- " * 50_000, "levels of nesting", 1),
    "levels behind an alias": ("a: &a " + "[" * 60 + "]" * 60 + "\nb: " + "[" * 60 + "*a" + "]" * 60, "levels", 2),
    "aliases": (doubling("{now}: &{now} [*{last}, *{last}]"), "it expands to more than 50,000 values", 14),
    "merge keys": (doubling("{now}: &{now} {{<<: *{last}, <<: *{last}}}"), "50,000 values", 14),
    "merged lists": (doubling("{now}: &{now} {{<<: [*{last}, *{last}]}}"), "50,000 values", 14),
    "a long text behind aliases": (
        "a: &a " + "x" * 1_000_000 + "\nb: [" + "*a, " * 40 + "]",
        "16,777,216 characters",
        2,
    ),
    "an alias in itself": ("&a [*a]", "the alias *a contains itself, or has no anchor before it", 1),
    "an alias of nothing": ("[*a]", "the alias *a contains itself, or has no anchor before it", 1),
    "many values": ("[" + "0, " * 1_000_000 + "]", "50,000 values", 1),
    "a long file": ("x" * (16 * 1024 * 1024 + 1), "it has 16,777,217 characters; the limit is 16,777,216", None),
    "a sexagesimal number": ("x: 1" + ":1" * 500_000, "a value of 1,000,001 characters that is not text", 1),
    "directives": ("".join(f"%TAG !{at}! x\n" for at in range(100_000)) + "--- 1", "more than 100 directives", None),
    "documents": ("---\n" * 500_000, "expected a single document, found another", 2),
    "keys with one hash": ("{" + ", ".join(f"{at * (2**61 - 1)}: 1" for at in range(20_000)) + "}", "not text", 1),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_text_that_would_cost_much_is_refused_at_once(what: str):
    text, message, line = HOSTILE[what]
    start = time.process_time()
    with pytest.raises(NotYaml) as caught:
        read_yaml(text)
    assert time.process_time() - start < 5  # loaded, they would take minutes or all memory
    assert message in str(caught.value)
    assert caught.value.line == line


ODD = {
    "x: !!int foo": "'foo' is not of the type int",
    "x: !!int ''": "'' is not of the type int",
    "x: !!bool foo": "'foo' is not of the type bool",
    "x: !!float ''": "'' is not of the type float",
    "x: 1" + ":1" * 2_000 + ".5": "a value of 4,003 characters that is not text",
    "x: !!timestamp x": "'x' is not of the type timestamp",
    "x: 2026-99-99": "'2026-99-99' is not of the type timestamp",
    "x: !!binary é": "failed to convert base64 data into ascii",
    "x: !!str [a]": "expected a scalar node, but found sequence",
    "x: {<<: 1}": "expected a mapping or list of mappings for merging",
    "x: !!python/object:os.system {}": "could not determine a constructor for the tag",
    f"x: !{'a' * 10_000} y": "could not determine a constructor for the tag '!aaa",
    "x: {1: 2}": "a key that is not text",
    "x: {[a]: 1}": "a key that is not text",
    "x: {a: 1, b: 2, a: 3}": "the key 'a' appears twice",
    "x: \ud800": "a lone surrogate at character 3",
    "x: \x07": "unacceptable character #x0007",
}


@pytest.mark.parametrize("text", ODD, ids=lambda text: ascii(text[:30]))
def test_a_value_that_cannot_be_read_is_refused_in_short_words(text: str):
    with pytest.raises(NotYaml) as caught:
        read_yaml(text)
    assert ODD[text] in str(caught.value)
    assert len(str(caught.value)) < 300


GOOD = {
    "base: &b {k: 1, j: 2}\nx: {<<: *b, k: 3}": {"base": {"k": 1, "j": 2}, "x": {"k": 3, "j": 2}},
    "y: &y\n  <<: &b {k: 1}\n  k: 2\nz: {<<: *y}": {"y": {"k": 2}, "z": {"k": 2}},
    "[&a [1], *a, *a]": [[1], [1], [1]],
    "x: !!binary aGk=": {"x": b"hi"},
    "x: 2026-01-02": {"x": dt.date(2026, 1, 2)},
    "%YAML 1.1\n--- [yes, 0x10, 1:30, ~]": [True, 16, 90, None],
    "": None,
}


@pytest.mark.parametrize("text", GOOD)
def test_everything_else_is_read_as_pyyaml_reads_it(text: str):
    assert read_yaml(text) == GOOD[text]


def test_limits_are_counted_exactly():
    assert read_yaml("[a, b]", YamlLimits(characters=6, values=3, depth=1)) == ["a", "b"]
    for limits in (YamlLimits(characters=5), YamlLimits(values=2), YamlLimits(depth=0)):
        with pytest.raises(NotYaml):
            read_yaml("[a, b]", limits)
    assert read_yaml("[&a [b], *a]", YamlLimits(values=5, depth=2)) == [["b"], ["b"]]
    for limits in (YamlLimits(values=4), YamlLimits(depth=1)):
        with pytest.raises(NotYaml):
            read_yaml("[&a [b], *a]", limits)
