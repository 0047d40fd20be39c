"""What the checks of streams are made of: bytes in pieces, what has arrived of a text, and how answers differ."""

from __future__ import annotations

import random
from typing import Any

import pytest

from art_compliance.checks.streamed import half_of, has_finish, in_pieces, text_in
from art_compliance.dialects import DIALECTS
from art_compliance.scenarios import WrittenAnswer
from trials import (
    Event,
    Script,
    answer_events,
    assert_each_has,
    call_of,
    failure_events,
    messages_of,
    reason_of,
    scenario,
    scripted,
    token_event,
)

CHAT = DIALECTS["openai-chat"].streams


def dice(seed: int) -> random.Random:
    return random.Random(seed)


@pytest.mark.parametrize(("count", "half"), [(1, 1), (2, 1), (3, 2), (7, 4), (8, 4)])
def test_the_odd_event_is_of_the_first_half(count: int, half: int):
    assert half_of((b"",) * count) == half


@pytest.mark.parametrize("count", [1, 3, 40])
@pytest.mark.parametrize(
    "data", [b"ab", b"a\r\nb", "a\u2713b\U0001f600c".encode(), b"x" * 100 + b"\r\n\r\n" + b"y" * 100]
)
def test_pieces_are_the_bytes_and_as_many_cuts_as_there_may_be(data: bytes, count: int):
    drawn = [list(in_pieces(data, dice(seed), count)) for seed in range(20)]
    assert {b"".join(pieces) for pieces in drawn} == {data}
    assert all(map(all, drawn))
    assert min(map(len, drawn)) > min(count, len(data) - 1)
    assert max(map(len, drawn)) <= 2 * count + 1


def test_characters_and_line_ends_are_cut_likelier_than_by_chance():
    data = b"x" * 500 + "\u2713".encode() + b"x" * 500 + b"\r\n" + b"x" * 500
    for seed in range(20):
        pieces = list(in_pieces(data, dice(seed), 3))
        cuts = {sum(map(len, pieces[:number])) for number in range(1, len(pieces))}
        assert {501, 502, 1004} <= cuts


WRITTEN = WrittenAnswer(content="0123456789abcdefghijklmnopqrstuvwxyz")


PIECES = (b'{"content":"0123456789ab"}', b'{"content":"cdefghijklmn"}', b'{"content":"opqrstuvwxyz"}')


@pytest.mark.parametrize(
    ("events", "text"),
    [
        ([], ""),
        ([b'{"content":"0123456789ab"}'], "0123456789ab"),
        ([b'{"refusal":"0123456789ab"}'], "0123456789ab"),
        ([b'{"content":"cdefghijklmn"}'], ""),
        (
            [b"start", b'{"content":"0123456789ab"}', b": more", b'{"content":"cdefghijklmn"}'],
            "0123456789abcdefghijklmn",
        ),
        ([b'{"content":"0123456789abcdefghijklmn"}'], ""),
        ([b'{"0123456789ab":"","id":"0123456789ab","more_text":"0123456789ab"}'], ""),
        (
            [b'{"content":"0123456789ab"}', b'{"content":"cdefghijklmn"}', b'{"content":"opqrstuvwxyz"}', b"more"],
            WRITTEN.content,
        ),
    ],
    ids=["nothing", "a piece", "a refusal's", "a later piece alone", "two pieces", "two in one", "elsewhere", "all"],
)
def test_of_a_text_as_much_has_arrived_as_its_pieces_in_order(events: list[bytes], text: str):
    assert text_in(WRITTEN, events, CHAT.text_fields) == text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (WrittenAnswer(content="0123456789ab", thinking="0123"), None),
        (WrittenAnswer(content="123456789"), ""),
        (WrittenAnswer(content="0123456789ab"), ""),
        (WrittenAnswer(content=None), ""),
    ],
)
def test_reasoning_may_stand_for_the_text(written: WrittenAnswer, text: str | None):
    assert text_in(written, [], CHAT.text_fields) == text


@pytest.mark.parametrize(
    ("dialect", "event", "is_finish"),
    [
        ("openai-chat", b'{"finish_reason":"stop"}', True),
        ("gemini-generate", b'{"finishReason": "STOP"}', True),
        ("anthropic-messages", b'{"stop_reason":"end_turn"}', True),
        ("gemini-generate", b'{"blockReason":"SAFETY"}', True),
        ("openai-responses", b'{"type":"response.completed","response":{"status":"completed"}}', True),
        ("openai-responses", b'{"type":"response.created","response":{"status":"in_progress"}}', False),
        ("openai-responses", b'{"type":"response.output_item.done","item":{"status":"completed"}}', False),
        ("openai-chat", b'{"finish_reason":null}', False),
        ("openai-chat", b'{"stop_reason":"end_turn"}', False),
        ("openai-chat", b"{}", False),
    ],
)
def test_the_finish_is_found_in_the_dialects_own_field(dialect: str, event: bytes, is_finish: bool):  # noqa: FBT001
    streams = DIALECTS[dialect].streams
    assert has_finish([b"{}", event], streams.finish_fields, streams.finish_events) is is_finish
    assert not has_finish([], streams.finish_fields)


def ended(text: str | None, finish: str = "stop", *calls: dict[str, Any]) -> Event:
    return {"type": "END", "finish": finish, "message": {"role": "assistant", "content": text, "tool_calls": [*calls]}}


def counted(**counts: Any) -> list[Event]:
    return [{"type": "METADATA", "metadata": counts}, ended("a")]


def called(arguments: Any = '{"a": 1}', call_id: str = "c") -> dict[str, Any]:
    return call_of(call_id, arguments=arguments)


def tool_call(arguments: str) -> list[Event]:
    return [{"type": "TOOL_CALL", "call": called(arguments)}, ended("a")]


AGREES = "stream.cuts-change-nothing"


def differing(again: Script, first: Script) -> list[str]:
    """In what an adapter differs that reads a stream so, and so when the network cuts it elsewhere."""
    return messages_of(AGREES, scripted(first, again), scenario(WRITTEN))


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        ([token_event("wri"), ended("wri")], [token_event("wri"), ended("wri")], []),
        ([ended("a", "stop", called())], [ended("a", "stop", called('{"a":1}'))], []),
        ([ended("a", "stop", called(""))], [ended("a", "stop", called("{}"))], []),
        ([ended("a")], counted(x=1), []),
        ([ended("a")], [ended("b")], ["the message"]),
        ([ended("a", "stop", called())], [ended("a")], ["the message"]),
        ([ended("a", "stop", called())], [ended("a", "stop", called('{"a": 2}'))], ["the message"]),
        ([ended("a", "stop", called("{"))], [ended("a", "stop", called("{ "))], ["the message"]),
        ([ended("a", "stop", called())], [ended("a", "stop", called(call_id="d"))], ["the message"]),
        ([token_event("wri"), ended("a")], [token_event("tten"), ended("a")], ["the text of the tokens"]),
        ([token_event("wri", "LLM_THINKING"), ended("a")], [ended("a")], ["the thinking of the tokens"]),
        (tool_call('{"a": 1}'), tool_call("[]"), ["the calls of TOOL_CALL"]),
        (tool_call('{"a": 1}'), tool_call('{"a":1}'), []),
        ([ended("a")], [ended("a", "length")], ["the finish"]),
        (counted(input_tokens=1), counted(input_tokens=2), ["input_tokens"]),
        (counted(cached_tokens=1), [ended("a")], ["cached_tokens"]),
    ],
)
def test_a_streamed_answer_that_differs_when_it_is_cut_otherwise_is_found(one: Any, other: Any, what: list[str]):
    assert_each_has(differing(one, other), [f"{name}: " for name in what])


def test_a_difference_shows_both_and_not_more_than_a_line_of_each():
    (found,) = differing([ended("a" * 500)], [ended("b")])
    shown = found[found.index("the message") :]
    assert shown.startswith('the message: {"role": "assistant", "content": "aaaa')
    assert shown.endswith('…, and {"role": "assistant", "content": "b"}')
    assert len(shown) == len("the message: ") + 120 + len('…, and {"role": "assistant", "content": "b"}')


ERROR, END = failure_events()
EXPECTED = "expected tokens and calls, then ERROR and END"
HALF = {"role": "assistant", "content": None, "tool_calls": [called()]}


class Refusal(Exception):
    code = "NO"


FAILED: dict[str, tuple[Script, list[str]]] = {
    "as it should be": (failure_events(), []),
    "after tokens": ([token_event("wri"), token_event("tten"), *failure_events("written")[1:]], []),
    "after a call": ([{"type": "TOOL_CALL", "call": called()}, ERROR, {**END, "message": HALF}], []),
    "raised": (Refusal("why"), ["NO"]),
    "crashed": (OSError("no line"), ["OSError: no line"]),
    "nothing": ([], [f"{EXPECTED}; got no events; finish null"]),
    "an error alone": ([ERROR], [f"{EXPECTED}; got ERROR; finish null"]),
    "the end alone": ([END], [f'{EXPECTED}; got END; finish "error"']),
    "a good end": ([ERROR, ended("a")], [f'{EXPECTED}; got ERROR, END; finish "stop"']),
    "two errors": ([ERROR, ERROR, END], [f'{EXPECTED}; got ERROR, ERROR, END; finish "error"']),
    "another code": (failure_events(code="X"), ['"X"']),
    "another thread": ([{**ERROR, "thread_id": "x"}, END], ['event 0 (ERROR) has the thread_id "x"']),
    "another text at the end": (
        failure_events("a", tokens="wri"),
        ['END has the text "a"; the tokens'],
    ),
    "more text at the end": (failure_events("written", tokens="wri"), ['END has the text "written"']),
    "a call at the end alone": ([ERROR, {**END, "message": HALF}], ["END has the calls"]),
}


@pytest.mark.parametrize("what", FAILED)
def test_what_is_wrong_with_a_failed_calls_events_is_found(what: str):
    script, fragments = FAILED[what]
    found = messages_of("response.broken-answer-is-an-error", scripted(script))
    assert_each_has([one for one in found if one.startswith("an empty body: ")], fragments)


@pytest.mark.parametrize("script", [Refusal("why"), OSError("no line"), failure_events()])
def test_what_was_not_read_is_nothing_to_judge(script: Script):
    assert "the answer is not read" in reason_of(AGREES, scripted(script), scenario(WRITTEN))


def test_a_stream_needs_an_answer_and_that_streaming_is_declared():
    assert "no answer" in reason_of(AGREES, scripted(answer_events()))
    silent = scripted(answer_events(), capabilities=["tools"])
    assert "not declared: streaming" in reason_of(AGREES, silent, scenario(WRITTEN))
