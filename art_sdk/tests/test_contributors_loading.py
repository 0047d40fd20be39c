"""A configuration becomes contributors, or one error that names everything that is wrong."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from art_sdk import InvalidConfig
from art_sdk.contributors import (
    AgentConfig,
    ContributorConfig,
    DynamicContributorContext,
    SystemPromptConfig,
    default_contributors,
    load_contributors,
    validate_agent_config,
)

STATIC = {"id": "tone", "type": "static", "priority": 5, "content": "Be kind."}
DYNAMIC = {"id": "clock", "type": "dynamic", "priority": 6, "source": "dateTime"}
SOURCES = "known sources: dateTime, memorySummary, userInstructions, toolListing"


def loaded(*contributors: dict[str, Any]) -> list[tuple[str, int]]:
    return [(one.id, one.priority) for one in load_contributors({"contributors": list(contributors)})]


def violations_of(*contributors: Any) -> dict[str, str]:
    with pytest.raises(InvalidConfig) as caught:
        load_contributors({"contributors": list(contributors)})
    return {one["path"].removeprefix("$.contributors"): one["message"] for one in caught.value.details["violations"]}


def test_the_default_is_the_date():
    assert [(one.id, one.source, one.priority) for one in default_contributors] == [("dateTime", "dateTime", 10)]
    assert loaded() == [("dateTime", 10)]


def test_a_text_is_one_contributor_and_nothing_else():
    (only,) = load_contributors("Be kind. {{x}}")
    assert (only.id, only.priority, only.stability) == ("legacyPrompt", 0, "static")
    assert anyio.run(only.get_content, DynamicContributorContext()) == "Be kind. {{x}}"


def test_a_contributor_replaces_the_default_of_its_id_in_its_place():
    replaced = {"id": "dateTime", "type": "static", "priority": 3, "content": "No clock here."}
    assert loaded(STATIC, replaced) == [("dateTime", 3), ("tone", 5)]


@pytest.mark.parametrize(
    "removal", [{"id": "dateTime", "enabled": False}, {**DYNAMIC, "id": "dateTime", "enabled": False}]
)
def test_a_disabled_contributor_removes_the_default(removal: dict[str, Any]):
    assert loaded(removal, STATIC) == [("tone", 5)]


def test_a_disabled_contributor_may_lack_whatever_it_needs():
    assert loaded({"id": "x", "type": "dynamic", "source": "nothing", "enabled": False}) == [("dateTime", 10)]


def test_empty_content_is_allowed():
    assert loaded(STATIC | {"content": ""}) == [("dateTime", 10), ("tone", 5)]


def test_typed_configurations_and_data_are_the_same():
    entry = ContributorConfig(id="tone", type="static", priority=5, content="Be kind.")
    typed = SystemPromptConfig(contributors=(entry,))
    for config in (typed, {"contributors": [entry]}, {"contributors": (STATIC,)}):
        assert [one.id for one in load_contributors(config)] == ["dateTime", "tone"]


@pytest.mark.parametrize(
    ("entry", "path", "message"),
    [
        (
            {"id": "x", "type": "static", "priority": 1},
            "content",
            "the contributor 'x' of type 'static' must have content",
        ),
        (STATIC | {"content": None}, "content", "Expected `str`, got `null`"),
        (
            {"id": "x", "type": "dynamic", "priority": 1},
            "source",
            f"the contributor 'x' of type 'dynamic' must have source; {SOURCES}",
        ),
        (DYNAMIC | {"source": "nope"}, "source", f"the contributor 'clock' has an unknown source 'nope'; {SOURCES}"),
        (
            {"id": "x", "type": "file", "priority": 1, "files": []},
            "files",
            "the contributor 'x' of type 'file' must have files",
        ),
        (
            {"id": "x", "type": "resources", "priority": 1},
            "uris",
            "the contributor 'x' of type 'resources' must have uris",
        ),
        (
            STATIC | {"source": "dateTime"},
            "source",
            "the contributor 'tone' of type 'static' must not have source",
        ),
        (
            DYNAMIC | {"template": True},
            "template",
            "the contributor 'clock' of type 'dynamic' must not have template",
        ),
        (STATIC | {"id": 10**5000}, "id", "Expected `str`, got `int`"),
        ({"id": "x", "priority": 1}, "type", "the contributor 'x' must have a type"),
        ({"id": "x", "type": "static", "content": ""}, "priority", "the contributor 'x' must have a priority"),
        (STATIC | {"priority": "high"}, "priority", "Expected `int`, got `str`"),
        (STATIC | {"type": "magic"}, "type", "Invalid enum value 'magic'"),
        (STATIC | {"tag": "a b"}, "tag", "Expected `str` matching regex '^[A-Za-z][A-Za-z0-9_-]{0,63}$'"),
        (STATIC | {"enabled": "yes"}, "enabled", "Expected `bool`, got `str`"),
        ({"type": "static", "priority": 1, "content": ""}, "id", "missing required field"),
        (
            DYNAMIC | {"options": {"granularity": "day"}},
            "options.granularity",
            "Invalid enum value 'day'",
        ),
        (DYNAMIC | {"options": {"zone": 1}}, "options.zone", "unknown option; known options: granularity"),
        (
            DYNAMIC | {"source": "memorySummary", "options": {"a": 1}},
            "options.a",
            "unknown option; known options: none",
        ),
    ],
)
def test_a_wrong_contributor_is_refused_with_path_and_reason(entry: Any, path: str, message: str):
    assert violations_of(entry) == {f"[0].{path}": message}


@pytest.mark.parametrize(
    ("options", "violations"),
    [
        ({"place": "York", "daysAhead": 3}, {}),
        ({}, {"place": "missing required option"}),
        ({"place": 3}, {"place": "Expected `str`, got `int`"}),
        ({"place": "York", "days_ahead": 3}, {"days_ahead": "unknown option; known options: place, daysAhead"}),
    ],
)
def test_options_are_the_keyword_parameters_of_a_source(options: dict[str, Any], violations: dict[str, str]):
    def weather(context: DynamicContributorContext, *, place: str, days_ahead: int = 1) -> str:
        return f"{place} {days_ahead}"

    assert option_faults(weather, options) == violations


def test_options_are_not_checked_where_nobody_knows_them():
    def anything(context: DynamicContributorContext, **options: Any) -> str:
        return str(options)

    def mystery(context: DynamicContributorContext, *, size: Unheard = None) -> str:  # noqa: F821
        return str(size)

    assert option_faults(anything, {"sizeOfAll": 3}) == {}
    assert option_faults(mystery, {"size": {"any": 3}}) == {}
    assert option_faults(mystery, {"shape": 3}) == {"shape": "unknown option; known options: size"}
    assert option_faults(vars, {"size": 3}) == {}


def option_faults(source: Any, options: dict[str, Any]) -> dict[str, str]:
    entry = {"id": "x", "type": "dynamic", "priority": 1, "source": "s", "options": options}
    try:
        load_contributors({"contributors": [entry]}, registry={"s": source}, defaults=())
    except InvalidConfig as error:
        prefix = "$.contributors[0].options."
        return {one["path"].removeprefix(prefix): one["message"] for one in error.details["violations"]}
    return {}


def test_a_source_takes_its_options_by_their_python_names():
    def weather(context: DynamicContributorContext, *, days_ahead: int = 1) -> str:
        return f"in {days_ahead} days"

    entry = {"id": "x", "type": "dynamic", "priority": 1, "source": "s", "options": {"daysAhead": 3}}
    (made,) = load_contributors({"contributors": [entry]}, registry={"s": weather}, defaults=())
    assert anyio.run(made.get_content, DynamicContributorContext()) == "in 3 days"
    assert made.stability == "turn"


def test_defaults_that_lack_a_field_are_refused():
    with pytest.raises(InvalidConfig, match="a contributor of the defaults lacks"):
        load_contributors({"contributors": []}, defaults=[ContributorConfig(id="x", type="static")])
    with pytest.raises(InvalidConfig, match="the default contributor 'dateTime' has an unknown source 'dateTime'"):
        load_contributors({"contributors": []}, registry={})


def test_values_with_methods_of_their_own_are_plain_data():
    class Stubborn(dict[str, Any]):
        def items(self) -> Any:
            raise RuntimeError

        def __iter__(self) -> Any:
            raise RuntimeError

    assert [one.id for one in load_contributors(Stubborn(contributors=[Stubborn(STATIC)]))] == ["dateTime", "tone"]
    with pytest.raises(InvalidConfig, match="unknown field"):
        load_contributors({"contributors": [], "x": Stubborn(a=1)})


def test_an_unknown_field_is_refused_with_the_known_ones():
    assert violations_of(STATIC | {"prio": 1})["[0].prio"].startswith("unknown field; known fields: id, type, priority")


def test_an_id_that_appears_twice_is_refused():
    assert violations_of(STATIC, DYNAMIC, STATIC) == {"[2].id": "the id 'tone' appears twice"}


@pytest.mark.parametrize("config", [5, None, [], {"contributors": 3}, {}, {"contributors": [3]}])
def test_what_is_no_configuration_is_refused(config: Any):
    with pytest.raises(InvalidConfig, match=r"bad system prompt: \$"):
        load_contributors(config)


def test_an_agent_is_refused_once_with_all_paths():
    config = {
        "llm": {
            "systemPrompt": {"contributors": [{"id": "x", "type": "static", "priority": 1}, STATIC, STATIC]},
            "a": 1,
        },
        "memory": {"provider": "in-memory", "maxTokens": 0, "retrievalStrategy": "all"},
        "b": 2,
    }
    with pytest.raises(InvalidConfig) as caught:
        validate_agent_config(config)
    paths = {one["path"] for one in caught.value.details["violations"]}
    assert paths == {
        "$.b",
        "$.llm.a",
        "$.llm.systemPrompt.contributors[0].content",
        "$.llm.systemPrompt.contributors[2].id",
        "$.memory.maxTokens",
        "$.memory.retrievalStrategy",
    }
    assert all(path in caught.value.message for path in paths)


def test_a_long_list_of_violations_is_cut_in_the_message_alone():
    with pytest.raises(InvalidConfig) as caught:
        load_contributors({"contributors": [{"id": str(number), "priority": 1} for number in range(30)]})
    assert caught.value.message.endswith("; and 10 more")
    assert len(caught.value.details["violations"]) == 30


def test_an_agent_with_sections_of_its_own_is_checked_as_its_own_type():
    class Planner(AgentConfig, frozen=True, kw_only=True):
        rounds: int = 3

    assert validate_agent_config({"llm": {}, "rounds": 5}, Planner) == Planner(
        llm=validate_agent_config({"llm": {}}).llm, rounds=5
    )
    with pytest.raises(InvalidConfig, match=r"\$\.rounds: Expected `int`, got `str`"):
        validate_agent_config({"llm": {}, "rounds": "many"}, Planner)


def test_a_connection_string_shows_nowhere():
    config = validate_agent_config(
        {"llm": {}, "memory": {"provider": "redis", "connectionString": "redis://:geheim@h"}}
    )
    assert "geheim" not in repr(config)
    assert str(config.memory.connection_string) == "redis://:geheim@h"  # type: ignore[union-attr]
    assert validate_agent_config(config) == config
    with pytest.raises(InvalidConfig) as caught:
        validate_agent_config({"llm": {}, "memory": {"provider": 1, "connectionString": "redis://:geheim@h", "x": 1}})
    assert "geheim" not in f"{caught.value}{caught.value.details}"
