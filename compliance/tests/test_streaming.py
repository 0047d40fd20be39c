"""What the checks of streams are made of: bytes in pieces, what has arrived of a text, and how answers differ."""

from __future__ import annotations

import random
from typing import Any

import pytest

from art_compliance.checks.requirements import NotApplicable
from art_compliance.checks.streamed import (
    STREAMED,
    differences,
    half_of,
    has_finish,
    in_pieces,
    require_read,
    text_in,
    wrong_failure,
)
from art_compliance.checks.trial import Trial
from art_compliance.dialects import DIALECTS
from art_compliance.run.selection import GREETING_SCENARIO
from art_compliance.scenarios import WrittenAnswer
from art_compliance.subject.events import Answered
from art_compliance.subject.observations import Crashed, Refused
from art_compliance.subject.opening import open_subject
from art_sdk import OpenAIAdapter

CHAT = DIALECTS["openai-chat"].streams
IDS = {"thread_id": GREETING_SCENARIO.call_options()["thread_id"], "trace_id": "t"}
TOKEN, OTHER = ({**IDS, "type": "TOKEN", "token_type": "LLM_RESPONSE", "text": text} for text in ("wri", "tten"))


def dice(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - where bytes are cut is no secret


def call(arguments: str = '{"a": 1}', **more: Any) -> dict[str, Any]:
    return {"id": "c", "type": "function", "function": {"name": "look", "arguments": arguments}, **more}


def end(content: str | None, finish: str = "error", *calls: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "tool_calls": list(calls)}
    return {**IDS, "type": "END", "finish": finish, "message": message}


def counted(**counts: Any) -> Answered:
    return said({**IDS, "type": "METADATA", "metadata": counts}, end("a", "stop"))


def error(**more: Any) -> dict[str, Any]:
    return {**IDS, "type": "ERROR", "error": {"code": "LLM_PROVIDER_ERROR", "message": "no", **more}}


def said(*events: dict[str, Any]) -> Answered:
    return Answered(events)


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
        ("openai-chat", b'{"finish_reason":null}', False),
        ("openai-chat", b'{"stop_reason":"end_turn"}', False),
        ("openai-chat", b"{}", False),
    ],
)
def test_the_finish_is_found_in_the_dialects_own_field(dialect: str, event: bytes, is_finish: bool):  # noqa: FBT001
    fields = DIALECTS[dialect].streams.finish_fields
    assert has_finish([b"{}", event], fields) is is_finish
    assert not has_finish([], fields)


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (said(TOKEN, end("wri", "stop")), said(TOKEN, end("wri", "stop")), []),
        (said(end("a", "stop", call())), said(end("a", "stop", call('{"a":1}'))), []),
        (said(end("a", "stop", call(""))), said(end("a", "stop", call("{}"))), []),
        (said(end("a", "stop")), counted(x=1), []),
        (said(end("a", "stop")), said(end("b", "stop")), ["the message"]),
        (said(end("a", "stop", call())), said(end("a", "stop")), ["the message"]),
        (said(end("a", "stop", call())), said(end("a", "stop", call('{"a": 2}'))), ["the message"]),
        (said(end("a", "stop", call("{"))), said(end("a", "stop", call("{ "))), ["the message"]),
        (said(end("a", "stop", call(id="c"))), said(end("a", "stop", call(id="d"))), ["the message"]),
        (said(TOKEN, end("a", "stop")), said(OTHER, end("a", "stop")), ["the text of the tokens"]),
        (
            said({**TOKEN, "token_type": "LLM_THINKING"}, end("a", "stop")),
            said(end("a", "stop")),
            ["the thinking of the tokens"],
        ),
        (
            said({"type": "TOOL_CALL", "call": call()}, end("a", "stop")),
            said({"type": "TOOL_CALL", "call": call("[]")}, end("a", "stop")),
            ["the calls of TOOL_CALL"],
        ),
        (said({"type": "TOOL_CALL", "call": call()}), said({"type": "TOOL_CALL", "call": call('{"a":1}')}), []),
        (said(end("a", "stop")), said(end("a", "length")), ["the finish"]),
        (counted(input_tokens=1), counted(input_tokens=2), ["input_tokens"]),
        (counted(cached_tokens=1), said(end("a", "stop")), ["cached_tokens"]),
    ],
)
def test_two_answers_differ_in(one: Answered, other: Answered, told: list[str]):
    assert [line.partition(":")[0] for line in differences(one, other)] == told


def test_a_difference_shows_both_and_not_more_than_a_line_of_each():
    (told,) = differences(said(end("a" * 500, "stop")), said(end("b", "stop")))
    assert told.startswith("the message: {'role': 'assistant', 'content': 'aaaa")
    assert told.endswith("…, and {'role': 'assistant', 'content': 'b'}")
    assert len(told) == len("the message: ") + 120 + len("…, and {'role': 'assistant', 'content': 'b'}")


@pytest.fixture(scope="module")
def trial():
    with open_subject(OpenAIAdapter, name="openai") as subject:
        yield Trial(subject, GREETING_SCENARIO, 1)


EXPECTED = "expected tokens and calls, then ERROR and END"
FAILED: dict[str, tuple[Any, str | None, list[str]]] = {
    "as it should be": (said(error(), end(None)), None, []),
    "after tokens": (said(TOKEN, OTHER, error(), end("written")), "written", []),
    "after a call": (said({**IDS, "type": "TOOL_CALL", "call": call()}, error(), end(None, "error", call())), "", []),
    "raised": (Refused("NO", "why"), None, ["call raised NO; tell it by ERROR and END"]),
    "crashed": (Crashed("OSError: no"), None, ["OSError: no"]),
    "nothing": (said(), None, [f"{EXPECTED}; got no events; finish None"]),
    "an error alone": (said(error()), None, [f"{EXPECTED}; got ERROR; finish None"]),
    "the end alone": (
        said(end(None)),
        None,
        [f"{EXPECTED}; got END; finish 'error'"],
    ),
    "a good end": (
        said(error(), end("a", "stop")),
        None,
        [f"{EXPECTED}; got ERROR, END; finish 'stop'"],
    ),
    "two errors": (
        said(error(), error(), end(None)),
        None,
        [f"{EXPECTED}; got ERROR, ERROR, END; finish 'error'"],
    ),
    "another code": (said(error(code="X"), end(None)), None, ["the error's code is 'X', not LLM_PROVIDER_ERROR"]),
    "another thread": (
        said({**error(), "thread_id": "x"}, end(None)),
        None,
        ["event 0 (ERROR) has the thread_id 'x'"],
    ),
    "less than arrived": (
        said(TOKEN, error(), end("wri")),
        "written",
        ["the tokens are 'wri'; what arrived is 'written'"],
    ),
    "another text at the end": (
        said(TOKEN, error(), end("a")),
        None,
        [
            "END has {'role': 'assistant', 'content': 'a', 'tool_calls': []}; the tokens and calls before it say 'wri'",
        ],
    ),
    "more text at the end": (
        said(TOKEN, error(), end("written")),
        None,
        [f"END has {end('written')['message']}; the tokens and calls before it say 'wri'"],
    ),
    "a call at the end alone": (
        said(error(), end(None, "error", call())),
        None,
        [
            f"END has {str(end(None, 'error', call())['message'])[:120]}…; the tokens and calls before it say ''",
        ],
    ),
}


@pytest.mark.parametrize("what", FAILED)
def test_what_is_wrong_with_how_a_failure_is_told(what: str, trial: Trial):
    heard, arrived, wrong = FAILED[what]
    assert list(wrong_failure(trial, heard, arrived)) == wrong


@pytest.mark.parametrize("heard", [Refused("NO", "why"), Crashed("no"), said(error(), end(None))])
def test_what_was_not_read_is_nothing_to_judge(heard: Any):
    with pytest.raises(NotApplicable, match="the answer is not read"):
        require_read(heard)
    assert require_read(said(end("a", "stop"))).text == "a"


def test_a_stream_needs_an_answer_a_call_and_that_it_is_declared(trial: Trial):
    class Silent(OpenAIAdapter):
        capabilities = frozenset(OpenAIAdapter.capabilities - {"streaming"})

    with pytest.raises(NotApplicable, match="the scenario has no answer"):
        trial.require(*STREAMED)
    trial.with_answer(WRITTEN).require(*STREAMED)
    with (
        open_subject(Silent, name="silent") as subject,
        pytest.raises(NotApplicable, match=r"^not declared: streaming$"),
    ):
        Trial(subject, GREETING_SCENARIO, 1).with_answer(WRITTEN).require(*STREAMED)
