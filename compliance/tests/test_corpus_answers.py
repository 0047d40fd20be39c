"""Recorded answers are read as the official clients read them.

Each official client runs whole, over a transport that answers with the recorded bytes. Every difference between its
reading and ours has one of the reasons below, or is a failure. A new adapter is one line in recorded_traffic.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from art_compliance.cassettes.corpus import Found
from art_compliance.checks.replay.recorded import read_recorded
from art_sdk import EndEvent, ErrorEvent, fold
from official_readings import REQUEST_ID_HEADERS, Facts, official_reading, our_reading
from recorded_readings import read_answer, recorded_errors, whole_answers
from recorded_traffic import READERS, Recorded, accepted, accepted_in_packages, needs_traffic, params, reader_of

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]  # recorded traffic says the same to every Python


each = pytest.mark.parametrize("one", params(whole_answers()))


def only_ids_were_given(ours: Any, theirs: Any) -> bool:
    """Gemini sends calls without ids; ours are numbered, so that results find their calls."""
    return all(call.id is None for call in theirs) and ours == tuple(
        call._replace(id=f"call_{number}") for number, call in enumerate(theirs, 1)
    )


REASONS: Mapping[tuple[str, str], Callable[[Any, Any], bool]] = {
    ("gemini_generate", "calls"): only_ids_were_given,
}
"""The intended differences, by shape and field. Nothing else may differ."""


def differences(one: Recorded, headers: Mapping[str, str]) -> dict[str, tuple[Any, Any]]:
    ours, theirs = our_reading(one, headers)._asdict(), official_reading(one, headers)._asdict()
    return {field: (ours[field], theirs[field]) for field in Facts._fields if ours[field] != theirs[field]}


@each
def test_an_answer_is_read_as_the_official_client_reads_it(one: Recorded):
    unexplained = {
        field: pair
        for field, pair in differences(one, {}).items()
        if not REASONS.get((one.shape, field), lambda *_: False)(*pair)
    }
    assert unexplained == {}


@each
def test_the_header_names_the_request_before_the_body_does(one: Recorded):
    header = REQUEST_ID_HEADERS.get(one.shape)
    headers = {header: "the-request"} if header else {}
    facts = our_reading(one, headers)
    assert facts.request_id == official_reading(one, headers).request_id
    assert (facts.request_id == "the-request") is bool(headers)


@each
def test_an_answer_ends_with_tool_calls_where_it_has_calls_and_nowhere_else(one: Recorded):
    end = read_answer(reader_of(one), one.answer)[-1]
    assert isinstance(end, EndEvent)
    assert end.message is not None
    assert (end.finish == "tool_calls") is bool(end.message.tool_calls)


@needs_traffic
@pytest.mark.parametrize("shape", READERS)
def test_every_reason_for_a_difference_is_needed(shape: str):
    found = {(shape, field) for one in whole_answers([shape]) for field in differences(one, {})}
    assert found == {reason for reason in REASONS if reason[0] == shape}


@each
def test_the_official_client_reads_something(one: Recorded):
    facts = official_reading(one, {})
    assert facts.text or facts.calls or facts.finish == "length" or one.data.get("content") == []
    assert facts.input_tokens
    assert facts.output_tokens


@needs_traffic
def test_an_answer_with_enums_as_numbers_is_read_by_their_names():
    """Google's own client cannot read them."""
    chosen = [one for one in accepted() if one.has_numbers_for_enums]
    assert [fold(read_answer(reader_of(one), one.answer)).metadata.raw_stop_reason for one in chosen] == ["STOP"]


@needs_traffic
def test_the_corpus_has_no_fewer_answers_than_before():
    assert len(whole_answers()) >= 61
    assert len(recorded_errors()) >= 156


READ_OTHERWISE: Mapping[str, Callable[[Any], bool]] = {
    "Azure filtered the prompt: its error has the status 200": lambda data: "choices" not in data,
}
"""Chat completions that become an error, and why. The first that fits counts."""


def packaged_answers(packaged: tuple[Found, ...]) -> list[Recorded]:
    """The unstreamed good answers."""
    return [one for one in accepted_in_packages(packaged) if one.data is not None]


def test_an_answer_that_others_recorded_is_read_as_the_official_client_reads_it(packaged: tuple[Found, ...]):
    unexplained: dict[str, Any] = {}
    for one in packaged_answers(packaged):
        if one.shape == "chat_completions" and any(fits(one.data) for fits in READ_OTHERWISE.values()):
            assert isinstance(read_answer(reader_of(one), one.answer)[0], ErrorEvent), one.name
            continue
        facts = differences(one, {})
        wrong = {field: pair for field, pair in facts.items() if not REASONS.get((one.shape, field), never)(*pair)}
        if wrong:
            unexplained[one.name] = wrong
    assert unexplained == {}


def test_the_judge_of_replays_reads_an_answer_as_our_adapter_does(packaged: tuple[Found, ...]):
    for one in packaged_answers(packaged):
        if one.shape == "chat_completions" and any(fits(one.data) for fits in READ_OTHERWISE.values()):
            continue
        ours, facts = our_reading(one, {}), read_recorded(one.spoken, one.answer)
        assert "".join(facts.texts.values()) == ours.text, one.name
        assert [(call.name, call.value) for call in facts.calls.values()] == [call[1:] for call in ours.calls], one.name
        assert tuple(facts.counts.values()) == (ours.input_tokens or 0, ours.output_tokens or 0), one.name


def never(*_: object) -> bool:
    return False
