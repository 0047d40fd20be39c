"""The real provider is called only on request, and its key is never shown."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from art_compliance import HarnessError, Selection, certify
from art_compliance.miniatures.base import change_events
from art_compliance.provider.server import Response
from art_compliance.subject.access import Access
from art_sdk import OpenAIAdapter
from made_cassettes import KEY, access, findings


def test_the_real_provider_is_called_only_on_request(provider):
    few = ("one-question", "answer-text")
    report = certify(OpenAIAdapter, selection=Selection(scenarios=few, live=access(provider)), isolated=False)
    assert [result.verdict for result in report.results if result.check.startswith("live.")] == ["pass"] * 2
    assert report.levels["live"].is_passed
    assert len(provider.seen()) == 2
    assert "live" not in certify(OpenAIAdapter, selection=Selection(scenarios=few), isolated=False).levels


def test_a_real_providers_error_is_reported_without_the_key(provider):
    def refuse(asked: Any) -> Response:
        return Response(
            401, asked.dialect.answers.write_error(401, f"Incorrect API key provided: {KEY}, of me@acme.com")
        )

    with provider.answering(refuse):
        report = certify(
            OpenAIAdapter, selection=Selection(scenarios=("one-question",), live=access(provider)), isolated=False
        )
    message = findings(report, "live.call-is-answered")
    assert "Incorrect API key provided: [api key], of REDACTED" in message  # the adapter itself hides its key
    assert KEY not in msgspec.json.encode(report).decode()


def test_an_adapter_that_cannot_be_made_with_the_key_does_not_show_it():
    def make(*, api_key: str, base_url: str | None = None, model: str | None = None) -> Any:
        if base_url is None:
            raise ValueError(api_key)
        return OpenAIAdapter(api_key=api_key, base_url=base_url, model=model)

    with pytest.raises(HarnessError, match="the factory raised ValueError when called with the key") as caught:
        certify(
            make,
            dialect="openai-chat",
            selection=Selection(scenarios=("one-question",), live=Access(key=KEY)),
            isolated=False,
        )
    assert KEY not in repr(caught.getrepr(style="long"))


def crash(_: Any) -> Any:
    raise KeyError(KEY)


def changed_events(events: Any, kind: str, **changed: Any) -> Any:
    return [{**event, **changed} if event["type"] == kind else event for event in events]


LIVE_WRONG = {
    "it raises": (crash, "it raised KeyError: 'REDACTED'"),
    "no message": (lambda events: changed_events(events, "END", message={}), "END's message is not a standard message"),
    "no counts": (
        lambda events: changed_events(events, "METADATA", metadata={}),
        "input_tokens is null, but every provider",
    ),
    "a count of 0": (
        lambda events: changed_events(events, "METADATA", metadata={"input_tokens": 1, "output_tokens": 0}),
        "output_tokens is 0, but every provider counts them",
    ),
    "no end": (lambda events: events[:-1], "END"),
    "another thread": (lambda events: [{**event, "thread_id": "x"} for event in events], "thread_id"),
}


@pytest.mark.parametrize("what", LIVE_WRONG)
def test_a_wrong_event_of_a_real_answer_is_found(what: str, provider):
    change, message = LIVE_WRONG[what]

    def make(**settings: Any) -> Any:
        adapter = OpenAIAdapter(**settings)
        if settings["api_key"] == KEY:
            change_events(adapter, change)
        return adapter

    asked = Selection(checks=("live.call-is-answered",), scenarios=("one-question",), live=access(provider))
    report = certify(make, dialect="openai-chat", selection=asked, isolated=False)
    assert message in findings(report, "live.call-is-answered")
    assert KEY not in msgspec.json.encode(report).decode()
