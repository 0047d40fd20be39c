"""Amazon's messages: what they carry, and what carries none."""

from __future__ import annotations

import pytest

from art_compliance.dialects.aws_events import Message, is_messages, read_messages, write_error_message, write_message

WRAPPED = b'{"bytes":"eyJhIjogMX0=","p":"abc"}'


@pytest.mark.parametrize(
    ("name", "payload", "wrapped"),
    [
        ("chunk", WRAPPED, b'{"a": 1}'),
        ("chunk", b'{"bytes":""}', b""),
        ("chunk", b'{"text":"eyJhIjogMX0="}', None),
        ("a", WRAPPED, None),
        ("contentBlockDelta", WRAPPED, None),
    ],
)
def test_only_a_chunk_carries_another_event(name: str, payload: bytes, wrapped: bytes | None):
    assert Message("event", name, payload).wrapped == wrapped


@pytest.mark.parametrize("kind", ["event", "exception"])
def test_what_is_written_is_read(kind: str):
    stream = write_message("one", {"text": "\u00e9"}, kind) + write_message("two", {}, kind)
    assert is_messages(stream)
    assert [*read_messages(stream)] == [
        Message(kind, "one", '{"text":"\u00e9"}'.encode()),
        Message(kind, "two", b"{}"),
    ]


def test_an_error_without_a_type_is_in_its_headers():
    stream = write_error_message("InternalFailure", "It broke.")
    assert b"InternalFailure" in stream
    assert b"It broke." in stream
