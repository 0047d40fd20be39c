"""What the laws of answers find in an answer that was read wrongly, by adapters that give just these events."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from art_compliance.checks.answer_laws import same_arguments
from art_compliance.checks.trial import drawn_id
from art_compliance.dialects import DIALECTS
from art_compliance.scenarios import WrittenAnswer
from art_sdk import FunctionCall, ToolCall
from row_tables import table
from trials import (
    Event,
    Script,
    answer_events,
    assert_each_has,
    call_of,
    messages_of,
    reason_of,
    scenario,
    scripted,
)

CALL = call_of()
CALLED = WrittenAnswer(tool_calls=(ToolCall("c1", FunctionCall("look", '{"at":1}')),), finish="tool_calls")
NAMELESS = WrittenAnswer(tool_calls=(*CALLED.tool_calls, *CALLED.tool_calls), finish="tool_calls", without_ids=True)
PLAIN = WrittenAnswer(content="said", input_tokens=7, output_tokens=3)
CACHED = WrittenAnswer(content="said", input_tokens=7, output_tokens=3, cached_tokens=4)
COUNTED = WrittenAnswer(content="said", input_tokens=7, output_tokens=3, thinking_tokens=2)
THOUGHT = WrittenAnswer(content="said", thinking=" I see. ")
REFUSED = WrittenAnswer(content="No.", finish="content_filter", is_refusal=True)


def read(
    text: str | None = "said", *, finish: str = "stop", counts: dict[str, Any] | None = None, **more: Any
) -> Sequence[Event]:
    return answer_events(
        text, finish=finish, metadata={"input_tokens": 7, "output_tokens": 3, **(counts or {})}, **more
    )


called = partial(read, None, finish="tool_calls")


def wrong(law: str, written: WrittenAnswer, *scripts: Script, dialect: str = "gemini-generate", **more: Any) -> Any:
    prompt = [{"role": "user", "content": "c9"}]
    asked = scenario(written, prompt=prompt)
    return messages_of(f"response.{law}", scripted(*scripts, dialect=dialect, **more), asked)


CASES: dict[str, list[tuple[WrittenAnswer, Sequence[Event], list[str]]]] = {
    "text-is-whole": [
        (PLAIN, read(), []),
        (PLAIN, read(tokens="saidsaid"), ["the tokens"]),
        (PLAIN, read("sai", tokens="said"), ["the message's content"]),
        (PLAIN, read(None), ["the tokens", "the message's content"]),
        (CALLED, called(calls=[CALL]), []),
    ],
    "calls-are-whole": [
        (CALLED, called(calls=[CALL]), []),
        (PLAIN, read(), []),
        (CALLED, called(), ["TOOL_CALL: 0 calls, but the answer has 1", "the message's tool_calls: 0 calls"]),
        (CALLED, called(calls=[CALL], call_events=[CALL, CALL]), ["TOOL_CALL: 2 calls, but the answer has 1"]),
        (CALLED, called(calls=[CALL, CALL], call_events=[CALL]), ["the message's tool_calls: 2 calls"]),
        (CALLED, called(calls=[CALL], call_events=[call_of(name="x")]), ['"look" became "x"']),
        (CALLED, called(calls=[CALL], call_events=[call_of(name="a")]), ['"look" became "a"']),
        (CALLED, called(calls=[CALL], call_events=[call_of("a")]), ['"c1" became "a"']),
        (CALLED, called(calls=[CALL], call_events=[call_of("c2")]), ['"c1" became "c2"']),
        (CALLED, called(calls=[CALL], call_events=[call_of(arguments="{}")]), ["TOOL_CALL: the arguments"]),
        (CALLED, called(calls=[CALL], call_events=[call_of(arguments={"at": 1})]), ["TOOL_CALL: the arguments"]),
        (CALLED, called(calls=[CALL], call_events=[call_of(arguments="{")]), ["TOOL_CALL: the arguments"]),
        (NAMELESS, called(calls=[call_of("a"), call_of("b")]), []),
        (NAMELESS, called(calls=[call_of("a"), call_of("a")]), ['["a", "a"]'] * 2),
        (NAMELESS, called(calls=[call_of("a"), call_of("")]), ['["a", ""]'] * 2),
        (NAMELESS, called(calls=[call_of(None), call_of("b")]), ['["", "b"]'] * 2),
        (NAMELESS, called(calls=[call_of("a"), call_of("c9")]), ['["a", "c9"]'] * 2),
    ],
    "finish-is-reported": [
        (PLAIN, read(), []),
        (PLAIN, read(finish="length"), ['END says "length"', 'METADATA says "length"']),
        (PLAIN, read(end_finish="length"), ['END says "length", but the answer ended with "stop"']),
        (CALLED, called(calls=[CALL]), []),
        (CALLED, read(None, calls=[CALL]), ['END says "stop"', 'METADATA says "stop"']),
        (REFUSED, read("No."), []),
        (REFUSED, read("No.", finish="length"), ['END says "length"', 'METADATA says "length"']),
    ],
    "usage-is-reported": [
        (PLAIN, read(), []),
        (PLAIN, read(counts={"input_tokens": 8}), ["input_tokens is 8, but the answer says 7"]),
        (PLAIN, read(counts={"output_tokens": None}), ["output_tokens is null, but the answer says 3"]),
        (PLAIN, read(counts={"output_tokens": 3.0}), ["output_tokens is 3.0, but the answer says 3"]),
        (PLAIN, read(counts={"cached_tokens": 5}), []),
        (CACHED, read(), []),
        (CACHED, read(counts={"cached_tokens": 5}), ["cached_tokens is 5"]),
        (COUNTED, read(), []),
        (COUNTED, read(counts={"thinking_tokens": 5}), ["thinking_tokens is 5"]),
    ],
    "message-is-standard": [
        (PLAIN, read(), []),
        (PLAIN, read(message={"name": "x"}), ['"x"']),
        (PLAIN, read(message={"role": "user"}), ["", '"user"']),
        (PLAIN, read(message={"role": "system"}), ["", '"system"']),
        (PLAIN, read(message={"role": "aide"}), ["", '"aide"']),
        (PLAIN, read(message={"poem": 1}), [""]),
    ],
}


@table(("law", "written", "events", "fragments"), [(law, *case) for law, cases in CASES.items() for case in cases])
def test_what_is_wrong_with_an_answer_is_found(
    law: str, written: WrittenAnswer, events: Sequence[Event], fragments: list[str]
):
    assert_each_has(wrong(law, written, events), fragments)


@pytest.mark.parametrize("arguments", ['{"at', '{"at": 1}'])
def test_arguments_that_were_cut_stay_the_text_that_came(arguments: str):
    cut = WrittenAnswer(tool_calls=(ToolCall("c1", FunctionCall("look", '{"at')),), finish="length")
    found = wrong(
        "calls-are-whole", cut, called(calls=[call_of(arguments=arguments)], finish="length"), dialect="openai-chat"
    )
    assert len(found) == (0 if arguments == '{"at' else 2)


@pytest.mark.parametrize(
    ("written", "found", "is_same"),
    [
        ("", "", True),
        ("", "{}", True),
        ("", '{"at":1}', False),
        ("{}", "", False),
        ('{"at":1}', '{"at": 1}', True),
        ('{"at":1}', '{"at": 2}', False),
        ('{"at', '{"at', True),
        ('{"at', "{}", False),
        ("{}", {}, False),
    ],
)
def test_no_arguments_may_be_an_empty_object(written: str, found: Any, is_same: bool):  # noqa: FBT001
    assert same_arguments(DIALECTS["openai-chat"].answers, written, found) == is_same


@pytest.mark.parametrize(
    ("dialect", "arguments", "is_same"),
    [
        ("gemini-generate", '{"at":1.0}', True),
        ("gemini-generate", '{"at":10e-1}', True),
        ("gemini-generate", '{"at":1.5}', False),
        ("gemini-generate", '{"at":true}', False),
        ("openai-chat", '{"at":1.0}', False),
        ("anthropic-messages", '{"at":1.0}', False),
    ],
)
def test_where_numbers_are_doubles_they_have_no_form(dialect: str, arguments: str, is_same: bool):  # noqa: FBT001
    found = wrong("calls-are-whole", CALLED, called(calls=[call_of(arguments=arguments)]), dialect=dialect)
    assert len(found) == (0 if is_same else 2)


@pytest.mark.parametrize(
    ("events", "capabilities", "fragments"),
    [
        (read(thinking=" I see. "), ["reasoning"], []),
        (read(), [], []),
        (read(), ["reasoning"], ["the thinking tokens"]),
        (read(thinking="I see."), [], ["the thinking tokens"]),
        (read("I see. said"), [], ["part of the answer's text"]),
        (read(tokens="I see. said"), [], ["part of the answer's text"]),
    ],
)
def test_reasoning_stands_apart(events: Sequence[Event], capabilities: list[str], fragments: list[str]):
    assert_each_has(wrong("thinking-is-separate", THOUGHT, events, capabilities=capabilities), fragments)


def test_without_reasoning_nothing_has_to_stand_apart():
    reason = reason_of("response.thinking-is-separate", scripted(read()), scenario(PLAIN))
    assert "the answer has no reasoning" in reason


TOKEN, METADATA, END = read()


@pytest.mark.parametrize(
    ("events", "fragments"),
    [
        ([TOKEN, {"type": "TOOL_CALL", "call": CALL}, TOKEN, METADATA, END], []),
        ([TOKEN, METADATA, END, END], ["event 3 is END; nothing may follow END"]),
        ([METADATA, TOKEN, END], ["event 1 is TOKEN; expected END: METADATA, TOKEN, END"]),
        ([{"type": "POEM"}], ["event 0 is POEM; expected TOKEN or TOOL_CALL or METADATA or ERROR: POEM"]),
        ([TOKEN], ["before END: TOKEN"]),
        ([], ["before END: no events"]),
    ],
)
def test_events_keep_their_order(events: Sequence[Event], fragments: list[str]):
    assert_each_has(wrong("events-keep-their-order", PLAIN, events), fragments)


@pytest.mark.parametrize(
    ("events", "fragments"),
    [
        (read(), []),
        (
            [TOKEN, {**METADATA, "thread_id": "x"}, {**END, "thread_id": "y"}],
            ['event 1 (METADATA) has the thread_id "x"'],
        ),
        ([TOKEN, {**METADATA, "trace_id": "x"}, END], ['"trace-1", "x"']),
        ([{**event, "trace_id": None} for event in read()], ["null"]),
    ],
)
def test_events_carry_the_ids_of_their_call(events: Sequence[Event], fragments: list[str]):
    assert_each_has(wrong("events-carry-their-ids", PLAIN, events, read()), fragments)


TRACE, SESSION = (drawn_id(1, "marked", kind) for kind in ("trace_id", "session_id"))


@pytest.mark.parametrize(
    ("changes", "fragments"),
    [
        ([{}, {}, {}], []),
        ([{"session_id": "other"}] * 3, [f'session_id is "{SESSION}", but the events have "other"']),
        ([{}, {"session_id": "other"}, {}], ['"other"']),
        ([{"session_id": None}] * 3, [f'session_id is "{SESSION}", but the events have null']),
        ([{"trace_id": "other"}] * 3, [f'trace_id is "{TRACE}", but the events have "other"']),
    ],
)
def test_events_carry_the_ids_that_a_call_is_given(changes: list[Event], fragments: list[str]):
    other = [event | change for event, change in zip(read(), changes, strict=True)]
    assert_each_has(wrong("events-carry-their-ids", PLAIN, read(), other), fragments)
