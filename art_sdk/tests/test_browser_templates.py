from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from msgspec import structs

from art_sdk import PromptAssemblyFailed
from art_sdk.agents.browser import (
    AIPromptManager,
    PromptTemplate,
    TemplateNotFound,
    TemplateRenderingFailed,
    ValidationFailed,
)
from browser_agent import Contexts, action, manager


def custom(made: AIPromptManager, text: str, variables: Any = None, **more: Any) -> PromptTemplate:
    old = made.get_prompt_templates().schema_template
    known = old.variables if variables is None else variables
    return structs.replace(old, template=text, variables=tuple(known), version="1.0.1", **more)


def text_of(made: AIPromptManager, **request: Any) -> str:
    prompt = asyncio.run(made.generate_action_prompt(action(**request)))
    return str(prompt.to_art_prompt()[-1].content)


ALL = "{{formatInstructions}} {{schemaText}} {{#rules}}{{.}}{{/rules}}{{#examples}}{{input}}{{output}}{{/examples}}"


def variable(name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "required": True, "description": ""} | more


def test_the_collection_is_a_copy():
    made = manager()
    collection = made.get_prompt_templates()
    next(one for one in collection.schema_template.variables if one.name == "examples").default_value.append("x")
    again = next(one for one in made.get_prompt_templates().schema_template.variables if one.name == "examples")
    assert again.default_value == []


def test_a_custom_template_takes_the_place_of_the_default():
    made = manager()
    made.update_prompt_template("schema", custom(made, "My schema: " + ALL, locale="en-GB"))
    assert text_of(made).startswith("My schema: Answer with")
    new = made.get_prompt_templates().schema_template
    assert (new.version, new.locale) == ("1.0.1", "en-GB")
    assert new.last_modified.isoformat() == "2026-05-04T12:00:00+00:00"


def test_a_changed_template_makes_all_cached_prompts_forgotten():
    made = manager()
    text_of(made)
    assert repr(made) == "AIPromptManager(1 cached prompts)"
    made.update_prompt_template("schema", custom(made, "My schema: " + ALL))
    assert repr(made) == "AIPromptManager(0 cached prompts)"


def test_the_template_before_takes_the_place_of_one_that_fails():
    made = manager()
    made.update_prompt_template("schema", custom(made, "My schema: " + ALL))
    broken = msgspec.to_builtins(custom(made, "{{mine}}")) | {"variables": [variable("mine", "string")]}
    made.update_prompt_template("schema", broken | {"version": "1.0.2"})
    prompt = asyncio.run(made.generate_action_prompt(action()))
    assert (prompt.metadata or {})["fallbacks"] == ["previous_template:schema"]
    assert prompt.sections[1].text.startswith("My schema: Answer with")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{formatInstructions}}", "declares '.*' and does not use it"),
        (ALL + "{{surprise}}", "uses 'surprise' and does not declare it"),
        (ALL + "{{#formatInstructions}}{{inner}}{{/formatInstructions}}", "uses 'inner' and does not declare it"),
        (ALL + "{{#rules}}", "rules"),
        (ALL + "{{> other}}", "other"),
    ],
)
def test_a_template_whose_names_do_not_fit_is_refused(text: str, words: str):
    made = manager()
    with pytest.raises(ValidationFailed, match=words):
        made.update_prompt_template("schema", custom(made, text))


def test_names_inside_a_list_may_be_those_of_its_items():
    made = manager()
    made.update_prompt_template("schema", custom(made, ALL + "{{#examples}}{{explanation}}{{/examples}}"))


def test_a_template_needs_a_known_id_its_own_id_and_a_higher_version():
    made = manager()
    template = custom(made, ALL)
    with pytest.raises(TemplateNotFound, match="no template 'other'"):
        made.update_prompt_template("other", template)
    with pytest.raises(ValidationFailed, match="own id must be 'context'"):
        made.update_prompt_template("context", template)
    with pytest.raises(ValidationFailed, match=r"higher than 1\.0\.0"):
        made.update_prompt_template("schema", structs.replace(template, version="0.9.9"))
    with pytest.raises(ValidationFailed, match="version"):
        made.update_prompt_template("schema", msgspec.to_builtins(template) | {"version": "1.0"})


def test_a_variable_that_is_declared_twice_is_refused():
    made = manager()
    twice = [variable("a", "string"), variable("a", "string")]
    template = msgspec.to_builtins(custom(made, "{{a}}")) | {"variables": twice}
    with pytest.raises(ValidationFailed, match="declares a variable twice"):
        made.update_prompt_template("schema", template)


def test_custom_templates_can_be_switched_off():
    made = manager(config={"templateConfig": {"enableCustomTemplates": False}})
    with pytest.raises(ValidationFailed, match="enable_custom_templates is off"):
        made.update_prompt_template("schema", custom(made, ALL))


@pytest.mark.parametrize(
    ("kind", "words"),
    [("string", "is required and not given"), ("number", "is required and not given")],
)
def test_a_required_variable_that_nobody_gives_makes_the_default_take_its_place(kind: str, words: str):
    made = manager()
    template = msgspec.to_builtins(custom(made, "{{mine}}")) | {"variables": [variable("mine", kind)]}
    made.update_prompt_template("schema", template)
    prompt = asyncio.run(made.generate_action_prompt(action()))
    assert (prompt.metadata or {})["fallbacks"] == ["default_template:schema"]
    strict = manager(config={"template_config": {"fallback_to_default": False}})
    strict.update_prompt_template("schema", template)
    with pytest.raises(TemplateRenderingFailed, match=f"'mine' of the template 'schema' {words}") as caught:
        asyncio.run(strict.generate_action_prompt(action()))
    assert (caught.value.session_id, caught.value.step_index) == ("s1", 0)


@pytest.mark.parametrize(
    ("kind", "value"), [("number", True), ("string", 1), ("array", "x"), ("object", []), ("boolean", 0)]
)
def test_a_value_of_the_wrong_type_is_refused(kind: str, value: Any):
    from art_sdk.agents.browser.templates import check_values  # noqa: PLC0415

    template = msgspec.convert(
        msgspec.to_builtins(custom(manager(), "{{a}}")) | {"variables": [variable("a", kind)]}, PromptTemplate
    )
    with pytest.raises(TemplateRenderingFailed, match=f"must be of the type {kind}"):
        check_values(template, {"a": value})
    assert not manager_validator().validate_template_variables(template, {"a": value})


def manager_validator() -> Any:
    from art_sdk.agents.browser import PromptValidator  # noqa: PLC0415

    return PromptValidator()


def test_a_default_takes_the_place_of_a_value_that_is_not_given():
    made = manager()
    mine = variable("mine", "string", required=False, defaultValue="by default")
    made.update_prompt_template("schema", msgspec.to_builtins(custom(made, "{{mine}}")) | {"variables": [mine]})
    made2 = text_of(made, prompt_options={"validation_mode": "lenient"})
    assert made2.startswith("by default")


def test_a_template_that_the_assembler_refuses_says_where():
    made = manager(config={"templateConfig": {"templateValidationEnabled": False, "fallbackToDefault": False}})
    made.update_prompt_template("schema", custom(made, "ok\n{{unknown}}"))
    with pytest.raises(TemplateRenderingFailed, match="unknown") as caught:
        text_of(made)
    assert caught.value.context == {"template": "schema", "tag": "{{unknown}}", "line": 2, "within": "$[0].content"}
    assert isinstance(caught.value.__cause__, PromptAssemblyFailed)


@pytest.mark.parametrize(
    "value", ["{{stepNumber}}", "{{#rules}}x{{/rules}}", "{{> x}}", "{{{schemaText}}}", "{{=<% %>=}}"]
)
def test_no_value_is_read_as_a_template(value: str):
    text = text_of(manager(Contexts(f"<p>{value}</p>")), content=value, prompt_options={"custom_instructions": value})
    assert text.count(value.replace("<", "‹").replace(">", "›")) + text.count(value) >= 3
