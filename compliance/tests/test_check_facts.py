"""Which facts of a reply are compared, and which values of them no reply may have."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.checks.facts import changes, facts_of, misshapen
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Crashed, Refused
from trials import answer_events, failure_events


def answered(events: list[dict[str, Any]], **metadata: Any) -> Answered:
    with_metadata = [
        {**event, "metadata": {**event["metadata"], **metadata}} if event["type"] == "METADATA" else event
        for event in events
    ]
    return Answered.of(with_metadata)


def differing(one: Any, other: Any) -> list[str]:
    found = changes(facts_of(one, own_ids=False), facts_of(other, own_ids=False))
    return [problem.message.partition(":")[0] for problem in found]


@pytest.mark.parametrize(
    ("metadata", "names"),
    [
        ({}, []),
        ({"input_tokens": 0}, []),
        ({"total_generation_time_ms": 7.0}, []),
        ({"input_tokens": 7}, ["input_tokens"]),
        ({"request_id": "r"}, ["request_id"]),
        ({"raw_stop_reason": "end"}, ["raw_stop_reason"]),
        ({"provider_raw_usage": {"input": 7}}, ["provider_raw_usage"]),
    ],
)
def test_each_field_of_metadata_is_a_fact_but_for_its_times(metadata: dict[str, Any], names: list[str]):
    assert differing(answered(answer_events("a"), **metadata), answered(answer_events("a"))) == names


def test_the_pieces_of_a_text_are_no_fact_and_the_text_is_one():
    whole = answer_events("ab")
    token = whole[0]
    pieces = [{**token, "text": "a"}, {**token, "text": "b"}, *whole[1:]]
    assert differing(answered(pieces), answered(whole)) == []
    assert differing(answered(answer_events("a")), answered(whole)) == ["the tokens", "the message"]


def test_an_error_that_is_raised_has_the_facts_of_one_in_an_event():
    reply = answered(failure_events(status=503, retry_after=7.0))
    error = reply.error or {}
    raised = Refused(error["code"], "words", 503, {**error, "provider": "of no interest"})
    facts = facts_of(reply, own_ids=False)
    assert facts_of(raised, own_ids=False) == {name: value for name, value in facts.items() if "error's" in name}
    assert facts["the error's retry_after"] == 7.0
    assert facts_of(Crashed("KeyError: 'a'"), own_ids=False) == {"what it raised": "KeyError"}


@pytest.mark.parametrize(
    ("metadata", "fragment"),
    [
        ({"input_tokens": 7, "request_id": "r", "provider_raw_usage": {}, "time_to_first_token_ms": 0}, None),
        ({"input_tokens": 7.0}, "input_tokens must be a number of tokens"),
        ({"input_tokens": True}, "input_tokens"),
        ({"output_tokens": -1}, "output_tokens"),
        ({"request_id": 7}, "request_id must be text"),
        ({"raw_stop_reason": ["stop"]}, "raw_stop_reason"),
        ({"provider_raw_usage": "{}"}, "provider_raw_usage must be an object"),
        ({"total_generation_time_ms": float("inf")}, "total_generation_time_ms"),
        ({"total_generation_time_ms": "7"}, "total_generation_time_ms"),
    ],
)
def test_a_value_of_another_type_than_the_standards_is_found(metadata: dict[str, Any], fragment: str | None):
    found = [one.message for one in misshapen(answered(answer_events("a"), **metadata))]
    assert len(found) == (fragment is not None)
    assert all(str(fragment) in one for one in found)


@pytest.mark.parametrize(
    ("error", "count"),
    [
        ({"status": 503, "provider_code": 503, "retry_after": 0, "is_retryable": True}, 0),
        ({"retry_after": -5.0}, 1),
        ({"retry_after": float("nan")}, 1),
        ({"status": "503"}, 1),
        ({"is_retryable": "yes"}, 1),
        ({"provider_code": {"a": 1}}, 1),
    ],
)
def test_the_fields_of_errors_have_types_too(error: dict[str, Any], count: int):
    assert len([*misshapen(answered(failure_events(**error)))]) == count
