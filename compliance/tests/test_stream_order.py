"""The order of a stream's events: every good stream passes, written or recorded, and others say what is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from art_compliance.dialects import DIALECTS, CannotWrite, Dialect
from art_compliance.dialects.framing import data_frame
from art_compliance.provider import Asked, Request, Send
from art_compliance.provider.faults import FAULTS, good_answer
from art_compliance.scenarios import WrittenAnswer, load_scenarios
from art_sdk import FunctionCall, ToolCall
from recorded_traffic import accepted, needs_traffic

SAID = WrittenAnswer(
    content="Yes.",
    tool_calls=(ToolCall("a", FunctionCall("look", '{"at": 1}')), ToolCall("b", FunctionCall("see", '{"x": "y"}'))),
    finish="tool_calls",
)
BENIGN = [fault for fault in FAULTS.values() if fault.is_benign and fault.id != "whole-gzip"]
each = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)


@each
def test_every_stream_that_is_written_is_in_order(dialect: Dialect):
    judged = 0
    for scenario in load_scenarios():
        if scenario.answer is None:
            continue
        try:
            events = dialect.streams.write(scenario.answer)
        except CannotWrite:
            continue
        judged += 1
        assert dialect.streams.order.judge(b"".join(events)) == []
    assert judged > 15


@each
def test_benign_faults_leave_the_order_alone(dialect: Dialect):
    targets = {"gemini-generate": "/v1beta/models/g:streamGenerateContent?alt=sse"}
    targets["bedrock-converse"] = "/model/m/converse-stream"
    asked = Asked(dialect, Request("POST", targets.get(dialect.name, "/"), {}, b""), {"stream": True})
    for fault in (one for one in BENIGN if one.fits(asked)):
        steps = fault.make(SAID, asked).steps or ()
        stream = b"".join(step.data for step in steps if isinstance(step, Send))
        assert stream
        assert dialect.streams.order.judge(stream) == [], fault.id
    assert dialect.streams.order.judge(good_answer(SAID, asked).body) == []


@needs_traffic
def test_every_good_stream_that_was_recorded_is_in_order():
    streams = [one for one in accepted() if one.data is None]
    faults = {one.name: DIALECTS[one.dialect].streams.order.judge(one.answer) for one in streams}
    assert {name: wrong for name, wrong in faults.items() if wrong} == {}
    assert len(streams) >= 41


@each
def test_a_stream_without_its_end_or_with_two_ends_is_wrong(dialect: Dialect):
    events, order = dialect.streams.write(SAID), dialect.streams.order
    for cut in range(len(events)):
        assert order.judge(b"".join(events[:cut]))[0].startswith("the stream ends in the state ")
    assert "is not allowed in the state 'ended'" in order.judge(b"".join([*events, events[-1]]))[0]
    assert order.judge(b"".join([*events, events[-1], events[-1]]))
    assert order.judge(b"\xff")[0].startswith("this is not an event stream: ")


@each
def test_an_error_may_end_a_stream_anywhere(dialect: Dialect):
    events, error = dialect.streams.write(SAID), dialect.streams.write_error(503, "no")
    for cut in range(len(events)):
        judged = dialect.streams.order.judge(b"".join([*events[:cut], error]))
        assert [fault for fault in judged if "is not allowed" in fault or "the stream ends" in fault] == []


def anthropic(**changes: Any) -> bytes:
    """The stream, each event given to the change of its type, which may return another or none."""
    events = []
    for event in DIALECTS["anthropic-messages"].streams.write(SAID):
        body = json.loads(event.partition(b"data: ")[2])
        changed = changes.get(body["type"], lambda body: body)(body)
        if changed is not None:
            events.append(f"event: {changes.get('name', changed['type'])}\ndata: {json.dumps(changed)}\n\n".encode())
    return b"".join(events)


def chat(change: Any) -> bytes:
    events = []
    for event in DIALECTS["openai-chat"].streams.write(SAID)[:-1]:
        body = json.loads(event.removeprefix(b"data: "))
        calls = [call for choice in body["choices"] for call in choice["delta"].get("tool_calls", ())]
        change(body, *calls)
        events.append(f"data: {json.dumps(body)}\n\n".encode())
    return b"".join([*events, b"data: [DONE]\n\n"])


def renumber(body: Any) -> Any:
    return body | {"index": body["index"] + 1}


def unbalance(body: Any) -> Any:
    return body | {"delta": body["delta"] | {"partial_json": "}"}} if body["index"] else body


WRONG = [
    (anthropic(message_start=lambda _: None), "event 2: content_block_start is not allowed in the state 'not begun'"),
    (anthropic(content_block_stop=lambda _: None), "content_block_start is not allowed in the state 'in a block'"),
    (anthropic(content_block_start=lambda _: None), "content_block_delta is not allowed in the state 'between"),
    (anthropic(message_delta=lambda _: None), "message_stop is not allowed in the state 'between blocks'"),
    (anthropic(content_block_delta=renumber), "the block's index is 1; blocks begun so far: 1"),
    (anthropic(content_block_start=renumber), "the block's index is 1; blocks begun so far: 1"),
    (anthropic(content_block_delta=lambda body: body | {"index": 0}), "the block's index is 0; blocks begun so far: 2"),
    (anthropic(name="message"), 'event 1: its name is "message" and its type "message_start"'),
    (
        anthropic(content_block_delta=lambda body: body | {"delta": {"type": "text_delta", "text": "x"}}),
        "text_delta is not allowed in a block of tool_use",
    ),
    (anthropic(content_block_delta=unbalance), "the input of block 1 is not a JSON object"),
]


@pytest.mark.parametrize(("stream", "said"), WRONG, ids=[said for _, said in WRONG])
def test_a_wrong_order_of_a_messages_events_is_explained(stream: bytes, said: str):
    assert anthropic() != stream
    assert any(said in fault for fault in DIALECTS["anthropic-messages"].streams.order.judge(stream))


def nameless(_: Any, *calls: Any) -> None:
    for call in calls:
        call["function"].pop("name", None)


def from_one(_: Any, *calls: Any) -> None:
    for call in calls:
        call["index"] += 1


def new_ids(_: Any, *calls: Any) -> None:
    for call in calls:
        call["id"] = call.get("id", "other")


def broken(_: Any, *calls: Any) -> None:
    for call in calls:
        call["function"]["arguments"] = "}"


def endless(body: Any, *_: Any) -> None:
    for choice in body["choices"]:
        choice["finish_reason"] = None


def early(body: Any, *_: Any) -> None:
    for choice in body["choices"]:
        choice["finish_reason"] = "stop" if choice["delta"].get("role") else choice["finish_reason"]


CHAT_WRONG = [
    (nameless, "call 0 begins without its id and name"),
    (from_one, "a call has the index 1 after 0 calls"),
    (new_ids, "call 0 changes its id"),
    (broken, "the arguments of call 0 are not a JSON object"),
    (endless, "the end mark is not allowed in the state 'open'"),
    (early, "a delta is not allowed in the state 'finished'"),
]


@pytest.mark.parametrize(("change", "said"), CHAT_WRONG)
def test_a_wrong_order_of_a_completions_chunks_is_explained(change: Any, said: str):
    assert DIALECTS["openai-chat"].streams.order.judge(chat(lambda *_: None)) == []
    assert any(said in fault for fault in DIALECTS["openai-chat"].streams.order.judge(chat(change)))


def test_a_call_that_continues_after_the_next_one_is_wrong():
    events = DIALECTS["openai-chat"].streams.write(SAID)
    first = next(at for at, event in enumerate(events) if b'"index":0,"function"' in event)
    second = next(at for at, event in enumerate(events) if b'"id":"b"' in event)
    mixed = [*events[:first], *events[first + 1 : second + 1], events[first], *events[second + 1 :]]
    judged = DIALECTS["openai-chat"].streams.order.judge(b"".join(mixed))
    assert "call 0 continues after call 1 has begun" in str(judged)


def called(*pieces: tuple[int, str], repeats_id: bool = False) -> bytes:
    """A stream whose calls come in these pieces; the first of each has id and name, or each has the id."""
    begun: set[int] = set()
    calls: list[Any] = []
    for index, arguments in pieces:
        head = {} if index in begun and not repeats_id else {"id": f"c{index}", "type": "function"}
        named = {} if index in begun else {"name": "look"}
        begun.add(index)
        calls.append({"index": index, **head, "function": {**named, "arguments": arguments}})
    deltas = [{"choices": [{"index": 0, "delta": {"tool_calls": [one]}, "finish_reason": None}]} for one in calls]
    ended = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    return (
        b"".join(data_frame({"object": "chat.completion.chunk", **one}) for one in (*deltas, ended))
        + b"data: [DONE]\n\n"
    )


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([(0, "{"), (0, "}"), (1, "{}"), (2, "{"), (2, "}")], []),
        ([(0, "{"), (1, "{}"), (0, "}")], ["call 0 continues after call 1 has begun"]),
        ([(0, "{}"), (1, "{"), (2, "{}"), (1, "}")], ["call 1 continues after call 2 has begun"]),
        ([(0, "{"), (1, "{}"), (2, "{}"), (0, "}")], ["call 0 continues after call 2 has begun"]),
        ([(0, "{}"), (2, "{}")], ["a call has the index 2 after 1 calls"]),
        ([(-1, "{}")], ["a call has the index -1 after 0 calls"]),
        ([(0, "{}"), (1, "{]")], ['the arguments of call 1 are not a JSON object: "{]"']),
    ],
)
def test_the_pieces_of_calls_come_one_call_after_the_other(pieces: list[tuple[int, str]], expected: list[str]):
    found = DIALECTS["openai-chat"].streams.order.judge(called(*pieces))
    assert [one.partition(": ")[2] if one.startswith("event") else one for one in found] == expected


def test_each_piece_may_repeat_the_id_of_its_call():
    stream = called((0, "{"), (0, "}"), (1, "{"), (1, "}"), repeats_id=True)
    assert DIALECTS["openai-chat"].streams.order.judge(stream) == []


def test_an_event_of_geminis_is_a_whole_response():
    good = b"".join(DIALECTS["gemini-generate"].streams.write(SAID))
    for wrong in (b"data: [DONE]\n\n", b"event: x\ndata: {}\n\n"):
        assert DIALECTS["gemini-generate"].streams.order.judge(good + wrong)[-1].endswith("it is not a response")
