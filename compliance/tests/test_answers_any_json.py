"""Whatever JSON an answer or an event of a stream holds, the suite reads it and says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from any_json import put, spoiled
from art_compliance.checks.replay.recorded import read_recorded
from art_compliance.dialects import DIALECTS
from art_compliance.dialects.aws_events import Message
from art_compliance.dialects.framing import change_data
from art_compliance.dialects.order import Event, read_events
from art_compliance.dialects.recorded import Recorded
from art_compliance.dialects.variations import read_data
from art_compliance.examining.answers import wrong_answer, wrong_error, wrong_stream
from art_compliance.examining.asking import Got
from art_compliance.scenarios import WrittenAnswer
from art_sdk import FunctionCall, ToolCall
from row_tables import table

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

CALLS = (ToolCall("a", FunctionCall("look", '{"at": 1}')), ToolCall("b", FunctionCall("see", '{"x": "y"}')))
SAID = WrittenAnswer(content="Yes.", tool_calls=CALLS, finish="tool_calls")


@cache
def bodies(dialect: str) -> list[Any]:
    """The answer in each of the provider's forms."""
    answers = DIALECTS[dialect].answers
    whole = json.loads(answers.write(SAID))
    return [whole, *(form.whole(whole) for form in answers.variations if form.whole is not None)]


@cache
def streams(dialect: str) -> list[tuple[bytes, ...]]:
    """The streamed answer in each of the provider's forms."""
    events = DIALECTS[dialect].streams.write(SAID)
    forms = DIALECTS[dialect].answers.variations
    return [events, *(form.events(events) for form in forms if form.events is not None)]


def examine_body(name: str, body: Any) -> None:
    """Everything that the suite does with a whole answer, good or bad."""
    dialect = DIALECTS[name]
    try:
        sent = json.dumps(body).encode()
    except RecursionError:
        return  # no server writes it
    for status, look in ((200, wrong_answer), (400, wrong_error)):
        list(look(dialect, Got(status, "application/json", sent)))
    read_recorded(dialect, sent)


def examine_stream(name: str, events: tuple[bytes, ...], at: int, change: Callable[[Any], Any]) -> None:
    """Everything that the suite does with a stream, one of its events changed."""
    try:
        changed = change_data(events[at], change)
    except (RecursionError, UnicodeEncodeError):
        return  # no server writes it
    read_stream(name, b"".join([*events[:at], changed, *events[at + 1 :]]))


def read_stream(name: str, stream: bytes) -> None:
    dialect = DIALECTS[name]
    list(wrong_stream(dialect, Got(200, dialect.streams.content_type, stream)))
    read_recorded(dialect, stream)


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=30)
@given(data=st.data())
def test_an_answer_with_anything_in_it_is_read(dialect: str, data: st.DataObject):
    examine_body(dialect, data.draw(spoiled(data.draw(st.sampled_from(bodies(dialect))))))


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=60)
@given(data=st.data())
def test_a_stream_with_anything_in_one_of_its_events_is_read(dialect: str, data: st.DataObject):
    events = data.draw(st.sampled_from(streams(dialect)))
    at = data.draw(st.sampled_from([at for at, event in enumerate(events) if read_data(event) is not None]))
    examine_stream(dialect, events, at, lambda value: data.draw(spoiled(value)))


def places(value: Any, *steps: Any) -> list[tuple[Any, ...]]:
    """The steps to every value inside."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [steps, *(place for step, one in inner for place in places(one, *steps, step))]


OTHERS: list[Any] = [None, 5, "x", ["x"], {"type": []}]


@table("dialect", DIALECTS)
def test_an_event_with_another_type_at_any_place_is_read(dialect: str):
    order, events = DIALECTS[dialect].streams.order, (*read_events(b"".join(DIALECTS[dialect].streams.write(SAID))),)
    kinds = {tuple(places(event.body)[1:]): at for at, event in enumerate(events)}
    for steps, at, other in ((steps, at, other) for kind, at in kinds.items() for steps in kind for other in OTHERS):
        event = events[at]._replace(body=put(events[at].body, list(steps), other))
        changed = (*events[:at], event, *events[at + 1 :])
        assert [order.kind(one) for one in changed]
        list(order.look(changed))
        DIALECTS[dialect].answers.read(Recorded(), at, named(event))


def named(event: Event) -> dict[str, Any]:
    """The event as readers of recorded streams get it: a message by its name."""
    return event.body if event.name is None or "type" in event.body else {event.name: event.body}


@pytest.mark.parametrize("payload", [b"", b"[]", b"[" * 5_000, b'{"bytes":"x"}', b'{"bytes":"W10="}', b"\xff"])
def test_a_message_with_any_payload_is_read(payload: bytes):
    read_stream("bedrock-converse", Message("event", "chunk", payload).write())
