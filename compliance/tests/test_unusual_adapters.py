"""Adapters that are right in an unusual way are not accused; the same way done wrongly is."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import structs

from art_compliance import Search, Selection, certify
from art_compliance.checks import CHECKS
from art_compliance.generating.profiles import PROFILES
from art_compliance.run.results import Result
from art_compliance.run.session import Session
from art_compliance.subject.factories import Factory
from art_compliance.subject.opening import open_subject
from art_sdk import (
    AnthropicAdapter,
    BaseAdapter,
    CallOptions,
    CohereChatAdapter,
    GeminiAdapter,
    OpenAIAdapter,
    parse_options,
    parse_prompt,
)
from art_sdk.stream import EndEvent, TokenEvent, ToolCallEvent
from right_adapters import RIGHT
from trials import findings_of, reason_of, suite_scenario

ADAPTERS = (AnthropicAdapter, GeminiAdapter, OpenAIAdapter)


def black_box(make: type[BaseAdapter], **always: Any) -> Any:
    """The factory of a black box around an adapter: it passes the prompt on, with these options besides."""

    class BlackBox:
        dialect, capabilities = make.dialect, make.capabilities
        losses, repairs = make.losses, make.repairs

        def __init__(self, **settings: Any) -> None:
            self._own = make(**settings)

        def call(self, prompt: Any, options: Any) -> Iterator[Any]:
            return self._own.call_sync(prompt, {**options, **always})

        async def aclose(self) -> None:
            await self._own.aclose()

    return BlackBox


def results_of(make: Factory, scenario: str, *stages: str) -> list[Result]:
    """The results of the checks of these stages that run on the scenario."""
    asked = suite_scenario(scenario)
    with open_subject(make, name="unusual") as subject:
        session = Session(subject, seed=3)
        checks = [one for one in CHECKS.values() if one.stage.name in stages and not one.once]
        return [session.run(one, asked) for one in checks if one.applies_to(asked)]


def failed(results: list[Result]) -> list[str]:
    return [result.check for result in results if result.verdict in ("fail", "harness error")]


def judged(results: list[Result]) -> list[str]:
    return [result.check for result in results if result.verdict != "not applicable"]


@pytest.mark.parametrize("make", ADAPTERS)
@pytest.mark.parametrize("scenario", ["answer-text-beside-calls", "answer-usage-with-cache"])
def test_an_adapter_may_stream_inside_and_return_a_whole_answer(make: type[BaseAdapter], scenario: str):
    results = results_of(black_box(make, stream=True), scenario, "translation", "wire", "response")
    assert failed(results) == []
    assert {"response.text-is-whole", "response.calls-are-whole"} <= {*judged(results)}


def test_a_text_that_is_lost_while_an_adapter_streams_inside_is_found():
    class LosesAPiece(OpenAIAdapter):
        def call_sync(self, prompt: Any, options: Any) -> Iterator[Any]:
            tokens = 0
            for event in super().call_sync(prompt, options):
                tokens += isinstance(event, TokenEvent)
                if not (isinstance(event, TokenEvent) and tokens == 2):
                    yield event

    results = results_of(black_box(LosesAPiece, stream=True), "answer-text", "response")
    assert "response.text-is-whole" in failed(results)


@pytest.mark.parametrize("check", ["response.unknown-finish-is-other", "response.broken-answer-is-an-error"])
def test_checks_of_odd_answers_send_them_as_the_request_asks(check: str):
    with open_subject(black_box(OpenAIAdapter, stream=True), name="unusual") as subject:
        assert Session(subject, seed=3).run(CHECKS[check], suite_scenario("answer-text")).verdict == "pass"


def test_an_adapter_that_ignores_the_option_stream_gets_one_finding():
    results = results_of(black_box(OpenAIAdapter, stream=False), "answer-text", "stream")
    assert failed(results) == ["stream.answer-is-read"]
    assert judged(results) == ["stream.answer-is-read"]


def with_ids(make_id: Any) -> Factory:
    """The factory of a black box that gives each call of an answer an id of its own making."""

    class WithIds(GeminiAdapter):
        def call_sync(self, prompt: Any, options: Any) -> Any:
            ids: dict[str, str] = {}
            for event in super().call_sync(prompt, options):
                if isinstance(event, ToolCallEvent):
                    ids[event.call.id] = make_id()
                    yield structs.replace(event, call=structs.replace(event.call, id=ids[event.call.id]))
                elif isinstance(event, EndEvent) and event.message is not None:
                    calls = tuple(structs.replace(call, id=ids[call.id]) for call in event.message.tool_calls)
                    yield structs.replace(event, message=structs.replace(event.message, tool_calls=calls))
                else:
                    yield event

    return black_box(WithIds)


def test_ids_that_an_adapter_makes_where_the_provider_gives_none_may_be_new_in_each_call():
    results = results_of(with_ids(lambda: uuid.uuid4().hex), "answer-calls-without-ids", "response", "stream")
    assert failed(results) == []
    assert {"stream.cuts-change-nothing", "response.unknown-fields-are-ignored"} <= {*judged(results)}


def test_one_id_for_two_calls_is_found():
    results = results_of(with_ids(lambda: "call"), "answer-calls-without-ids", "response")
    assert "response.calls-are-whole" in failed(results)


def white_box(make: type[BaseAdapter], **always: Any) -> Factory:
    """The factory of a white box that is not a `BaseAdapter`: its `translate` returns the body, and no URL."""

    class WhiteBox(black_box(make, **always)):  # type: ignore[misc]
        def translate(self, prompt: Any, options: Any) -> Any:
            return self._own.translate(parse_prompt(prompt), parse_options(options))

    return WhiteBox


@pytest.mark.parametrize("scenario", ["streamed-call", "model"])
def test_options_in_the_url_are_read_from_the_request_that_arrives(scenario: str):
    assert failed(results_of(white_box(GeminiAdapter), scenario, "translation", "wire")) == []


def test_an_option_that_is_lost_from_the_url_is_found():
    results = results_of(white_box(GeminiAdapter, stream=False), "streamed-call", "translation")
    assert "translation.options-survive" in failed(results)


def test_to_stream_inside_undeclared_is_a_note():
    streaming = black_box(OpenAIAdapter, stream=True)
    (note,) = findings_of("translation.inner-streams-change-nothing-else", streaming)
    assert (note.severity, "add 'streams_inside'" in note.message) == ("note", True)
    assert "not declared" in reason_of("translation.inner-streams-change-nothing-else", OpenAIAdapter)


@pytest.mark.parametrize("scenario", ["system-name", "tool-with-output-schema"])
def test_what_an_adapter_would_lose_it_may_refuse(scenario: str):
    asked = suite_scenario(scenario)
    refused = reason_of("translation.outcome-is-right", RIGHT["few losses"], asked)
    assert refused.startswith("the adapter refuses what it would lose: it does not declare")
    also_declares = type("Declares", (RIGHT["few losses"],), {"losses": CohereChatAdapter.losses})
    assert findings_of("translation.outcome-is-right", also_declares, asked)


def test_a_system_message_that_an_adapter_never_moves_it_may_refuse_to_move():
    class MovesNone(GeminiAdapter):
        repairs = GeminiAdapter.repairs - {"hoists_late_system"}

        def may_hoist(self, options: CallOptions) -> bool:
            return False

    class SaysThatItMoves(MovesNone):
        repairs = GeminiAdapter.repairs

    asked = suite_scenario("late-system-hoisted")
    assert "does not declare hoists_late_system" in reason_of("translation.outcome-is-right", MovesNone, asked)
    assert findings_of("translation.outcome-is-right", SaysThatItMoves, asked)


def test_an_adapter_without_time_limits_may_refuse_them_in_every_check():
    checks = ("translation.is-total", "translation.outcome-is-right")
    selection = Selection(checks=checks, scenarios=("books-are-not-sent",))
    report = certify(RIGHT["no time limits"], selection=selection, isolated=False)
    assert {one.check: one.reason for one in report.results if one.check in checks} == dict.fromkeys(
        checks, "the adapter rejects the option timeouts"
    )


@pytest.mark.thorough
@pytest.mark.parametrize("way", RIGHT)
def test_an_adapter_that_is_right_in_its_own_way_is_certified(way: str):
    report = certify(RIGHT[way], seed=31, search=Search(profile=PROFILES["quick"]), isolated=False)
    assert [(one.check, one.scenario, one.findings) for one in (*report.failures, *report.harness_errors)] == []
    assert report.is_certified
