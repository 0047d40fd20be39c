"""One cause gives one finding: what follows from a fault that one check reports is not reported by others."""

from __future__ import annotations

from typing import Any

import pytest

from art_sdk import OpenAIAdapter
from test_unusual_adapters import black_box, failed, results_of
from trials import translator

REQUEST = ("translation", "wire", "payload")


def as_it_stands(prompt: Any, options: Any) -> dict[str, Any]:
    """Sends every message as it is, whether a provider takes it or not."""
    messages = [
        {**{key: value for key, value in message.items() if key not in ("name", "status")}, "role": role}
        for message in prompt
        if (role := {"tool_result": "tool"}.get(message["role"], message["role"]))
    ]
    given = {name: options[name] for name in ("temperature", "stop") if name in options}
    tools = [
        {
            "type": "function",
            "function": {"name": one["name"], "description": one["description"], "parameters": one["inputSchema"]},
        }
        for one in options.get("tools", ())
    ]
    return {"model": "gpt-4o", "messages": messages, **given, **({"tools": tools} if tools else {})}


def without_orphans(prompt: Any, options: Any) -> dict[str, Any]:
    """Leaves out a result that answers no call, and says nothing."""
    ids = {call["id"] for message in prompt for call in message.get("tool_calls") or ()}
    return as_it_stands([one for one in prompt if one.get("tool_call_id", "") in {"", *ids}], options)


def raises(prompt: Any, options: Any) -> Any:
    """Cannot translate anything but a greeting."""
    raise KeyError(str(len(prompt)) + str(len(options)))


LENIENT = translator(as_it_stands, losses=("result_status", "tool_output_schema", "message_name"))
SILENT = translator(without_orphans, losses=("result_status", "tool_output_schema", "message_name"))


@pytest.mark.parametrize(
    ("make", "scenario", "check"),
    [
        (LENIENT, "unanswered-call", "wire.no-rule-is-broken"),
        (LENIENT, "double-result", "wire.no-rule-is-broken"),
        (LENIENT, "orphan-result", "wire.no-rule-is-broken"),
        (LENIENT, "temperature-too-high", "wire.no-rule-is-broken"),
        (SILENT, "orphan-result", "translation.results-survive"),
        (translator(raises), "one-call-and-result", "translation.is-total"),
    ],
)
def test_a_cause_is_reported_by_one_check(make: Any, scenario: str, check: str):
    assert failed(results_of(make, scenario, *REQUEST)) == [check]


def test_a_result_that_is_left_out_of_a_prompt_that_must_be_refused_is_a_loss():
    (result,) = (one for one in results_of(SILENT, "orphan-result", *REQUEST) if one.verdict == "fail")
    assert [finding.finding_class for finding in result.findings] == ["loss"]


class Reads(OpenAIAdapter):
    """It cannot read any answer."""

    def call_sync(self, prompt: Any, options: Any) -> Any:
        list(super().call_sync(prompt, options))
        raise ValueError("no answer is read")


class Stumbles(OpenAIAdapter):
    """It raises before it sends anything."""

    def call_sync(self, prompt: Any, options: Any) -> Any:
        raise KeyError(str(prompt) + str(options))


class Halves(OpenAIAdapter):
    """Of streamed text, it passes on only the first token."""

    def call_sync(self, prompt: Any, options: Any) -> Any:
        first = True
        for event in super().call_sync(prompt, options):
            if first or type(event).__name__ != "TokenEvent":
                yield event
            first = False


@pytest.mark.parametrize(
    ("make", "checks"),
    [
        (Reads, ["response.answer-is-read"]),
        (Stumbles, ["translation.is-total"]),
        (Halves, ["stream.text-is-whole"]),
    ],
)
def test_an_answer_that_is_not_read_is_reported_once(make: type[OpenAIAdapter], checks: list[str]):
    assert failed(results_of(black_box(make), "answer-text", *REQUEST, "response", "stream")) == checks
