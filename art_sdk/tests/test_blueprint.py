from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from chevron.tokenizer import tokenize
from hypothesis import given, settings
from hypothesis import strategies as st

from art_sdk import Blueprint, BlueprintLimits, PromptAssemblyFailed, PromptContext
from art_sdk.blueprints.limits import DEFAULT_LIMITS, PARTIAL_DEPTH
from art_sdk.blueprints.mustache import BlueprintError, Tag, TextToken, read_tokens

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

TEXT = '[{"role": "user", "content": "{{a}} {{#l}}{{b.c}}{{-index}}{{.}}{{/l}}{{^m.n}}{{/m.n}}"}, {{> p}} ]'
P = {"p": '{"role": "user", "content": "{{&d}}"}'}


def failure(source: Any, **how: Any) -> PromptAssemblyFailed:
    with pytest.raises(PromptAssemblyFailed) as caught:
        Blueprint.compile(source, **how)
    return caught.value


def test_a_blueprint_lists_its_variables_and_sections_with_those_of_partials():
    blueprint = Blueprint.compile(TEXT, partials=P)
    assert blueprint.variables() == {"a", "b.c", "d"}
    assert blueprint.sections() == {"l", "m.n"}


def test_names_are_the_same_in_text_and_object():
    blueprint = Blueprint.compile([{"role": "user", "content": "{{a}}"}, "{{#l}}", "{{{.}}}", "{{{b.c}}}", "{{/l}}"])
    assert (blueprint.variables(), blueprint.sections()) == ({"a", "b.c"}, {"l"})


def test_the_same_blueprint_is_compiled_once():
    assert Blueprint.compile(TEXT, partials=P) is Blueprint.compile(TEXT, partials=dict(P))
    assert Blueprint.compile(["{{a}}"]) is Blueprint.compile(("{{a}}",))


@pytest.mark.parametrize(
    "other",
    [
        Blueprint.compile(TEXT, partials=P | {"p": "{}"}),
        Blueprint.compile(TEXT, partials=P, name="x"),
        Blueprint.compile(TEXT + " ", partials=P),
    ],
)
def test_another_text_name_or_partial_is_another_blueprint(other: Blueprint):
    assert other is not Blueprint.compile(TEXT, partials=P)


def test_text_that_looks_like_an_object_is_still_text():
    assert Blueprint.compile('["{{{a}}}"]').render({"a": 1}) == '["1"]'
    assert json.loads(Blueprint.compile(["{{{a}}}"]).render({"a": 1})) == [1]


def test_a_blueprint_cannot_be_changed():
    blueprint = Blueprint.compile(TEXT, partials=P, name="mine")
    for field in dataclasses.fields(blueprint):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(blueprint, field.name, None)
        assert isinstance(getattr(blueprint, field.name), str | tuple | BlueprintLimits)
    assert repr(blueprint) == "Blueprint('mine')"


def test_changing_the_source_does_not_change_the_blueprint():
    source = [{"role": "user", "content": "{{a}}"}]
    blueprint = Blueprint.compile(source)
    source[0]["content"] = "x"
    assert "{{a}}" not in blueprint.render({"a": "y"})
    assert '"y"' in blueprint.render({"a": "y"})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, 'a blueprint must be text, a list of messages, or {"template": text}'),
        (5, "a blueprint must be text"),
        ({"template": 5}, "a blueprint must be text"),
        ({"template": "[]", "more": 1}, "a blueprint must be text"),
        (b"[]", r"\$: a value of type bytes is not JSON data"),
        ([{"role": {1}}], r"\$\[0\].role: a value of type set is not JSON data"),
        ([{1: 2}], r"\$\[0\]: the key 1 is not a string"),
        ("x" * (DEFAULT_LIMITS.characters + 1), "more than 1,000,000 characters"),
        (["x" * DEFAULT_LIMITS.characters], "more than 1,000,000 characters"),
        ("{{a}}" * 50_001, "more than 50,000 tags"),
    ],
)
def test_a_malformed_source_is_an_error(source: Any, message: str):
    with pytest.raises(PromptAssemblyFailed, match=message):
        Blueprint.compile(source)


@pytest.mark.parametrize("partials", [5, ["a"], {"a": 5}, {"a": None}, {1: "a"}, {"a": b"x"}])
def test_bad_partials_are_an_error(partials: Any):
    assert "partials" in failure("[]", partials=partials).message


def test_a_partial_that_includes_itself_is_an_error():
    circle = {"a": "{{> b}}", "b": "{{> a}}"}
    assert failure("{{> a}}", partials=circle).message.endswith(
        "the partial '{{>a}}' includes itself (line 1 of partial 'b')"
    )


@pytest.mark.parametrize("name", [5, ["a"], {}, b"x"])
def test_a_name_must_be_a_string(name: Any):
    assert "a blueprint's name must be a string, not" in failure("[]", name=name).message


def test_rendering_rejects_an_unknown_mode():
    with pytest.raises(PromptAssemblyFailed, match="strict must be one of variables, all, off"):
        Blueprint.compile("[]").render({}, strict="none")  # type: ignore[arg-type]


def test_partials_can_be_nested_sixteen_levels_deep():
    chain = {f"p{n}": f"{{{{> p{n + 1}}}}}" for n in range(PARTIAL_DEPTH)} | {f"p{PARTIAL_DEPTH}": "[]"}
    assert Blueprint.compile("{{> p1}}", partials=chain).render({}) == "[]"
    assert "is nested deeper than 16 levels" in failure("{{> p0}}", partials=chain).message


def test_partials_that_double_at_each_level_are_an_error():
    bomb = {f"p{n}": f"{{{{> p{n + 1}}}}}" * 2 for n in range(PARTIAL_DEPTH - 1)} | {"p15": ""}
    error = failure("{{> p0}}", partials=bomb, name="BOMB")
    assert "the blueprint includes more than 1,000 partials (the limit 'partials')" in error.message
    assert error.details == {"blueprint": "BOMB", "tag": "{{>p13}}", "line": 1, "within": "partial 'p12'"}


def error_of(work: Callable[[], object]) -> str:
    """The error's message; nothing where it works."""
    try:
        work()
    except PromptAssemblyFailed as error:
        return error.message
    return ""


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("[" * 100_000, ""),  # refused later, by what reads it
        ([json.loads("[" * 150 + "]" * 150)], ""),
        ([json.loads("[" * 250 + "]" * 250)], "nested deeper than 200 levels, or contains itself"),
        ("{{#a}}{{/a}}" * 200, ""),
        (["{{#a}}", "{{/a}}"] * 200, ""),
        ("{{#a}}" * 64 + "{{/a}}" * 64, ""),
        ("{{#a}}" * 65 + "{{/a}}" * 65, "sections are nested deeper than 64 levels (line 1)"),
        (["{{#a}}"] * 5_000 + ["{{/a}}"] * 5_000, "sections are nested deeper than 64 levels (line 1 of $[64])"),
    ],
)
def test_deep_nesting_does_not_crash(source: Any, message: str):
    assert error_of(lambda: Blueprint.compile(source).render({"a": [1]})).endswith(message)


def test_an_error_names_blueprint_tag_and_line():
    error = failure('[\n"{{a b}}"]', name="PES_PLAN")
    assert error.details == {"blueprint": "PES_PLAN", "tag": "{{a b}}", "line": 2}
    assert str(error).startswith("PROMPT_ASSEMBLY_FAILED: Failed to assemble prompt for 'PES_PLAN': malformed tag")
    assert str(error).endswith("(line 2)")


def test_the_error_of_an_unnamed_blueprint_has_no_name():
    error = failure("{{")
    assert error.message == "Failed to assemble prompt: the tag '{{' is not closed (line 1)"
    assert error.details == {"line": 1}


def test_a_long_name_is_cut():
    error = failure("{{" + "#" * 5_000 + "}}", name="n" * 5_000)
    assert len(error.message) < 300


def test_rendering_takes_any_json_data():
    assert json.loads(Blueprint.compile("[{{.}}]").render([1, "a"])) == [[1, "a"]]
    assert json.loads(Blueprint.compile("[{{query}}]").render(PromptContext(query="q"))) == ["q"]


def test_rendering_rejects_data_that_is_not_json():
    with pytest.raises(PromptAssemblyFailed, match=r"\$\.a: a value of type set is not JSON data"):
        Blueprint.compile("[{{a}}]").render({"a": {1}})


def test_a_long_path_is_cut():
    value: Any = {1}
    for _ in range(150):
        value = {"key": value}
    with pytest.raises(PromptAssemblyFailed) as caught:
        Blueprint.compile("[]").render(value)
    assert len(caught.value.message) < 300


def test_threads_can_share_a_blueprint():
    blueprint = Blueprint.compile('[{{#l}}"{{who}} {{.}} {{-index}}",{{/l}} "{{> p}}"]', partials={"p": "{{who}}"})
    wrong: list[str] = []

    def work(who: int):
        expected = [f"{who} {n} {n}" for n in range(20)]
        for _ in range(100):
            text = blueprint.render({"who": who, "l": list(range(20))})
            if json.loads(text) != [*expected, str(who)]:
                wrong.append(text)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    assert wrong == []


PARTS = (
    *("{{", "}}", "{{{", "}}}", "{{#a}}", "{{/a}}", "{{^b}}", "{{/b}}", "{{a}}", "{{&b}}", "{{> p}}", "{{! c }}"),
    *("{{=<% %>=}}", "<%a%>", "<%={{ }}=%>", "{{.}}", "{{$x}}", "{{ a }}", '"role"', '"user"', '"content"'),
    *'[]{},:#/=|"\\ \n\0',
    *("\r\n", "\ud800", "é", "a"),
)
SOUP = st.lists(st.sampled_from(PARTS), max_size=14).map("".join)


@settings(max_examples=1_500, deadline=None)
@given(SOUP)
def test_chevron_finds_the_same_tags(source: str):
    try:
        ours = [*read_tokens(source)]
    except BlueprintError:
        return
    theirs = [(kind, key) for kind, key in tokenize(source) if kind != "set delimiter"]
    assert [token.name for token in ours if isinstance(token, Tag)] == [k for kind, k in theirs if kind != "literal"]
    texts = [token.text.rstrip(" ") for token in ours if isinstance(token, TextToken)]
    expected = [text.rstrip(" ") for kind, text in theirs if kind == "literal"]
    assert [*filter(None, texts)] == [*filter(None, expected)]  # chevron keeps blanks after a last tag on its own line


@settings(max_examples=1_500, deadline=None)
@given(
    SOUP, st.sampled_from(["variables", "all", "off"]), st.sampled_from([{}, {"a": "x"}, {"a": [1, {"b": 2}], "b": 0}])
)
def test_any_text_renders_or_raises_an_assembly_error(source: str, strict: Any, context: Any):
    message = error_of(lambda: Blueprint.compile(source, partials={"p": "{{a}}\n"}).render(context, strict=strict))
    assert len(message) < 400


SPLIT = st.lists(st.sampled_from(["a", " ", "\n", "\r\n", "\t", "{{#t}}", "{{/t}}", "{{! c }}", "{{x}}"]), max_size=12)


@settings(max_examples=500, deadline=None)
@given(SPLIT.map("".join))
def test_lines_are_counted_as_in_an_editor(source: str):
    source += "\n{{missing}}"
    try:
        blueprint = Blueprint.compile([source])
    except PromptAssemblyFailed:
        return
    with pytest.raises(PromptAssemblyFailed) as caught:
        blueprint.render({"t": True, "x": "1"})
    assert caught.value.details["line"] == source.count("\n") + 1
