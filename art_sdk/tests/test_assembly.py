"""What PromptManager takes: contexts, names, modes, partials, fragments."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pytest

from art_sdk import (
    FRAGMENTS,
    AssistantMessage,
    Blueprint,
    PromptAssemblyFailed,
    PromptContext,
    PromptManager,
    PromptValidationFailed,
    SystemMessage,
    ToolSchema,
    UserMessage,
)
from art_sdk.agents.pes import PES_PLAN

ONE = '[{"role": "user", "content": "{{q}}"}]'


@pytest.fixture
def manager() -> PromptManager:
    return PromptManager()


def failure(blueprint: Any, context: Any, **how: Any) -> PromptAssemblyFailed:
    with pytest.raises(PromptAssemblyFailed) as caught:
        PromptManager().assemble_prompt(blueprint, context, **how)
    return caught.value


@dataclass
class Data:
    q: str


@pytest.mark.parametrize(
    "context",
    [{"q": "x"}, PromptContext(q="x"), MappingProxyType({"q": "x"}), Data("x"), {"q": "x", "unused": [1]}],
    ids=lambda context: type(context).__name__,
)
def test_a_context_is_a_mapping_or_a_typed_value(manager: PromptManager, context: Any):
    assert manager.assemble_prompt(ONE, context) == (UserMessage("x"),)


def test_a_prompt_context_uses_the_names_of_blueprints(manager: PromptManager):
    context = PromptContext(
        query="q?",
        system_prompt="S",
        history=(UserMessage("a"), AssistantMessage("b")),
        available_tools=(ToolSchema("find", "Finds.", {"type": "object"}),),
    )
    system, first, second, last = manager.assemble_prompt(PES_PLAN, context)
    assert (system, first, second) == (SystemMessage("S"), UserMessage("a"), AssistantMessage("b"))
    assert isinstance(last, UserMessage)
    assert '- find: Finds.\n  Input Schema: {"type":"object"}\n\n' in str(last.content)


def test_a_compiled_blueprint_keeps_its_own_name(manager: PromptManager):
    compiled = Blueprint.compile(ONE, name="MINE")
    assert manager.assemble_prompt(compiled, {"q": "x"}) == (UserMessage("x"),)
    assert failure(compiled, {}).details["blueprint"] == "MINE"
    assert failure(compiled, {}, name="OTHER").details["blueprint"] == "MINE"


def test_a_compiled_blueprint_takes_no_partials():
    assert "has its partials already" in failure(Blueprint.compile(ONE), {"q": "x"}, partials={}).message


@pytest.mark.parametrize(
    ("context", "message"),
    [
        (None, "$: the context must be an object, not null"),
        ([("q", "x")], "$: the context must be an object, not an array"),
        ("q", "$: the context must be an object, not a string"),
        (Data, "$: the context must be an object, not a type"),
        ({"q": {"x"}}, "$.q: a value of type set is not JSON data"),
        ({"q": "x", "unused": [1, len]}, "$.unused[1]: a value of type builtin_function_or_method is not JSON data"),
        ({"q": float("nan")}, "$.q: nan is not a JSON number"),
        ({1: "x"}, "$: the key 1 is not a string"),
    ],
)
def test_a_context_must_be_a_json_object(context: Any, message: str):
    assert message in failure(ONE, context).message


@pytest.mark.parametrize("strict", ["none", "", None, [], True])
def test_an_unknown_mode_is_an_error(strict: Any):
    assert "strict must be one of variables, all, off" in failure(ONE, {"q": "x"}, strict=strict).message


@pytest.mark.parametrize("partials", [5, "ab", ["a"], {"a": 5}, {1: "x"}])
def test_partials_must_map_names_to_texts(partials: Any):
    assert "partials" in failure(ONE, {"q": "x"}, partials=partials).message


def test_the_default_fragments_are_those_of_the_pes_agent(manager: PromptManager):
    assert manager.fragments == FRAGMENTS
    assert "pes_tool_format" in FRAGMENTS
    assert PromptManager({"a": "b"}).fragments == {"a": "b"}
    assert PromptManager({}).fragments == {}


def test_the_fragments_cannot_be_changed():
    given = {"a": "b"}
    manager = PromptManager(given)
    given["a"] = "c"
    with pytest.raises(TypeError):
        manager.fragments["a"] = "c"  # type: ignore[index]
    assert manager.get_fragment("a") == "b"


@pytest.mark.parametrize("fragments", [5, ["a"], {"a": 5}, {1: "x"}])
def test_fragments_must_map_names_to_texts(fragments: Any):
    with pytest.raises(PromptAssemblyFailed, match="fragments"):
        PromptManager(fragments)


def test_a_fragment_is_rendered_only_with_a_context():
    manager = PromptManager({"hello": 'Hi "{{name}}"\n{{> bye}}', "bye": "\\{{name}}"})
    assert manager.get_fragment("hello") == 'Hi "{{name}}"\n{{> bye}}'
    assert manager.get_fragment("hello", {"name": '{{x}}"\n'}) == 'Hi "{{x}}"\n"\n\\{{x}}"\n'
    assert PromptManager({"a": "{{{x}}}"}).get_fragment("a", {"x": 5}) == "5"


@pytest.mark.parametrize(
    ("name", "context", "message"),
    [
        ("nope", None, "unknown fragment; known fragments: hello"),
        (["hello"], None, "unknown fragment; known fragments: hello"),
        ("hello", {}, "Mustache unresolved tag '{{name}}' (line 1)"),
        ("hello", {"name": {1}}, "$.name: a value of type set is not JSON data"),
        ("hello", ["name"], "the context must be an object, not an array"),
    ],
)
def test_a_fragment_that_cannot_be_rendered_is_an_error(name: Any, context: Any, message: str):
    with pytest.raises(PromptAssemblyFailed) as caught:
        PromptManager({"hello": "Hi {{name}}"}).get_fragment(name, context)
    assert message in caught.value.message
    assert caught.value.details["blueprint"] == name


def test_partials_come_before_fragments():
    manager = PromptManager({"a": "fragment", "b": "kept"})
    blueprint = '[{"role": "user", "content": "{{> a}} {{> b}}"}]'
    assert manager.assemble_prompt(blueprint, {}) == (UserMessage("fragment kept"),)
    assert manager.assemble_prompt(blueprint, {}, partials={"a": "partial"}) == (UserMessage("partial kept"),)


def test_partials_are_never_read_from_files(tmp_path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "secret.mustache").write_text("swordfish")
    monkeypatch.chdir(tmp_path)
    assert "unknown partial '{{>secret}}'" in failure("[{{> secret}}]", {}).message


def test_validate_prompt_checks_calls_and_results(manager: PromptManager):
    lost = [{"role": "tool_result", "content": "x", "tool_call_id": "c"}]
    assert manager.validate_prompt(lost, conversation=False)
    with pytest.raises(PromptValidationFailed) as caught:
        manager.validate_prompt(lost)
    assert caught.value.details["layer"] == "conversation"
    assert manager.assemble_prompt("[{{#h}}{{.}},{{/h}}]", {"h": lost})


def test_aassemble_prompt_does_the_same(manager: PromptManager):
    given = {"name": "B", "partials": {"p": "!"}, "strict": "all"}
    blueprint = '[{"role": "user", "content": "{{q}}{{> p}}"}]'
    assert asyncio.run(manager.aassemble_prompt(blueprint, {"q": "x"}, **given)) == (UserMessage("x!"),)
    with pytest.raises(PromptAssemblyFailed, match="for 'B'"):
        asyncio.run(manager.aassemble_prompt(blueprint, {}, **given))
