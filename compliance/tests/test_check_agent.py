"""What is wrong with an adapter over which an agent does not come to its answer."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.miniatures import find_miniature
from art_compliance.miniatures.base import as_data
from art_sdk import AnthropicAdapter, DeepSeekAdapter, GeminiAdapter, MistralAdapter, OpenAIAdapter, OpenRouterAdapter
from trials import assert_each_has, messages_of, reason_of, spoiled

WHOLE, STREAMED = "agent.question-is-answered", "agent.streamed-question-is-answered"
ADAPTERS = (AnthropicAdapter, DeepSeekAdapter, GeminiAdapter, MistralAdapter, OpenAIAdapter, OpenRouterAdapter)


@pytest.mark.parametrize("check", [WHOLE, STREAMED])
@pytest.mark.parametrize("make", ADAPTERS)
def test_an_agent_gets_the_same_answer_in_every_dialect(make: Any, check: str):
    assert messages_of(check, make) == []


class BlackBox:
    """An adapter that shows nothing but its calls."""

    dialect = "openai-chat"
    capabilities = frozenset({"system", "tools", "streaming"})

    def __init__(self, **settings: Any) -> None:
        self._adapter = OpenAIAdapter(**settings)
        self.call = self._adapter.call
        self.aclose = self._adapter.aclose


@pytest.mark.parametrize("check", [WHOLE, STREAMED])
def test_a_black_box_without_parallel_calls_serves_an_agent(check: str):
    assert messages_of(check, BlackBox) == []


@pytest.mark.parametrize(
    ("miniature", "reporter"),
    [
        ("swaps-results", "translation.results-survive"),
        ("sends-tools-as-text", "wire.request-matches-the-schema"),
    ],
)
def test_what_other_checks_report_is_left_to_them(miniature: str, reporter: str):
    assert f"the cause is reported: see {reporter}" in reason_of(WHOLE, find_miniature(miniature).of(OpenAIAdapter))


def test_an_agent_is_asked_whole_by_one_check_and_streamed_by_the_other():
    fails_to_stream = find_miniature("cannot-stream").of(OpenAIAdapter)
    assert messages_of(WHOLE, fails_to_stream) == []
    assert "the cause is reported" in reason_of(STREAMED, fails_to_stream)


def test_an_adapter_without_tools_is_not_asked():
    class Talker(OpenAIAdapter):
        capabilities = frozenset({"system"})

    assert reason_of(WHOLE, Talker) == "the adapter does not declare tools"


def test_an_answer_that_is_not_made_of_the_results_is_found():
    wrong = messages_of(WHOLE, find_miniature("answers-a-trace-once").of(OpenAIAdapter))
    must = "Rome: 24 degrees; Atlantis: there is no such city"
    assert_each_has(wrong, [f'the answer must be "{must}", not "Intent: compare two cities'])


def second_call(give: Any) -> Any:
    """An adapter whose second call of a trace gives what the function gives, or raises."""

    def spoil(adapter: Any) -> None:
        own, asked = adapter.call, list[Any]()

        async def call(prompt: Any, options: Any) -> Any:
            trace = as_data(options).get("trace_id") or ""
            if trace in asked:
                for event in give():
                    yield event
                return
            asked.extend([trace] if len(trace) == 32 else [])  # an agent's: other checks have names of their own
            async for event in own(prompt, options):
                yield event

        adapter.call = call

    return spoiled(spoil)


def fail() -> Any:
    raise OSError("busy")


def ends_with(message: Any) -> Any:
    return lambda: [{"type": "END", "message": message, "finish": "stop"}]


@pytest.mark.parametrize(
    ("give", "reason"),
    [
        (fail, "it raised OSError: busy, at "),
        (lambda: [{"type": "ERROR", "error": {"message": "no"}}], "an ERROR event: no"),
        (ends_with({"role": "user", "content": "x"}), "END's message is not of the assistant"),
        (ends_with({"role": "x"}), "END's message is not standard: "),
        (ends_with({"role": "assistant", "content": ""}), "LLM_PROVIDER_ERROR: the model was asked for an answer"),
    ],
)
def test_a_call_that_gives_no_answer_is_found_with_its_step(give: Any, reason: str):
    [message] = messages_of(WHOLE, second_call(give))
    assert message.startswith(f"synthesis: {reason}")
