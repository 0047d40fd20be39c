"""Hostile blueprints, contexts and files: `FAULTS` is the table.

Each must work, or end in an error of the SDK, soon and in little memory.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from art_sdk import PromptManager, load_blueprint
from hostile import Fault, cycle, doubling
from hostile_values import Deeper, Endless, Pretender, RaisingDict, RaisingKey, RaisingList, RaisingMapping, RaisingText


def assemble(given: Any) -> object:
    """Assembles `(blueprint, context)` or `(blueprint, context, partials)`."""
    blueprint, context, *partials = given
    own = {"partials": partials[0]} if partials else {}
    return PromptManager().assemble_prompt(blueprint, context, name="HOSTILE", **own)


def load(given: tuple[str, str]) -> object:
    """Loads the file of this suffix and content."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"HOSTILE{given[0]}"
        path.write_bytes(given[1].encode("utf-8", "surrogatepass"))
        return load_blueprint(path)


def in_text(content: str) -> str:
    """A blueprint of one message with this content."""
    return '[{"role": "user", "content": "' + content + '"}]'


def nested(levels: int, tag: str = "a") -> str:
    """Sections within sections."""
    return in_text(f"{{{{#{tag}}}}}" * levels + "x" + f"{{{{/{tag}}}}}" * levels)


def yaml_doubling(begin: str, end: str, first: str) -> str:
    """Lines of YAML, each with two aliases of the line before."""
    names = [f"a{n}" for n in range(40)]
    lines = [f"{names[0]}: &{names[0]} {first}"]
    lines += [f"{new}: &{new} {begin}*{old}, *{old}{end}" for old, new in pairwise(names)]
    return "\n".join(lines)


SAY = in_text("{{q}}")
PARTIAL_BOMB = {f"p{n}": f"{{{{>p{n + 1}}}}}" * 2 for n in range(15)} | {"p15": "x"}

FAULTS = [
    # blueprints
    Fault(
        "a partial that includes itself", assemble, lambda: (in_text("{{>a}}"), {}, {"a": "{{>a}}"}), "includes itself"
    ),
    Fault(
        "partials that include each other",
        assemble,
        lambda: (in_text("{{>a}}"), {}, {"a": "{{>b}}", "b": "{{>a}}"}),
        "includes itself",
    ),
    Fault("partials that double 15 times", assemble, lambda: (in_text("{{>p0}}"), {}, PARTIAL_BOMB), "'partials'"),
    Fault(
        "ten inclusions at each of 5 levels",
        assemble,
        lambda: (in_text("{{>p0}}"), {}, {f"p{n}": f"{{{{>p{n + 1}}}}}" * 10 for n in range(5)} | {"p5": ""}),
        "'partials'",
    ),
    Fault(
        "900 inclusions of a long comment",
        assemble,
        lambda: (in_text("{{>a}}" * 900), {}, {"a": "{{!" + "x" * 100_000 + "}}"}),
        "'characters'",
    ),
    Fault(
        "a partial of 1,000 lines, indented by 100,000 blanks",
        assemble,
        lambda: (in_text("\n" + " " * 100_000 + "{{>a}}\n"), {}, {"a": "x\n" * 1_000}),
        "'characters'",
    ),
    Fault("16,000 partials", assemble, lambda: (SAY, {"q": "x"}, {f"p{n}": "x" for n in range(16_000)}), ""),
    Fault(
        "300,000 partials",
        assemble,
        lambda: (SAY, {"q": "x"}, dict.fromkeys(map(str, range(300_000)), "x")),
        "'values'",
    ),
    Fault("sections over [1, 2], 14 deep", assemble, lambda: (nested(14), {"a": [1, 2]}), ""),
    Fault("sections over [1, 2], 18 deep", assemble, lambda: (nested(18), {"a": [1, 2]}), "'steps'"),
    Fault("sections over [1, 2], 30 deep", assemble, lambda: (nested(30), {"a": [1, 2]}), "'steps'"),
    Fault("sections over 1,000 items, 3 deep", assemble, lambda: (nested(3), {"a": [1] * 1_000}), "'steps'"),
    Fault(
        "empty sections over 1,000 items, 3 deep",
        assemble,
        lambda: (nested(3).replace("x", ""), {"a": [1] * 1_000}),
        "'steps'",
    ),
    Fault("sections nested 50,000 deep", assemble, lambda: (nested(50_000), {"a": [1]}), "deeper than 64 levels"),
    Fault(
        "10,000 tags in a section over 10,000 items",
        assemble,
        lambda: (in_text("{{#a}}" + "{{^b}}{{/b}}" * 10_000 + "{{/a}}"), {"a": [1] * 10_000, "b": 1}),
        "'steps'",
    ),
    Fault(
        "a name that is looked up in 60 levels, 100,000 times",
        assemble,
        lambda: (
            in_text("{{#a}}" * 60 + "{{#l}}{{q}}{{/l}}" + "{{/a}}" * 60),
            {"a": {"b": 1}, "l": [1] * 100_000, "q": ""},
        ),
        "'steps'",
    ),
    Fault("900,000 newlines before a tag", assemble, lambda: ("\n" * 900_000 + SAY, {"q": "x"}), ""),
    Fault(
        "900,000 newlines in a text, before a tag",
        assemble,
        lambda: (in_text("\n" * 900_000 + "{{q}}"), {"q": "x"}),
        "",
    ),
    Fault(
        "900,000 newlines before a missing name",
        assemble,
        lambda: (in_text("\n" * 900_000 + "{{z}}"), {}),
        "'{{z}}' (line 900001)",
    ),
    Fault(
        "900,000 newlines before a wrong role",
        assemble,
        lambda: ("[" + "\n" * 900_000 + '{"role": {{q}}}]', {"q": "x"}),
        "line 900001",
    ),
    Fault("900,000 blanks before a tag", assemble, lambda: (" " * 900_000 + SAY, {"q": "x"}), ""),
    Fault("450,000 lines of tabs before a tag", assemble, lambda: ("\t\n" * 450_000 + SAY, {"q": "x"}), ""),
    Fault(
        "blanks between 30,000 tags of one line",
        assemble,
        lambda: (in_text((" " * 20 + "{{q}}") * 30_000), {"q": "x"}),
        "",
    ),
    Fault("40,000 lines with a section each", assemble, lambda: (in_text("{{#q}}\n{{/q}}\n" * 40_000), {"q": "x"}), ""),
    Fault("200,000 tags", assemble, lambda: ("{{a}}" * 190_000, {"a": 1}), "'tags'"),
    Fault("190,000 comments", assemble, lambda: ("{{!}}" * 190_000 + "[]", {}), ""),
    Fault("70,000 changes of delimiters", assemble, lambda: ("{{=<% %>=}}<%={{ }}=%>" * 40_000 + SAY, {"q": "x"}), ""),
    Fault("delimiters that are never closed", assemble, lambda: ("{{=<% %>=}}" + "<%" * 400_000, {}), "is not closed"),
    Fault("450,000 opening braces", assemble, lambda: ("{" * 900_000, {}), "not closed"),
    Fault(
        "a tag's name of 900,000 characters",
        assemble,
        lambda: (in_text("{{" + "a" * 900_000 + "}}"), {}),
        "unresolved tag",
    ),
    Fault(
        "a tag's name of 300,000 parts",
        assemble,
        lambda: (in_text("{{" + "a." * 300_000 + "a}}"), {}),
        "more than 200 parts",
    ),
    Fault("1,000,000 quotes", assemble, lambda: ('"' * 900_000, {}), "not JSON"),
    Fault("450,000 escapes", assemble, lambda: (in_text("\\n" * 450_000), {}), ""),
    Fault(
        "a backslash after 900,000 characters", assemble, lambda: (in_text("x" * 900_000 + "\\{{q}}"), {}), "backslash"
    ),
    Fault("100,000 brackets", assemble, lambda: ("[" * 100_000 + "]" * 100_000, {}), "nested too deeply"),
    Fault("an array of 490,000 numbers", assemble, lambda: ("[" + "0," * 490_000 + "]", {}), "$[0]: Expected `object`"),
    Fault("900,000 commas", assemble, lambda: ("[" + "," * 900_000 + "]", {}), ""),
    Fault("NUL bytes", assemble, lambda: (in_text("\0" * 100_000 + "{{\0}}"), {"\0": "\0" * 100_000}), ""),
    Fault("lone surrogates", assemble, lambda: (in_text("\ud800{{\udfff}}"), {"\udfff": "\udc00" * 100_000}), ""),
    Fault(
        "the line ends of Unicode",
        assemble,
        lambda: (in_text("\x85\u2028\u2029\x0b\x0c\x1c" * 50_000 + "\r\n{{#q}}\r\n{{/q}}\r\n{{z}}"), {"q": 1}),
        "'{{z}}' (line 4)",
    ),
    Fault(
        "a blueprint of 100,000 messages",
        assemble,
        lambda: ([{"role": "user", "content": "x"}] * 100_000, {}),
        "'values'",
    ),
    Fault(
        "a blueprint of 20,000 messages",
        assemble,
        lambda: ([{"role": "user", "content": "{{q}}"}] * 20_000, {"q": "x"}),
        "",
    ),
    Fault("a blueprint of 240,000 empty texts", assemble, lambda: ([""] * 240_000, {}), "$[0]: Expected `object`"),
    Fault(
        "a blueprint with 16,000 keys",
        assemble,
        lambda: ([{f"k{n}": "{{q}}" for n in range(16_000)}], {"q": "x"}),
        "role",
    ),
    Fault(
        "a blueprint with a key of 400,000 characters over 100,000 texts",
        assemble,
        lambda: ([{"k" * 400_000: [""] * 100_000}], {}),
        "role",
    ),
    Fault("a blueprint of shared lists", assemble, lambda: (doubling(27), {}), "'values'"),
    Fault("a blueprint that contains itself", assemble, lambda: ([cycle()], {}), "contains itself"),
    # contexts
    Fault("a context of 16,000 keys", assemble, lambda: (SAY, {"q": "x"} | {f"k{n}": n for n in range(16_000)}), ""),
    Fault(
        "a list of 5,000,000 items",
        assemble,
        lambda: (SAY, {"q": "x", "l": [0] * 5_000_000}),
        "$.l: more than 250,000 values",
    ),
    Fault("shared lists with 10^8 paths", assemble, lambda: (SAY, {"q": "x", "l": doubling(27)}), "'values'"),
    Fault("shared lists with 10^60 paths", assemble, lambda: (SAY, {"q": "x", "l": doubling(199)}), "'values'"),
    Fault("a context that contains itself", assemble, lambda: (SAY, {"q": cycle()}), "contains itself"),
    Fault("a text of 10 MB, 1,000 times", assemble, lambda: (SAY, {"q": ["x" * 10_000_000] * 1_000}), "'text'"),
    Fault("a text of 15,000,000 control characters", assemble, lambda: (SAY, {"q": "\0" * 15_000_000}), "'output'"),
    Fault("a list of 15,000,000 control characters", assemble, lambda: (SAY, {"q": ["\0" * 15_000_000]}), "'output'"),
    Fault(
        "a text of 1 MB, repeated 1,000 times",
        assemble,
        lambda: (in_text("{{#l}}{{q}}{{/l}}"), {"l": [1] * 1_000, "q": "x" * 1_000_000}),
        "'output'",
    ),
    Fault(
        "an object of 1 MB, repeated 1,000 times",
        assemble,
        lambda: ("[{{#l}}{{q}},{{/l}}]", {"l": [1] * 1_000, "q": ["x" * 100] * 10_000}),
        "'output'",
    ),
    Fault("250,000 integers of 4,300 digits", assemble, lambda: (SAY, {"q": [10**4299] * 240_000}), "'text'"),
    Fault("an integer of 1,000,000 digits", assemble, lambda: (SAY, {"q": 10**1_000_000}), "more than 4300 digits"),
    Fault(
        "a history of 50,000 messages",
        assemble,
        lambda: ("[{{#h}}{{.}},{{/h}}]", {"h": [{"role": "user", "content": "x"}] * 50_000}),
        "",
    ),
    Fault(
        "a history of 200,000 wrong messages",
        assemble,
        lambda: ("[{{#h}}{{.}},{{/h}}]", {"h": [0] * 200_000}),
        "$[0]: Expected `object`",
    ),
    Fault("a lambda", assemble, lambda: (SAY, {"q": lambda text, _: text}), "$.q: a value of type function"),
    Fault(
        "keys that are not text", assemble, lambda: (SAY, {"q": {("k",) * 1_000_000: 1}}), "$.q: the key of type tuple"
    ),
    Fault("a key that cannot be printed", assemble, lambda: (SAY, {"q": {RaisingKey(): 1}}), "key of type RaisingKey"),
    Fault("a key of 5,000 digits", assemble, lambda: (SAY, {"q": {10**5_000: 1}}), "key of type int"),
    Fault(
        "a wrong value below keys of 1 MB",
        assemble,
        lambda: (SAY, {"k" * 1_000_000: {"l" * 1_000_000: {1}}}),
        "a value of type set",
    ),
    Fault("a mapping without end", assemble, lambda: (SAY, Endless()), "'values'"),
    Fault("a mapping that deepens without end", assemble, lambda: (SAY, {"q": Deeper()}), "deeper than 200 levels"),
    Fault(
        "a mapping that raises",
        assemble,
        lambda: (SAY, {"q": RaisingMapping()}),
        "reading a RaisingMapping failed (KeyError)",
    ),
    Fault("a list whose methods raise", assemble, lambda: (SAY, {"q": RaisingList([1])}), ""),
    Fault("a dict whose methods raise", assemble, lambda: (SAY, RaisingDict(q="x")), ""),
    Fault("a text whose methods raise", assemble, lambda: (SAY, {"q": RaisingText("x")}), ""),
    Fault("an object that says it is a list", assemble, lambda: (SAY, {"q": Pretender()}), "a value of type Pretender"),
    # files
    Fault("YAML: 500,000 brackets", load, lambda: (".yaml", "[" * 500_000), "more than 100 levels of nesting (line 1)"),
    Fault("YAML: 250,000 dashes", load, lambda: (".yaml", "- " * 250_000), "more than 100 levels of nesting (line 1)"),
    Fault(
        "YAML: aliases that double 39 times",
        load,
        lambda: (".yaml", yaml_doubling("[", "]", "[x, x]")),
        "more than 50,000 values",
    ),
    Fault(
        "YAML: merge keys that double 39 times",
        load,
        lambda: (".yaml", yaml_doubling("{<<: [", "]}", "{x: y}")),
        "more than 50,000 values",
    ),
    Fault(
        "YAML: a key made of doubling aliases",
        load,
        lambda: (".yaml", yaml_doubling("[", "]", "[x, x]").replace("a39: ", "? ")),
        "more than 50,000 values",
    ),
    Fault(
        "YAML: a list that contains itself",
        load,
        lambda: (".yaml", "&a [*a]"),
        "contains itself, or has",
    ),
    Fault("YAML: 100,000 maps", load, lambda: (".yaml", "- {a: 1}\n" * 100_000), "more than 50,000 values"),
    Fault("YAML: 48,000 values", load, lambda: (".yaml", "- {a: 1}\n" * 16_000), ""),
    Fault(
        "YAML: a number of base 60 with 400,000 digits",
        load,
        lambda: (".yaml", "- " + "1:" * 400_000 + "1"),
        "that is not text (line 1)",
    ),
    Fault(
        "YAML: a number that does not fit a float",
        load,
        lambda: (".yaml", "- " + "1:" * 300 + "1.5"),
        "is not of the type float (line 1)",
    ),
    Fault("YAML: an integer without digits", load, lambda: (".yaml", "- !!int ''"), "is not of the type int (line 1)"),
    Fault(
        "YAML: 40,000 directives",
        load,
        lambda: (".yaml", "".join(f"%TAG !t{n}! x\n" for n in range(40_000)) + "---\na"),
        "more than 100 directives",
    ),
    Fault("YAML: 900,000 newlines", load, lambda: (".yaml", "- a" + "\n" * 900_000 + "  b"), "'characters'"),
    Fault("YAML: a lone surrogate", load, lambda: (".yaml", "- \ud800"), "is not UTF-8"),
    Fault("JSON: 900,000 brackets", load, lambda: (".json", "[" * 900_000), "nested too deeply"),
    Fault("JSON: 300,000 objects", load, lambda: (".json", "[" + "{}," * 300_000 + "{}]"), "'values'"),
    Fault("JSON: 4 MB of numbers", load, lambda: (".json", "[" + "1," * 2_000_000 + "1]"), "'characters'"),
]
