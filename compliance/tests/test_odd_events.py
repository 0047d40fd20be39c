"""Whatever an adapter gives in place of its events, the suite finds something wrong, and never breaks."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest

from art_compliance.checks import CHECKS
from art_compliance.pointers import leaves, look_up
from art_compliance.run.session import Session
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.opening import open_subject
from art_sdk import FunctionCall, ToolCall
from test_one_finding_per_cause import as_it_stands
from trials import answer_events, call_of, failure_events, messages_of, scenario, scripted, token_event

ODD: list[Any] = [
    *(None, 7, -1.5, True, "x", "", "\ud800", [], {}, [1], [None], {"a": [1]}, [[]], {"id": 7}, b"bytes", object()),
    *(float("nan"), float("inf"), 10**5000, {"function": "look"}, {"function": {"name": [], "arguments": {}}}),
    *({1: 2}, {"content": [{"type": "text"}]}, {"role": "tool", "content": 7}, ValueError("odd")),
]
GOOD = answer_events("said", calls=[call_of()], metadata={"input_tokens": 1, "output_tokens": 2})
ANSWER = WrittenAnswer(content="said", tool_calls=(ToolCall("c1", FunctionCall("look", '{"at": 1}')),))
READING = [one for one in CHECKS.values() if one.stage.name in ("response", "stream") and not one.once]


def places(events: list[Any]) -> list[str]:
    """Each place in the events: of scalars, and of the objects and lists around them."""
    found = {pointer.rsplit("/", cut)[0] for pointer, _ in leaves(events) for cut in range(pointer.count("/"))}
    return sorted(found - {""})


def changed(events: list[Any], pointer: str, value: Any) -> list[Any]:
    parent, _, step = pointer.rpartition("/")
    spoiled = copy.deepcopy(events)
    holder = look_up(spoiled, parent)
    holder[int(step) if isinstance(holder, list) else step] = value
    return spoiled


def odd_events() -> list[list[Any]]:
    dice = random.Random(7)
    bases = (GOOD, failure_events("said", details={"a": 1}))
    made = [changed(events, place, value) for events in bases for place in places(events) for value in ODD]
    return [*dice.sample(made, 160), [], [{}], [{"type": []}], [{"type": "END"}], GOOD[::-1]]


def test_odd_events_are_findings_and_never_errors_of_the_suite():
    waiting: list[list[Any]] = [GOOD]
    make = scripted(lambda *_: (one for one in waiting[0]), dialect="openai-chat")
    asked = scenario(ANSWER, needs=("tools",))
    found = 0
    with open_subject(make, name="odd") as subject:
        for events in odd_events():
            waiting[0] = events
            session = Session(subject, seed=1)
            results = [session.run(one, asked) for one in READING]
            broken = [(one.check, one.reason) for one in results if one.verdict == "harness error"]
            assert not broken, (events, broken)
            found += any(one.verdict == "fail" for one in results)
            json.dumps([finding.message for one in results for finding in one.findings]).encode()
    assert found > 60


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (token_event([7]), "event 0 (TOKEN): text must be text, not [7]"),  # type: ignore[arg-type]
        ({"type": "TOOL_CALL", "call": "look"}, 'event 0 (TOOL_CALL): call must be an object, not "look"'),
        ({"type": "METADATA", "metadata": None}, "event 0 (METADATA): metadata must be an object, not null"),
        ({"type": "TOKEN", "text": "a", "token_type": "LLM_RESPONSE", "trace_id": []}, "trace_id must be text or null"),
    ],
)
def test_a_field_of_another_type_is_named_with_its_place(event: Any, words: str):
    (found,) = messages_of("response.answer-is-read", scripted([event, *GOOD], GOOD), scenario(ANSWER))
    assert words in found


def test_the_providers_own_fields_in_the_message_are_one_finding():
    message = {"tool_calls": [{**call_of(), "index": 0}]}
    reading = scripted(answer_events("said", calls=[call_of()], message=message))

    def make(**settings: Any) -> Any:
        adapter: Any = reading(**settings)
        adapter.translate = as_it_stands
        return adapter

    checks = ("response.message-is-standard", "response.answer-can-be-appended")
    with open_subject(make, name="odd", dialect="openai-chat") as subject:
        session = Session(subject, seed=1)
        results = [session.run(CHECKS[name], scenario(ANSWER)) for name in checks]
    assert [one.verdict for one in results] == ["fail", "not applicable"]
    assert "index" in results[0].findings[0].message
