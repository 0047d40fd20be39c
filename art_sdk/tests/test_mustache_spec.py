"""The core of the official Mustache specification: its cases by their official names, in our own words.

Each template stands as the text of a message, in an object blueprint, with missing names allowed (`strict="off"`).
Where the specification escapes HTML, nothing is escaped here: a prompt is not a web page. Two cases are missed on
purpose, and are errors: a partial that is not there, and one that includes itself.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from art_sdk import Blueprint, PromptAssemblyFailed
from row_tables import table

Row = tuple[str, str, Any, str]

COMMENTS: list[Row] = [
    ("Inline", "ab{{! out }}cd", {}, "abcd"),
    ("Multiline", "ab{{!\n  out\n  and out\n}}cd\n", {}, "abcd\n"),
    ("Standalone", "up\n{{! out }}\ndown\n", {}, "up\ndown\n"),
    ("Indented Standalone", "up\n   {{! out }}\ndown\n", {}, "up\ndown\n"),
    ("Standalone Line Endings", "up\r\n{{! out }}\r\ndown", {}, "up\r\ndown"),
    ("Standalone Without Previous Line", "  {{! out }}\ndown", {}, "down"),
    ("Standalone Without Newline", "up\n  {{! out }}", {}, "up\n"),
    ("Multiline Standalone", "up\n{{!\nout\n}}\ndown\n", {}, "up\ndown\n"),
    ("Indented Multiline Standalone", "up\n  {{!\n    out\n  }}\ndown\n", {}, "up\ndown\n"),
    ("Indented Inline", "  a {{! out }}\n", {}, "  a \n"),
    ("Surrounding Whitespace", "a {{! out }} b", {}, "a  b"),
    ("Variable Name Collision", ">{{! x }}<", {"! x": 1, "! x ": 2, "!x": 3, "x": 4}, "><"),
]

DELIMITERS: list[Row] = [
    ("Pair Behavior", "{{=<% %>=}}[<%a%>]", {"a": "x"}, "[x]"),
    ("Special Characters", "<{{=[ ]=}}[a]>", {"a": "x"}, "<x>"),
    (
        "Sections",
        "{{#s}}\n{{a}} |a|\n{{/s}}\n{{= | | =}}\n|#s|\n{{a}} |a|\n|/s|\n",
        {"s": True, "a": "x"},
        "x |a|\n{{a}} x\n",
    ),
    (
        "Inverted Sections",
        "{{^s}}\n{{a}} |a|\n{{/s}}\n{{= | | =}}\n|^s|\n{{a}} |a|\n|/s|\n",
        {"s": False, "a": "x"},
        "x |a|\n{{a}} x\n",
    ),
    ("Partial Inheritence", "<{{>value}}>\n{{= | | =}}\n<|>value|>\n", {"a": "x"}, "<.x.>\n<.x.>\n"),
    ("Post-Partial Behavior", "<{{>changes}}>\n<{{a}} |a|>\n", {"a": "x"}, "<x  x>\n<x |a|>\n"),
    ("Surrounding Whitespace", "a {{=@ @=}} b", {}, "a  b"),
    ("Outlying Whitespace (Inline)", " a {{=@ @=}}\n", {}, " a \n"),
    ("Standalone Tag", "up\n{{=@ @=}}\ndown\n", {}, "up\ndown\n"),
    ("Indented Standalone Tag", "up\n   {{=@ @=}}\ndown\n", {}, "up\ndown\n"),
    ("Standalone Line Endings", "up\r\n{{= @ @ =}}\r\ndown", {}, "up\r\ndown"),
    ("Standalone Without Previous Line", "  {{=@ @=}}\ndown", {}, "down"),
    ("Standalone Without Newline", "up\n  {{=@ @=}}", {}, "up\n"),
    ("Pair with Padding", "<{{= @   @ =}}>", {}, "<>"),
]

KINDS = (("Basic", "{{%s}}"), ("Triple Mustache", "{{{%s}}}"), ("Ampersand", "{{&%s}}"))
MARKUP = '<&">'
DEEP = {"a": {"b": {"c": {"d": {"e": {"n": "x"}}}}}}

INTERPOLATION: list[Row] = [
    ("No Interpolation", "a {b} c", {}, "a {b} c"),
    ("Basic Interpolation", "to {{a}}!", {"a": "x"}, "to x!"),
    ("No Re-interpolation", "{{a}}: {{b}}", {"a": "{{b}}", "b": "x"}, "{{b}}: x"),
    ("HTML Escaping", "a {{m}}", {"m": MARKUP}, f"a {MARKUP}"),
    ("Triple Mustache", "a {{{m}}}", {"m": MARKUP}, f"a {MARKUP}"),
    ("Ampersand", "a {{&m}}", {"m": MARKUP}, f"a {MARKUP}"),
    *[(f"{kind} Integer Interpolation", f"{tag % 'n'} km", {"n": 85}, "85 km") for kind, tag in KINDS],
    *[(f"{kind} Decimal Interpolation", f"{tag % 'n'} km", {"n": 1.21}, "1.21 km") for kind, tag in KINDS],
    *[(f"{kind} Null Interpolation", f"<{tag % 'n'}>", {"n": None}, "<>") for kind, tag in KINDS],
    *[(f"{kind} Context Miss Interpolation", f"<{tag % 'n'}>", {}, "<>") for kind, tag in KINDS],
    *[
        (
            f"Dotted Names - {kind} Interpolation",
            f"{tag % 'a.b'}={{{{#a}}}}{tag % 'b'}{{{{/a}}}}",
            {"a": {"b": "x"}},
            "x=x",
        )
        for kind, tag in KINDS
    ],
    ("Dotted Names - Arbitrary Depth", "<{{a.b.c.d.e.n}}>", DEEP, "<x>"),
    ("Dotted Names - Broken Chains", "<{{a.b.c}}>", {"a": {}}, "<>"),
    ("Dotted Names - Broken Chain Resolution", "<{{a.b.c.n}}>", {"a": {"b": {}}, "c": {"n": "x"}}, "<>"),
    (
        "Dotted Names - Initial Resolution",
        "{{#a}}{{b.c.d.e.n}}{{/a}}",
        DEEP | {"b": {"c": {"d": {"e": {"n": "y"}}}}},
        "x",
    ),
    ("Dotted Names - Context Precedence", "{{#a}}{{b.c}}{{/a}}", {"a": {"b": {}}, "b": {"c": "x"}}, ""),
    ("Dotted Names are never single keys", "<{{a.b}}>", {"a.b": "x"}, "<>"),
    ("Dotted Names - No Masking", "<{{a.b}}>", {"a.b": "x", "a": {"b": "y"}}, "<y>"),
    ("Implicit Iterators - Basic Interpolation", "to {{.}}!", "x", "to x!"),
    ("Implicit Iterators - HTML Escaping", "a {{.}}", MARKUP, f"a {MARKUP}"),
    ("Implicit Iterators - Triple Mustache", "a {{{.}}}", MARKUP, f"a {MARKUP}"),
    ("Implicit Iterators - Ampersand", "a {{&.}}", MARKUP, f"a {MARKUP}"),
    ("Implicit Iterators - Basic Integer Interpolation", "{{.}} km", 85, "85 km"),
    *[
        (f"{kind.replace('Basic', 'Interpolation')} - {name}", text % (tag % "a"), {"a": "x"}, text % "x")
        for name, text in (("Surrounding Whitespace", "- %s -"), ("Standalone", "  %s\n"))
        for kind, tag in KINDS
    ],
    *[
        (f"{kind.replace('Basic', 'Interpolation')} With Padding", f"<{tag % ' a '}>", {"a": "x"}, "<x>")
        for kind, tag in KINDS
    ],
]

DEEPLY = (
    "{{#a}}\n{{i}}\n{{#b}}\n{{i}}{{j}}\n{{#c}}\n{{i}}{{j}}{{k}}\n{{#d}}\n{{i}}{{j}}{{k}}{{l}}{{.}}\n"
    "{{/d}}\n{{k}}{{j}}{{i}}\n{{/c}}\n{{j}}{{i}}\n{{/b}}\n{{i}}\n{{/a}}\n"
)

INVERTED: list[Row] = [
    ("Falsey", "<{{^b}}in{{/b}}>", {"b": False}, "<in>"),
    ("Truthy", "<{{^b}}in{{/b}}>", {"b": True}, "<>"),
    ("Null is falsey", "<{{^b}}in{{/b}}>", {"b": None}, "<in>"),
    ("Context", "<{{^o}}in {{n}}{{/o}}>", {"o": {"n": "x"}}, "<>"),
    ("List", "<{{^l}}{{n}}{{/l}}>", {"l": [{"n": 1}, {"n": 2}]}, "<>"),
    ("Empty List", "<{{^l}}in{{/l}}>", {"l": []}, "<in>"),
    ("Doubled", "{{^b}}\n1\n{{/b}}\n{{n}}\n{{^b}}\n3\n{{/b}}\n", {"b": False, "n": "2"}, "1\n2\n3\n"),
    ("Nested (Falsey)", "a {{^b}}b {{^b}}c{{/b}} d{{/b}} e", {"b": False}, "a b c d e"),
    ("Nested (Truthy)", "a {{^b}}b {{^b}}c{{/b}} d{{/b}} e", {"b": True}, "a  e"),
    ("Context Misses", "<{{^b}}in{{/b}}>", {}, "<in>"),
    ("Dotted Names - Truthy", "<{{^a.b.c}}in{{/a.b.c}}>", {"a": {"b": {"c": True}}}, "<>"),
    ("Dotted Names - Falsey", "<{{^a.b.c}}in{{/a.b.c}}>", {"a": {"b": {"c": False}}}, "<in>"),
    ("Dotted Names - Broken Chains", "<{{^a.b.c}}in{{/a.b.c}}>", {"a": {}}, "<in>"),
]

SECTIONS: list[Row] = [
    ("Truthy", "<{{#b}}in{{/b}}>", {"b": True}, "<in>"),
    ("Falsey", "<{{#b}}in{{/b}}>", {"b": False}, "<>"),
    ("Null is falsey", "<{{#b}}in{{/b}}>", {"b": None}, "<>"),
    ("Context", "<{{#o}}in {{n}}{{/o}}>", {"o": {"n": "x"}}, "<in x>"),
    (
        "Parent contexts",
        "{{#s}}{{a}} {{b}} {{c.d}}{{/s}}",
        {"a": "x", "b": "no", "s": {"b": "y"}, "c": {"d": "z"}},
        "x y z",
    ),
    ("Variable test", "{{#a}}{{.}}={{a}}{{/a}}", {"a": "x"}, "x=x"),
    (
        "List Contexts",
        "{{#k}}{{#l}}{{n.up}}{{i}}{{#m}}{{n.low}}{{i}}{{j}} {{/m}}{{/l}}{{/k}}",
        {"k": [{"n": {"up": "A", "low": "a"}, "l": [{"i": 1, "m": [{"j": "x"}, {"j": "y"}]}]}]},
        "A1a1x a1y ",
    ),
    (
        "Deeply Nested Contexts",
        DEEPLY,
        {"a": {"i": 1}, "b": {"j": 2}, "c": {"k": 3, "l": 4, "d": 5}},
        "1\n12\n123\n12345\n321\n21\n1\n",
    ),
    ("List", "<{{#l}}{{n}}{{/l}}>", {"l": [{"n": 1}, {"n": 2}, {"n": 3}]}, "<123>"),
    ("Empty List", "<{{#l}}in{{/l}}>", {"l": []}, "<>"),
    ("Doubled", "{{#b}}\n1\n{{/b}}\n{{n}}\n{{#b}}\n3\n{{/b}}\n", {"b": True, "n": "2"}, "1\n2\n3\n"),
    ("Nested (Truthy)", "a {{#b}}b {{#b}}c{{/b}} d{{/b}} e", {"b": True}, "a b c d e"),
    ("Nested (Falsey)", "a {{#b}}b {{#b}}c{{/b}} d{{/b}} e", {"b": False}, "a  e"),
    ("Context Misses", "<{{#b}}in{{/b}}>", {}, "<>"),
    ("Implicit Iterator - String", "{{#l}}<{{.}}>{{/l}}", {"l": ["a", "b"]}, "<a><b>"),
    ("Implicit Iterator - Integer", "{{#l}}<{{.}}>{{/l}}", {"l": [1, 2]}, "<1><2>"),
    ("Implicit Iterator - Decimal", "{{#l}}<{{.}}>{{/l}}", {"l": [1.1, 2.2]}, "<1.1><2.2>"),
    ("Implicit Iterator - Array", "{{#l}}<{{#.}}{{.}}{{/.}}>{{/l}}", {"l": [[1, 2], ["a", "b"]]}, "<12><ab>"),
    ("Implicit Iterator - HTML Escaping", "{{#l}}-{{.}}{{/l}}", {"l": list(MARKUP)}, '-<-&-"->'),
    ("Implicit Iterator - Triple mustache", "{{#l}}-{{{.}}}{{/l}}", {"l": list(MARKUP)}, '-<-&-"->'),
    ("Implicit Iterator - Ampersand", "{{#l}}-{{&.}}{{/l}}", {"l": list(MARKUP)}, '-<-&-"->'),
    ("Implicit Iterator - Root-level", "{{#.}}<{{n}}>{{/.}}", [{"n": "a"}, {"n": "b"}], "<a><b>"),
    ("Dotted Names - Truthy", "<{{#a.b.c}}in{{/a.b.c}}>", {"a": {"b": {"c": True}}}, "<in>"),
    ("Dotted Names - Falsey", "<{{#a.b.c}}in{{/a.b.c}}>", {"a": {"b": {"c": False}}}, "<>"),
    ("Dotted Names - Broken Chains", "<{{#a.b.c}}in{{/a.b.c}}>", {"a": {}}, "<>"),
]

LAYOUT: list[tuple[str, str, str]] = [
    ("Surrounding Whitespace", " - {{#b}}\t-\t{{/b}} - \n", " - \t-\t - \n"),
    ("Internal Whitespace", " - {{#b}} {{! wide }}\n {{/b}} - \n", " -  \n  - \n"),
    ("Indented Inline Sections", " {{#b}}a{{/b}}\n {{#b}}b{{/b}}\n", " a\n b\n"),
    ("Standalone Lines", "up\n{{#b}}\n-\n{{/b}}\ndown\n", "up\n-\ndown\n"),
    ("Indented Standalone Lines", "up\n  {{#b}}\n-\n  {{/b}}\ndown\n", "up\n-\ndown\n"),
    ("Standalone Line Endings", "up\r\n{{#b}}\r\n{{/b}}\r\ndown", "up\r\ndown"),
    ("Standalone Without Previous Line", "  {{#b}}\n-{{/b}}\ndown", "-\ndown"),
    ("Standalone Without Newline", "up{{#b}}\n-\n  {{/b}}", "up\n-\n"),
    ("Padding", "<{{# b }}-{{/ b }}>", "<->"),
]
SECTIONS += [(name, text, {"b": True}, expected) for name, text, expected in LAYOUT]
INVERTED += [
    (name.replace("Indented Standalone", "Standalone Indented"), text.replace("{{#", "{{^"), {"b": False}, expected)
    for name, text, expected in LAYOUT
]

PARTIALS: list[Row] = [
    ("Basic Behavior", "<{{>plain}}>", {}, "<->"),
    ("Context", "<{{>value}}>", {"a": "x"}, "<.x.>"),
    ("Nested", "{{>outer}}", {"a": "1", "b": "2"}, "*1 2!*"),
    ("Surrounding Whitespace", "a {{>tabs}} b", {}, "a \t-\t b"),
    ("Inline Indentation", "  {{a}}  {{> lines}}\n", {"a": "x"}, "  x  -\n-\n"),
    ("Standalone Line Endings", "up\r\n{{>plain}}\r\ndown", {}, "up\r\n-down"),
    ("Standalone Without Previous Line", "  {{>lines}}\ndown", {}, "  -\n  -down"),
    ("Standalone Without Newline", "up\n  {{>lines}}", {}, "up\n  -\n  -"),
    ("Standalone Indentation", "up\n {{>block}}\ndown\n", {"a": "x\ny"}, "up\n -\n x\ny\n -\ndown\n"),
    ("Padding Whitespace", "<{{> plain }}>", {}, "<->"),
]

TABLE = {
    "plain": "-",
    "value": ".{{a}}.",
    "changes": "{{a}} {{= | | =}} |a|",
    "outer": "*{{a}} {{>inner}}*",
    "inner": "{{b}}!",
    "tabs": "\t-\t",
    "lines": "-\n-",
    "block": "-\n{{{a}}}\n-\n",
    "node": "{{a}}<{{#l}}{{>node}}{{/l}}>",
}

MISSED = [
    ("Failed Lookup", "<{{>nowhere}}>", {}, "unknown partial"),
    ("Recursion", "{{>node}}", {"a": "x", "l": [{"a": "y", "l": []}]}, "includes itself"),
]

CORE = {
    "comments": (COMMENTS, 12),
    "delimiters": (DELIMITERS, 14),
    "interpolation": (INTERPOLATION, 42),
    "inverted": (INVERTED, 22),
    "partials": (PARTIALS, 10),
    "sections": (SECTIONS, 34),
}


def render(template: str, data: Any) -> str:
    blueprint = Blueprint.compile([{"role": "user", "content": template}], partials=TABLE)
    return json.loads(blueprint.render(data, strict="off"))[0]["content"]


@table(
    ("template", "data", "expected"),
    [pytest.param(*row[1:], id=f"{group}: {row[0]}") for group, (rows, _) in CORE.items() for row in rows],
)
def test_a_core_case_renders_as_specified(template: str, data: Any, expected: str):
    assert render(template, data) == expected


@pytest.mark.parametrize(
    ("template", "data", "message"), [pytest.param(*row[1:], id=f"partials: {row[0]}") for row in MISSED]
)
def test_a_core_case_fails_on_purpose(template: str, data: Any, message: str):
    with pytest.raises(PromptAssemblyFailed, match=message):
        render(template, data)


@pytest.mark.parametrize("group", CORE)
def test_no_core_case_is_left_out(group: str):
    rows, count = CORE[group]
    assert len({row[0] for row in rows}) == len(rows) == count


def test_all_but_two_of_the_core_cases_pass():
    assert sum(count for _, count in CORE.values()) == 134
    assert len(MISSED) == 2
