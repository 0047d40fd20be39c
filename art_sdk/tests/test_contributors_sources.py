"""The built-in sources, each on a context made by hand, and their registry."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import anyio
import pytest

from art_sdk import InvalidConfig, ToolSchema
from art_sdk.contributors import (
    AgentConfig,
    DynamicContributorContext,
    SourceRegistry,
    get_current_date_time,
    get_memory_summary,
    get_source_handler,
    get_tool_listing,
    get_user_instructions,
    load_contributors,
    source_handler_registry,
    validate_agent_config,
)

MOMENT = datetime(2026, 1, 2, 0, 4, 5, 678_999, tzinfo=timezone(timedelta(hours=1)))
NAMES = {
    "dateTime": get_current_date_time,
    "memorySummary": get_memory_summary,
    "userInstructions": get_user_instructions,
    "toolListing": get_tool_listing,
}


class Manager:
    def __init__(self, tools: Mapping[str, Any] | Exception, *, waits: bool = False) -> None:
        self.tools = tools
        self.waits = waits

    def get_all_tools(self) -> Any:
        return self._later() if self.waits else self._now()

    async def _later(self) -> Mapping[str, Any]:
        await anyio.lowlevel.checkpoint()
        return self._now()

    def _now(self) -> Mapping[str, Any]:
        if isinstance(self.tools, Exception):
            raise self.tools
        return self.tools


class Memory:
    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: list[tuple[str | None, str]] = []

    async def recall(self, thread_id: str | None, query: str) -> str:
        self.asked.append((thread_id, query))
        return self.text


def ask(source: Any, context: DynamicContributorContext, **options: Any) -> str:
    async def run() -> str:
        return await source(context, **options)

    return anyio.run(run)


def agent(contributors: list[dict[str, Any]], **sections: Any) -> AgentConfig:
    return validate_agent_config({"llm": {"systemPrompt": {"contributors": contributors}}, **sections})


@pytest.mark.parametrize(
    ("granularity", "text"),
    [("date", "2026-01-02"), ("minute", "2026-01-02T00:04+01:00"), ("second", "2026-01-01T23:04:05.678Z")],
)
def test_the_time_is_cut_to_its_granularity(granularity: str, text: str):
    context = DynamicContributorContext(now=lambda: MOMENT)
    assert ask(get_current_date_time, context, granularity=granularity) == f"Current date and time: {text}"


def test_the_time_is_the_date_unless_the_configuration_asks_for_more():
    context = DynamicContributorContext(now=lambda: MOMENT.astimezone(UTC))
    assert ask(get_current_date_time, context) == "Current date and time: 2026-01-01"
    assert ask(get_current_date_time, context, granularity="minute").endswith("2026-01-01T23:04Z")


def test_without_a_clock_the_time_is_now():
    before = datetime.now(UTC).date().isoformat()
    text = ask(get_current_date_time, DynamicContributorContext())
    assert text.removeprefix("Current date and time: ") in {before, datetime.now(UTC).date().isoformat()}


@pytest.mark.parametrize("how", [{}, {"waits": True}], ids=["at once", "later"])
def test_the_tool_listing_has_the_names_in_the_order_of_the_manager(how: dict[str, bool]):
    context = DynamicContributorContext(client_manager=Manager({"b": 1, "a": 2}, **how))
    assert ask(get_tool_listing, context) == "Available tools: b, a"


def test_the_tool_listing_has_only_the_tools_that_the_thread_enables():
    tools = (ToolSchema("a", "A", {}),)
    context = DynamicContributorContext(client_manager=Manager({"b": 1, "a": 2}), tools=tools)
    assert ask(get_tool_listing, context) == "Available tools: a"


@pytest.mark.parametrize(
    ("context", "text"),
    [
        (DynamicContributorContext(), "No tools are available."),
        (DynamicContributorContext(tools=(), client_manager=Manager({"a": 1})), "No tools are available."),
        (DynamicContributorContext(client_manager=Manager({})), "No tools are available."),
        (DynamicContributorContext(client_manager=Manager(OSError("gone"))), "Could not retrieve tool listing."),
        (
            DynamicContributorContext(client_manager=Manager(OSError("gone"), waits=True)),
            "Could not retrieve tool listing.",
        ),
    ],
    ids=["no manager", "none enabled", "empty manager", "failing manager", "manager that fails later"],
)
def test_the_tool_listing_says_that_there_are_none_or_is_left_out(context: DynamicContributorContext, text: str):
    assert ask(get_tool_listing, context) == text
    assert ask(get_tool_listing, context, omit_if_unavailable=True) == ""


def test_a_failed_tool_listing_is_logged_without_the_words_of_the_error(caplog: pytest.LogCaptureFixture):
    ask(get_tool_listing, DynamicContributorContext(client_manager=Manager(OSError("a secret place"))))
    assert "could not be listed: OSError" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize("memory", [{}, {"memory": {"provider": "none"}}], ids=["not configured", "none"])
def test_no_memory_gives_no_summary(memory: dict[str, Any]):
    context = DynamicContributorContext(agent_config=agent([], **memory), memory=Memory("tea"))
    assert ask(get_memory_summary, context) == ""
    assert ask(get_memory_summary, DynamicContributorContext(memory=Memory("tea"))) == ""


def test_the_memory_summary_names_the_provider():
    memory = Memory("They like tea.")
    context = DynamicContributorContext(
        agent_config=agent([], memory={"provider": "in-memory"}), memory=memory, thread_id="t1", query="coffee?"
    )
    assert ask(get_memory_summary, context) == "Memory Summary (Provider: in-memory): They like tea."
    assert memory.asked == [("t1", "coffee?")]


def test_an_empty_memory_gives_no_summary():
    config = agent([], memory={"provider": "in-memory"})
    assert ask(get_memory_summary, DynamicContributorContext(agent_config=config, memory=Memory(""))) == ""


def test_a_configured_memory_that_the_context_lacks_is_an_error():
    context = DynamicContributorContext(agent_config=agent([], memory={"provider": "in-memory"}))
    with pytest.raises(ValueError, match="the context has none: pass memory="):
        ask(get_memory_summary, context)


@pytest.mark.parametrize(
    ("contributors", "text"),
    [
        ([{"id": "userInstructions", "type": "static", "priority": 1, "content": "Be brief."}], "Be brief."),
        ([{"id": "userInstructions", "type": "static", "priority": 1, "content": "x", "enabled": False}], ""),
        ([{"id": "userInstructions", "type": "dynamic", "priority": 1, "source": "dateTime"}], ""),
        ([{"id": "other", "type": "static", "priority": 1, "content": "x"}], ""),
        ([{"id": "userInstructions", "enabled": False}], ""),
        ([], ""),
    ],
    ids=["static", "disabled", "dynamic", "another id", "removed", "none"],
)
def test_the_user_instructions_are_those_of_the_enabled_static_contributor(contributors: Any, text: str):
    context = DynamicContributorContext(agent_config=agent(contributors))
    assert ask(get_user_instructions, context) == text


@pytest.mark.parametrize("llm", [{}, {"systemPrompt": "a text"}], ids=["no prompt", "text"])
def test_without_contributors_there_are_no_user_instructions(llm: dict[str, Any]):
    context = DynamicContributorContext(agent_config=validate_agent_config({"llm": llm}))
    assert ask(get_user_instructions, context) == ""
    assert ask(get_user_instructions, DynamicContributorContext()) == ""


def test_the_registry_has_the_four_sources():
    assert {name: source_handler_registry[name] for name in NAMES} == NAMES
    assert {name: get_source_handler(name) for name in NAMES} == NAMES
    assert get_source_handler("nothing") is None


@pytest.mark.parametrize(
    ("source", "options", "stability"),
    [
        ("dateTime", {}, "session"),
        ("dateTime", {"granularity": "second"}, "turn"),
        ("memorySummary", {}, "turn"),
        ("toolListing", {}, "session"),
        ("userInstructions", {}, "static"),
    ],
)
def test_a_source_says_how_often_its_text_changes(source: str, options: dict[str, Any], stability: str):
    entry = {"id": "x", "type": "dynamic", "priority": 1, "source": source, "options": options}
    (made,) = load_contributors({"contributors": [entry]}, defaults=())
    assert made.stability == stability


def test_a_decorated_function_is_a_source():
    registry = SourceRegistry()

    @registry.source("weather")
    def weather(context: DynamicContributorContext, *, place: str = "London") -> str:
        return f"Rain in {place}, {context.thread_id}."

    entry = {"id": "w", "type": "dynamic", "priority": 1, "source": "weather", "options": {"place": "York"}}
    (made,) = load_contributors({"contributors": [entry]}, registry=registry, defaults=())
    assert anyio.run(made.get_content, DynamicContributorContext(thread_id="t")) == "Rain in York, t."
    assert (made.stability, list(registry), len(registry)) == ("turn", ["weather"], 1)


def test_sources_of_other_distributions_are_found_by_entry_point(tmp_path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "mood_source.py").write_text("def mood(context):\n    return 'Sunny.'\nnumber = 3\n")
    info = tmp_path / "mood_source-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mood_source\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[art_sdk.prompt_sources]\nmood = mood_source:mood\nbroken = mood_source:nothing\nnumber = mood_source:number\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    (made,) = load_contributors(
        {"contributors": [{"id": "m", "type": "dynamic", "priority": 1, "source": "mood"}]}, defaults=()
    )
    assert anyio.run(made.get_content, DynamicContributorContext()) == "Sunny."
    assert "mood" in source_handler_registry
    with pytest.raises(InvalidConfig, match=r"the source 'broken' \(mood_source:nothing\) cannot be imported"):
        get_source_handler("broken")
    with pytest.raises(InvalidConfig, match=r"the source 'number' \(mood_source:number\) must be a function"):
        get_source_handler("number")
