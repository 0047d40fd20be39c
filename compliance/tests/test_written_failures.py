"""What follows the events of a stream that fails: it belongs to the same answer."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.dialects import DIALECTS
from art_compliance.dialects.variations import FailureForm, read_data
from art_compliance.scenarios import WrittenAnswer

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]

STREAMED = [
    pytest.param(dialect, form, id=f"{name}, {form.words}")
    for name, dialect in DIALECTS.items()
    for form in dialect.answers.failures
    if form.events is not None
]
AS_EVENTS = [one for one in STREAMED if one.values[0].streams.content_type == "text/event-stream"]
OF_AN_ANSWER = ("id", "created", "model", "responseId", "modelVersion")


def facts(data: dict[str, Any]) -> dict[str, Any]:
    return {name: data[name] for name in OF_AN_ANSWER if name in data}


@pytest.mark.parametrize(("dialect", "form"), AS_EVENTS)
def test_what_fails_has_the_head_of_what_came_before(dialect: Any, form: FailureForm):
    begun = dialect.streams.write(WrittenAnswer(content="It is noon, and the sun is high."))[:3]
    begun = tuple(event.replace(b"written", b"another") for event in begun)
    assert form.events is not None
    before = [data for event in begun if (data := read_data(event))]
    failed = [data for event in form.events(begun, 503, "busy") if (data := read_data(event))]
    assert failed
    for data in failed:
        assert facts(data) == {name: value for name, value in facts(before[-1]).items() if name in facts(data)}


@pytest.mark.parametrize(("dialect", "form"), STREAMED)
def test_a_stream_can_fail_before_its_first_event(dialect: Any, form: FailureForm):
    del dialect
    assert form.events is not None
    assert form.events((), 503, "busy")
