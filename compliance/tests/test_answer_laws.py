"""What the laws of answers find wrong with what was read of a written one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from art_compliance.checks import NotApplicable, answer_laws
from art_compliance.checks.answer_laws import wrong_ids
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_sdk import FunctionCall, ToolCall

IDS = {"thread_id": "th", "trace_id": "tr"}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
CALLED = WrittenAnswer(tool_calls=(ToolCall("c1", FunctionCall("look", '{"at":1}')),), finish="tool_calls")
NAMELESS = WrittenAnswer(tool_calls=(*CALLED.tool_calls, *CALLED.tool_calls), finish="tool_calls", without_ids=True)
PLAIN = WrittenAnswer(content="said", input_tokens=7, output_tokens=3)
CACHED = WrittenAnswer(content="said", input_tokens=7, output_tokens=3, cached_tokens=4)
THINKING = WrittenAnswer(content="said", input_tokens=7, output_tokens=3, thinking_tokens=4)
FIGURES = {"input_tokens": 7, "output_tokens": 3}


def read(
    *, content: Any = "said", tokens: Any = None, thought: str = "", calls: Any = (), told: Any = None, **more: Any
) -> Answered:
    counts = {"stop_reason": more.get("finish", "stop"), **FIGURES, **more.get("counts", {})}
    message = {"role": "assistant", "content": content, "tool_calls": list(calls), **more.get("message", {})}
    events = [
        {"type": "TOKEN", "token_type": "LLM_THINKING", "text": thought},
        {"type": "TOKEN", "token_type": "LLM_RESPONSE", "text": content if tokens is None else tokens},
        *({"type": "TOOL_CALL", "call": call} for call in (calls if told is None else told)),
        {"type": "METADATA", "metadata": counts},
        {"type": "END", "finish": more.get("end", more.get("finish", "stop")), "message": message},
    ]
    return Answered(tuple({**IDS, **event} for event in events))


def found(law: str, written: WrittenAnswer, answered: Answered, *capabilities: str) -> list[str]:
    scenario = SimpleNamespace(prompt=[{"role": "user", "content": "c9"}], call_options=lambda: {"thread_id": "th"})
    trial = SimpleNamespace(written=written, scenario=scenario, subject=SimpleNamespace(capabilities=capabilities))
    return list(getattr(answer_laws, law).look(SimpleNamespace(trial=trial, answered=answered)))


def call(call_id: Any = "c1", name: str = "look", arguments: Any = '{"at": 1}') -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


OWN = "calls that come without ids need ids of their own, new in the conversation; these are "
CASES: list[tuple[str, WrittenAnswer, Answered, list[str]]] = [
    ("text_is_whole", PLAIN, read(), []),
    ("text_is_whole", PLAIN, read(tokens="saidsaid"), ["the tokens changed: "]),
    ("text_is_whole", PLAIN, read(content="sai", tokens="said"), ["the message's content changed: "]),
    ("text_is_whole", PLAIN, read(content=None, tokens=""), ["the tokens changed", "the message's content changed"]),
    ("text_is_whole", CALLED, read(content=None, tokens=""), []),
    ("calls_are_whole", CALLED, read(calls=[CALL]), []),
    ("calls_are_whole", PLAIN, read(), []),
    ("calls_are_whole", CALLED, read(), ["TOOL_CALL: 0 calls, the answer has 1", "the message's tool_calls: 0 calls"]),
    ("calls_are_whole", CALLED, read(calls=[CALL], told=[CALL, CALL]), ["TOOL_CALL: 2 calls, the answer has 1"]),
    (
        "calls_are_whole",
        CALLED,
        read(calls=[CALL, CALL], told=[CALL]),
        ["the message's tool_calls: 2 calls"],
    ),
    ("calls_are_whole", CALLED, read(calls=[CALL], told=[call(name="x")]), ["TOOL_CALL: the tool 'look' became 'x'"]),
    ("calls_are_whole", CALLED, read(calls=[CALL], told=[call(name="a")]), ["TOOL_CALL: the tool 'look' became 'a'"]),
    ("calls_are_whole", CALLED, read(calls=[CALL], told=[call("a")]), ["TOOL_CALL: the id 'c1' became 'a'"]),
    ("calls_are_whole", CALLED, read(calls=[CALL], told=[call("c2")]), ["TOOL_CALL: the id 'c1' became 'c2'"]),
    (
        "calls_are_whole",
        CALLED,
        read(calls=[CALL], told=[call(arguments="{}")]),
        ["TOOL_CALL: the arguments"],
    ),
    ("calls_are_whole", CALLED, read(calls=[CALL], told=[call(arguments={"at": 1})]), ["TOOL_CALL: the arguments"]),
    ("calls_are_whole", CALLED, read(calls=[CALL], told=[call(arguments="{")]), ["TOOL_CALL: the arguments"]),
    ("calls_are_whole", NAMELESS, read(calls=[call("a"), call("b")]), []),
    ("calls_are_whole", NAMELESS, read(calls=[call("a"), call("a")]), [f"TOOL_CALL: {OWN}['a', 'a']", "the"]),
    ("calls_are_whole", NAMELESS, read(calls=[call("a"), call("")]), [f"TOOL_CALL: {OWN}['a', '']", "the"]),
    ("calls_are_whole", NAMELESS, read(calls=[call(None), call("b")]), [f"TOOL_CALL: {OWN}['', 'b']", "the"]),
    (
        "calls_are_whole",
        NAMELESS,
        read(calls=[call("a"), call("c9")]),
        [f"TOOL_CALL: {OWN}['a', 'c9']", "the"],
    ),
    ("finish_is_told", PLAIN, read(), []),
    (
        "finish_is_told",
        PLAIN,
        read(finish="length"),
        ["END says 'length', ", "METADATA"],
    ),
    ("finish_is_told", PLAIN, read(end="length"), ["END says 'length', the answer ended by 'stop'"]),
    ("finish_is_told", CALLED, read(finish="tool_calls"), []),
    ("finish_is_told", CALLED, read(), ["END says 'stop'", "METADATA says 'stop'"]),
    ("usage_is_told", PLAIN, read(), []),
    ("usage_is_told", PLAIN, read(counts={"input_tokens": 8}), ["input_tokens is 8, the answer says 7"]),
    ("usage_is_told", PLAIN, read(counts={"output_tokens": None}), ["output_tokens is None, the answer says 3"]),
    ("usage_is_told", PLAIN, read(counts={"output_tokens": 3.0}), ["output_tokens is 3.0, the answer says 3"]),
    ("usage_is_told", PLAIN, read(counts={"cached_tokens": 5}), []),
    ("usage_is_told", CACHED, read(), []),
    ("usage_is_told", CACHED, read(counts={"cached_tokens": 5}), ["cached_tokens"]),
    ("usage_is_told", THINKING, read(), []),
    ("message_is_standard", PLAIN, read(), []),
    ("message_is_standard", PLAIN, read(message={"name": "x"}), ["it has the name 'x', which nobody gave it"]),
    ("message_is_standard", PLAIN, read(message={"role": "user", "tool_calls": []}), ["", "its role is 'user'"]),
    ("message_is_standard", PLAIN, read(message={"role": "system", "tool_calls": []}), ["", "its role is 'system'"]),
    ("message_is_standard", PLAIN, read(message={"role": "aide"}), ["", "its role is 'aide'"]),
    ("message_is_standard", PLAIN, read(message={"poem": 1}), [""]),
]


@pytest.mark.parametrize(("law", "written", "answered", "wrong"), CASES)
def test_of_an_answer_is_wrong(law: str, written: WrittenAnswer, answered: Answered, wrong: list[str]):
    seen = found(law, written, answered)
    assert [one[: len(told)] for one, told in zip(seen, wrong, strict=True)] == wrong


THOUGHT = WrittenAnswer(content="said", thinking=" I see. ")


@pytest.mark.parametrize(
    ("answered", "capabilities", "wrong"),
    [
        (read(thought=" I see. "), ("reasoning",), []),
        (read(), (), []),
        (read(), ("reasoning",), ["the thinking tokens are not the reasoning"]),
        (read(thought="I see."), (), ["the thinking tokens are not the reasoning"]),
        (read(content="I see. said"), (), ["the reasoning stands in the answer's text"]),
        (read(tokens="I see. said"), (), ["the reasoning stands in the answer's text"]),
    ],
)
def test_reasoning_stands_apart(answered: Answered, capabilities: tuple[str, ...], wrong: list[str]):
    seen = found("thinking_stands_apart", THOUGHT, answered, *capabilities)
    assert [one[: len(told)] for one, told in zip(seen, wrong, strict=True)] == wrong


def test_without_reasoning_nothing_has_to_stand_apart():
    with pytest.raises(NotApplicable, match="the answer has no reasoning"):
        found("thinking_stands_apart", PLAIN, read())


@pytest.mark.parametrize(
    ("events", "wrong"),
    [
        ([IDS, IDS], []),
        ([IDS, {**IDS, "thread_id": "x"}, {}], ["event 1 (None) has the thread_id 'x'"]),
        ([IDS, {**IDS, "trace_id": "x"}], ["the events of one call have the trace ids 'tr', 'x'"]),
        ([{"thread_id": "th"}], ["the events of one call have the trace ids None"]),
        ([], []),
    ],
)
def test_events_carry_the_ids_of_their_call(events: list[dict[str, Any]], wrong: list[str]):
    trial: Any = SimpleNamespace(scenario=SimpleNamespace(call_options=lambda: {"thread_id": "th"}))
    assert list(wrong_ids(trial, Answered(tuple(events)))) == wrong


@pytest.mark.parametrize(
    ("kinds", "wrong"),
    [
        (["TOKEN", "TOOL_CALL", "TOKEN", "METADATA", "END"], []),
        (["ERROR", "END"], []),
        (["ERROR", "END", "END"], ["event 2 is END, which may not come when ended: ERROR, END, END"]),
        (["METADATA", "TOKEN", "END"], ["event 1 is TOKEN, which may not come when answered: METADATA, TOKEN, END"]),
        (["POEM"], ["event 0 is POEM, which may not come when answering: POEM"]),
        (["TOKEN"], ["the events stop before END: TOKEN"]),
        ([], ["the events stop before END: there are none"]),
    ],
)
def test_events_keep_their_order(kinds: list[str], wrong: list[str]):
    assert list(answer_laws.wrong_order(Answered(tuple({"type": kind} for kind in kinds)))) == wrong


GIVEN = {"trace_id": "trace-7f3a", "session_id": "session-7f3a"}
WRONG_IDS = "the call's session_id is 'session-7f3a', the events have "


@pytest.mark.parametrize(
    ("events", "wrong"),
    [
        ([GIVEN, GIVEN], []),
        ([{**GIVEN, "session_id": "other"}], [f"{WRONG_IDS}'other'"]),
        ([GIVEN, {**GIVEN, "session_id": "other"}], [f"{WRONG_IDS}'other', 'session-7f3a'"]),
        ([{"trace_id": "trace-7f3a"}], [f"{WRONG_IDS}None"]),
        ([], ["the call's trace_id is 'trace-7f3a', the events have ", WRONG_IDS]),
    ],
)
def test_events_carry_the_ids_that_a_call_is_given(events: list[dict[str, Any]], wrong: list[str]):
    asked: list[dict[str, str]] = []
    trial = SimpleNamespace(scenario=SimpleNamespace(call_options=lambda: {"thread_id": "th"}))
    answered = Answered(({**IDS},))
    ask = lambda **options: (asked.append(options), Answered(tuple(events)))[1]  # noqa: E731 - a stub
    told: Any = SimpleNamespace(trial=trial, answered=answered, ask=ask)
    assert list(answer_laws.events_carry_their_ids.look(told)) == wrong
    assert asked == [GIVEN]
