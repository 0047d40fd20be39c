"""What an agent does when a part of it fails."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from art_sdk import (
    ARTError,
    InvalidConfig,
    LLMProviderError,
    PromptAssemblyFailed,
    PromptManager,
    PromptTranslationFailed,
    PromptValidationFailed,
)
from art_sdk.agents.pes import (
    InMemoryStore,
    ObservationManager,
    PESAgent,
    PESSettings,
    ReasoningEngine,
    ToolRegistry,
    ToolSystem,
)
from scripted import CITY, PLAN, AgentOnTrial, Said, calling, tool

BUSY = LLMProviderError("busy", provider="scripted", status=503, is_retryable=True)
REFUSED = PromptTranslationFailed("no system message")
ROME = ("c1", "weather", '{"city": "Rome"}')
WEATHER = tool("weather", lambda _: "rain")


class Failing(PromptManager):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.failing = name

    def assemble_prompt(self, blueprint: Any, context: Any, **options: Any) -> Any:
        if options["name"] == self.failing:
            return super().assemble_prompt(blueprint, {}, **options)
        return super().assemble_prompt(blueprint, context, **options)


@pytest.mark.parametrize(
    ("said", "options", "kind", "step"),
    [
        ([BUSY], {}, LLMProviderError, "planning"),
        ([PLAN, BUSY], {}, LLMProviderError, "synthesis"),
        ([REFUSED], {}, PromptTranslationFailed, "planning"),
        ([PLAN, REFUSED], {}, PromptTranslationFailed, "synthesis"),
        ([], {"prompts": Failing("PES_PLAN")}, PromptAssemblyFailed, "planning"),
        ([PLAN], {"prompts": Failing("PES_SYNTHESIZE")}, PromptAssemblyFailed, "synthesis"),
        (["Tool Calls: [7]"], {}, LLMProviderError, "planning"),
        ([PLAN, ""], {}, LLMProviderError, "synthesis"),
    ],
)
def test_an_error_is_observed_and_raised_and_nothing_is_kept(
    said: list[Said], options: dict[str, Any], kind: type[ARTError], step: str
):
    trial = AgentOnTrial(*said, **options)
    with pytest.raises(kind) as caught:
        trial.ask()
    observed = trial.observations.find(kind="ERROR")
    assert [(one.code, one.message, one.content) for one in observed] == [
        (caught.value.code, caught.value.message, {"step": step})
    ]
    assert observed[0].trace_id
    assert observed[0].traceback is None
    assert (trial.history(), trial.adapter.open) == ([], 0)


def test_a_traceback_is_kept_on_request_without_the_values_of_variables():
    trial = AgentOnTrial(BUSY, tracebacks=True)
    with pytest.raises(LLMProviderError):
        trial.ask("the value of a variable")
    [observed] = trial.observations.find(kind="ERROR")
    assert "Traceback" in str(observed.traceback)
    assert "the value of a variable" not in str(observed.traceback)


def test_an_exception_of_another_kind_is_observed_too():
    trial = AgentOnTrial(KeyError("bug"))
    with pytest.raises(KeyError):
        trial.ask()
    assert [one.code for one in trial.observations.find(kind="ERROR")] == ["KeyError"]


def test_a_retried_step_goes_on_as_if_nothing_had_been():
    trial = AgentOnTrial(BUSY, PLAN, BUSY, BUSY, "Yes.", on_error="retry")
    assert trial.ask().answer == "Yes."
    assert trial.kinds() == ["ERROR", "INTENT", "PLAN", "ERROR", "ERROR", "SYNTHESIS"]


def test_a_retried_synthesis_calls_no_tool_again():
    ran: list[object] = []
    trial = AgentOnTrial(calling(ROME), BUSY, "Yes.", on_error="retry", tools=(tool("weather", ran.append),))
    trial.ask()
    assert len(ran) == 1


@pytest.mark.parametrize("said", [[BUSY] * 3, [REFUSED]], ids=["retries are used up", "it would not help"])
def test_what_retries_do_not_fix_is_raised(said: list[Said]):
    trial = AgentOnTrial(*said, on_error="retry")
    with pytest.raises(ARTError):
        trial.ask()
    assert len(trial.adapter.prompts) == len(said)


def test_an_error_may_be_answered():
    trial = AgentOnTrial(calling(ROME), BUSY, on_error="answer", error_answer="Sorry.", tools=(WEATHER,))
    result = trial.ask()
    assert (result.answer, result.status, result.error, len(result.tool_results)) == ("Sorry.", "failed", BUSY, 1)
    assert trial.history() == []
    assert trial.kinds()[-1] == "ERROR"


def test_an_application_decides_by_the_error():
    def decide(error: ARTError) -> Any:
        return "retry" if isinstance(error, LLMProviderError) else "answer"

    assert AgentOnTrial(BUSY, PLAN, "Yes.", on_error=decide).ask().status == "success"
    assert AgentOnTrial(REFUSED, on_error=decide).ask().status == "failed"


def test_a_retry_waits_as_long_as_the_provider_asks():
    later = LLMProviderError("later", provider="scripted", is_retryable=True, retry_after=0.2)
    trial = AgentOnTrial(later, PLAN, "Yes.", on_error="retry")

    async def timed() -> float:
        began = anyio.current_time()
        await trial.agent.process("t", "Rain?")
        return anyio.current_time() - began

    assert anyio.run(timed) >= 0.19


def always_calls(_prompt: object, options: Any) -> Said:
    return calling(ROME, content=None) if options.tools else PLAN


def test_a_model_that_never_stops_requesting_tools_is_stopped():
    trial = AgentOnTrial(script=always_calls, tools=(WEATHER,), max_rounds=3)
    with pytest.raises(LLMProviderError, match="requested tools again, after 3 of at most 3 rounds"):
        trial.ask()
    assert len(trial.adapter.prompts) == 4
    assert trial.kinds().count("TOOL_EXECUTION") == 3
    assert trial.history() == []


def test_text_beside_calls_that_are_too_many_is_the_answer():
    trial = AgentOnTrial(calling(ROME), calling(ROME, content="It rains."), tools=(WEATHER,))
    assert trial.ask().answer == "It rains."


FAILURES = [
    (("c1", "weather", '{"city": "Rome"}'), "ValueError: no such city"),
    (("c1", "weather", '{"town": 1}'), "the arguments do not match the tool's input schema: $: "),
    (("c1", "weather", "not JSON"), "ValueError: the arguments are not a JSON object: "),
    (("c1", "wether", '{"city": "Rome"}'), "there is no tool 'wether'; tools: weather"),
]


@pytest.mark.parametrize(("call", "error"), FAILURES)
def test_the_model_sees_a_failed_call_and_answers(call: tuple[str, str, str], error: str):
    def fail(_: object) -> None:
        raise ValueError("no such city")

    trial = AgentOnTrial(calling(call), "I do not know.", tools=(tool("weather", fail, CITY),))
    result = trial.ask()
    assert result.answer == "I do not know."
    [failed] = result.tool_results
    assert str(failed.error).startswith(error)
    asked, answered = trial.adapter.prompts[1][2:4]
    assert (answered.status, answered.content) == ("error", failed.error)  # type: ignore[union-attr]
    assert asked.tool_calls[0].function.arguments.startswith("{")  # type: ignore[union-attr]
    assert f"Status: error\n  Error: {failed.error}" in str(trial.adapter.prompts[1][-1].content)


@pytest.mark.parametrize("query", ["", " \n"])
def test_a_blank_query_is_refused(query: str):
    with pytest.raises(PromptValidationFailed, match="the query must not be blank"):
        AgentOnTrial().ask(query)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"max_rounds": 0}, "max_rounds must be at least 1"),
        ({"history_limit": -1}, "history_limit must be at least 0"),
        ({"retries": -1}, "retries must be at least 0"),
        ({"on_error": "ignore"}, "on_error must be one of propagate, retry, answer"),
        ({"default_system_prompt": " "}, "default_system_prompt must not be blank"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(settings: dict[str, Any], reason: str):
    with pytest.raises(InvalidConfig) as caught:
        PESSettings(**settings)
    assert reason in caught.value.message


def test_an_agent_needs_an_adapter_and_a_store_of_conversations():
    with pytest.raises(InvalidConfig, match="needs an adapter"):
        ReasoningEngine({})

    class StateAlone:
        get_thread_config = get_thread_config_value = set_thread_config = InMemoryStore.get_thread_config

    engine, state = ReasoningEngine({"a": AgentOnTrial().adapter}), StateAlone()
    with pytest.raises(InvalidConfig, match="StateAlone keeps no conversations"):
        PESAgent(engine, PromptManager(), ToolSystem(ToolRegistry()), state, ObservationManager())  # type: ignore[arg-type]


def test_a_listener_that_raises_stops_nothing(caplog: pytest.LogCaptureFixture):
    trial = AgentOnTrial(PLAN, "Yes.")
    received: list[Any] = []
    unsubscribe = trial.observations.subscribe(lambda one: received.append(one.type) or 1 / 0)
    assert trial.ask().answer == "Yes."
    unsubscribe()
    trial.observations.record("PLAN", "t", "r", {})
    assert received == ["INTENT", "PLAN", "SYNTHESIS"]
    assert "a listener failed on an observation of the type PLAN" in caplog.text


def test_observations_are_found_by_thread_question_and_type_and_the_oldest_go():
    manager = ObservationManager(limit=3, clock=lambda: 7.0)
    for number in range(4):
        manager.record("PLAN" if number % 2 else "INTENT", f"t{number}", "r", {"number": number})
    assert [one.content["number"] for one in manager.find()] == [1, 2, 3]
    assert [one.id for one in manager.find(thread_id="t2", trace_id="r", kind="INTENT")] == [3]
    assert manager.find()[0].timestamp == 7.0
