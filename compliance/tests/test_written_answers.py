"""What a provider's written answers look like, to the letter: whole, as a stream, and as errors.

Kept by syrupy; after a change that is meant, `pytest compliance/tests/test_written_answers.py --snapshot-update`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from syrupy.extensions.json import JSONSnapshotExtension

from art_compliance.dialects import DIALECTS, CannotWrite, Dialect
from art_compliance.dialects.aws_events import is_messages, read_messages
from art_compliance.dialects.endpoints import ENDPOINTS, Endpoint
from art_compliance.dialects.openai_responses.compacting import write_compacted
from art_compliance.dialects.order import read_events
from art_compliance.dialects.writing import as_sayable
from art_compliance.scenarios import WrittenAnswer
from art_sdk import FunctionCall, ToolCall

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

CALLS = (ToolCall("c1", FunctionCall("look", '{"at":1}')), ToolCall("c2", FunctionCall("find", "")))
ANSWERS = {
    "text": WrittenAnswer(content="said here", input_tokens=70, output_tokens=9, cached_tokens=30),
    "calls": WrittenAnswer(content="said", tool_calls=CALLS, finish="tool_calls", input_tokens=70, output_tokens=9),
    "calls alone": WrittenAnswer(tool_calls=CALLS[:1], finish="tool_calls", input_tokens=70, output_tokens=9),
    "calls without ids": WrittenAnswer(tool_calls=CALLS, finish="tool_calls", without_ids=True),
    "reasoning": WrittenAnswer(
        content="said", thinking="Hm. So", signature="c2ln", thinking_tokens=4, input_tokens=70, output_tokens=9
    ),
    "signature": WrittenAnswer(content="said", signature="c2ln"),
    "cut": WrittenAnswer(content="sai", finish="length"),
    "cut arguments": WrittenAnswer(tool_calls=(ToolCall("c1", FunctionCall("look", '{"at')),), finish="length"),
    "refusal": WrittenAnswer(content="no", is_refusal=True),
    "filtered": WrittenAnswer(content="sai", finish="content_filter"),
}
STATUSES = (400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 529)


def written(write: Callable[[], Any]) -> Any:
    try:
        return write()
    except CannotWrite as error:
        return f"cannot be written: {error}"


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_text_is_written_as_it_is(dialect: Dialect):
    answer = WrittenAnswer(content="naïve 日本 🎉")
    assert "naïve 日本 🎉".encode() in dialect.answers.write(answer)
    assert b"\\u" not in b"".join(dialect.streams.write(answer))


def as_text(event: bytes) -> str:
    """An event; of a message its type and its JSON."""
    if is_messages(event):
        return "".join(f"{one.kind} {one.name}: {one.payload.decode()}" for one in read_messages(event))
    return event.decode()


def forms_of(dialect: Dialect) -> dict[str, Any]:
    """All that it writes, by name."""
    forms: dict[str, Any] = {}
    for name, answer in ANSWERS.items():
        forms[name] = written(lambda answer=answer: json.loads(dialect.answers.write(answer)))
        forms[f"{name}, streamed"] = written(
            lambda answer=answer: [as_text(one) for one in dialect.streams.write(answer)]
        )
    for status in STATUSES:
        forms[f"error {status}"] = json.loads(dialect.answers.write_error(status, "no"))
        forms[f"error {status}, headers"] = dict(dialect.answers.error_headers(status, "no"))
        forms[f"error {status}, streamed"] = as_text(dialect.streams.write_error(status, "no"))
    return forms


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_a_written_answer_is_kept_to_the_letter(dialect: Dialect, snapshot: SnapshotAssertion):
    assert forms_of(dialect) == snapshot(extension_class=JSONSnapshotExtension)


@pytest.mark.parametrize("service", ENDPOINTS, ids=lambda one: f"{one.service}-{one.dialect}")
def test_a_written_answer_of_a_service_is_kept_to_the_letter(service: Endpoint, snapshot: SnapshotAssertion):
    assert forms_of(service.spoken) == snapshot(extension_class=JSONSnapshotExtension)


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"", []),
        (b"\n\n\n\n", []),
        (b'event: a\ndata: {"x": 1}\n\n', [("a", '{"x": 1}', {"x": 1})]),
        (b'\xef\xbb\xbfdata:{"x": 1}\r\n\r\n', [(None, '{"x": 1}', {"x": 1})]),
        (b"data: [1]\r\rdata: {\n\n", [(None, "[1]", {}), (None, "{", {})]),
        (b'data: {"x":\ndata:  2}\n\n', [(None, '{"x":\n 2}', {"x": 2})]),
        (b": comment\n\nid: 7\nretry: 1\ncount: 2\n\nevent: a\n\n", []),
        (b"event: a\nevent: b\naxis: c\nzeta: d\ndata: e\n\n", [("b", "e", {})]),
        (b"data: last", [(None, "last", {})]),
    ],
)
def test_a_stream_is_read_by_its_events(stream: bytes, events: list[Any]):
    assert [(one.name, one.data, one.body) for one in read_events(stream)] == events


@pytest.mark.parametrize(
    ("signature", "is_bytes"), [("c2ln", True), ("+/A=", True), ("+/==", False), ("YR==", False), ("sig!", False)]
)
def test_a_signature_of_geminis_must_be_base64(signature: str, is_bytes: bool):  # noqa: FBT001
    answer = WrittenAnswer(content="said", signature=signature)
    form = written(lambda: json.loads(DIALECTS["gemini-generate"].answers.write(answer)))
    if is_bytes:
        assert form["candidates"][0]["content"]["parts"][0]["thoughtSignature"] == signature
    else:
        assert form == "cannot be written: a thought signature must be base64"


@pytest.mark.parametrize(
    ("name", "is_signed"), [("ollama-chat", False), ("cohere-chat-v2", False), ("gemini-generate", True)]
)
def test_an_answer_is_unsigned_where_the_provider_signs_nothing(name: str, is_signed: bool):  # noqa: FBT001
    signed = WrittenAnswer(content="a", thinking="Hm.", signature="c2ln")
    said = as_sayable(DIALECTS[name].answers.write, signed)
    assert (said.thinking, said.signature) == ("Hm.", "c2ln" if is_signed else None)


def test_a_compacted_conversation_is_counted():
    payload = {"input": [{"role": "user", "content": "What is the time?"}]}
    written = write_compacted(payload, "/v1/responses/compact?x=y")
    assert written is not None
    usage = json.loads(written)["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"] > usage["output_tokens"] > 0
    assert write_compacted(payload, "/v1/responses") is None
