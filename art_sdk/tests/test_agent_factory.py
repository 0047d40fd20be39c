"""Agents from configurations, and their system prompts of contributors."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from art_sdk import InvalidConfig, PromptAssemblyFailed, SystemMessage
from art_sdk.agents.pes import AgentResult, PESAgent, create_agent, explain_agent
from art_sdk.agents.pes.factory import load_config
from scripted import PLAN, ScriptedAdapter, tool

WEATHER = tool("weather", lambda _: "rain")
TODAY = datetime.now(UTC).date().isoformat()
ROLE = {"id": "role", "type": "static", "priority": 0, "content": "You are a travel agent."}
TOOLS = {"id": "tools", "type": "dynamic", "priority": 5, "source": "toolListing"}
CONTRIBUTED = {"contributors": [ROLE, TOOLS]}


def scripted(**sections: Any) -> tuple[PESAgent, ScriptedAdapter]:
    adapter = ScriptedAdapter(lambda _, options: PLAN if options.call_context == "AGENT_THOUGHT" else "Yes.")
    return create_agent({"llm": {}, **sections}, tools=[WEATHER], adapters={"scripted": adapter}), adapter


def ask(agent: PESAgent, query: str = "Where to?") -> AgentResult:
    return anyio.run(agent.process, "t", query)


def system_of(adapter: ScriptedAdapter) -> list[str]:
    return [message.content for message in adapter.prompts[-1] if isinstance(message, SystemMessage)]


def test_contributors_make_two_system_messages_if_a_part_changes():
    agent, adapter = scripted(llm={"systemPrompt": CONTRIBUTED})
    ask(agent)
    stable = "You are a travel agent.\n\nAvailable tools: weather"
    texts = system_of(adapter)
    assert "\n\n".join(texts).count("You are a travel agent.") == 1
    assert TODAY in texts[-1]
    assert len(texts) == 2 or texts == [f"{stable}\n\nCurrent date and time: {TODAY}"]


def test_a_text_is_the_whole_system_prompt():
    agent, adapter = scripted(llm={"systemPrompt": "Be {{brief}}."})
    ask(agent)
    assert system_of(adapter) == ["Be {{brief}}."]


def test_the_contributors_of_a_thread_take_the_place_of_the_agents():
    agent, adapter = scripted(llm={"systemPrompt": "Be brief."})
    own = {"contributors": [{"id": "dateTime", "enabled": False}, ROLE]}
    anyio.run(agent.state.set_thread_config, "t", {"systemPrompt": own})
    ask(agent)
    assert system_of(adapter) == ["You are a travel agent."]


def test_contributors_that_give_nothing_leave_the_default():
    nothing = {"contributors": [{"id": "dateTime", "enabled": False}, {**ROLE, "content": ""}]}
    agent, adapter = scripted(llm={"systemPrompt": nothing})
    ask(agent)
    assert system_of(adapter)[0].startswith("You are a helpful assistant.")


def test_a_contributor_that_fails_is_an_error_of_the_preparation():
    gone = {"contributors": [{"id": "gone", "type": "file", "priority": 0, "files": ["gone.md"]}]}
    agent, _ = scripted(llm={"systemPrompt": gone})
    with pytest.raises(PromptAssemblyFailed, match="gone"):
        ask(agent)
    [observed] = agent.observations.find(kind="ERROR")
    assert (observed.code, observed.content) == ("PROMPT_ASSEMBLY_FAILED", {"step": "preparation"})


def test_files_of_contributors_are_below_the_root(tmp_path: Path):
    (tmp_path / "rules.md").write_text("Never lie.")
    rules = {"contributors": [{"id": "rules", "type": "file", "priority": 0, "files": ["rules.md"]}]}
    agent, adapter = scripted(llm={"systemPrompt": rules}, root=str(tmp_path))
    ask(agent)
    assert "Never lie." in system_of(adapter)[0]


def test_what_was_said_is_remembered():
    memory = {"contributors": [{"id": "memory", "type": "dynamic", "priority": 0, "source": "memorySummary"}]}
    agent, adapter = scripted(llm={"systemPrompt": memory}, memory={"provider": "in-memory"})
    ask(agent, "Where to in May?")
    ask(agent, "And in June?")
    assert "User: Where to in May?\nAssistant: Yes." in "\n".join(system_of(adapter))
    anyio.run(agent.aclose)


def test_a_memory_that_is_gone_costs_no_answer():
    agent, _ = scripted(memory={"provider": "redis", "connectionString": "redis://127.0.0.1:1"})
    assert ask(agent).answer == "Yes."
    [observed] = agent.observations.find(kind="ERROR")
    assert (observed.code, observed.content) == ("MemoryUnavailable", {"step": "remembering"})


SUMMARY = {"provider": "in-memory", "retrievalStrategy": "summary", "maxTokens": 500}
SEMANTIC = {"provider": "in-memory", "retrievalStrategy": "semantic", "maxTokens": 12}
REMEMBERING = {"contributors": [{"id": "memory", "type": "dynamic", "priority": 0, "source": "memorySummary"}]}


def test_the_usual_model_summarizes_what_was_said():
    agent, adapter = scripted(llm={"systemPrompt": REMEMBERING}, memory=SUMMARY)
    ask(agent, "Where to in May?")
    adapter.script = lambda _, options: "The user asks about May." if options.call_context is None else "Yes."
    ask(agent, "And in June?")
    [summarized] = [options for options in adapter.options if options.call_context is None]
    assert summarized.max_tokens == 500
    assert "Memory Summary (Provider: in-memory): The user asks about May." in "\n".join(system_of(adapter))


def test_a_provider_of_the_configuration_summarizes():
    usual, small = (ScriptedAdapter(lambda *_: "Yes.") for _ in range(2))
    config = {"llm": {"systemPrompt": REMEMBERING}, "memory": SUMMARY, "recall": {"summarizer": "small"}}
    agent = create_agent(config, adapters={"usual": usual, "small": small})
    ask(agent)
    ask(agent)
    assert (len(usual.prompts), len(small.prompts)) == (4, 1)


def test_functions_that_are_given_summarize_and_embed():
    agent = create_agent(
        {"llm": {"systemPrompt": REMEMBERING}, "memory": SUMMARY},
        adapters={"scripted": (adapter := ScriptedAdapter(lambda *_: "Yes."))},
        summarize=lambda texts: f"{len(texts)} texts",
    )
    ask(agent)
    ask(agent)
    assert "Memory Summary (Provider: in-memory): 1 texts" in "\n".join(system_of(adapter))


def by_june(texts: Any) -> list[list[float]]:
    return [[1.0, 0.0] if "June" in text else [0.0, 1.0] for text in texts]


@pytest.mark.parametrize("given", [{"embed": by_june}, {}])
def test_the_closest_texts_are_recalled(given: dict[str, Any]):
    named = {} if given else {"recall": {"embedder": f"{__name__}:by_june"}}
    adapter = ScriptedAdapter(lambda *_: "Yes.")
    config = {"llm": {"systemPrompt": REMEMBERING}, "memory": SEMANTIC, **named}
    agent = create_agent(config, adapters={"scripted": adapter}, **given)
    for query in ("To Rome in May?", "To Oslo in June?", "What was that about June?"):
        ask(agent, query)
    assert "To Oslo in June?" in "\n".join(system_of(adapter))
    assert "To Rome in May?" not in "\n".join(system_of(adapter))


@pytest.mark.parametrize(
    ("memory", "recall", "reason"),
    [
        (
            SEMANTIC,
            {},
            "the retrievalStrategy 'semantic' needs a function that embeds texts: name it in recall.embedder",
        ),
        (SEMANTIC, {"embedder": "json:__name__"}, "'json:__name__' is not a function that embeds, but a str"),
        (SEMANTIC, {"embedder": "json:nothing"}, "'json:nothing' cannot be imported: "),
        (
            SUMMARY,
            {"summarizer": "small"},
            "$.recall.summarizer: there is no provider 'small'; known providers: scripted",
        ),
        (SUMMARY, {"model": "small"}, "$.recall.model: unknown field"),
    ],
)
def test_a_memory_that_cannot_recall_is_refused(memory: Any, recall: Any, reason: str):
    with pytest.raises(InvalidConfig) as caught:
        scripted(memory=memory, recall=recall)
    assert reason in caught.value.message


def test_an_explanation_names_who_summarizes_and_what_does_not_embed():
    lines = explain_agent({"llm": {"provider": "openai"}, "memory": SUMMARY}, environment={})
    assert 'recall.summarizer = "openai"  (default)' in lines
    lines = explain_agent({"llm": {}, "memory": SEMANTIC}, environment={})
    assert "recall.embedder = null  (default)" in lines
    assert "missing: a function that embeds texts: name it in recall.embedder, or give it to create_agent" in lines


TOML = """
tools = ["test_agent_factory_tools:WEATHER"]
[llm]
provider = "main"
model = "gpt-9"
[providers.main]
adapter = "openai"
apiKeyEnv = "MAIN_KEY"
baseUrl = "http://127.0.0.1:1/v1"
[store]
kind = "sqlite"
path = "{path}"
[pes]
maxRounds = 2
onError = "answer"
"""


def test_a_file_makes_an_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "test_agent_factory_tools.py").write_text(
        "from art_sdk import ToolSchema\nfrom art_sdk.agents.pes import Tool\n"
        "WEATHER = Tool(schema=ToolSchema('weather', 'Weather.', {'type': 'object'}), run=print)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "agent.toml"
    path.write_text(TOML.replace("{path}", str(tmp_path / "store.db")))
    agent = create_agent(path, environment={"MAIN_KEY": "k" * 20})
    assert (agent.settings.max_rounds, agent.settings.on_error) == (2, "answer")
    result = ask(agent)
    assert (result.status, result.error and result.error.code) == ("failed", "LLM_PROVIDER_ERROR")
    assert (tmp_path / "store.db").exists()
    anyio.run(agent.aclose)


def test_an_adapter_is_made_when_it_is_needed():
    agent = create_agent({"llm": {"provider": "openai"}}, environment={})
    with pytest.raises(
        InvalidConfig, match="the provider 'openai' needs its key in the environment variable OPENAI_API_KEY"
    ):
        ask(agent)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"llm": {}}, "$.llm.provider: an agent needs a provider"),
        ({"llm": {"provider": "opnai"}}, "there is no adapter 'opnai'; give module:Class or one of anthropic, "),
        ({"llm": {"provider": "json:nothing"}}, "'json:nothing' cannot be imported: "),
        ({"llm": {"provider": "json:__name__"}}, "'json:__name__' is not an adapter's class"),
        ({"llm": {"provider": "openai"}, "tools": ["json:loads"]}, "'json:loads' is not a Tool, but a function"),
        ({"llm": {"provider": "openai"}, "store": {"kind": "sqlite"}}, "$.store.path: the kind 'sqlite' needs a path"),
        ({"llm": {"provider": "openai"}, "pes": {"maxRounds": 0}, "stor": 1}, "$.pes.maxRounds: "),
        ({"llm": {"provider": "openai"}, "blueprints": {}}, "$.blueprints: unknown field"),
        ("agent.yaml", "the suffix of 'agent.yaml' must be one of .toml, .json"),
        ("gone.json", "'gone.json' cannot be read: "),
    ],
)
def test_a_configuration_that_cannot_be_used_is_refused(config: Any, reason: str):
    with pytest.raises(InvalidConfig) as caught:
        create_agent(config, environment={"OPENAI_API_KEY": "k" * 20})
    assert reason in caught.value.message


def test_a_file_that_is_not_json_is_refused(tmp_path: Path):
    (tmp_path / "agent.json").write_text("{")
    with pytest.raises(InvalidConfig, match=r"'agent\.json' is not JSON: "):
        create_agent(tmp_path / "agent.json")


def test_an_explanation_shows_every_setting_and_what_is_missing_and_no_secret():
    config = {
        "llm": {"provider": "openai", "systemPrompt": "Be brief."},
        "memory": {"provider": "redis", "connectionString": "redis://:secret@localhost"},
        "pes": {"maxRounds": 2},
    }
    lines = explain_agent(config, environment={})
    assert 'llm.systemPrompt = "Be brief."  (given)' in lines
    assert "pes.maxRounds = 2  (given)" in lines
    assert "pes.historyLimit = 50  (default)" in lines
    assert 'store.kind = "memory"  (default)' in lines
    assert "memory.connectionString = [hidden]  (given)" in lines
    assert "missing: the environment variable OPENAI_API_KEY, with the key of the provider 'openai'" in lines
    assert "secret" not in json.dumps(lines)
    assert any("You are a helpful" in line for line in explain_agent({"llm": {}}, environment={}))


def test_an_explanation_names_the_extra_that_is_missing():
    lines = explain_agent({"llm": {}}, environment={}, find_package=lambda name: None)
    assert lines[-1] == "missing: the package jsonschema: pip install 'art-adapter-sdk[agents]'"


def test_a_typed_configuration_is_taken_as_it_is():
    typed = load_config({"llm": {"provider": "openai"}})
    assert isinstance(create_agent(typed, environment={}), PESAgent)
