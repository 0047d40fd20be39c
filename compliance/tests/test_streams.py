"""What the dialects stream: of the providers' own types, and together what is answered unstreamed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from art_compliance.dialects import DIALECTS, CannotWrite, Dialect
from art_compliance.dialects.aws_events import is_messages, read_messages, write_message
from art_compliance.dialects.framing import pieces, truncate
from art_compliance.dialects.openai_chat.answers import write_response as write_chat
from art_compliance.dialects.openai_chat.streams import ChatStyle, chat_stream
from art_compliance.judging.wire.schemas import load_schema
from art_compliance.scenarios import WrittenAnswer, load_scenarios
from art_sdk import FunctionCall, ToolCall
from row_tables import table
from streamed_readings import READINGS, items, joined_chat, read_chat

ANSWERS = {scenario.id: scenario.answer for scenario in load_scenarios() if scenario.answer}


def has_form(write: Callable[[WrittenAnswer], object], name: str) -> bool:
    try:
        write(ANSWERS[name])
    except CannotWrite:
        return False
    return True


CHAT_PATH = DIALECTS["openai-chat"].service.path
PAIRS = [(dialect, name) for dialect in DIALECTS.values() for name in ANSWERS]
STREAMED = [pair for pair in PAIRS if has_form(pair[0].streams.write, pair[1])]
CASES = [pytest.param(*pair, id=f"{pair[0].name}-{pair[1]}") for pair in STREAMED]
BOTH = [pair for pair in STREAMED if has_form(pair[0].answers.write, pair[1])]
READ_APART = [(one, name) for one, name in BOTH if one.name in READINGS or one.service.path == CHAT_PATH]
"""Those that the tests read themselves."""


def test_whatever_can_be_written_unstreamed_can_be_streamed_and_cut_arguments_too():
    answered = [pair for pair in PAIRS if has_form(pair[0].answers.write, pair[1])]
    more = [(dialect.name, name) for dialect, name in STREAMED if (dialect, name) not in answered]
    assert more == [(name, "answer-call-cut-by-length") for name in ("anthropic-messages", "bedrock-converse")]
    assert [pair for pair in answered if pair not in STREAMED] == []


@table(("dialect", "name"), CASES)
def test_every_event_of_a_stream_matches_the_providers_types(dialect: Dialect, name: str):
    schema = load_schema(f"{dialect.name}.stream")
    found = [fault for item in items(dialect.streams.write(ANSWERS[name])) for fault in schema.mismatches(item)]
    assert found == []


@table(("dialect", "name"), READ_APART)
def test_a_stream_says_what_the_unstreamed_answer_says(dialect: Dialect, name: str):
    join, read = READINGS.get(dialect.name, (joined_chat, read_chat))
    assert join(dialect.streams.write(ANSWERS[name])) == read(json.loads(dialect.answers.write(ANSWERS[name])))


@pytest.mark.parametrize(
    ("length", "sizes"),
    [
        (0, []),
        (1, [1]),
        (3, [1] * 3),
        (5, [1] * 5),
        (8, [2] * 4),
        (36, [12] * 3),
        (40, [*[12] * 3, 4]),
        (1536, [12] * 128),
        (1537, [*[13] * 118, 3]),
        (5000, [40] * 125),
    ],
)
def test_pieces_are_three_or_more_and_no_longer_than_they_must_be(length: int, sizes: list[int]):
    assert list(map(len, pieces("x" * length))) == sizes


@pytest.mark.parametrize("text", ["", "a", "ab", "three", "\u2713\U0001f600" * 9, "x" * 5_000])
def test_pieces_are_the_text_and_not_too_many(text: str):
    cut = list(pieces(text))
    assert "".join(cut) == text
    assert len(cut) >= min(3, len(text))
    assert len(cut) <= 128


@pytest.mark.parametrize(
    ("payload", "has_usage"),
    [
        (None, True),
        ({"stream": True}, False),
        ({"stream": True, "stream_options": {"include_usage": False}}, False),
        ({"stream": True, "stream_options": {"include_usage": True}}, True),
        ({"stream": True, "stream_options": []}, False),
    ],
)
def test_openai_streams_the_usage_only_on_request(payload: Any, *, has_usage: bool):
    chunks = list(items(DIALECTS["openai-chat"].streams.write(WrittenAnswer(content="hi"), payload)))
    before_last = [None if has_usage else "absent"] * (len(chunks) - 1)
    assert [chunk.get("usage", "absent") for chunk in chunks[:-1]] == before_last
    assert (chunks[-1]["choices"] == []) is has_usage


CUT = WrittenAnswer(tool_calls=(ToolCall("c", FunctionCall("f", '{"a": "b')),), finish="length")


def test_anthropic_can_only_stream_arguments_that_were_cut_by_length():
    dialect = DIALECTS["anthropic-messages"]
    deltas = [event["delta"] for event in items(dialect.streams.write(CUT)) if event["type"] == "content_block_delta"]
    assert "".join(delta["partial_json"] for delta in deltas) == '{"a": "b'
    with pytest.raises(CannotWrite):
        dialect.answers.write(CUT)


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_an_error_in_a_stream_is_the_error_of_an_answer_as_one_event(dialect: Dialect):
    (item,) = items((dialect.streams.write_error(529, "busy \u2713"),))
    fault = item.get("error", {})
    assert isinstance(fault, str) or fault.pop("status_code", 529) == 529  # Groq repeats the status
    error = json.loads(dialect.answers.write_error(529, "busy \u2713"))
    if dialect.name not in ("openai-responses", "cohere-chat-v2") and "error" not in item:  # a form of its own
        assert "busy \u2713" in json.dumps(item, ensure_ascii=False)
        return
    if dialect.name == "openai-responses":  # `ResponseErrorEvent` has no error inside
        known = {name: error["error"][name] for name in ("message", "param")}
        error = {"type": "error", "code": error["error"]["type"], **known, "sequence_number": 0}
    if dialect.name == "cohere-chat-v2":  # `ChatMessageEndEventDelta.error`
        error = {"type": "message-end", "delta": {"error": error["message"], "finish_reason": "ERROR"}}
    assert item == error


@pytest.mark.parametrize(
    ("name", "payload", "target", "wants"),
    [
        ("openai-chat", {"stream": True}, "/v1/chat/completions", True),
        ("openai-chat", {"stream": "yes"}, "/v1/chat/completions", False),
        ("openai-chat", None, "/v1/chat/completions", False),
        ("anthropic-messages", {"stream": True}, "/v1/messages", True),
        ("bedrock-converse", {}, "/model/m/converse-stream", True),
        ("bedrock-converse", {"stream": True}, "/model/m%2Fconverse-stream/converse", False),
        ("gemini-generate", {}, "/v1beta/models/g:streamGenerateContent?alt=sse", True),
        ("gemini-generate", {"stream": True}, "/v1beta/models/g:generateContent", False),
    ],
)
def test_each_dialect_knows_which_requests_ask_for_a_stream(name: str, payload: Any, target: str, *, wants: bool):
    assert DIALECTS[name].streams.is_requested(payload, target) is wants


@pytest.mark.parametrize(
    ("name", "payload", "is_padded"),
    [
        ("openai-chat", None, True),
        ("openai-chat", {"stream": True}, True),
        ("openai-chat", {"stream": True, "stream_options": {"include_obfuscation": False}}, False),
        ("deepseek-chat", {"stream": True}, False),
    ],
)
def test_openais_chunks_are_padded_unless_the_request_says_no(name: str, payload: Any, *, is_padded: bool):
    chunks = list(items(DIALECTS[name].streams.write(WrittenAnswer(content="hi"), payload)))
    assert {"obfuscation" in chunk for chunk in chunks} == {is_padded}


def test_every_delta_of_openrouters_has_the_role_and_none_comes_before_the_text():
    chunks = list(items(DIALECTS["openrouter-chat"].streams.write(WrittenAnswer(content="hi"))))
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert deltas[0] == {"content": "h", "role": "assistant"}
    assert {delta["role"] for delta in deltas} == {"assistant"}


def test_mistrals_last_piece_comes_with_the_finish_reason():
    *_, last = items(DIALECTS["mistral-chat"].streams.write(WrittenAnswer(content="hi")))
    assert last["choices"] == [{"index": 0, "delta": {"content": "i"}, "finish_reason": "stop"}]


def reasoned(answer: WrittenAnswer, **fields: Any) -> bytes:
    body = json.loads(write_chat(answer))
    body["choices"][0]["message"] |= fields
    return json.dumps(body).encode()


CALLS = WrittenAnswer(
    content="Both.",
    tool_calls=(ToolCall("a", FunctionCall("f", '{"x": 1}')), ToolCall("b", FunctionCall("g", "{}"))),
    finish="tool_calls",
)


def test_reasoning_comes_in_pieces_before_the_text_where_a_relative_has_it():
    style = ChatStyle(texts=("reasoning_content", "content"), usage_at_finish=True)
    events = chat_stream(lambda answer: reasoned(answer, reasoning_content="Let me see."), style)(CALLS, {})
    chunks = list(items(events))
    order = [next(iter(chunk["choices"][0]["delta"]), None) for chunk in chunks]
    assert order == ["role", *["reasoning_content"] * 4, *["content"] * 5, *["tool_calls"] * 8, None]
    assert joined_chat(events)["texts"] == {"reasoning_content": "Let me see.", "content": "Both."}
    assert chunks[-1]["usage"]["prompt_tokens"] == 11


def test_a_relative_may_send_whole_calls_parts_that_go_on_as_text_and_leading_comments():
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "So."}]
    style = ChatStyle(whole_calls=True, comments=(b": PROCESSING\n\n",))
    events = chat_stream(lambda answer: reasoned(answer, content=parts), style)(CALLS)
    deltas = [chunk["choices"][0]["delta"] for chunk in items(events[1:-2])]
    assert events[0] == b": PROCESSING\n\n"
    thoughts = [{"type": "thinking", "thinking": [{"type": "text", "text": letter}]} for letter in "hm"]
    begun = [thoughts[1], {"type": "text", "text": "S"}]
    assert [delta["content"] for delta in deltas[1:5]] == [[thoughts[0]], begun, "o", "."]
    assert [call["function"]["arguments"] for call in deltas[5]["tool_calls"]] == ['{"x": 1}', "{}"]


def test_reasoning_items_come_with_the_reasoning_and_the_signature_by_itself_after_it():
    details = [{"type": "reasoning.text", "text": "hmhm", "index": 0, "format": "f", "signature": "sig"}]
    style = ChatStyle(texts=("reasoning", "content"), details="reasoning_details")
    write = chat_stream(lambda answer: reasoned(answer, reasoning="hmhm", reasoning_details=details), style)
    deltas = [chunk["choices"][0]["delta"] for chunk in items(write(CALLS)) if chunk["choices"]]
    detailed = [delta for delta in deltas if "reasoning_details" in delta]
    assert "".join(delta["reasoning"] for delta in detailed[:-1]) == "hmhm"
    assert "".join(delta["reasoning_details"][0]["text"] for delta in detailed[:-1]) == "hmhm"
    assert detailed[-1] == {
        "reasoning_details": [{"type": "reasoning.text", "index": 0, "format": "f", "signature": "sig"}]
    }


@pytest.mark.parametrize("content", [None, "a text comes first, in pieces"])
def test_interleaved_calls_are_the_same_calls_in_the_same_place(content: str | None):
    calls = tuple(ToolCall(f"c{at}", FunctionCall("look", json.dumps({"at": "x" * 9 * at}))) for at in (1, 2, 3))
    answer = WrittenAnswer(content=content, tool_calls=calls, finish="tool_calls")
    mix, events = DIALECTS["openai-chat"].streams.interleave_calls, DIALECTS["openai-chat"].streams.write(answer)
    assert mix is not None
    mixed = mix(events)
    assert mixed != events
    assert joined_chat(mixed) == joined_chat(events)
    deltas = [[item["choices"][0]["delta"] for item in items(stream) if item["choices"]] for stream in (events, mixed)]
    others = [[one for one in stream if "tool_calls" not in one] for stream in deltas]
    assert others[0] == others[1]
    for stream in deltas:
        has_calls = ["tool_calls" in one for one in stream]
        first, count = has_calls.index(True), sum(has_calls)
        assert has_calls[first : first + count] == [True] * count
    indexes = [[call["index"] for call in one["tool_calls"]] for one in deltas[1] if "tool_calls" in one]
    assert indexes[:4] == [[0, 1, 2], [0], [1], [2]]


@pytest.mark.parametrize(
    ("event", "left"),
    [
        (b"data: " + b"x" * 25 + b"\n\n", b"data: " + b"x" * 14 + b"\n\n"),
        (write_message("messageStart", {"role": "assistant"}), b'{"role":"assis'),
    ],
)
def test_a_truncated_event_lacks_the_last_third_of_its_data(event: bytes, left: bytes):
    cut = truncate(event)
    assert (next(read_messages(cut)).payload if is_messages(cut) else cut) == left
